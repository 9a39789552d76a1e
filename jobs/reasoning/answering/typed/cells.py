"""The cells of a table's row that could answer a question of a kind."""

from __future__ import annotations

import re
from functools import lru_cache

from quern.jobs.reasoning.answering.kinds.kind import VALUED, Kind
from quern.jobs.reasoning.answering.kinds.units import MONEY, OF_MEASURE, UNITS
from quern.jobs.reasoning.answering.tables import Row
from quern.jobs.reasoning.answering.typed.counted import fit_of_unit
from quern.jobs.reasoning.answering.typed.sentence import typed
from quern.jobs.reasoning.answering.typed.value import Days, Value, amounts
from quern.jobs.text.quantities import singular
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_MEASURE = (
    0.5  # Of a label that names the measure asked for by another word: `Weight`, where it is asked what it weighs.
)
_BARE = lazy_pattern(r"[\d.,]+")


def cell_values(kind: Kind, row: Row, asked: frozenset[str], days: Days) -> list[Value]:
    """The cells of a row that are of the kind, told with the label of the row; those under words of the question first.

    The label itself answers where a cell is what the question gives.
    """
    if kind.name in ("why", "how", "yes_no", "what_happened", "definition"):
        return []
    heads = [content_words(head) for head in row.header[1:]]
    best = max((len(head & asked) / len(head) for head in heads if head), default=0.0)
    found = []
    for n, (cell, start) in enumerate(zip(row.cells, row.starts, strict=True)):
        head = content_words(row.header[n]) if row.header else content_words(row.cells[0]) if n else frozenset()
        if n == 0 and not (kind.noun & head):
            continue
        match = len(head & (asked | kind.noun)) / len(head) if head else 0.0
        if not row.header and kind.units and kind.units & OF_MEASURE.get(row.cells[0].strip().lower(), frozenset()):
            match = max(match, _MEASURE)
        if row.header and best > 0.0 and kind.name in VALUED:
            match = min(1.0, match / best)  # The column with most words of the question, beside the others.
        if row.header and kind.noun and kind.noun <= head:
            match = 1.0  # The column of what is counted.
        fit = _cell_fit(kind, cell, row.header[n] if row.header else row.cells[0], days)
        fit = (1.0 if _in_unit(kind, cell, row.unit) else fit) * (0.55 + 0.45 * match)
        if fit > 0.0:
            text = _with_unit(kind, cell, row.header[n]) if row.header else _counted(kind, cell)
            text = f"{cell} {row.unit}" if text == cell and _in_unit(kind, cell, row.unit) else text
            found.append(Value(start, start + len(cell), text, fit, cell.lower(), label=row.cells[0] if n else ""))
    return found


def _counted(kind: Kind, cell: str) -> str:
    """Of a cell that counts several things what it counts that is asked for: `36 cars` of `280 passengers, 36 cars`."""
    if kind.name != "how_many" or len(amounts(cell)) < 2:
        return cell
    mine = [q for q in amounts(cell) if kind.noun & content_words(q.unit)]
    return mine[0].text if len(mine) == 1 else cell


def _in_unit(kind: Kind, cell: str, unit: str) -> bool:
    """Whether a cell is a bare number of a table whose amounts are said to be in a unit that is asked for."""
    return bool(unit) and singular(unit.split()[-1]) in kind.units and _BARE.fullmatch(cell) is not None


def _with_unit(kind: Kind, cell: str, head: str) -> str:
    """A bare number with the unit that is asked for and named above it: `41` under `Duration in minutes`."""
    units = kind.units or _counted_units(kind.noun if kind.name == "how_many" else frozenset())
    if not units or not _BARE.fullmatch(cell):
        return cell
    return next((f"{cell} {word}" for word in re.findall(r"[a-z]+", head.lower()) if singular(word) in units), cell)


@lru_cache(maxsize=1024)
def _counted_units(noun: frozenset[str]) -> frozenset[str]:
    """The units of measure that are asked for by number: `how many minutes`."""
    return frozenset(unit for unit in UNITS if " " not in unit and content_words(unit) <= noun)


def _cell_fit(kind: Kind, cell: str, head: str, days: Days) -> float:
    """How well a cell is of the kind: its own values, or a bare number under a header that names the unit."""
    if kind.name in ("how_many", "how_much", "how_long"):
        if not re.search(r"\d", cell) and not amounts(cell):
            return 0.0
        if _with_unit(kind, cell, head) != cell:
            return 1.0
        if kind.units and (own := amounts(f"{cell} {head}" if _BARE.fullmatch(cell) else cell)):
            return max(fit_of_unit(kind, q, cell) for q in own) or (0.0 if kind.units <= MONEY else 0.3)
        return 0.9 if not kind.units or _BARE.fullmatch(cell) else 0.3
    if kind.name == "when":
        return 1.0 if typed(kind, cell, days) else 0.0
    if kind.name in ("who", "where"):
        return max((v.fit for v in typed(kind, cell, days)), default=0.0)
    return 0.9
