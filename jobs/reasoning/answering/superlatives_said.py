"""Superlatives that the evidence says itself, and lists of years whose first or last item is asked for.

`Entry 873 concerns the oldest tree in the town` answers which tree is the oldest, whatever other sentences share with
the question; of `1822: the brig Anne is lost` and `1907: the steamer Tamar runs aground` the first is the earliest
accident.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

# Of words in -est those that compare nothing.
_SUPERLATIVE: Final = lazy_pattern(
    r"\b(?!(?:interest|request|forest|harvest|guest|suggest|honest|priest|chest|protest|contest|arrest|invest|modest|conquest|"
    r"quest|digest|manifest|tempest|west|test|rest|nest|pest|fest|best|zest|jest)s?\b)(?P<word>[a-z]{2,}est)\b|"
    r"\b(?P<most>most|least)\s+(?P<of>[a-z]+(?:ive|ous|ful|al|ant|ent|ing|ed|able|ible|ular|ult|ern))\b",
    re.IGNORECASE,
)
_SAME: Final = tuple(
    frozenset(group.split())
    for group in (
        "oldest eldest earliest",
        "biggest largest greatest",
        "latest newest",
        "highest tallest",
        "smallest littlest",
        "youngest newest",
        "quickest fastest",
    )
)
_CHINESE: Final = lazy_pattern(
    r"(?:岁数|年纪|年龄)最大|最年长|最高龄|最年老|最老|(?P<most>最[大小高低长短早晚新多少快慢深浅宽窄贵远近重轻])"
)
_OLDEST: Final = lazy_pattern(r"(?:岁数|年纪|年龄)最大|最年长|最?高龄|最年老|最老的")
# Log odds in those of `relevance.WEIGHTS`, set by hand: as much as a row of another time loses in `in_time`.
_SAID: Final = 4.0
_COVERING: Final = 0.4  # Share of what the best line has of the question that such a sentence must have.
_FIRST: Final = lazy_pattern(
    r"\b(?:earliest|oldest|first\s+(?:recorded|known|ever|time)|very\s+first)\b|最早", re.IGNORECASE
)
_LAST: Final = lazy_pattern(
    r"\b(?:latest|newest|most\s+recent(?:ly)?|last\s+time)\b|最近一次|最后一次|最新", re.IGNORECASE
)
_ITEM: Final = lazy_pattern(
    r"\s*(?:[-–•*·]\s+)?(?P<year>(?:1\d|20)\d\d)(?:\s*[:：–—]|\s-|年[:：,，]?)\s*(?P<told>\S.*)", re.DOTALL
)
_LIMIT: Final = lazy_pattern(
    r"\b(?P<way>before|after|since|until)\s+(?:the\s+)?(?P<year>(?:1\d|20)\d\d)\b", re.IGNORECASE
)
_IT_IS: Final = lazy_pattern(
    r"(?:It|He|She|That|This)\s+(?:is|was)\s+(?P<what>(?:(?:an?|the)\s|[A-Z])[^,;.]{3,80})(?=[,;.]|$)"
)
_LEAST_ITEMS: Final = 2


@dataclass(frozen=True)
class Dated:
    """The item of a list of years that is asked for: its year, what it tells, and the number of its line."""

    year: int
    told: str
    number: int


def said_first(question: str, kind: Kind, best: Sequence[Line]) -> list[Line]:
    """The lines, best first; those that say the superlative of the question of what it asks for go before others."""
    words = superlatives(question)
    chinese = _CHINESE.search(question)
    if not words and chinese is None:
        return [*best]
    noun = (kind.noun or _behind(question)) - frozenset().union(*map(content_words, words), frozenset())
    most = max((line.signals.covered for line in best), default=0.0)
    found = []
    for line in best:
        says = (
            _says_chinese(chinese, line.text)
            if chinese
            else bool(words & set(re.findall(r"[a-z]+", line.text.lower())))
        )
        fits = says and (chinese is not None or bool(noun & content_words(line.text)))
        whole = not line.signals.heading and not line.signals.asks
        near = fits and whole and line.signals.covered >= _COVERING * most
        found.append(replace(line, score=line.score + _SAID) if near else line)
    return sorted(found, key=lambda line: (-line.score, line.number))


def told_behind(question: str, best: Sequence[Line]) -> tuple[str, tuple[int, int]] | None:
    """What the sentence behind the best line says that it is: `The oldest tree is here. It is the yew by the gate.`.

    None where the best line does not say the superlative, or the next does not go on so.
    """
    line = best[0]
    if not says(question, line):
        return None
    after = next((o for o in best if o.number == line.number + 1 and o.evidence == line.evidence), None)
    it_is = _IT_IS.match(after.text) if after is not None else None
    return (it_is["what"], (line.number, line.number + 1)) if it_is else None


def says(question: str, line: Line) -> bool:
    """Whether a line says the superlative of the question, or one that means the same."""
    return bool(superlatives(question) & set(re.findall(r"[a-z]+", line.text.lower())))


def superlatives(question: str) -> frozenset[str]:
    """The superlative of a question and those that say the same; empty where it has none in -est."""
    m = _SUPERLATIVE.search(question)
    if m is None or not m["word"]:
        return frozenset()
    word = m["word"].lower()
    return frozenset({word}).union(*(group for group in _SAME if word in group))


def _behind(question: str) -> frozenset[str]:
    """Stems of the words behind a superlative, up to a preposition: `tree` of `the oldest tree in Ostley`."""
    m = _SUPERLATIVE.search(question)
    rest = re.split(r"\s+(?:in|of|on|at|that|who|which|to|for|from|ever)\b|[,?]", question[m.end() :])[0] if m else ""
    return content_words(rest)


def _says_chinese(asked: re.Match[str], text: str) -> bool:
    if asked["most"]:
        return asked["most"] in text
    return _OLDEST.search(text) is not None


def dated(question: str, best: Sequence[Line]) -> Dated | None:
    """The first or last item of a list of years, of those that the question allows; None where none is asked for."""
    first, last = _FIRST.search(question), _LAST.search(question)
    if (first is None) == (last is None):
        return None
    for line in best:
        # A list of what the question names, on its own page: few words of the items need be those of the question.
        if line.signals.named < 1.0 or _ITEM.match(line.text) is None:
            continue
        items = [i for i in _items(_run(line, best)) if _allowed(question, i.year)]
        if len(items) >= _LEAST_ITEMS:
            return min(items, key=lambda i: (i.year if first else -i.year, i.number))
    return None


def _run(line: Line, best: Sequence[Line]) -> list[Line]:
    """The lines of a list of years that `line` stands in, one after another."""
    by_number = {o.number: o for o in best if o.evidence == line.evidence and _ITEM.match(o.text)}
    low = high = line.number
    while low - 1 in by_number:
        low -= 1
    while high + 1 in by_number:
        high += 1
    return [by_number[n] for n in range(low, high + 1)]


def _items(lines: Iterable[Line]) -> list[Dated]:
    found = ((_ITEM.match(line.text), line) for line in lines)
    return [Dated(int(m["year"]), " ".join(m["told"].split()), line.number) for m, line in found if m]


def _allowed(question: str, year: int) -> bool:
    limits = [(m["way"].lower(), int(m["year"])) for m in _LIMIT.finditer(question)]
    return all(year < at if way in ("before", "until") else year > at for way, at in limits)
