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


def test_what_a_user_can_mend_is_one_kind_of_error(tmp_path: Path, mini_web: Path) -> None:
    with pytest.raises(quern.QuernError, match="is no warehouse"):
        quern.ask(QUESTION, tmp_path)
    with pytest.raises(quern.QuernError, match=r"did you mean retrieve\.top_k"):
        quern.ask(QUESTION, mini_web, settings={"retrieve.topk": 3})
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


def test_every_folder_of_modules_is_installed() -> None:
    listed = {line.strip(' ",') for line in (ROOT / "pyproject.toml").read_text().splitlines() if '"quern' in line}
    for room in ("schemas", "indexes", "jobs", "pipelines"):
        for folder in {path.parent.relative_to(ROOT) for path in (ROOT / room).rglob("*.py")}:
            assert f"quern.{'.'.join(folder.parts)}" in listed
            assert (ROOT / folder / "__init__.py").is_file()
