"""`quern judge`: files of answers in, figures with people's agreement out; a model's replies are checked and kept."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from quern.pipelines.judging.judges import JUDGES, OPINIONS, Judge
from quern.pipelines.judging.people import known, packaged, read_people
from quern.pipelines.judging.rows import JudgeError, statements_of
from tests.conftest import Quern, read_jsonl
from tests.jobs.tasks.generators.endpoint_server import MODEL, Said, Serve
from tests.pipelines.answers.views.sample_answers import ANSWERS

ROWS: list[dict[str, Any]] = [
    {
        "id": "q1",
        "query": "What did the repair cost?",
        "response": "The repair cost 740,000 crowns. [1]",
        "gt_answer": "740,000 crowns",
        "docs": [{"title": "The quay", "text": "The repair of the quay wall cost 740,000 crowns."}],
    },
    {
        "id": "q2",
        "query": "Who mended the wall?",
        "response": "Anna Berg mended the wall in 9 weeks <script>document.title='ran'</script>.",
        "gt_answer": ["the masons", "masons of Averil"],
        "contexts": ["The wall was mended by the masons of Averil."],
    },
    {"id": "q3", "question": "Who paid?", "output": "", "answer": ""},
]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def prompt(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"])


def test_answers_of_another_system_are_judged_by_the_names_that_it_gives(tmp_path: Path, quern_here: Quern) -> None:
    file, out = written(tmp_path / "answers.jsonl", ROWS), tmp_path / "out"
    with file.open("a") as lines:
        lines.write('{"id": "q1", "query": "Again?", "response": "x"}\n{"query": "Who?"}\nno json\n')
        lines.write('{"query": "Who \\ud800?", "response": "x"}\n{"query": "Who?", "response": {"text": "x"}}\n')
    done = quern_here("judge", file, "--out", out)
    assert done.returncode == 0, done.stderr
    judged = {row["query_id"]: row["judgements"] for row in read_jsonl(out / "judgements.jsonl")}
    assert {q: j["gold"]["value"] for q, j in judged.items()} == {"q1": 1.0, "q2": 0.0, "q3": 1.0}
    assert [r["reason"] for r in read_jsonl(out / "rejects.jsonl")] == [
        *("duplicate", "missing", "malformed", "not_text", "missing")
    ]
    assert "gold               0.667 [" in done.stdout
    assert re.search(r"comprehensiveness .* 0\.\d\d \[0\.\d\d, 0\.\d\d\] in completeness, \d+ pairs", done.stdout)
    assert "conciseness, numerical_precision, relevance, factuality, timeliness, clarity" in done.stdout
    page = (out / "index.html").read_text("utf-8")
    assert "<script" not in page
    assert page.count("<svg") == 2


def test_what_quern_answers_is_read_and_gold_answers_of_a_file_go_before(
    tmp_path: Path, quern_here: Quern, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(answer.model_dump_json() + "\n" for answer in ANSWERS)
    found = next(a for a in ANSWERS if a.found)
    gold = {"query_id": found.query_id, "question": found.question, "answer": "x", "answer_aliases": [found.short]}
    questions = written(tmp_path / "questions.jsonl", [gold])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    done = quern_here("judge", "-", "--questions", questions, "--out", tmp_path, "--json", "--judges", "gold")
    assert done.returncode == 0, done.stderr
    judged = {row["query_id"]: row["judgements"] for row in read_jsonl(tmp_path / "judgements.jsonl")}
    assert judged[found.query_id]["gold"]["value"] == 1.0
    assert json.loads(done.stdout)["answers"] == len(ANSWERS)


def test_of_two_files_the_answers_nearer_to_the_gold_answer_are_preferred(tmp_path: Path, quern_here: Quern) -> None:
    mine, theirs = written(tmp_path / "mine.jsonl", ROWS[:2]), [{**ROWS[0], "response": "It cost a lot."}]
    other = written(tmp_path / "other.jsonl", theirs)
    done = quern_here("judge", mine, "--against", other, "--out", tmp_path, "--json")
    tree = json.loads(done.stdout)
    overall = tree["judges"]["prefer_overall"]
    assert (overall["better"], overall["alike"], overall["worse"], overall["answers"]) == (1, 0, 0, 1)
    assert overall["agreement"]["value"] >= 0.75
    assert tree["without_counterpart"] == 1


def test_a_model_that_says_11_of_10_or_nonsense_is_not_believed_and_what_is_believed_is_remembered(
    tmp_path: Path, quern_here: Quern, serve: Serve
) -> None:
    def script(number: int, body: dict[str, Any]) -> Said:
        if "whether the answer says all that belongs" in prompt(body):
            return Said(json.dumps({"issues": [], "calculation": "10 + 1", "score": 11}))
        if "whether a reader understands" in prompt(body):
            return Said("It is lovely, ten out of ten!")
        return Said(json.dumps({"issues": ["too short"], "calculation": "10 - 1", "score": 9}))

    endpoint, file = serve(script), written(tmp_path / "answers.jsonl", ROWS)
    names = "comprehensiveness,clarity,coherence"
    arguments = ("judge", file, "--out", tmp_path / "out", "--judges", names, *endpoint.options())
    done = quern_here(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    judged = read_jsonl(tmp_path / "out" / "judgements.jsonl")[0]["judgements"]
    assert judged["comprehensiveness"]["by"] == "rules"
    assert judged["comprehensiveness"]["rejected"] == ["out_of_range"]
    assert judged["clarity"] == {"value": None, "by": "rules", "rejected": ["malformed"]}
    assert judged["coherence"] == {"value": 9.0, "by": "openai", "reason": "10 - 1", "issues": ["too short"]}
    told = "\n".join(json.loads(done.stdout)["warnings"])
    assert f"coherence: not scored against people, as openai {MODEL}" in told
    assert "clarity: replies that could not be used (malformed 2); they are not judged" in told
    assert "comprehensiveness: replies that could not be used (out_of_range 2); the rule judged 2 of them" in told
    assert not any("Who paid?" in prompt(body) for body in endpoint.asked), "there is no answer to judge"
    before = len(endpoint.asked)
    assert quern_here(*arguments).returncode == 0
    assert not any("contradicts another" in prompt(body) for body in endpoint.asked[before:])


def test_a_model_that_prefers_a_place_and_not_an_answer_is_found_out_and_scored_against_people(
    tmp_path: Path, quern_here: Quern, serve: Serve
) -> None:
    endpoint = serve(lambda number, body: Said(json.dumps({"reason": "the first", "preference": -1})))
    question = {"question": "Who paid?", "gold_answer": "The harbour."}
    people = written(
        tmp_path / "people.jsonl",
        [{**question, "first": "The harbour.", "second": f"Mayor {n}.", "overall": -2 + n % 5} for n in range(10)],
    )
    mine = written(tmp_path / "mine.jsonl", ROWS[:1])
    other = written(tmp_path / "other.jsonl", [{**ROWS[0], "response": "It cost a lot."}])
    done = quern_here(
        *("judge", mine, "--against", other, "--out", tmp_path / "out", "--judges", "prefer_overall", "--json"),
        *("--people", people, *endpoint.options()),
    )
    assert done.returncode == 0, done.stderr
    tree = json.loads(done.stdout)
    judge = tree["judges"]["prefer_overall"]
    assert (judge["figure"], judge["agreement"]["value"], judge["agreement"]["bias"]) == (0.0, 0.5, 1.0)
    assert judge["agreement"]["set"] == "people"
    told = "\n".join(tree["warnings"])
    assert "may be chance" in told
    assert "in 100% of the pairs the place of an answer decided" in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere.jsonl"], "answers nowhere.jsonl cannot be read: No such file or directory"),
        (["empty.jsonl"], "answers empty.jsonl: it is empty; each line must be like"),
        (["one.jsonl", "--judges", "beauty"], "there is no judge 'beauty'; there are: gold, conciseness"),
        (["one.jsonl", "--judges", "clarity"], "no rule can judge clarity: name a model"),
        (["one.jsonl", "--judges", "prefer_overall"], "name the file of the others with --against"),
        (["one.jsonl", "--people", "one.jsonl"], "one.jsonl:1: it is no pair"),
    ],
)
def test_errors_say_what_to_do(
    arguments: list[str], told: str, tmp_path: Path, quern_here: Quern, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    written(tmp_path / "one.jsonl", ROWS[:1])
    done = quern_here("judge", *arguments, "--out", "out")
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_labels_that_are_no_steps_and_marks_of_no_document_are_not_taken(tmp_path: Path) -> None:
    assert [list(s.cites) for s in statements_of(f"Yes [{'9' * 5000}], it is [2].")] == [[1]]
    pair = {"question": "Who?", "gold_answer": "I.", "first": "I.", "second": "You."}
    for label in (float("nan"), 10**400):
        with pytest.raises(JudgeError, match="it is no pair"):
            read_people(written(tmp_path / "people.jsonl", [pair | {"overall": label}]))


def test_the_figures_of_agreement_are_of_the_judges_as_they_are() -> None:
    measured = {(a.judge, a.version) for a in packaged()}
    assert measured == {(j.name, j.task.version) for j in map(Judge, JUDGES) if j.name not in OPINIONS}
    best = known((), Judge("prefer_overall"), "rules")
    assert best is not None
    assert best.value >= 0.75 > best.low > 0.5
    assert known((), Judge("prefer_overall"), "openai little-model") is None


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_report_fits_and_is_accessible(tmp_path: Path, quern_here: Quern, width: int, scheme: str) -> None:
    from tests.pipelines.answers.views.test_report_in_browser import shown

    file = written(tmp_path / "answers.jsonl", ROWS)
    other = written(tmp_path / "other.jsonl", [{**row, "response": "It rained."} for row in ROWS])
    assert quern_here("judge", file, "--against", other, "--out", tmp_path).returncode == 0
    with shown(tmp_path / "index.html", width, scheme) as page:
        assert page.locator("svg").count() >= 3
