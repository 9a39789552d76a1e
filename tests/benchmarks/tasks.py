"""Each step that a model may take over, by its rule and by a model, on small sets of the sample corpus.

The items are questions of `tests/corpus/questions.jsonl` with the chunk that holds their first quote, every other one
with what belongs to another question; prompts of `tests/corpus/refusal.jsonl`; and chunks.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from quern.indexes.catalog import Warehouse
from quern.jobs.queries.task import ChunkContext, doc2query
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.reasoning.entailment.task import entailment_task
from quern.jobs.reasoning.judging.gold import gold_task
from quern.jobs.reasoning.judging.inputs import JudgeInput, Statement
from quern.jobs.reasoning.questions.decompose import DECOMPOSE
from quern.jobs.reasoning.questions.refusal import refusal_task
from quern.jobs.sources.evidence import SCORE, Weighed, probability_by_rule
from quern.jobs.tasks.prompts import QuestionInput
from quern.jobs.tasks.runner import Reasoner
from quern.jobs.tasks.task import Task
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import GeneratorSettings, Settings
from quern.schemas.settings.reading import load_settings
from tests.benchmarks.refusal import own_prompts

_QUESTIONS: Final = Path(__file__).parents[1] / "corpus" / "questions.jsonl"
_PAIRS: Final = 5

Case = tuple[Any, Callable[[Any], float]]
"""An input of a task, and what an output is worth, from 0 to 1."""


def benchmark_tasks(
    warehouse: Path, changes: Sequence[str], only: Sequence[str] = (), count: int = 12
) -> dict[str, float]:
    """Of each task its worth by the rule and by the model, and seconds an input.

    Args:
        warehouse: One built of the sample corpus.
        changes: Settings, as `--set` takes them; a generator among them is the model.
        only: Names of tasks; all by default.
        count: Inputs of each task.
    """
    settings = load_settings(overrides=list(changes))
    figures: dict[str, float] = {}
    for name, (task, cases) in _tasks(warehouse, settings, Embedder.load(settings.embed), count).items():
        if only and name not in only:
            continue
        for kind, generator in (("rule", GeneratorSettings()), ("model", settings.generator)):
            if kind == "model" and generator.kind == "rules":
                continue
            with Reasoner(generator) as reasoner:
                reasoner.run(task, [cases[0][0]])  # Loads what it takes.
                started = time.monotonic()
                done = reasoner.run(task, [given for given, _ in cases])
                figures[f"{name}, {kind}, seconds"] = (time.monotonic() - started) / len(cases)
            worth = [value(one.output) for (_, value), one in zip(cases, done, strict=True)]
            figures[f"{name}, {kind}"] = sum(worth) / len(cases)
            if kind == "model":
                figures[f"{name}, rule stood in"] = sum(one.by == "rules" for one in done)
            print(f"{name}, {kind}: {figures[f'{name}, {kind}']:.2f}", file=sys.stderr, flush=True)
    return figures


def _tasks(
    warehouse: Path, settings: Settings, embedder: Embedder, count: int
) -> dict[str, tuple[Task[Any, Any], list[Case]]]:
    questions = [json.loads(line) for line in _QUESTIONS.read_text("utf-8").splitlines()]
    answerable = [q for q in questions if q["type"] == "single"][:count]
    chunks = _chunks(warehouse)
    found = {q["query_id"]: _holding(chunks, q["evidence_quotes"][0]) for q in answerable}
    # Every other question is given what belongs to the next one.
    shown = [(q, answerable[(n + n % 2) % len(answerable)], n % 2 == 0) for n, q in enumerate(answerable)]
    return {
        "refusal": (refusal_task(settings.question, embedder.encode), _refusals(count)),
        "decompose": (DECOMPOSE, _decompositions(questions, count)),
        "entail": (entailment_task(), [_entailed(q, other, found, right) for q, other, right in shown]),
        "source_score": (SCORE, [_scored(q, found[(q if r else o)["query_id"]], embedder, r) for q, o, r in shown]),
        "judge_gold": (gold_task(), [_judged(q, other, right) for q, other, right in shown]),
        "doc2query": (doc2query(_PAIRS), [_pairs(chunk) for chunk in chunks[:: max(1, len(chunks) // count)][:count]]),
    }


def _chunks(warehouse: Path) -> list[dict[str, Any]]:
    stage = Warehouse.open(warehouse).snapshot().stage("chunks")
    return [row for batch in stage.batches(["chunk_id", "text", "title"]) for row in batch.to_pylist()]


def _holding(chunks: Sequence[dict[str, Any]], quote: str) -> dict[str, Any]:
    return next((chunk for chunk in chunks if quote in chunk["text"]), chunks[0])


def _refusals(count: int) -> list[Case]:
    prompts = own_prompts()
    rude, plain = ([p for p, category in prompts if bool(category) is wanted] for wanted in (True, False))
    mixed = zip(rude[:: len(rude) // count], cycle([True])), zip(plain[:: len(plain) // count], cycle([False]))
    chosen = [case for pair in zip(*mixed, strict=False) for case in pair][:count]
    return [(QuestionInput(text), lambda o, bad=bad: float((o.category is not None) == bad)) for text, bad in chosen]


def _decompositions(questions: Sequence[dict[str, Any]], count: int) -> list[Case]:
    """Whether a question of several parts is taken apart, and one of one part is not."""
    of = {t: [q for q in questions if q["type"] == t][: count // 2] for t in ("multi", "single")}
    return [
        (QuestionInput(q["question"]), lambda o, many=q["type"] == "multi": float(o.is_complex == many))
        for q in of["multi"] + of["single"]
    ]


def _entailed(q: dict[str, Any], other: dict[str, Any], found: dict[str, Any], right: bool) -> Case:
    passage = found[q["query_id"]]
    statement = q["answer"] if right else other["answer"]
    given = EntailmentInput(statement, [Passage(passage["text"], passage["title"] or "")], q["question"])
    return given, lambda o: float(o.entailed == right)


def _scored(q: dict[str, Any], passage: dict[str, Any], embedder: Embedder, right: bool) -> Case:
    question, text = embedder.encode([q["question"], passage["text"]])
    shown = Evidence(passage["text"], passage["title"], [passage["text"]], [float(question @ text)])
    given = AnswerInput(q["question"], [shown])
    return Weighed(given, probability_by_rule(given)), lambda o: float(o.answers == right)


def _judged(q: dict[str, Any], other: dict[str, Any], right: bool) -> Case:
    said = (q if right else other)["evidence_quotes"][0]
    return JudgeInput(q["question"], [Statement(said)], [q["answer"]]), lambda o: float(o.right == int(right))


def _pairs(chunk: dict[str, Any]) -> Case:
    """The share of the pairs asked for that came, each of which its check found to be grounded and to stand alone."""
    return ChunkContext(chunk["text"], chunk["title"]), lambda o: len(o.pairs) / _PAIRS
