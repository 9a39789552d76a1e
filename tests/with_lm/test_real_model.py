"""A real language model of 135 million parameters, in this process: `make test-torch` runs all of it.

What it says is not pinned: only that it is heard, held to its schema, checked, and never taken for more than it is.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import quern
from quern.indexes.catalog import Warehouse
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.entailment.inputs import Passage
from quern.jobs.reasoning.judging.inputs import JudgeInput, Statement
from quern.jobs.tasks.generators.contract import Request
from quern.jobs.tasks.generators.gguf import GgufBackend
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.build.whole import build
from quern.pipelines.judging.judges import Judge, judgements
from quern.schemas.settings import AnswerSettings, GeneratorSettings
from quern.schemas.settings.reading import load_settings
from tests.tiny_models import small_language_model

whole = pytest.mark.skipif("QUERN_TEST_LM" not in os.environ, reason="takes minutes: make test-torch")

REPAIR = "The quay wall was mended in May. The repair cost 740,000 crowns. Mayor Anna Berg thanked the masons."
FACT = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 80}},
    "required": ["answer"],
    "additionalProperties": False,
}

pytestmark = pytest.mark.torch


def local(**settings: Any) -> GeneratorSettings:
    model = str(small_language_model())
    return GeneratorSettings(kind="local", model=model, **{"max_tokens": 200, "retries": 1, **settings})


def test_the_packaged_model_reads_a_fact_in_json() -> None:
    backend = GgufBackend(local(max_tokens=32))
    backend.prepare()
    asked = f'{REPAIR}\n\nHow much did the repair cost? Return JSON: {{"answer": "..."}}'
    [reply] = backend.replies(iter([Request(0, ({"role": "user", "content": asked},))]), FACT)
    assert reply.error == ""
    assert "740,000" in reply.text
    assert reply.cut_off or set(json.loads(reply.text)) == {"answer"}


@whole
def test_it_answers_from_evidence_or_the_rule_stands_in() -> None:
    evidence = [Evidence(REPAIR, "The quay", ["How much did the repair cost? The repair cost 740,000 crowns."], [0.9])]
    inputs = [AnswerInput(q, evidence) for q in ("How much did the repair cost?", "Who thanked the masons?")]
    with Reasoner(local()) as reasoner:
        done = reasoner.run(answer_task(AnswerSettings()), inputs)
    assert [one.by in ("local", "rules") for one in done] == [True, True]
    assert not {p.reason for one in done for p in one.problems} & {"no_reply", "malformed"}


@whole
def test_as_a_judge_it_keeps_to_the_scale_or_is_rejected_and_says_the_same_again(tmp_path: Path) -> None:
    given = JudgeInput(
        *("How much did the repair cost?", [Statement("It cost 740,000 crowns.", [0])], ("740,000 crowns",)),
        evidence=[Passage(REPAIR)],
    )
    said = []
    for _ in range(2):
        with Reasoner(local(max_tokens=96, retries=0), memo=tmp_path) as reasoner:
            said.append([judgements(reasoner, Judge(name), [given])[0] for name in ("gold", "clarity")])
    for judgement, most in zip(said[0], (1, 10), strict=True):
        assert judgement.value is None or 0 <= judgement.value <= most
        assert judgement.by == "local" or set(judgement.rejected) & {
            "out_of_range",
            "wrong_sum",
            "malformed",
            "cut_off",
        }
    kept = [n for n, judgement in enumerate(said[0]) if judgement.by == "local"]
    assert [said[0][n] for n in kept] == [said[1][n] for n in kept]


@whole
def test_a_whole_build_whose_queries_it_writes(tmp_path: Path) -> None:
    pages = tmp_path / "mills.jsonl"
    texts = [
        f"The mill of Ostra number {n} was built in {1700 + n} by Greta Holm. It grinds rye for {n + 3} villages."
        for n in range(4)
    ]
    pages.write_text("".join(json.dumps({"doc_id": f"mill-{n}", "text": t}) + "\n" for n, t in enumerate(texts)))
    chosen = {"kind": "local", "model": small_language_model(), "max_tokens": 64, "retries": 0}
    overrides = ["engine.engine=local", "doc2query.pairs=3", *(f"generator.{k}={v}" for k, v in chosen.items())]
    # So small a model has little to say that stands in the passage: an audit as strict as usual would refuse the build.
    settings = load_settings(overrides=[*overrides, "filter.alpha=1", "audit.max_reject_share=1"])
    warehouse = Warehouse.create(tmp_path / "warehouse")
    manifest = build(pages, warehouse, settings)
    report = next(job for job in manifest.jobs if job["job"] == "doc2query")
    assert (report["engine"], report["notes"]["requests"]) == ("local", 4)
    rows = [row for batch in warehouse.snapshot().stage("queries").batches() for row in batch.to_pylist()]
    assert all(row["answer"].strip() and row["question"].strip() for row in rows)
    done = {row["chunk_id"] for row in rows}
    questions = ["Who built the mill of Ostra number 3?", "What does the mill of Ostra grind?"]
    answers = list(quern.answer(questions, warehouse, settings=settings))
    assert all(one.by in ("local", "rules") for one in answers)
    assert all(one.answer.strip() for one in answers)
    again = build(pages, warehouse, settings)
    report = next(job for job in again.jobs if job["job"] == "doc2query")
    assert report["notes"].get("requests", 0) == 4 - len(done), "what was validated is not asked for again"
