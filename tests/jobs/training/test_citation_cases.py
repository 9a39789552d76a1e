"""Cases of citing: how files are read, what supports a sentence, what is key information, and what leaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quern.jobs.reasoning.citing.task import Cited
from quern.jobs.tasks.runner import Done, Reasoner
from quern.jobs.training.citations import Case, key_words, labelled, read_cases, selection_pairs
from quern.jobs.training.pairs import DataError

SOURCES = [
    {"title": "Casterby", "text": "It had 8,340 inhabitants in 2021, and a market on Mondays."},
    {"title": "Casterby", "text": "The mayor, Ida Thorne, opened the market hall in nine weeks."},
    {"text": "The ferry sailed again on Wednesday."},
]


def cases(folder: Path, *rows: dict[str, object], held_out: object = None) -> list[Case]:
    file, held = folder / "cases.jsonl", folder / "claims.jsonl"
    file.write_text("".join(json.dumps({"sources": SOURCES, **row}) + "\n" for row in rows), "utf-8")
    held.write_text(json.dumps(held_out or {"question": "Which bird sings?"}), "utf-8")
    return read_cases([file], [held])


def test_the_rule_aligns_a_sentence_with_its_sources_where_nobody_said_what_supports_it(tmp_path: Path) -> None:
    rows = [
        {"sentence": "Casterby had 8340 inhabitants in 2021."},
        {"sentence": "Penguins breed in colonies of many birds."},
        {"sentence": "The town's leader inaugurated a hall.", "written_from": [2, 3]},
        {"sentence": "Penguins breed in colonies of many birds.", "supports": [3]},
    ]
    assert [case.supports for case in labelled(cases(tmp_path, *rows), Reasoner())] == [(1,), (), (2,), (3,)]


def test_a_teacher_says_what_supports_a_sentence_in_place_of_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    teacher = Reasoner()
    monkeypatch.setattr(teacher, "run", lambda task, inputs: [Done(Cited(sources=[3]), "openai") for _ in inputs])
    read = cases(tmp_path, {"sentence": "The town grew."}, {"sentence": "It has a market.", "supports": [1]})
    assert [case.supports for case in labelled(read, teacher)] == [(3,), (1,)]


def test_pairs_have_what_a_model_reads_and_leave_out_what_is_neither_support_nor_not(tmp_path: Path) -> None:
    rows = [
        {"question": "Who opened it?", "sentence": "Ida Thorne", "supports": [2]},
        {"sentence": "The market hall opened.", "supports": [2], "written_from": [1, 2]},
        {"sentence": "Nothing supports this.", "supports": []},
    ]
    pairs = selection_pairs(cases(tmp_path, *rows))
    assert [(p.question, p.text[:8], p.label) for p in pairs] == [
        ("Who opened it? Ida Thorne", "Casterby", "negative"),
        ("Who opened it? Ida Thorne", "Casterby", "positive"),
        ("Who opened it? Ida Thorne", "The ferr", "negative"),
        ("The market hall opened.", "Casterby", "positive"),
        ("The market hall opened.", "The ferr", "negative"),
    ]
    assert pairs[0].text == "Casterby\nIt had 8,340 inhabitants in 2021, and a market on Mondays."


def test_key_information_is_what_the_sources_have_or_what_is_marked(tmp_path: Path) -> None:
    sentence = "Casterby, a lovely town, had 8340 inhabitants in 2021."
    by_sources, marked = cases(
        tmp_path, {"sentence": sentence, "supports": [1]}, {"sentence": sentence, "key": ["Casterby", "2021"]}
    )

    def key(case: Case) -> dict[str, bool]:
        return {sentence[start:end]: is_key for start, end, is_key in key_words(case)}

    told = {"Casterby": True, "lovely": False, "town": False, "8340": True, "inhabitants": True, "2021": True}
    assert key(by_sources) == told
    assert key(marked) == told | {"8340": False, "inhabitants": False}


@pytest.mark.parametrize(
    "held_out",
    [
        {"claim": "the market opened"},
        {"question": "The market opened?"},
        {"question": "Who?", "evidence": ["[2] https://a.example\n\nNo news. The ferry sailed again, on Wednesday."]},
    ],
)
def test_a_case_with_a_claim_or_a_sentence_of_evidence_that_is_held_out_is_refused(
    held_out: object, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"1 cases of cases.jsonl leak from the held-out sets, as 'The market opened.'"):
        cases(tmp_path, {"sentence": "The market opened."}, held_out=held_out)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"sentence": "It rains.", "supports": [4]}, "line 1 is no sentence with its sources: there is no source 4"),
        ({"sentence": "It rains.", "sources": []}, "sentence or sources are empty"),
        ({"sentence": "It rains.", "key": ["snow"]}, "key information 'snow' is no part of the sentence"),
    ],
)
def test_a_row_that_is_no_case_is_refused_with_its_line(row: dict[str, object], told: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=told):
        cases(tmp_path, row)
