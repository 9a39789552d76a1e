"""The figures of answers, over all sets that are at hand: questions of four corpora, passages, refusals, plans."""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from quern.indexes.catalog import Warehouse
from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.confidence.judge import judged as confidence_of
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.build.whole import build
from quern.pipelines.evaluation import retrieval
from quern.pipelines.evaluation.answers import Judgement, figures, judged
from quern.pipelines.evaluation.bootstrap import area_under_roc, calibration_error, refused_at
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.schemas.answers import Question
from quern.schemas.settings import Settings
from tests.benchmarks.decomposition import benchmark_decomposition
from tests.benchmarks.refusal import benchmark_refusal

_CORPUS = Path(__file__).parents[1] / "corpus"
_FLOORS = Path(__file__).parents[1] / "floors.json"
_CACHE = Path(tempfile.gettempdir()) / "quern-benchmarks"
_MOST_QUESTIONS = 637  # Of one set; a larger one is drawn from.
Figures = dict[str, float]


@dataclass(frozen=True)
class Corpus:
    """Documents with gold questions; `folder` is the name of a warehouse that has them already."""

    folder: str
    documents: str
    questions: str


_CORPORA = {
    "mini_web": Corpus("demo", "pages", "questions.jsonl"),
    "lihua_world": Corpus("lihua", "documents.jsonl", "queries.jsonl"),
    "musique_train100": Corpus("musique", "documents.jsonl", "queries.jsonl"),
    "cmrc2018": Corpus("cmrc", "documents.jsonl", "queries.jsonl"),
}


def benchmark_answers(datasets: Path, warehouses: Sequence[Path] = (), only: Sequence[str] = ()) -> Figures:
    """The figures of all sets, or of those named in `only`, that are at hand.

    Args:
        datasets: Folder of the sets; the sample corpus is Quern's own.
        warehouses: Those that are built already, known by the name of their folder (`demo`, `lihua`, `musique`,
            `cmrc`). Others are built once, into the folder for temporary files.
        only: Names of sets: those of the corpora, and `clapnq`, `xstest`, `decomposition`.
    """
    built = {path.name: path for path in warehouses}
    told: Figures = {}
    for name, corpus in _CORPORA.items():
        place = _CORPUS if name == "mini_web" else datasets / name
        if (not only or name in only) and place.is_dir():
            warehouse = built.get(corpus.folder) or _built(name, place / corpus.documents)
            told |= _named(name, _corpus(warehouse, read_questions(place / corpus.questions)))
            told |= _named(name, _commanded(warehouse, place / corpus.questions))
    parts: dict[str, Callable[[Path], Figures]] = {
        "clapnq": passages,
        "xstest": benchmark_refusal,
        "decomposition": benchmark_decomposition,
    }
    for name, part in parts.items():
        if (not only or name in only) and (datasets / name).is_dir():
            told |= _named(name, part(datasets / name))
    return told


def write_floors(figures: Figures) -> list[str]:
    """Set the bounds of answers in `tests/floors.json` to `figures`, cut to two digits; returns what was set.

    Which figures are bounded, from below or above, is what the file says; sets that were not measured stay as they are.
    """
    floors = json.loads(_FLOORS.read_text("utf-8"))
    told = []
    for name, bounds in ((n, of["answers"]) for n, of in floors.items() if "answers" in of):
        for side, cut in (("at least", math.floor), ("at most", math.ceil)):
            for figure, before in bounds[side].items():
                if (value := figures.get(f"{name} {figure}")) is not None:
                    bounds[side][figure] = now = cut(round(value * 100, 6)) / 100
                    told.append(f"{name} {figure} {side} {before} -> {now}")
    _FLOORS.write_text(json.dumps(floors, indent=1) + "\n", "utf-8")
    return told


def _named(name: str, figures: Figures) -> Figures:
    return {f"{name} {figure}": value for figure, value in figures.items()}


def _built(name: str, documents: Path) -> Path:
    warehouse = _CACHE / name
    if not (warehouse / "snapshots").exists():
        build(documents, Warehouse.create(warehouse), Settings.model_validate({"engine": {"engine": "local"}}))
    return warehouse


