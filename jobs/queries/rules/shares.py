"""A chunk in shares: each unit that can be asked about, with its neighbours that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.queries.rules.units import Unit

# Words of an answer to which units are added that no question asks about.
_LONGEST: Final = 80


@dataclass
class Share:
    """Units that one answer holds.

    Attributes:
        owner: The unit that is asked about.
        first: The first of the units.
        last: The last of them.
        words: Their words.
    """

    owner: int
    first: int
    last: int
    words: int


def shares(units: Sequence[Unit], asked: Sequence[bool]) -> list[Share]:
    """The shares of a chunk in reading order: together they hold every unit, each once.

    A unit that nothing asks about goes to the share before it, else to the one after it, else it is one of its own.
    """
    made: list[Share] = []
    for n, unit in enumerate(units):
        last = made[-1] if made else None
        if asked[n]:
            waiting = last is not None and not asked[last.owner]
            if last and waiting and last.words + unit.words <= _LONGEST:
                made[-1] = Share(n, last.first, n, last.words + unit.words)
            else:
                made.append(Share(n, n, n, unit.words))
        elif last and last.words + unit.words <= _LONGEST:
            last.last, last.words = n, last.words + unit.words
        else:
            made.append(Share(n, n, n, unit.words))
    return made
