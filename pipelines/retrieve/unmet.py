"""Filters that no document passes: which condition it is, and the values most like the one that was asked for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from quern.pipelines.retrieve.filters import METADATA, MOST_MASKS, Condition, allowed, conditions_in
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.words.lines import shortened
from quern.schemas.words.meant import ALIKE

_LONGEST: Final = 80  # Characters of a condition in a message.


def nothing_passes(searcher: Searcher, conditions: Sequence[str]) -> str | None:
    """Why nothing was found where no document passes the conditions, as a sentence; None where one does."""
    if not conditions or (together := allowed(searcher, [conditions])) is None or together.masks.any():
        return None
    alone = allowed(searcher, [[one] for one in conditions])
    unmet = [c for c, n in zip(conditions, alone.of_question, strict=True) if not alone.masks[n].any()] if alone else []
    if not unmet:
        return f"No document passes all filters together: {', '.join(shortened(c, _LONGEST) for c in conditions)}."
    near = searcher.held(_Alike).of(unmet[0])
    return f"No document passes the filter {shortened(unmet[0], _LONGEST)}{f'; there is {near}' if near else ''}."


class _Alike:
    """What is most like the values of unmet conditions: many questions of a file have the same ones."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._known: dict[str, str] = {}

    def of(self, unmet: str) -> str:
        """The values of the column most like the one that a condition asks for, in words; empty for none."""
        if unmet not in self._known:
            if len(self._known) >= MOST_MASKS:
                self._known.clear()
            first, *others = conditions_in(unmet)
            self._known[unmet] = "" if others else _values_like(self._searcher, first)
        return self._known[unmet]


def _values_like(searcher: Searcher, unmet: Condition) -> str:
    """The values of the column most like the one asked for, or all where they are few; empty for other operators."""
    if unmet.operator != "=" or not isinstance(unmet.least, str):
        return ""
    group, _, name = unmet.column.partition(".")
    values: set[str] = set()
    for batch in searcher.snapshot.table(unmet.table).batches([group]):
        column = batch.column(0)
        if group == METADATA and name:
            column = pc.map_lookup(column, pa.scalar(name), "first")
        if not pa.types.is_string(column.type):
            return ""
        values.update(filter(None, column.unique().to_pylist()))
        if len(values) > 5_000:
            break
    folded = {value.casefold(): value for value in sorted(values)}
    near = [folded[v] for v in difflib.get_close_matches(unmet.least.casefold(), folded, 3, ALIKE)]
    return " or ".join(near or (sorted(values) if len(values) <= 5 else []))
