"""A chunk as units that can be asked about: sentences, turns of a dialogue, rows of lists and tables.

A unit is a span of the chunk with what its surroundings say of it: who speaks to whom, what was said before,
the heading or the table's head above it. Short neighbours are merged, never dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush

from quern.schemas.words.lines import squeeze
from quern.schemas.words.scripts import CJK
from quern.schemas.words.sentences import Span, sentence_spans

_STOP = """
a able about after again all also always am an and any are around as at be because been before being best better bit
both but by called can can't can’t check come could day days definitely did do does doing don't done don’t down during
each enough even ever every everyone everything excited feel feeling few find first for forward free from fun further
get give going gonna good great guess had happy has have having he hear hello help her here hers hey hi him his hope
how i i'd i'll i'm i've idea if in including into is it it's its it’s i’ll i’m i’ve just keep keeping kind know known
later let let's let’s like little long look looking lot love make man many maybe me mean meet might mind more most
much must my myself need next nice no nor not now of off often oh ok okay on once only or other our out over own
people perfect please pretty quick quite ready really remember right said same say see several she should so some
something sometimes soon sounds still stuff such super sure take talk team tell than thank thanks that that's that’s
the their them then there these they thing things think this those though three through time times to today together
too totally tried try trying two under until up us used very wait want was way we week well were what when where which
while who whom why will with work works would yeah years yes yet you you're your yours you’re
"""
# English words that do not say what a text is about: function words and the small change of conversations.
STOP_WORDS = frozenset(_STOP.split())
_LABELS = """
a address answer author caution date email example note notes phone price q question source sources subject summary
time tip title warning website 作者 地址 日期 时间 来源 标题 注 注意 电话 答 问
"""
# Labels of lines that name no speaker.
NOT_SPEAKERS = frozenset(_LABELS.split())

WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:['’.,-][^\W_{CJK}]+)*")
_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]+")
_LABEL = re.compile(
    r"[ \t]*+(?:\[[^\]\n]{1,20}\][ \t]*+)?(?P<label>[^\W\d_][\w.'’-]{0,30}(?: [\w.'’()-]{1,20}){0,3})"
    r"[ \t]?[:：](?!//)[ \t]*+(?=\S)"
)
_BULLET = re.compile(r"[ \t]*+(?:[-*•·–—]|\d{1,3}[.)、])[ \t]+")
_SAYING = re.compile(r"\b(?:I|you|we|me|my|your|us|our|let's)\b|[!?！？]|[我你您们吧吗呢]", re.IGNORECASE)
_SHORT = 5  # Words; a shorter unit is merged with its neighbour.
_LONG_TURN = 45  # Words; a longer turn is asked about in parts.


@dataclass(frozen=True)
class Unit:
    """A span of a chunk and its surroundings."""

    start: int  # First character in the chunk.
    end: int  # One past the last character.
    words: int  # Words (CJK: characters) in it.
    block: int  # Number of the line it stands in.
    kind: str  # What the line is.
    speaker: str = ""  # Who says it.
    addressee: str = ""  # Whom it is said to.
    before: str = ""  # The turn it replies to.
    label: str = ""  # Label of a `label: value` row, or the head of the table's columns.
    heading: str = ""  # Heading or list introduction above it.


def word_count(text: str) -> int:
    """Words of the text; a CJK character counts as one."""
    return sum(1 for _ in WORD.finditer(text))


def words_of(text: str) -> frozenset[str]:
    """The different words of `text`, in lower case; of Chinese, Japanese and Korean the characters."""
    return frozenset(WORD.findall(text.lower()))


def alike(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    """Whether the Jaccard similarity of two sets of words is at least `least`."""
    shared = len(one & other)
    return shared >= least * (len(one) + len(other) - shared)


def person_name(label: str) -> str:
    """A speaker's label as a name: `LiHua` is `Li Hua`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label)


def read_units(text: str, most: int) -> list[Unit]:
    """At most `most` units that together hold every word of `text`, in order."""
    reader = _Reader(text)
    for block, line in enumerate(_LINE.finditer(text)):
        if WORD.search(line[0]):
            reader.read(line, block)
    # The short ones of a speaker's turn or of plain paragraphs are joined to a neighbour.
    merged: list[Unit] = []
    for unit in reader.units:
        last = merged[-1] if merged else unit
        one_line = last.block == unit.block
        if unit.kind == "turn":
            joins = one_line and last.words + unit.words <= _LONG_TURN
        else:
            joins = unit.kind == "sentence" and (last.words < _SHORT or (one_line and unit.words < _SHORT))
        if merged and last.kind == unit.kind and joins:
            merged[-1] = _joined(last, unit)
        else:
            merged.append(unit)
    return _at_most([unit for unit in merged if unit.words], most)


