"""Series in the evidence: `One is a fund. One is the management. The third is Qinglan.`, and lines with bullets.

A question that asks for several things is answered by all items of the series, in whichever sentence the words of the
question stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from quern.jobs.reasoning.answering.choosing import shares
from quern.jobs.reasoning.answering.relevance import Line
from quern.schemas.words.patterns import lazy_pattern

SEPARATOR: Final = "; "  # Of items in an answer.
_BULLET: Final = lazy_pattern(r"\s*(?:[-–•*·]|\(?\d{1,2}[.)])\s+(?=\S)")
_FIRST: Final = lazy_pattern(r"(?:One|(?:The|A) first|First(?:ly)?)\b,?(?! of all)")
_NEXT: Final = lazy_pattern(
    r"(?:One|Another|A (?:second|third|fourth|fifth|further)|Two others|Others|"
    r"(?:The )?(?:[Ss]econd|[Tt]hird|[Ff]ourth|[Ff]ifth|[Ss]ixth|[Ss]eventh|other|last)(?:ly)?|Finally|Last(?:ly)?)\b"
)
_COPULA: Final = lazy_pattern(r"^(?:[\w’'-]+,? ){1,4}?(?:is|are|was|were|will be|comes from|came from)\s+")
_ITEM_END: Final = lazy_pattern(r",\s+(?:which|who|whose|where|and (?:would|will|is|was|has|had))\b.*$", re.DOTALL)
_MOST_ITEMS: Final = 10  # A longer column of bullets is a page, no series.
# What the sentence or headline before a series counts that says what its items are. One item that shares a word with
# the question tells less: `the labels that come with the pack` of what comes in the box. With 8 one list
# of 100 questions on other pages is lost; over the sample corpus one is won with either.
_OF_LEAD: Final = 20.0
_LONGEST: Final = 60  # Words of all items together.
_LIKELY: Final = 3  # Sentences of a series whose belief counts together.
# Share of the belief in the best sentence that a series must have to be told. Set by hand, not swept.
_BELIEVED: Final = 0.5


@dataclass(frozen=True)
class Series:
    """Things that a text tells one after another.

    Attributes:
        items: Their words.
        numbers: The numbers of their sentences.
        lead: Number of the sentence before them, that says what they are; 0 where there is none.
    """

    items: tuple[str, ...]
    numbers: tuple[int, ...]
    lead: int


def likeliest(best: Sequence[Line]) -> Series | None:
    """The series that the most likely sentences stand in; none where a sentence alone is far likelier."""
    belief = {line.number: share for line, share in zip(best, shares(best), strict=True)}
    top = max(belief.values(), default=0.0)
    found = [(_believed(s, belief), s) for s in _all(best)]
    share, series = max(found, key=lambda row: (row[0], -row[1].numbers[0]), default=(0.0, None))
    return series if series is not None and share >= _BELIEVED * top else None


def _believed(series: Series, belief: dict[int, float]) -> float:
    items = sorted((belief[n] for n in series.numbers), reverse=True)
    if not series.lead:
        return sum(items[:_LIKELY])
    return max(sum(sorted([*items, belief[series.lead]], reverse=True)[:_LIKELY]), _OF_LEAD * belief[series.lead])


def _all(best: Sequence[Line]) -> list[Series]:
    """The series of all evidence."""
    found = []
    for _, group in groupby(sorted(best, key=lambda line: line.number), key=lambda line: line.evidence):
        found += _of_text(list(group))
    return found


def _of_text(lines: list[Line]) -> list[Series]:
    found: list[Series] = []
    at = 0
    while at < len(lines):
        end = _bullets(lines, at) if _BULLET.match(lines[at].text) else _told(lines, at)
        own = [
            line for line in lines[at:end] if _BULLET.match(line.text) or _NEXT.match(line.text) or line is lines[at]
        ]
        if 2 <= len(own) <= _MOST_ITEMS:
            items = tuple(_item(line.text) for line in own)
            lead = lines[at - 1].number if at and lines[at - 1].row is None else 0
            if sum(len(i.split()) for i in items) <= _LONGEST:
                found.append(Series(items, tuple(line.number for line in own), lead))
        at = max(end, at + 1)
    return found


def _bullets(lines: list[Line], at: int) -> int:
    """The end of the lines with bullets from `at` on."""
    while at < len(lines) and _BULLET.match(lines[at].text):
        at += 1
    return at


def _told(lines: list[Line], at: int) -> int:
    """The end of the sentences that tell a series from `at` on, one beside them between each two; `at` for none."""
    if not _FIRST.match(lines[at].text):
        return at
    end, now = at + 1, at + 1
    while now < min(len(lines), end + 2):
        if _NEXT.match(lines[now].text):
            end = now + 1
        now += 1
    return end


def _item(text: str) -> str:
    """The words of an item, without its bullet or `the second is`, to the end of its main clause."""
    plain = " ".join(text.split())
    plain = plain[found.end() :] if (found := _BULLET.match(plain)) else _COPULA.sub("", plain)
    return _ITEM_END.sub("", plain).strip(" ;,.")
