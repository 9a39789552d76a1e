from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from datetime import UTC, date, datetime
from pathlib import Path
from subprocess import PIPE

import pyarrow.parquet as pq
import pytest

import quern
from quern.indexes.catalog import Snapshot
from quern.jobs.models.folders import ModelError
from quern.pipelines.images.illustrate import illustrated
from quern.pipelines.inspect.show import show
from quern.pipelines.query import BATCH_QUESTIONS, answer_questions
from quern.pipelines.retrieve.recipes import RECIPES
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.schemas.answers import NOT_FOUND, Answer, Question
from quern.schemas.settings.reading import load_settings
from tests.conftest import CORPUS, ROOT, Quern, read_jsonl

ANSWERING = {name: RECIPES[name] for name in ("dense", "bm25", "qcg", "hybrid", "bridge")}


def gold() -> list[Question]:
    return [Question(query_id=q["query_id"], question=q["question"]) for q in read_jsonl(CORPUS / "questions.jsonl")]


def questions_of(recipe: str) -> list[Question]:
    """Every third gold question of the recipe that answers unless another is named, every twelfth of the others."""
    return gold()[1::3] if recipe == "bridge" else gold()[::12]


@pytest.fixture(scope="module")
def answers(searcher: Searcher) -> dict[str, list[Answer]]:
    """Gold questions through every recipe."""
    return {
        name: list(answer_questions(searcher, questions_of(name), recipe, present=illustrated))
        for name, recipe in ANSWERING.items()
    }


def test_every_citation_quotes_its_document_exactly(searcher: Searcher, answers: dict[str, list[Answer]]) -> None:
    texts = {r["doc_id"]: r["text"] for b in searcher.snapshot.stage("documents").batches() for r in b.to_pylist()}
    cited = [c for found in answers.values() for a in found for c in a.citations]
    assert len(cited) > 100
    for citation in cited:
        assert texts[citation.doc_id][citation.start : citation.end] == citation.quote


def test_what_a_citation_quotes_stands_so_on_its_page(searcher: Searcher, answers: dict[str, list[Answer]]) -> None:
    quotes = {f"{c.doc_id}:{c.start}-{c.end}": c.quote for a in answers["bridge"] for c in a.citations}
    for key in sorted(quotes)[::4]:
        found = show(searcher.snapshot, "citation", key)
        assert found["row"]["quote"] == quotes[key]
        assert "markup" in found["from"], key


def test_images_stand_beside_sentences_one_each_with_the_words_of_their_page(
    searcher: Searcher, answers: dict[str, list[Answer]]
) -> None:
    rows = {r["image_id"]: r for b in searcher.snapshot.stage("images").batches() for r in b.to_pylist()}
    shown = [(answer, image) for answer in answers["bridge"] for image in answer.images]
    assert len(shown) > 2
    for answer, image in shown:
        row = rows[image.image_id]
        assert row["out_by"] is None, "the arms of the council stand on seven of its pages"
        assert (image.image_url, image.alt, image.caption) == (row["url"], row["alt"], row["caption"])
        assert image.doc_id in {hit.doc_id for hit in answer.hits}
        assert min(image.score, image.relevance) >= 0.3
        assert image.why.endswith(".")
        assert 1 <= image.sentence <= len(answer.sentences)
    for answer, _ in shown:
        assert len({i.sentence for i in answer.images}) == len({i.image_id for i in answer.images})
    boxes = [i for a, i in shown if a.question.startswith("How far outside its licensed box")]
    assert [i.alt for i in boxes] == ["Map of Gannet Narrows"]
    assert re.search(r"has it beside what \[\d\] quotes", boxes[0].why)
    assert not [a for a in answers["bridge"] if a.images and not a.found]


def test_sentences_of_answers_have_their_citations_and_refusals_have_none(answers: dict[str, list[Answer]]) -> None:
    cited = [bool(s.citations) for found in answers.values() for a in found for s in a.sentences]
    assert sum(cited) > 0.9 * len(cited)
    for answer in (a for found in answers.values() for a in found):
        numbers = {n for s in [*answer.sentences, *answer.sub_questions] for n in s.citations}
        assert numbers == {c.number for c in answer.citations}
        if not answer.found:
            assert (answer.answer, answer.citations) == (NOT_FOUND, [])
        assert (answer.reason is None) == answer.found
        assert {c.chunk_id for c in answer.citations} <= {h.chunk_id for h in answer.hits}


