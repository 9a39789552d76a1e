"""The units that a document's chunks are made of: its tokens, or smaller ones where tokens are too long.

A tokenizer may make one token of a word of any length (BERT's: of more than 100 characters without a space, as in Thai,
or a file in base64), and none at all of some characters. A chunk has at most so many tokens and so many characters;
both are one sum, the room that units take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from quern.jobs.chunks.boundaries import Boundaries, Offsets
from quern.jobs.chunks.graphemes import last_grapheme


@dataclass(frozen=True)
class Units:
    """The units of a document, in order."""

    offsets: Offsets  # Start and end of each in the text.
    boundaries: Boundaries  # Where a chunk may end.
    # What those before each unit, and at the end all, take in a chunk, where a token of no great length is 1.
    room: Sequence[float]
    tokens: bool  # Whether each unit is a token.

    @classmethod
    def of_tokens(cls, text: str, offsets: Offsets, limit: int) -> Units:
        """The tokens of `text`; boundaries are sought where there are more than `limit`."""
        boundaries = Boundaries(text if len(offsets) > limit else "", offsets)
        return cls(offsets, boundaries, range(len(offsets) + 1), tokens=True)

    @classmethod
    def of_characters(cls, text: str, offsets: Offsets, limit: int, most: int) -> Units:
        """Units of which those that take no more room than `limit` hold at most `limit` tokens and `most` characters.

        No unit has more characters than a chunk may have tokens: standing alone it is at most so many.
        """
        # Shares of a chunk that no unit is longer than, so that its end and its overlap can be chosen.
        size = max(1, min(most // 8, limit))
        found = list(_pieces(text, offsets, size))
        starts = [start for start, _ in found] + [len(text)]
        share = limit / most
        room = [0.0, *accumulate(max(1.0, (end - start) * share) for start, end in pairwise(starts))]
        return cls(found, Boundaries(text, found, clauses=True), room, tokens=False)


def _pieces(text: str, offsets: Offsets, size: int) -> Iterator[tuple[int, int]]:
    """The tokens, each with what is up to the next one; one of more than `size` characters in about equal pieces."""
    starts = [0, *(start for start, _ in offsets[1:]), len(text)]
    for (start, stop), (_, end) in zip(pairwise(starts), offsets, strict=True):
        if stop - start <= size:
            yield start, max(end, start)
            continue
        pieces = -(-(stop - start) // size)
        at = start
        for nth in range(1, pieces + 1):
            cut = stop if nth == pieces else last_grapheme(text, at, start + (stop - start) * nth // pieces)
            if cut > at:
                yield at, cut
                at = cut
