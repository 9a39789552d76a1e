"""The model of confidence: fitted on all sets, and measured on each with that set left out of the fitting.

Its questions have evidence that is known to answer them, or not to. Of a warehouse's gold questions, those whose gold
documents are all among the best chunks are answered by them; those that nothing answers, and every question whose gold
documents are struck out of its evidence, are not.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from quern.jobs.models.reader import Reader
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.reading import reading_ahead
from quern.jobs.reasoning.confidence.judge import FILE, Features, features
from quern.pipelines.api.asking import searcher_of
from quern.pipelines.evaluation.bootstrap import area_under_roc, calibration_error
from quern.pipelines.query import BATCH_QUESTIONS
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import Found, load_evidence
from quern.pipelines.retrieve.recipes import find_recipes
from quern.schemas.settings import AnswerSettings
from tests.benchmarks.logistic import Fit, Floats
from tests.conftest import CORPUS, read_jsonl

FALSE_REFUSALS = 0.08
_REAL = 4.0  # What a question that nothing answers counts against one whose evidence was struck out.
_PRIOR = 0.8  # Share of answered questions among those that are asked: between the sample corpus (.9) and chance.
_EVIDENCE = 5
_SPARE = 10  # Chunks beyond, which stand in for those that are struck out.
_CHINESE_QUESTIONS = 200
_STORY_QUESTIONS = 300


@dataclass(frozen=True)
class Case:
    """A question with evidence."""

    set: str  # The set that it is of.
    given: AnswerInput  # The question and its evidence.
    answered: bool  # Whether the evidence answers it.
    real: bool  # Whether its evidence is what was found for it, and nothing of it was struck out.
    gold: tuple[str, ...] = ()  # Sentences or quotes that answer, where the set names them.


def cases(datasets: Path, warehouses: Sequence[Path]) -> list[Case]:
    """The cases of all sets whose data is at hand; a warehouse is known by the name of its folder."""
    every = [*clapnq_cases(datasets / "clapnq"), *_stories(datasets / "fairytaleqa")]
    for folder in warehouses:
        every += _OF_WAREHOUSE[folder.name](folder, datasets)
    return every


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
        yield Case("fairytaleqa", _story(row["question"], row["text"]), answered=True, real=True)
        others = [t for s, t in sections[row["story"]].items() if s != row["section"] and answer not in plain(t)]
        if others:
            yield Case("fairytaleqa", _story(row["question"], chance.choice(others)), answered=False, real=False)


def _story(question: str, text: str) -> AnswerInput:
    return AnswerInput(question, [Evidence(text, None, [], [])])


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


def _corpus(folder: Path, _: Path) -> Iterator[Case]:
    """The sample corpus, or a visible domain of `tests/corpus/domains` by the name of the folder."""
    place = CORPUS if folder.name == "demo" else CORPUS / "domains" / folder.name
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
    return _of_gold(folder.name, folder, gold)


def _of_row(row: dict[str, Any]) -> _Gold:
    null = row.get("type") == "Null"
    return _Gold(row["question"], row["answer"], frozenset(row["evidence_doc_ids"]), null=null)


def _lihua(folder: Path, datasets: Path) -> Iterator[Case]:
    gold = map(_of_row, read_jsonl(datasets / "lihua_world" / "queries.jsonl"))
    return _of_gold("lihua", folder, [g for g in gold if g.null or g.documents])


def _musique(folder: Path, datasets: Path) -> Iterator[Case]:
    """The questions of several hops, and their single steps as questions of their own."""
    rows = read_jsonl(datasets / "musique_train100" / "queries.jsonl")
    yield from _of_gold("musique", folder, [_of_row(r) for r in rows])
    steps = []
    for row in rows:
        answers = [step["answer"] for step in row["decomposition"]]
        for step, document in zip(row["decomposition"], row["evidence_doc_ids"], strict=False):
            question = re.sub(r"#(\d)", lambda m, known=answers: known[int(m[1]) - 1], step["question"])
            if ">>" not in question and len(answers) == len(row["evidence_doc_ids"]):
                steps.append(_Gold(question, step["answer"], frozenset({document})))
    yield from _of_gold("musique steps", folder, steps)


def _cmrc(folder: Path, datasets: Path) -> Iterator[Case]:
    rows = read_jsonl(datasets / "cmrc2018" / "queries.jsonl")
    random.Random(0).shuffle(rows)
    return _of_gold("cmrc", folder, [_of_row(r) for r in rows[:_CHINESE_QUESTIONS]])


_OF_WAREHOUSE = {
    "pumps": _corpus,
    "computing": _corpus,
    "demo": _corpus,
    "lihua": _lihua,
    "musique": _musique,
    "cmrc": _cmrc,
}


def benchmark_confidence(datasets: Path, warehouses: Sequence[Path], *, fit: bool = False) -> dict[str, float]:
    """Figures of each set held out; with `fit` the model of all sets is written into the package."""
    reader = Reader.load()
    given = [
        replace(c, given=replace(c.given, reader=reader, windows=AnswerSettings().windows))
        for c in cases(datasets, warehouses)
    ]
    seen = [features(one) for one in reading_ahead([c.given for c in given])]
    values = np.array([[getattr(f, name) for name in Features._fields] for f in seen])
    answered = np.array([c.answered for c in given])
    sets = np.array([c.set.split()[0] for c in given])
    # Each set counts alike, its answered questions `_PRIOR` of it; real ones count more than struck out. Questions of
    # several hops are measured and not fitted to: they are answered from those of their parts.
    weight = np.array([_REAL if c.real and not c.answered else 1.0 for c in given])
    keys = np.array([f"{c.set} {c.answered}" for c in given])
    for key in np.unique(keys):
        weight[keys == key] *= 300 * (_PRIOR if key.endswith("True") else 1 - _PRIOR) / weight[keys == key].sum()
    weight[[c.set == "musique" for c in given]] = 0.0
    held_out = np.zeros(len(given))
    for name in np.unique(sets):
        others = sets != name
        held_out[~others] = Fit.of(values[others], answered[others], weight[others]).probabilities(values[~others])
    if fit:
        Fit.of(values, answered, weight).write(FILE, Features._fields)
    return _figures(given, held_out)


def _figures(given: Sequence[Case], probabilities: Floats) -> dict[str, float]:
    figures: dict[str, float] = {}
    names = np.array([c.set for c in given])
    answered, real = np.array([c.answered for c in given]), np.array([c.real for c in given])
    for name in np.unique(names):
        for kind, negatives in (("", real & ~answered), (" struck", ~real & ~answered)):
            mine = (names == name) & (answered | negatives)
            if not (mine & negatives).any():
                continue
            p, truth = probabilities[mine], answered[mine]
            threshold = np.quantile(p[truth], FALSE_REFUSALS)
            figures |= {
                f"{name}{kind} auroc": area_under_roc(p, truth),
                f"{name}{kind} refused": float((p[~truth] < threshold).mean()),
                f"{name}{kind} threshold": float(threshold),
                f"{name}{kind} ece": calibration_error(p, truth),
            }
    return figures