def _at_most(units: list[Unit], most: int) -> list[Unit]:
    """The units with neighbours joined, always the two that are shortest together, until they are no more than `most`.

    Of neighbours alike the first are joined; those of one line before those of two. It takes n log n: a table of a
    page that is one chunk has thousands of rows.
    """
    slots: dict[int, Unit] = dict(enumerate(units))
    after = {n: n + 1 for n in range(len(units) - 1)}
    before = {n + 1: n for n in range(len(units) - 1)}

    def pair(first: int) -> tuple[int, int, int]:
        one, other = slots[first], slots[after[first]]
        return (one.words + other.words) * (1 + (one.block != other.block)), first, after[first]

    heap = [pair(first) for first in after] if len(units) > most else []
    heapify(heap)
    while len(slots) > most and heap:
        entry = heappop(heap)
        _, first, second = entry
        if after.get(first) != second or entry != pair(first):
            continue  # What one of them has become stands there anew.
        slots[first] = _joined(slots[first], slots.pop(second))
        if (behind := after.pop(second, None)) is None:
            del after[first]
        else:
            after[first], before[behind] = behind, first
            heappush(heap, pair(first))
        if first in before:
            heappush(heap, pair(before[first]))
    return list(slots.values())


def dialogue_speakers(text: str) -> frozenset[str]:
    """Labels at the start of lines that are speakers; empty where the text is no dialogue."""
    turns = [(m["label"], line[0][m.end() :]) for line in _LINE.finditer(text) if (m := _LABEL.match(line[0]))]
    names = [
        (label, speech)
        for label, speech in turns
        if label.lower() not in NOT_SPEAKERS and all(w[0].isupper() or not w[0].isascii() for w in label.split())
    ]
    sayings = sum(1 for _, speech in names if _SAYING.search(speech))
    if not sayings or 2 * sayings < len(names):
        return frozenset()
    return frozenset(label for label, _ in names)


class _Reader:
    """Units of a text read line by line, with what the lines above say of those below."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.units: list[Unit] = []
        self.speakers = dialogue_speakers(text)
        labels = (m["label"] for line in _LINE.finditer(text) if (m := _LABEL.match(line[0])))
        self.order = [label for label in labels if label in self.speakers]
        self.turns = 0
        self.previous = self.heading = self.head = ""

    def read(self, line: re.Match[str], block: int) -> None:
        """Add the units of a line that has words."""
        text, (start, end), bare = self.text, line.span(), line[0].strip()
        label = _LABEL.match(line[0])
        name = label["label"] if label else ""
        if label and name in self.speakers:
            # The last other speaker before this turn, else the first after it.
            around = [*reversed(self.order[: self.turns]), *self.order[self.turns :]]
            addressee = next((person_name(s) for s in around if s != name), "")
            start += label.end()
            who = {"speaker": person_name(name), "addressee": addressee}
            parts = [_unit(text, (start, end), block, "turn", **who)]
            if parts[0].words > _LONG_TURN:
                spans = [(start + a, start + b) for a, b in sentence_spans(text[start:end])]
                parts = [_unit(text, span, block, "turn", **who) for span in spans]
            self.units += [replace(parts[0], before=self.previous), *parts[1:]]
            self.previous = squeeze(line[0][label.end() :])
            self.turns += 1
        elif "|" in line[0] or "\t" in bare:
            self.units.append(_unit(text, (start, end), block, "table", label=self.head, heading=self.heading))
            self.head = self.head or squeeze(line[0])
        # A `label: value` line of more words is prose.
        elif label and (name.lower() in NOT_SPEAKERS or (not self.speakers and word_count(line[0]) <= 20)):
            self.units.append(_unit(text, (start, end), block, "row", label=name, heading=self.heading))
        else:
            bullet = _BULLET.match(text, start, end)
            start = bullet.end() if bullet else start
            spans = [(start + a, start + b) for a, b in sentence_spans(text[start:end])]
            self.units += [_unit(text, span, block, "sentence", heading=self.heading) for span in spans]
            is_short = bare[-1:].isalnum() and word_count(bare) <= 8
            if (bare[-1:] in ":：" or is_short) and not _BULLET.match(line[0]):
                self.heading = squeeze(line[0])
            self.head = ""


def _unit(text: str, span: Span, block: int, kind: str, **around: str) -> Unit:
    start, end = span
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    end -= len(part) - len(part.rstrip())
    return Unit(start, end, word_count(part), block, kind, **around)


def _joined(first: Unit, second: Unit) -> Unit:
    return replace(first, end=second.end, words=first.words + second.words)


def topic_words(text: str) -> list[str]:
    """Words of the chunk that say what it is about, most frequent first; not numbers."""
    counts = Counter(_content(w) for w in WORD.findall(text.lower()))
    return [w for w, n in counts.most_common() if n > 1 and w]


@lru_cache(maxsize=50_000)
def _content(word: str) -> str:
    """The word without its possessive; nothing if it does not say what a text is about."""
    bare = word.replace("’", "'").partition("'")[0]
    return "" if len(bare) < 4 or bare in STOP_WORDS or word in STOP_WORDS or bare.isdigit() else bare
