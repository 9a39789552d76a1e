"""The Python API: what `import quern` gives, and how little it costs to import."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import quern
from tests.conftest import CORPUS, ROOT

QUESTION = "Why is the pylon of Tollen Bridge dark in October?"


def test_the_example_in_the_docstring_is_true() -> None:
    result = doctest.testmod(quern, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert (result.failed, result.attempted) == (0, 13)


def test_every_name_is_there_and_documented() -> None:
    assert [name for name in quern.__all__ if not inspect.getdoc(getattr(quern, name))] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = quern.nothing


def test_a_question_gets_the_answer_of_the_command(mini_web: Path, quern_here) -> None:
    warehouse = quern.Warehouse.open(mini_web)
    mine = quern.ask(QUESTION, warehouse, settings={"retrieve.top_k": 3})
    told = quern_here("ask", "-w", mini_web, "--set", "retrieve.top_k=3", "--json", QUESTION)
    assert mine.model_dump(mode="json") == {**json.loads(told.stdout), "query_id": "1"}
    assert len(mine.hits) == 3


def test_questions_are_texts_mappings_or_models(mini_web: Path) -> None:
    asked = [QUESTION, {"query_id": "a", "question": QUESTION}, quern.Question(query_id="b", question=QUESTION)]
    answers = list(quern.answer(asked, mini_web, recipe="bm25"))
    assert [a.query_id for a in answers] == ["1", "a", "b"]
    assert len({a.answer for a in answers}) == 1


def test_an_answer_is_followed_to_the_bytes_of_its_page(mini_web: Path) -> None:
    answer = quern.ask(QUESTION, mini_web)
    hits = quern.search(QUESTION, mini_web, top_k=2, where=["site=tidewiki.example"])
    assert [hit.rank for hit in hits] == [1, 2]
    assert {hit.url.split("/")[2] for hit in hits} == {"tidewiki.example"}
    cited = answer.citations[0]
    traced = quern.show("citation", f"{cited.doc_id}:{cited.start}-{cited.end}", mini_web)
    assert traced["row"]["quote"] == cited.quote
    pages = quern.table("pages", mini_web, columns=["url", "body"]).to_pylist()
    assert cited.quote in next(page["body"] for page in pages if page["url"] == traced["from"]["page"]).decode()
    with pytest.raises(quern.QuernError, match="which is no archive"):
        quern.original(traced["from"]["page"], mini_web)
    with pytest.raises(quern.QuernError, match="no column of pages 'urls'; did you mean url"):
        quern.table("pages", mini_web, columns=["urls"])
    assert quern.graph(mini_web).figures["nodes"] == len(quern.table("nodes", mini_web, columns=["query_id"]))


def test_recipes_are_compared_by_paired_intervals(mini_web: Path) -> None:
    questions = [json.loads(line) for line in (CORPUS / "questions.jsonl").read_text("utf-8").splitlines()]
    rows = quern.compare(questions, mini_web, recipes=["bm25"], baseline="dense", k=[2])
    figures = quern.evaluate(questions, mini_web, recipes=["dense", "bm25"], k=[2], answers=False)
    assert {(r.recipe, r.figure): round(r.value, 4) for r in rows} == {
        (name, figure): value for name, of in figures.items() for figure, value in of.items() if figure != "questions"
    }
    for row in rows:
        assert row.low <= row.value <= row.high
        assert row.certain == (row.difference_low > 0 or row.difference_high < 0)
        assert row.recipe != "dense" or row.difference == row.better == row.worse == 0


def test_what_a_user_can_mend_is_one_kind_of_error(tmp_path: Path, mini_web: Path) -> None:
    with pytest.raises(quern.QuernError, match="is no warehouse"):
        quern.ask(QUESTION, tmp_path)
    with pytest.raises(quern.QuernError, match=r"did you mean retrieve\.top_k"):
        quern.ask(QUESTION, mini_web, settings={"retrieve.topk": 3})
    with pytest.raises(quern.QuernError, match=r"retrieve\.top_k.*greater than"):
        quern.search(QUESTION, mini_web, top_k=0)
    for question, fault in (("", "is blank"), ("?!?!", "no letter"), ("why " * 5_000, "max_characters 2000")):
        with pytest.raises(quern.QuernError, match=f"question 1 cannot be answered: .*{fault}"):
            quern.ask(question, mini_web)
    with pytest.raises(quern.QuernError, match="question 2 cannot be answered: query_id"):
        list(quern.answer([QUESTION, {"question": QUESTION}], mini_web))
    with pytest.raises(quern.QuernError):
        quern.build(tmp_path / "none", tmp_path / "warehouse")


def test_only_one_package_is_installed_and_importing_it_imports_nothing_else() -> None:
    code = "import sys, quern; print(sorted(m for m in sys.modules if m.startswith(('quern', 'numpy', 'pyarrow'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CORPUS, check=True)
    assert done.stdout == "['quern']\n"


def test_every_function_is_there_without_the_extras() -> None:
    hidden = "sys.modules.update(dict.fromkeys('pyspark ray scrapy warcio PIL'.split()))"
    code = f"import sys; {hidden}; import quern; print(all(getattr(quern, name) for name in quern.__all__))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_every_folder_of_modules_is_installed() -> None:
    listed = {line.strip(' ",') for line in (ROOT / "pyproject.toml").read_text().splitlines() if '"quern' in line}
    for room in ("schemas", "indexes", "jobs", "pipelines"):
        for folder in {path.parent.relative_to(ROOT) for path in (ROOT / room).rglob("*.py")}:
            assert f"quern.{'.'.join(folder.parts)}" in listed
            assert (ROOT / folder / "__init__.py").is_file()
