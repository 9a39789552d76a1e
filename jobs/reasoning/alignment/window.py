"""The continuous window of a chunk that most constituents of a question have a match in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.alignment.alignment import How

# Characters that one window may span, two sentences or so: of 150, 200, 250, 300 and 400 this told answerable questions
# of clapnq best (area under ROC .789, .793, .795, .793, .786).
LONGEST: Final = 250


@dataclass(frozen=True)
class Candidate:
    """A segment of a chunk that may match a constituent.

    Attributes:
        constituent: Its number in the question.
        start: First character in the chunk.
        end: Character after the last.
        how: How it matches.
        quality: How well, in (0, 1].
    """

    constituent: int
    start: int
    end: int
    how: How
    quality: float


def best_window(
    candidates: Iterable[Candidate], weights: Mapping[int, float], longest: int = LONGEST
) -> Sequence[Candidate]:
    """The candidates of the best window, the best of each constituent: most weight, then the shortest, then the first.

    Args:
        candidates: Segments of one chunk.
        weights: What each constituent counts.
        longest: Most characters of a window, but as many as the longest candidate has: a sentence that a model named.
    """
    rows = sorted(candidates, key=lambda c: (c.start, c.end))
    longest = max([longest, *(c.end - c.start for c in rows)])
    inside: Counter[int] = Counter()
    best: tuple[float, int] = (0.0, 0)
    chosen = (0, 0)
    left, weight = 0, 0.0
    for right, row in enumerate(rows):
        if not inside[row.constituent]:
            weight += weights[row.constituent]
        inside[row.constituent] += 1
        while row.end - rows[left].start > longest or _is_idle(rows, left, right):
            gone = rows[left].constituent
            inside[gone] -= 1
            if not inside[gone]:
                weight -= weights[gone]
            left += 1
            if left > right:
                break
        if left > right:
            continue
        size = row.end - rows[left].start
        if (round(weight, 9), -size) > best:
            best, chosen = (round(weight, 9), -size), (left, right + 1)
    found: dict[int, Candidate] = {}
    for c in rows[slice(*chosen)]:
        if c.constituent not in found or c.quality > found[c.constituent].quality:
            found[c.constituent] = c
    return [found[n] for n in sorted(found)]


def _is_idle(rows: Sequence[Candidate], left: int, right: int) -> bool:
    """Whether the first candidate of a window adds nothing to it: one behind it is as good of the same constituent."""
    first = rows[left]
    return any(
        row.constituent == first.constituent and row.quality >= first.quality for row in rows[left + 1 : right + 1]
    )
