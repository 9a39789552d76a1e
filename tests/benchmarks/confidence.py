"""The model of confidence: fitted on all sets, and measured on each with that set left out of the fitting.

Its questions have evidence that is known to answer them, or not to. Of a warehouse's gold questions, those whose gold
documents are all among the best chunks are answered by them; those that nothing answers, and every question whose gold
documents are struck out of its evidence, are not.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from quern.jobs.models.reader import Reader
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.reading import reading_ahead
from quern.jobs.reasoning.confidence.judge import FILE, Features, features
from quern.pipelines.api.asking import searcher_of
from quern.pipelines.evaluation.bootstrap import area_under_roc, refused_at
from quern.pipelines.query import BATCH_QUESTIONS
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import Found, load_evidence
from quern.pipelines.retrieve.recipes import find_recipes
from quern.schemas.settings import AnswerSettings
from tests.benchmarks import Figures
from tests.benchmarks.logistic import Fit
from tests.conftest import CORPUS, read_jsonl

_REAL = 4.0  # What a question that nothing answers counts against one whose evidence was struck out.
_PRIOR = 0.8  # Share of answered questions among those that are asked: between the sample corpus (.9) and chance.
_EVIDENCE = 5
_SPARE = 10  # Chunks beyond, which stand in for those that are struck out.
_CHINESE_QUESTIONS = 200
_STORY_QUESTIONS = 300
_DATASETS = {"lihua": "lihua_world", "cmrc": "cmrc2018"}  # By the name of the warehouse.


@dataclass(frozen=True)
class Case:
    """A question with evidence."""

    set: str  # The set that it is of.
    given: AnswerInput  # The question and its evidence.
    answered: bool  # Whether the evidence answers it.
    real: bool  # Whether its evidence is what was found for it, and nothing of it was struck out.
    gold: tuple[str, ...] = ()  # Sentences or quotes that answer, where the set names them.


def plain(text: str) -> str:
    """Lower-case words with single spaces between them."""
    return re.sub(r"\W+", " ", text.lower()).strip()


def clapnq_cases(folder: Path) -> Iterator[Case]:
    """ClapNQ: each question with its passage, and the sentences that answer."""
    for name in ("answerable", "unanswerable"):
        for row in read_jsonl(folder / f"{name}.jsonl"):
            (passage,), output = row["passages"], row["output"][0]
            evidence = Evidence(passage["text"], passage["title"], [], [])
            gold = tuple(output.get("selected_sentences") or ())
            yield Case("clapnq", AnswerInput(row["input"], [evidence]), name == "answerable", real=True, gold=gold)


def _stories(folder: Path) -> Iterator[Case]:
    """A story's section with a question of it, and the question with another section of the story."""
    rows = read_jsonl(folder / "train.jsonl")
    chance = random.Random(0)
    chance.shuffle(rows)
    sections: dict[str, dict[str, str]] = {}
    for row in rows:
        sections.setdefault(row["story"], {})[row["section"]] = row["text"]
    for row in (r for r in rows[:_STORY_QUESTIONS] if r["explicit"]):
        answer = plain(row["answers"][0])
        given = AnswerInput(row["question"], [Evidence(row["text"], None, [], [])])
        yield Case("fairytaleqa", given, answered=True, real=True)
        others = [t for s, t in sections[row["story"]].items() if s != row["section"] and answer not in plain(t)]
        if others:
            given = AnswerInput(row["question"], [Evidence(chance.choice(others), None, [], [])])
            yield Case("fairytaleqa", given, answered=False, real=False)


@dataclass(frozen=True)
class _Gold:
    """A question of a warehouse: documents by key or address, any of which `aliases` alone may hold the answer."""

    question: str
    answer: str
    documents: frozenset[str]
    aliases: frozenset[str] = frozenset()
    quotes: tuple[str, ...] = ()
    null: bool = False


