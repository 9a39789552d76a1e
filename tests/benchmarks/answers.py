"""The figures of answers, over all sets that are at hand: questions of four corpora, passages, refusals, plans."""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

import quern
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.confidence.judge import judged as confidence_of
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.evaluation.bootstrap import area_under_roc, calibration_error, refused_at
from quern.schemas.settings import Settings
from tests.benchmarks import Figures
from tests.benchmarks.confidence import clapnq_cases, plain
from tests.benchmarks.decomposition import benchmark_decomposition
from tests.benchmarks.refusal import benchmark_refusal
from tests.conftest import CORPUS, build_here

FLOORS_FILE = Path(__file__).parents[1] / "floors.json"
_CACHE = Path(tempfile.gettempdir()) / "quern-benchmarks"
_MOST_QUESTIONS = 637  # Of one set; a larger one is drawn from.

# Name of the set: that of a warehouse which has it already, its documents and its questions.
_CORPORA = {
    "mini_web": ("demo", CORPUS / "pages", CORPUS / "questions.jsonl"),
    "lihua_world": ("lihua", "documents.jsonl", "queries.jsonl"),
    "musique_train100": ("musique", "documents.jsonl", "queries.jsonl"),
    "cmrc2018": ("cmrc", "documents.jsonl", "queries.jsonl"),
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
    figures: Figures = {}
    for name, (known, documents, file) in _CORPORA.items():
        # A path of the sample corpus stays as it is.
        source, asked = datasets / name / documents, datasets / name / file
        if (not only or name in only) and asked.exists():
            warehouse = built.get(known, _CACHE / name)
            if known not in built and not (warehouse / "snapshots").exists():
                build_here(source, warehouse)
            questions = read_questions(asked)
            if len(questions) > _MOST_QUESTIONS:
                questions = random.Random(0).sample(questions, _MOST_QUESTIONS)
            measured = quern.evaluate(questions, warehouse)["bridge"] | _speed(warehouse, asked)
            figures |= {f"{name} {figure}": value for figure, value in measured.items()}
    parts: dict[str, Callable[[Path], Figures]] = {
        "clapnq": passages,
        "xstest": benchmark_refusal,
        "decomposition": benchmark_decomposition,
    }
    for name, part in parts.items():
        if (not only or name in only) and (datasets / name).is_dir():
            figures |= {f"{name} {figure}": value for figure, value in part(datasets / name).items()}
    return figures


def write_floors(figures: Figures) -> list[str]:
    """Set the bounds of answers in `tests/floors.json` to `figures`, cut to two digits; returns what was set.

    Which figures are bounded, from below or above, is what the file says; sets that were not measured stay as they are.
    """
    floors = json.loads(FLOORS_FILE.read_text("utf-8"))
    changes = []
    for name, bounds in ((n, of["answers"]) for n, of in floors.items() if "answers" in of):
        for side, cut in (("at least", math.floor), ("at most", math.ceil)):
            for figure, before in bounds[side].items():
                if (value := figures.get(f"{name} {figure}")) is not None:
                    bounds[side][figure] = now = cut(round(value * 100, 6)) / 100
                    changes.append(f"{name} {figure} {side} {before} -> {now}")
    FLOORS_FILE.write_text(json.dumps(floors, indent=1) + "\n", "utf-8")
    return changes


def _speed(warehouse: Path, questions: Path) -> Figures:
    """Questions a second of `quern answer`, its start and the report included: of a first run, and of a second.

    The warehouse is copied without its memo of answers.
    """
    asked = len(read_questions(questions))
    speeds: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "warehouse")
        shutil.copytree(warehouse, place, ignore=shutil.ignore_patterns("reasoning"))
        for name in ("first run", "second run"):
            command = [sys.executable, "-m", "quern.pipelines.cli", "answer", str(questions), "-w", str(place)]
            started = time.perf_counter()
            subprocess.run([*command, "--out", str(Path(folder, name))], check=True, stdout=subprocess.DEVNULL)
            speeds[f"questions a second, {name}"] = asked / (time.perf_counter() - started)
    return speeds


def passages(folder: Path) -> Figures:
    """ClapNQ with the passage given: the sentences that are chosen, and whether the passage is known to answer."""
    of, settings = list(clapnq_cases(folder)), Settings().answer
    inputs, answerable = [case.given for case in of], np.array([case.answered for case in of], dtype=np.float64)
    drafts = [done.output for done in Reasoner().run(answer_task(settings), inputs)]
    judgements = confidence_of(inputs, drafts, settings)
    probability = np.array([j.probability for j in judgements])
    refused = np.array([j.refused for j in judgements], dtype=np.float64)
    f1 = []  # Of the sentences that a draft rests on against the gold ones, which may be cut otherwise.
    for case, draft in ((c, draft) for c, draft in zip(of, drafts, strict=True) if c.answered):
        given, wanted = case.given, [plain(g) for g in case.gold]
        chosen = {n for s in draft.sentences for n in s.rests_on}
        texts = [plain(given.evidence[s.evidence].text[s.start : s.end]) for s in given.sentences]
        right = {n for n, text in enumerate(texts, 1) if text and any(text in w or w in text for w in wanted)}
        f1.append(2 * len(chosen & right) / max(1, len(chosen) + len(right)))
    return {
        "sentence f1": fmean(f1),
        "auroc": area_under_roc(probability, answerable),
        "refused_at_8%_false": refused_at(probability, answerable),
        "refused": float(refused[answerable == 0].mean()),
        "false_refusals": float(refused[answerable == 1].mean()),
        "ece": calibration_error(probability, answerable),
    }
