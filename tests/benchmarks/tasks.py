"""Each step that a model may take over, by its rule and by a model, on small sets of the sample corpus.

The items are questions of `tests/corpus/questions.jsonl` with the chunk that holds their first quote, every other one
with what belongs to another question; prompts of `tests/corpus/refusal.jsonl`; and chunks.
"""

from __future__ import annotations

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
from tests.conftest import CORPUS, read_jsonl

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
    questions = read_jsonl(CORPUS / "questions.jsonl")
    of = {kind: [q for q in questions if q["type"] == kind] for kind in ("single", "multi")}
    answerable = of["single"][:count]
    stage = Warehouse.open(warehouse).snapshot().stage("chunks")
    chunks = [row for batch in stage.batches(["chunk_id", "text", "title"]) for row in batch.to_pylist()]
    entailed, scored, judged = list[Case](), list[Case](), list[Case]()
    for n, q in enumerate(answerable):
        # Every other question is given what belongs to the next one.
        other, right = answerable[(n + n % 2) % len(answerable)], n % 2 == 0
        chunk, elsewhere = (
            next((c for c in chunks if one["evidence_quotes"][0] in c["text"]), chunks[0]) for one in (q, other)
        )
        statement, passage = (q if right else other)["answer"], Passage(chunk["text"], chunk["title"] or "")
        entailed.append((EntailmentInput(statement, [passage], q["question"]), _is("entailed", right)))
        shown = chunk if right else elsewhere
        question, text = embedder.encode([q["question"], shown["text"]])
        evidence = Evidence(shown["text"], shown["title"], [shown["text"]], [float(question @ text)])
        given = AnswerInput(q["question"], [evidence])
        scored.append((Weighed(given, probability_by_rule(given)), _is("answers", right)))
        said = Statement((q if right else other)["evidence_quotes"][0])
        judged.append((JudgeInput(q["question"], [said], [q["answer"]]), _is("right", int(right))))
    # Whether a question of several parts is taken apart, and one of one part is not.
    parts = [
        (QuestionInput(q["question"]), _is("is_complex", kind == "multi"))
        for kind in ("multi", "single")
        for q in of[kind][: count // 2]
    ]
    return {
        "refusal": (refusal_task(settings.question, embedder.encode), _refusals(count)),
        "decompose": (DECOMPOSE, parts),
        "entail": (entailment_task(), entailed),
        "source_score": (SCORE, scored),
        "judge_gold": (gold_task(), judged),
        # The share of the pairs asked for that came, each grounded and able to stand alone by the task's own check.
        "doc2query": (
            doc2query(_PAIRS),
            [
                (ChunkContext(chunk["text"], chunk["title"]), lambda o: len(o.pairs) / _PAIRS)
                for chunk in chunks[:: max(1, len(chunks) // count)][:count]
            ],
        ),
    }


def _is(name: str, wanted: object) -> Callable[[Any], float]:
    """1 for outputs whose field `name` is `wanted`, else 0."""
    return lambda output: float(getattr(output, name) == wanted)


def _refusals(count: int) -> list[Case]:
    """Prompts to refuse and others in turn."""
    prompts = own_prompts()
    rude, plain = ([p for p, category in prompts if bool(category) is wanted] for wanted in (True, False))
    mixed = zip(rude[:: len(rude) // count], cycle([True])), zip(plain[:: len(plain) // count], cycle([False]))
    chosen = [case for pair in zip(*mixed, strict=False) for case in pair][:count]
    return [(QuestionInput(text), lambda o, bad=bad: float((o.category is not None) == bad)) for text, bad in chosen]