def test_hits_are_ranked_and_no_more_than_asked_for(answers: dict[str, list[Answer]]) -> None:
    for answer in (a for found in answers.values() for a in found):
        assert [h.rank for h in answer.hits] == list(range(1, len(answer.hits) + 1))
        # A question with parts has also the chunks that these rest on.
        assert len(answer.hits) <= 5 + len(answer.sub_questions)
        scores = [h.score for h in answer.hits]
        assert scores == sorted(scores, reverse=True)


def test_a_path_leads_from_matched_nodes_along_edges(searcher: Searcher, answers: dict[str, list[Answer]]) -> None:
    edges = {(r["source"], r["target"]) for b in searcher.snapshot.stage("edges").batches() for r in b.to_pylist()}
    nodes = [n for a in answers["qcg"] for n in a.path]
    assert any(n.hop == 1 for n in nodes)
    for node in nodes:
        assert (node.via is None) == (node.hop == 0)
        assert node.via is None or (node.via, node.query_id) in edges


def test_a_question_gets_the_same_answer_alone_as_in_a_batch(
    searcher: Searcher, answers: dict[str, list[Answer]]
) -> None:
    for n in (0, 4, 9):
        for name, recipe in ANSWERING.items():
            (alone,) = answer_questions(searcher, [questions_of(name)[n]], recipe, present=illustrated)
            assert alone == answers[name][n]


@pytest.mark.parametrize("question", ["?", "…", "the of and", "🚢🚢", "x" * 5000, "zyx'; DROP TABLE nodes --", "船"])
def test_a_strange_question_is_answered_or_not_found_by_every_recipe(searcher: Searcher, question: str) -> None:
    for recipe in ANSWERING.values():
        (answer,) = answer_questions(searcher, [Question(query_id="q", question=question)], recipe)
        assert answer.found == bool(answer.citations)


def test_a_batch_writes_the_same_answers_to_all_files(mini_web: Path, tmp_path: Path, quern_here: Quern) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text("\n".join(q.model_dump_json() for q in gold()[:12]))
    done = quern_here("answer", questions, "-w", mini_web, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    lines = [Answer.model_validate(x) for x in read_jsonl(tmp_path / "out" / "answers.jsonl")]
    rows = [Answer.model_validate(x) for x in pq.read_table(tmp_path / "out" / "answers.parquet").to_pylist()]
    assert [a.query_id for a in lines] == [q.query_id for q in gold()[:12]]
    assert rows == lines
    assert (tmp_path / "out" / "answers.csv").read_text("utf-8-sig").startswith("query_id,question,")
    assert json.loads(done.stdout) == {
        "questions": 12,
        "answered": sum(a.found for a in lines),
        "out": str(tmp_path / "out"),
    }
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.count("<article") == 12
    assert not [p.name for p in (tmp_path / "out").iterdir() if p.name.startswith(".")]


@pytest.mark.long
def test_a_killed_run_goes_on_and_writes_what_an_undisturbed_one_would(
    mini_web: Path, tmp_path: Path, quern_here: Quern
) -> None:
    nothing = [Question(query_id=f"n{n}", question=f"zzq{n}x zzq{n}y?") for n in range(BATCH_QUESTIONS - 5)]
    first, rest = [*gold()[:5], *nothing], gold()[5:9]
    out, undisturbed = tmp_path / "out", tmp_path / "undisturbed"
    common = ("-w", mini_web, "--recipe", "bm25", "--anew")
    command = [sys.executable, "-m", "quern.pipelines.cli", "answer", "-", *map(str, common), "--out", str(out)]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, cwd=ROOT) as process:
        # The first batch can be answered, and the next one never comes.
        process.stdin.write("".join(q.model_dump_json() + "\n" for q in [*first, *rest[:2]]))
        process.stdin.flush()
        wait_for(out / ".parts" / "000001.jsonl", process)
        process.kill()
    assert not (out / "answers.jsonl").exists()
    questions = tmp_path / "q.jsonl"
    questions.write_text("{oops\n" + "".join(q.model_dump_json() + "\n" for q in [*first, *rest]))
    counts = json.loads(quern_here("answer", questions, *common, "--out", out, "--json").stdout)
    assert (counts["questions"], counts["resumed"]) == (len(first) + len(rest), len(first))
    assert counts["rejected"] == {"malformed": 1}
    undisturbed_run = quern_here("answer", questions, *common, "--out", undisturbed, "--json")
    assert "resumed" not in json.loads(undisturbed_run.stdout)
    names = sorted(p.name for p in undisturbed.iterdir())
    assert names == ["answers.csv", "answers.jsonl", "answers.parquet", "index.html", "rejects.jsonl"]
    assert sorted(p.name for p in out.iterdir()) == names
    assert [n for n in names if (out / n).read_bytes() != (undisturbed / n).read_bytes()] == []