def _corpus(warehouse: Path, questions: list[Question]) -> Figures:
    """Figures of a corpus: of what is found, of its answers, and how many questions are answered a second."""
    if len(questions) > _MOST_QUESTIONS:
        questions = random.Random(0).sample(questions, _MOST_QUESTIONS)
    snapshot = Warehouse.open(warehouse).snapshot()
    searcher, (recipe,) = Searcher(snapshot, settings_to_ask_by(snapshot.manifest)), find_recipes("bridge")
    found = retrieval.evaluate(searcher, questions, [recipe], [5])[
        recipe.name
    ]  # It also loads the graph and the model.
    started = time.perf_counter()
    answers = list(answer_questions(searcher, questions, recipe))
    seconds = time.perf_counter() - started
    rows = judged(snapshot, questions, answers)
    counts = {f"{name} with gold words": held for name, held in _held(rows)}
    told = {name: figure.value for name, figure in figures(rows).items()}
    told["questions a second, without start"] = len(questions) / seconds
    return {"recall@5": found["recall@5"], **counts, **told}


def _commanded(warehouse: Path, questions: Path) -> Figures:
    """Questions a second of `quern answer`, its start and the report included: of a first run, and of a second.

    The warehouse is copied without what it remembers of answers. By the clock, and by processor time, which tells more
    where other work shares the machine.
    """
    asked = sum(bool(line.strip()) for line in questions.open("rb"))
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "warehouse")
        shutil.copytree(warehouse, place, ignore=shutil.ignore_patterns("reasoning"))
        for name in ("first run", "second run"):
            out = Path(folder, name)
            command = [sys.executable, "-m", "quern.pipelines.cli", "answer", str(questions), "-w", str(place)]
            started, busy = time.perf_counter(), _busy()
            subprocess.run([*command, "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
            told[f"questions a second of the whole command, {name}"] = asked / (time.perf_counter() - started)
            told[f"questions a second of its processor time, {name}"] = asked / (_busy() - busy)
    return told


def _busy() -> float:
    """Processor time of the processes that this one started and that ended, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


def _held(rows: Sequence[Judgement]) -> Iterator[tuple[str, float]]:
    """(type and number of its answerable questions, how many answers hold the gold words)."""
    answerable = [r for r in rows if r.answerable]
    types = sorted({r.type for r in answerable} - {""})
    english = [r for r in answerable if r.type != "chinese"]
    groups = {"english": english} if "chinese" in types else {}
    groups |= {t: [r for r in answerable if r.type == t] for t in types}
    for name, group in groups.items():
        yield f"{name}, of {len(group)}", sum(r.gold_words for r in group)


def passages(folder: Path) -> Figures:
    """ClapNQ with the passage given: the sentences that are chosen, and whether the passage is known to answer."""
    rows = [(row, name == "answerable") for name in ("answerable", "unanswerable") for row in _lines(folder, name)]
    answerable = np.array([answers for _, answers in rows], dtype=np.float64)
    inputs = [AnswerInput(row["input"], [_passage(row)]) for row, _ in rows]
    settings = Settings().answer
    drafts = [done.output for done in Reasoner().run(answer_task(settings), inputs)]
    judgements = confidence_of(inputs, drafts, settings)
    probability = np.array([j.probability for j in judgements])
    refused = np.array([j.refused for j in judgements], dtype=np.float64)
    f1 = [
        _sentence_f1(given, draft, row["output"][0]["selected_sentences"])
        for given, draft, (row, answers) in zip(inputs, drafts, rows, strict=True)
        if answers
    ]
    return {
        "sentence f1": fmean(f1),
        "auroc": area_under_roc(probability, answerable),
        "refused_at_8%_false": refused_at(probability, answerable),
        "refused": float(refused[answerable == 0].mean()),
        "false_refusals": float(refused[answerable == 1].mean()),
        "ece": calibration_error(probability, answerable),
    }


def _passage(row: dict[str, Any]) -> Evidence:
    (passage,) = row["passages"]
    return Evidence(passage["text"], passage["title"], [], [])


def _sentence_f1(given: AnswerInput, draft: Draft, gold: Sequence[str]) -> float:
    """F1 of the sentences that the draft rests on against the gold ones, which may be cut otherwise."""
    chosen = {n for s in draft.sentences for n in s.rests_on}
    wanted = [_plain(g) for g in gold]
    texts = [_plain(given.evidence[s.evidence].text[s.start : s.end]) for s in given.sentences]
    right = {n for n, text in enumerate(texts, 1) if text and any(text in w or w in text for w in wanted)}
    return 2 * len(chosen & right) / (len(chosen) + len(right)) if chosen and right else 0.0


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _lines(folder: Path, name: str) -> list[dict[str, Any]]:
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
