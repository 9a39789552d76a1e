"""Whether answers have what was to be answered: short answers, and items of lists (ALCE, section 4.2).

Texts are compared in lower case, without punctuation and articles (`overlap.tokens`). A short answer is there if one of
its aliases stands in the answer as it is; an item of a list is right if it equals an alias (QAMPARI).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.judging.overlap import tokens
from quern.pipelines.evaluation.alce.sentences import listed, without_marks

_ENOUGH: Final = 5  # QAMPARI's lists are long: to have five of their items counts as recall in full (`recall-5`).
Aliases = Sequence[str]


def short_answers_there(output: str, short_answers: Sequence[Aliases]) -> list[bool]:
    """For each short answer, whether the answer has it."""
    said = _plain(without_marks(output))
    return [any(alias in said for alias in map(_plain, aliases) if alias) for aliases in short_answers]


@dataclass(frozen=True)
class ListScore:
    """What a list is worth against the gold one."""

    precision: float
    recall: float
    recall_5: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return harmonic(self.precision, self.recall)

    @property
    def f1_5(self) -> float:
        """Harmonic mean of precision and recall-5."""
        return harmonic(self.precision, self.recall_5)


def list_score(output: str, gold: Sequence[Aliases]) -> ListScore:
    """Precision over the items said, recall over the gold items; an item said twice counts twice."""
    said = [item for item in (_plain(without_marks(item)) for item in listed(output)) if item]
    known = [{_plain(alias) for alias in aliases} for aliases in gold]
    right = sum(any(item in aliases for aliases in known) for item in said)
    found = sum(any(item in aliases for item in said) for aliases in known)
    return ListScore(
        precision=right / len(said) if said else 0.0,
        recall=found / len(known),
        recall_5=min(_ENOUGH, found) / min(_ENOUGH, len(known)),
    )


def harmonic(one: float, other: float) -> float:
    """Harmonic mean; 0 where both are."""
    return 2.0 * one * other / (one + other) if one + other else 0.0


def _plain(text: str) -> str:
    return " ".join(tokens(text))
