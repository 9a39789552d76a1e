"""Answers on domains that nothing is fitted to: totals by domain and by type of question, never single questions.

Four held-out domains of 30 pages and 100 questions each lie in `tests/corpus/domains`. Their questions are not read
while answers are worked on; a default ships only if the mean over these domains is not lower.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from quern.indexes.catalog import Warehouse
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.build.whole import build
from quern.pipelines.evaluation.answers import judged
from quern.pipelines.evaluation.bootstrap import area_under_roc, calibration_error, refused_at
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.schemas.answers import Answer
from quern.schemas.settings.reading import load_settings
from tests.conftest import CORPUS, read_jsonl
from tests.floors import wilson

HELD_OUT = ("observatory", "works", "opensource", "insurer")
Figures = dict[str, float]


def is_right(row: Mapping[str, Any], answer: Answer) -> bool:
    """Whether an answer holds what it must, and its short answer nothing that it must not; or is rightly refused.

    Args:
        row: A question with `type`, `must` (of each group one string; a yes or no stands first) and `must_not`.
        answer: Its answer.
    """
    if row["type"] == "null" or not answer.found:
        return row["type"] == "null" and not answer.found
    short, whole = (answer.short or "").lower(), " ".join(s.text for s in answer.sentences).lower()
    if any(wrong.lower() in short for wrong in row["must_not"]):
        return False
    if row["type"] == "yes_no":
        return short.split(maxsplit=1)[0].rstrip(".,:;!") in [word.lower() for word in row["must"][0]]
    return all(any(form.lower() in whole for form in group) for group in row["must"])


def benchmark_domains(names: Sequence[str] = HELD_OUT, changes: Sequence[str] = ()) -> Figures:
    """The share of questions that are answered rightly or rightly refused, and what the probabilities are worth.

    Args:
        names: Folders of `tests/corpus/domains`.
        changes: Settings to ask by, such as `generator.kind=local`.
    """
    right: dict[str, list[float]] = defaultdict(list)
    probability, answerable, words = [], [], []
    for name in names:
        folder = CORPUS / "domains" / name
        rows = read_jsonl(folder / "questions.jsonl")
        with tempfile.TemporaryDirectory() as place:
            warehouse = Warehouse.create(Path(place))
            build(folder / "documents.jsonl", warehouse, load_settings(None, []))
            snapshot = warehouse.snapshot()
            searcher = Searcher(snapshot, load_settings(None, changes, settings_to_ask_by(snapshot.manifest)))
            questions = read_questions(folder / "questions.jsonl")
            answers = list(answer_questions(searcher, questions, find_recipes("bridge")[0]))
            # The observatory's questions have gold answers in place of strings.
            gold = judged(snapshot, questions, answers)
        for row, answer, of in zip(rows, answers, gold, strict=True):
            null = row["type"] == "null"
            good = is_right(row, answer) if "must" in row else of.right == 1.0 or (null and not answer.found)
            right[name].append(float(good))
            right[f"type {row['type']}"].append(float(good))
            probability.append(answer.probability)
            answerable.append(float(not null))
            if answer.found:
                words.append(len(" ".join(s.text for s in answer.sentences).split()))
    by_domain = [fmean(right[name]) for name in names]
    low, high = wilson(fmean(by_domain), sum(len(right[name]) for name in names))
    return {
        "right or rightly refused": fmean(by_domain),
        "right or rightly refused low": low,
        "right or rightly refused high": high,
        **{name: fmean(of) for name, of in right.items()},
        "refused at 8% false refusals": refused_at(np.array(probability), np.array(answerable)),
        "area under ROC": area_under_roc(np.array(probability), np.array(answerable)),
        "calibration error": calibration_error(np.array(probability), np.array(answerable)),
        "words, median": median(words) if words else 0.0,
    }
