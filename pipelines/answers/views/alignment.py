"""Which words of a question which words of its evidence match, made ready to be shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quern.schemas.answers import AlignedHit, Answer
from quern.schemas.words.lines import one_line


@dataclass(frozen=True)
class Pair:
    """A constituent of the question and the words of a chunk that match it."""

    part: str
    words: str | None  # None where none do; empty where the title of the document does.
    how: str  # Why they match, in a word.


def pairs_of(answer: Answer, hit: AlignedHit) -> list[Pair]:
    """The constituents of the question in their order, each with what the hit has for it."""
    said = {s.part: (one_line(s.quote), s.how) for s in hit.segments}
    return [Pair(one_line(p.text), *said.get(p.number, (None, ""))) for p in answer.parts]


def matched(answer: Answer, hit: AlignedHit) -> str:
    """How much of the question a hit matches: `4 of 5 parts of the question`."""
    count = len(answer.parts)
    return f"{len(hit.segments)} of {count} {'part' if count == 1 else 'parts'} of the question"


def alignment_code(answer: Answer, heading: str) -> str:
    """The alignment as the script of the page reads it: it makes the words from the texts that the page has.

    Fields between bars: `a` where the parts are of the question as it was understood, else nothing; first character
    and length of each part in it; then a field for each hit, the first character of its window, a colon, and for each
    part first character, from there, and length of what matches, `t` for the title, nothing where nothing does. Empty
    where nothing is aligned, or where the page does not have the question as it was parsed.
    """
    shown = answer.asked or heading
    if not answer.parts or any(shown[p.start : p.end] != p.text for p in answer.parts):
        return ""
    parts = ",".join(f"{p.start}.{p.end - p.start}" for p in answer.parts)
    by_rank = {hit.rank: hit for hit in answer.alignments}
    hits = (_hit_code(answer, by_rank[h.rank], h.start) if h.rank in by_rank else "" for h in answer.hits)
    return "|".join(["a" if answer.asked else "", parts, *hits]).rstrip("|")


def _hit_code(answer: Answer, hit: AlignedHit, start: int) -> str:
    by_part = {s.part: s for s in hit.segments}
    window = min((s.start for s in hit.segments if s.end > s.start), default=start)

    def fields() -> Iterator[str]:
        for part in answer.parts:
            segment = by_part.get(part.number)
            if segment is None:
                yield ""
            else:
                yield f"{segment.start - window}.{segment.end - segment.start}" if segment.end > segment.start else "t"

    return f"{window - start}:{','.join(fields()).rstrip(',')}" if hit.segments else ""
