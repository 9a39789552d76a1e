"""What an audit found: one check per expectation, in words that both engines share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from quern.schemas.contract import expectations as ours
from quern.schemas.contract.expectations import Expectation

_LONGEST: Final = 300
"""Characters of what was observed."""


@dataclass(frozen=True)
class Check:
    """The outcome of one expectation, for the manifest."""

    expectation: str  # Its name, such as `chunks.doc_id references documents`.
    severity: str  # `critical` or `warning`.
    passed: bool  # Whether it holds, or was skipped.
    observed: str  # What was found, or why it was skipped.
    table: str  # Table it speaks of.
    skipped: bool = False  # Whether there was nothing to compare with, or a column lacks the type to be checked.

    def as_row(self) -> dict[str, object]:
        """The check for the manifest."""
        return asdict(self)


@dataclass(frozen=True)
class Audit:
    """What an audit found: one check per expectation; shares of lost rows, from which others may follow, come first."""

    checks: Sequence[Check]

    def failures(self, severity: str = "critical") -> list[Check]:
        """The checks of a severity that did not pass."""
        return [c for c in self.checks if not c.passed and c.severity == severity]


@dataclass(frozen=True)
class Unexpected:
    """Rows that break a rule: how many of how many, and the first of them."""

    count: int
    rows: int
    examples: Sequence[Any]

    def __str__(self) -> str:
        """The counts and the examples that have a value."""
        shown = ", ".join(str(v) for v in self.examples if v is not None)
        return f"{self.count} of {self.rows} unexpected{f', such as {shown}' if shown else ''}"


def check_of(table: str, expected: Expectation, passed: bool, found: object) -> Check:
    """The check of `expected`: what was found and, where it fails, the setting behind it or why it must hold.

    Args:
        table: Table that is audited.
        expected: The expectation.
        passed: Whether it holds.
        found: What was measured, as the engines measure it; a text says itself.
    """
    match expected, found:
        case (ours.RowCount(), int()):
            words = f"observed {found} rows, expected {span(expected.least, expected.most)}"
        case (ours.KnownShare() | ours.Figure(), float() | int()):
            words = f"observed {found:.4g}, expected {span(expected.least, expected.most)}"
        case (ours.Quantiles(), list()):
            quantiles = zip(expected.bounds.items(), found, strict=True)
            words = "; ".join(f"observed {v:g} at {q:g}, expected {span(*bounds)}" for (q, bounds), v in quantiles)
        case _:
            words = str(found)
    why = f"; {expected.notes}" if expected.notes else f" ({expected.setting})" if expected.setting else ""
    message = words if passed else words[: _LONGEST - len(why)] + why
    return Check(expected.name(table), expected.severity, passed, message[:_LONGEST], table)


def within(value: float, least: float | None, most: float | None) -> bool:
    """Whether `value` lies between two bounds, which are included; None for no bound."""
    return (least is None or value >= least) and (most is None or value <= most)


def span(least: Any, most: Any) -> str:
    """The range from `least` to `most`, both included; None for no bound."""
    if most is None:
        return f"at least {least}"
    return f"at most {most}" if least is None else f"{least} to {most}"
