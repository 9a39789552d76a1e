"""What answers are worth by ALCE's measures, with bootstrap intervals over questions; files of answers, measured so.

Short answers and items of lists (ALCE, section 4.2) are compared in lower case, without punctuation and articles
(`overlap.tokens`). A short answer is there if one of its aliases stands in the answer as it is; an item of a list is
right if it equals an alias (QAMPARI).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np

from quern.indexes.vectors import Positions
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.reasoning.judging import overlap
from quern.jobs.tasks.runner import Reasoner
from quern.jobs.vectors.embedder import Embedder
from quern.pipelines.evaluation.alce.citations import Entails, citation_counts, entails_by, listed, without_marks
from quern.pipelines.evaluation.alce.records import AlceRecord, read_records
from quern.pipelines.evaluation.bootstrap import Figure, flat, ratio_figures, statistic_figures
from quern.schemas.settings import Settings


@dataclass(frozen=True)
class Worth:
    """What one answer is worth; NaN where a measure does not apply. The names are those of `FIGURES`."""

    exact_match_recall: float = math.nan
    list_precision: float = math.nan
    list_recall: float = math.nan
    list_recall_5: float = math.nan
    list_f1: float = math.nan
    list_f1_5: float = math.nan
    claim_recall: float = math.nan
    alce_citation_recall: float = math.nan
    alce_citation_precision: float = math.nan


NOTHING: Final = Worth()
_F1: Final = "alce_citation_f1"

OF_ANSWERS: Final = ("exact_match_recall", "alce_citation_recall", "alce_citation_precision", _F1)
"""Figures of our own answers too."""
FIGURES: Final = (
    *("exact_match_recall", "list_precision", "list_recall", "list_recall_5", "list_f1", "list_f1_5", "claim_recall"),
    *("alce_citation_recall", "alce_citation_precision", _F1),
)
"""All figures of a file of answers, in the order in which they are printed; docs/howto/measure.md says what each is."""
PER_QUESTION: Final = ("exact_match_recall", "alce_citation_recall", "alce_citation_precision")


def measured(records: Sequence[AlceRecord], entails: Entails) -> list[Worth]:
    """What each answer is worth; all that must be entailed is judged together."""
    cited = citation_counts(records, entails)
    texts = [without_marks(r.output) for r in records]
    inputs = [
        EntailmentInput(claim, [Passage(text)] if text else [], record.question)
        for record, text in zip(records, texts, strict=True)
        for claim in record.claims
    ]
    verdicts = iter(entails(inputs))
    rows = []
    for record, text, counts in zip(records, texts, cited, strict=True):
        rows.append(
            Worth(
                exact_match_recall=_mean(short_answers_there(text, record.short_answers)),
                claim_recall=_mean([next(verdicts) for _ in record.claims]),
                alce_citation_recall=counts.recall,
                alce_citation_precision=counts.precision,
                **(list_score(record.output, record.items) if record.items else {}),
            )
        )
    return rows


def short_answers_there(output: str, short_answers: Sequence[Sequence[str]]) -> list[bool]:
    """For each short answer, whether the answer has one of its aliases."""
    plain = _plain(without_marks(output))
    return [any(alias in plain for alias in map(_plain, aliases) if alias) for aliases in short_answers]


def list_score(output: str, gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """Precision over the items said, recall over the gold items, also where five are enough; an item counts each time.

    QAMPARI's lists are long: to have five of their items counts as recall in full (`recall-5`).
    """
    items = [item for item in (_plain(without_marks(item)) for item in listed(output)) if item]
    known = [{_plain(alias) for alias in aliases} for aliases in gold]
    right = sum(any(item in aliases for aliases in known) for item in items)
    found = sum(any(item in aliases for item in items) for aliases in known)
    precision, recall = right / len(items) if items else 0.0, found / len(known)
    recall_5 = min(5, found) / min(5, len(known))
    return {
        "list_precision": precision,
        "list_recall": recall,
        "list_recall_5": recall_5,
        "list_f1": harmonic(precision, recall),
        "list_f1_5": harmonic(precision, recall_5),
    }


def harmonic(one: float, other: float) -> float:
    """Harmonic mean; 0 where both are."""
    return 2.0 * one * other / (one + other) if one + other else 0.0


def _plain(text: str) -> str:
    return " ".join(overlap.tokens(text))


def _mean(verdicts: Sequence[bool]) -> float:
    return sum(verdicts) / len(verdicts) if verdicts else math.nan


def figures(rows: Sequence[Worth]) -> dict[str, Figure]:
    """The figures that these answers have, macro over questions, with 95 % bootstrap intervals."""
    columns = {f.name: np.array([getattr(row, f.name) for row in rows], dtype=np.float64) for f in fields(Worth)}
    columns = {name: column for name, column in columns.items() if not np.isnan(column).all()}
    # Each mean is over the questions that have a value.
    result = ratio_figures({n: (np.nan_to_num(c), (~np.isnan(c)).astype(np.float64)) for n, c in columns.items()})
    if (recall := columns.get("alce_citation_recall")) is not None:
        # Harmonic mean of the two means, as ALCE's figures are compared.
        precision = columns["alce_citation_precision"]

        def f1(at: Positions) -> float:
            cited = at[~np.isnan(recall[at])]
            if not len(cited):
                return math.nan
            return harmonic(float(recall[cited].mean()), float(precision[cited].mean()))

        result |= statistic_figures({_F1: (f1, (~np.isnan(recall)).astype(np.float64))}, len(rows))
    return {name: result[name] for name in FIGURES if name in result}


def evaluate_file(
    path: Path, settings: Settings | None = None, *, by_type: bool = False
) -> dict[str, dict[str, float]]:
    """Figures of the answers in `path` by ALCE's measures, under the file's name; `FIGURES` tells what each is.

    Each has its 95 % interval beside it, as `alce_citation_f1_low` and `alce_citation_f1_high`.

    Args:
        path: ALCE's JSON, or `answers.jsonl`.
        settings: `generator`, `entailment` and `embed` hold.
        by_type: Also under `NAME TYPE`, for each type of question that the file states.

    Raises:
        EvaluationError: The file cannot be read, or a record of it is no answer; the record is named.
    """
    settings = settings or Settings()
    records = read_records(path)
    encode = Embedder.for_questions(settings.embed).encode if settings.entailment.vectors else None
    with Reasoner(settings.generator, settings.engine) as reasoner:
        rows = measured(records, entails_by(reasoner, encode))
    by_name = {path.name: flat(figures(rows))}
    for name in sorted({r.type for r in records} - {""}) if by_type else ():
        mine = [row for row, record in zip(rows, records, strict=True) if record.type == name]
        by_name[f"{path.name} {name}"] = flat(figures(mine))
    return by_name