def _of_gold(name: str, folder: Path, gold: Sequence[_Gold]) -> Iterator[Case]:
    searcher = searcher_of(folder, {"retrieve.top_k": _EVIDENCE + _SPARE}, None)
    (recipe,) = find_recipes("bridge")
    evidence: list[Found] = []
    for start in range(0, len(gold), BATCH_QUESTIONS):
        batch = Batch(searcher, [g.question for g in gold[start : start + BATCH_QUESTIONS]])
        evidence += load_evidence(batch, recipe.rank(batch))
    for asked, found in zip(gold, evidence, strict=True):
        hits = [({h.doc_id, h.url}, e) for h, e in zip(found.hits, found.evidence, strict=True)]
        best = [e for _, e in hits[:_EVIDENCE]]
        if asked.null:
            yield Case(name, AnswerInput(asked.question, best), answered=False, real=True)
            continue
        if asked.documents <= set().union(*(keys for keys, _ in hits[:_EVIDENCE])):
            yield Case(name, AnswerInput(asked.question, best), answered=True, real=True, gold=asked.quotes)
        others = asked.documents | asked.aliases
        left = []
        for e in (e for keys, e in hits if not keys & others):
            # A chunk of another document may hold the answer too, word for word.
            text, answer = plain(e.text), plain(asked.answer)
            if not (len(answer) > 3 and answer in text) and not any(plain(q) in text for q in asked.quotes):
                left.append(e)
        yield Case(name, AnswerInput(asked.question, left[:_EVIDENCE]), answered=False, real=False)


def _of_warehouse(folder: Path, datasets: Path) -> Iterator[Case]:
    """The cases of a warehouse, whose folder is named after its questions' set."""
    name = folder.name
    if name in _DATASETS:
        rows = read_jsonl(datasets / _DATASETS[name] / "queries.jsonl")
        if name == "cmrc":
            random.Random(0).shuffle(rows)
            del rows[_CHINESE_QUESTIONS:]
        gold = [
            _Gold(r["question"], r["answer"], frozenset(r["evidence_doc_ids"]), null=r.get("type") == "Null")
            for r in rows
        ]
        return _of_gold(name, folder, [g for g in gold if g.null or g.documents])
    place = CORPUS if name == "demo" else CORPUS / "domains" / name
    gold = [
        _Gold(
            r["question"],
            str(r.get("answer", "")),
            frozenset(r["evidence_urls"]),
            frozenset(r.get("also_urls", ())),
            tuple(r.get("evidence_quotes", ())),
            r["type"] == "null",
        )
        for r in read_jsonl(place / "questions.jsonl")
    ]
    return _of_gold(name, folder, gold)


def benchmark_confidence(datasets: Path, warehouses: Sequence[Path], *, fit: bool = False) -> Figures:
    """Figures of each set held out; with `fit` the model of all sets is written into the package.

    Args:
        datasets: Folder of the datasets.
        warehouses: Builds of the sets that have documents, known by the names of their folders: `pumps`, `computing`,
            `demo` (the sample corpus), `lihua` and `cmrc`.
        fit: Whether the model is written.
    """
    reader = Reader.load()
    every = [*clapnq_cases(datasets / "clapnq"), *_stories(datasets / "fairytaleqa")]
    every += [case for folder in warehouses for case in _of_warehouse(folder, datasets)]
    given = [replace(c, given=replace(c.given, reader=reader, windows=AnswerSettings().windows)) for c in every]
    seen = [features(one) for one in reading_ahead([c.given for c in given])]
    values = np.array([[getattr(f, name) for name in Features._fields] for f in seen])
    answered = np.array([c.answered for c in given])
    sets = np.array([c.set for c in given])
    # Each set counts alike, its answered questions `_PRIOR` of it; real ones count more than struck out.
    weight = np.array([_REAL if c.real and not c.answered else 1.0 for c in given])
    for name in np.unique(sets):
        for truth, share in ((True, _PRIOR), (False, 1 - _PRIOR)):
            mine = (sets == name) & (answered == truth)
            weight[mine] *= 300 * share / weight[mine].sum()
    figures: Figures = {}
    for name in np.unique(sets):
        mine = sets == name
        held_out = Fit.of(values[~mine], answered[~mine], weight[~mine])
        probability, truths = held_out.probabilities(values[mine]), answered[mine].astype(np.float64)
        figures[f"{name} auroc"] = area_under_roc(probability, truths)
        figures[f"{name} refused at 8 % false refusals"] = refused_at(probability, truths)
    if fit:
        model = Fit.of(values, answered, weight).model(Features._fields)
        FILE.write_text(json.dumps(model, indent=2) + "\n", encoding="utf-8")
    return figures
