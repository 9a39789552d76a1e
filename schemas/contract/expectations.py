"""What must hold of a table, as values: tables declare them, `jobs.audit` checks them.

Critical is what makes an index wrong or empties it: a fault of the program or of the input as a whole. It blocks
publication. What a corpus may well be like, or one hostile page can cause (a date in the year 9999, many
duplicates), is a warning. Thresholds come from `schemas.settings.AuditSettings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Literal

from quern.schemas.settings import AuditSettings

Severity = Literal["critical", "warning"]

SHARES = "reject_share"
"""What checks of reject shares name as their table: for each job the share of its input that it lost."""

LOST = "pages"
"""Name in `SHARES` of all jobs that make documents of pages, together."""

MEASURES = "measures"
"""What checks of figures that jobs measured of their own results name as their table."""

RECALL = "link_recall"
"""Name in `MEASURES`: share of true neighbours that a graph built by partitions has, on a sample."""

# bf16 vectors have unit length within 1e-3 (two bytes of which 8 bits are mantissa, averaged over hundreds of numbers).
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Limits:
    """What tables are held to in one audit."""

    settings: AuditSettings  # Thresholds.
    as_of: datetime  # When the audited build began; nothing can have been published a day later.
    # Rows per table of the snapshot before; empty for a first build.
    before: Mapping[str, int] = field(default_factory=dict)
    measures: Mapping[str, float] = field(default_factory=dict)  # What jobs measured of their own results.
    # For each job the share of its rows that it lost in the snapshot before; empty for a first build.
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Expectation:
    """Something that must hold of a table."""

    severity: Severity = field(default="critical", kw_only=True)  # `critical` or `warning`.
    # Its name in manifests and messages, where table, column and kind do not make one.
    title: str = field(default="", kw_only=True)
    notes: str = field(default="", kw_only=True)  # Why it must hold, for messages.
    setting: str = field(default="", kw_only=True)  # The setting that its bounds are from, for messages.
    kind: ClassVar[str]  # Last word of the name of all expectations of the class.

    def name(self, table: str) -> str:
        """Its name, such as `chunks.doc_id references documents`."""
        return self.title or f"{self.subject(table)} {self.kind}"

    def subject(self, table: str) -> str:
        """What it speaks of: `table.column`, or the table."""
        column: str = getattr(self, "column", "")
        return f"{table}.{column}" if column else table


Expected = Expectation | Callable[[Limits], Iterable[Expectation]]
"""An expectation, or what makes expectations of an audit's limits."""


def resolved(expected: Iterable[Expected], limits: Limits) -> Iterator[Expectation]:
    """The expectations that `limits` make of what is expected."""
    for one in expected:
        yield from (one,) if isinstance(one, Expectation) else one(limits)


@dataclass(frozen=True)
class Columns(Expectation):
    """The table has these columns, in this order."""

    names: tuple[str, ...]
    kind: ClassVar[str] = "columns"


@dataclass(frozen=True)
class Types(Expectation):
    """The columns have the types of these names."""

    names: Mapping[str, str]
    kind: ClassVar[str] = "types"


@dataclass(frozen=True)
class UniqueKeys(Expectation):
    """No two rows have the same values in these columns."""

    columns: tuple[str, ...]
    kind: ClassVar[str] = "unique_keys"


@dataclass(frozen=True)
class RowCount(Expectation):
    """The table has so many rows, bounds included; None for no bound."""

    least: int | None
    most: int | None
    kind: ClassVar[str] = "rows"


@dataclass(frozen=True)
class Known(Expectation):
    """Every row has a value in the column."""

    column: str
    kind: ClassVar[str] = "not_null"


@dataclass(frozen=True)
class References(Expectation):
    """Every value of the column is a key of the table `target`; nulls refer to nothing."""

    column: str
    target: str
    kind: ClassVar[str] = "references"

    def name(self, table: str) -> str:
        """Its name, which ends with the table that is referred to."""
        return f"{super().name(table)} {self.target}"


@dataclass(frozen=True)
class Between(Expectation):
    """Every value of the column lies between two bounds, which are included; None for no bound."""

    column: str
    least: Any
    most: Any = None
    kind: ClassVar[str] = "between"


@dataclass(frozen=True)
class OneOf(Expectation):
    """So large a share of the column's values, by default all, are among these."""

    column: str
    values: tuple[str, ...]
    share: float = 1.0
    kind: ClassVar[str] = "in_set"


@dataclass(frozen=True)
class Greater(Expectation):
    """In every row the first column is greater than the second."""

    column: str
    than: str
    kind: ClassVar[str] = "greater"


@dataclass(frozen=True)
class Equal(Expectation):
    """In every row the two columns are equal."""

    column: str
    to: str
    kind: ClassVar[str] = "equal"


@dataclass(frozen=True)
class KnownShare(Expectation):
    """The share of rows that have a value in the column lies between two bounds."""

    column: str
    least: float
    most: float = 1.0
    kind: ClassVar[str] = "known_share"


@dataclass(frozen=True)
class Quantiles(Expectation):
    """Quantiles of the column lie between two bounds each: share of the rows to (least, most)."""

    column: str
    bounds: Mapping[float, tuple[float | None, float | None]]
    kind: ClassVar[str] = "quantiles"


@dataclass(frozen=True)
class Figure(Expectation):
    """A figure that jobs tell of the whole build lies between two bounds, which are included."""

    least: float
    most: float
    kind: ClassVar[str] = "between"


@dataclass(frozen=True)
class Dated:
    """No time in the column is before the year that settings give, or a day after the build began; a warning."""

    column: str

    def __call__(self, limits: Limits) -> Iterator[Expectation]:
        """The bounds in one audit."""
        earliest = datetime(limits.settings.earliest_year, 1, 1, tzinfo=UTC)
        yield Between(self.column, earliest, limits.as_of + timedelta(days=1), severity="warning")


UNIT_VECTOR = Between("vector_norm", 1 - TOLERANCE, 1 + TOLERANCE, notes="Cosines are computed as dot products.")
COSINE = Between("similarity", -1 - TOLERANCE, 1 + TOLERANCE)
