"""The formulae of citation precision and density."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quern.jobs.reasoning.citing.inputs import CitingInput
from tests.benchmarks.citations import JudgedClaim, benchmark_citations, counts, judged_claims, measures


def claim(right: dict[int, bool]) -> JudgedClaim:
    return JudgedClaim("q", CitingInput("said", []), [0, 0, 1, 2], right)


def test_precision_is_of_citations_and_density_of_claims() -> None:
    claims = [claim({0: True, 2: False}), claim({0: True}), claim({0: False}), claim({2: False})]
    # Two sentences of one text are one citation; text 1 of the second claim was not judged; the last cites nothing.
    of = counts(claims, [[1, 2], [1, 3], [2], []])
    precision, strict, density, supported = measures(of)
    assert precision == pytest.approx(2 / 3)
    assert strict == pytest.approx(2 / 4)
    assert density == pytest.approx(3 / 4)
    assert supported == 1.0


def test_claims_may_cite_texts_of_their_answer_and_of_other_questions(tmp_path: Path) -> None:
    rows = [
        ("Where?", "The mill stands in Orley [1].", ["[1] https://a.example\n\nThe mill stands in Orley."], "Complete"),
        ("Where?", "It grinds rye.", [], "Missing"),
        ("Who?", "Ada Thorne runs the mill.", ["[1] https://b.example\n\nAda Thorne runs the mill."], "Incomplete"),
        ("When?", "In May.", ["https://c.example"], "Complete"),
    ]
    folder = tmp_path / "expertqa_claims"
    folder.mkdir()
    named = [dict(zip(("question", "claim", "evidence", "support"), row, strict=True)) for row in rows]
    (folder / "claims.jsonl").write_text("\n".join(map(json.dumps, named)), "utf-8")
    claims = judged_claims(folder / "claims.jsonl")
    assert [(c.given.sentence, c.right) for c in claims] == [
        ("The mill stands in Orley.", {0: True, 1: False}),
        ("It grinds rye.", {1: False}),
        ("Ada Thorne runs the mill.", {0: False, 1: False}),
    ]
    figures = benchmark_citations(tmp_path)
    assert figures["rule: precision"] == 0.5
    assert figures["rule: density"] == pytest.approx(2 / 3)