def wait_for(path: Path, process: subprocess.Popen[str], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.05)


def test_ask_shows_answer_citations_chunks_and_path(mini_web: Path, quern_here: Quern) -> None:
    asked = quern_here("ask", "-w", mini_web, "--recipe", "qcg", gold()[0].question)
    assert asked.returncode == 0, asked.stderr
    assert "[1]" in asked.stdout
    for heading in ("Path", "unk"):
        assert heading in asked.stdout
    as_json = quern_here("ask", "-w", mini_web, "--json", gold()[0].question)
    assert Answer.model_validate_json(as_json.stdout).found


def test_as_of_a_day_only_what_was_published_until_then_is_evidence(mini_web: Path, quern_here: Quern) -> None:
    cost = "What will the Tollen Bridge cost?"
    then = quern_here("ask", "-w", mini_web, "--as-of", "2024-01-31", "--json", cost)
    answer = Answer.model_validate_json(then.stdout)
    assert answer.as_of == date(2024, 1, 31)
    assert "52.9" in answer.answer
    assert max(h.published_at for h in answer.hits if h.published_at) < datetime(2024, 2, 1, tzinfo=UTC)
    asked = [
        {"query_id": "now", "question": cost},
        {"query_id": "then", "question": cost, "as_of": "2024-01-31"},
        {"query_id": "never", "question": cost, "as_of": "1900-01-01"},
        {"query_id": "month", "question": "What did the council decide last month?", "as_of": "2024-02-10"},
    ]
    now, again, never, month = quern.answer(asked, mini_web, as_of=date(2025, 8, 1))
    assert "60.8 million" in now.answer
    assert (again.sentences, again.as_of) == (answer.sentences, answer.as_of)
    assert (never.found, never.hits) == (False, [])
    assert "January 2024" in (month.asked or "")
    last_year = quern.ask("What fell last year?", mini_web, settings={"question.now": date(2001, 5, 1)})
    assert last_year.asked == "What fell last year (2000)?"


def test_a_snapshot_is_not_searched_with_another_model_than_its_own(searcher: Searcher) -> None:
    other = searcher.snapshot.manifest.model_copy(update={"model": "0" * 32})
    strange = Searcher(Snapshot(searcher.snapshot.warehouse, other), searcher.settings)
    with pytest.raises(ModelError, match="made with another model"):
        list(answer_questions(strange, gold()[:1], RECIPES["dense"]))


def test_the_model_that_wrote_the_queries_does_not_answer_unasked(searcher: Searcher) -> None:
    manifest = searcher.snapshot.manifest
    by_model = ["generator.kind=openai", "generator.model=writer"]
    written = load_settings(overrides=[*by_model, "answer.sentences=1"], base=manifest.known_settings())
    base = settings_to_ask_by(manifest.model_copy(update={"settings": written.model_dump()}))
    assert (base.generator.kind, base.answer.sentences) == ("rules", 1)
    assert load_settings(overrides=by_model, base=base).generator.kind == "openai"
