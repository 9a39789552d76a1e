"""What a question and its evidence show of whether the one is answered by the other, as numbers.

A passage that does not answer is mostly about the right thing: so the signals ask what of the question is missing
where the answer would stand, not only how alike they are. What is asked of is a set of *points*: the question's words
of content and its dates; a chunk holds a date if its text does, or if it was published then.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from quern.jobs.reasoning.answering.idioms import asks_events, fillers, frame_words
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.answering.relevance import Line, Signals, is_conversation
from quern.jobs.text.dates import When, dates
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK
from quern.schemas.words.terms import search_terms

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
UNKNOWN: Final = math.nan
_NAME: Final = re.compile(r"\b(?!I\b)[A-Z][\w'’-]*")  # `I` and `I'm` name nobody.
_SEVERAL_WORDS: Final = re.compile(r"[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)+")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
# The three below were the constants of the rule that ranked sentences before, chosen on the sample corpus.
_AROUND: Final = 0.4  # What a word of the question counts that only the text around a sentence holds.
_ASKS: Final = 0.85  # What a question among the evidence is worth against a statement.
_OTHER_NUMBER: Final = 0.7  # What evidence is worth that lacks a number or a date of the question.
_LINES: Final = 12  # Of the best lines, those whose amounts are weighed, as `answering.choosing` does.
# Of another script the default model tells nothing (recall@1 of Chinese questions .10): its cosines would mislead.
_UNREAD: Final = re.compile(f"[{CJK}]")
# Words that name the text that is asked of, not what it says: `according to their conversation on ...`.
_SOURCE: Final = content_words("according conversation discussion chat message article passage text document post")
# A name or a date is one of these without a word that says so: `Which company repaired it`.
_CLASS: Final = lazy_pattern(
    r"^(?:(?:at|by|for|from|in|on|to|with)\s+)?(?:which|what)\s+(company|firm|business|organi[sz]ation|city|town|country|"
    r"person|man|woman|year|month|day|date)\b",
    re.IGNORECASE,
)
_AMOUNTS: Final = ("how_many", "how_much", "how_long")


class Features(NamedTuple):
    """Signals of a question and its evidence; `UNKNOWN` where one cannot be taken.

    Attributes:
        best: Largest mean of similarity and share of the question's words of one sentence, words around it in part.
        similarity: Cosine of the question with the nearest synthetic query of the evidence, or sentence if it has none.
        sentence: Cosine of the question with the nearest of the likeliest sentences; unknown without an embedder.
        chunk: Share of the question's points, by rarity, that the likeliest sentence's chunk and title hold.
        phrases: Share of the question's pairs of neighbouring words that the evidence has as neighbours.
        names: Share of the question's names that the chunk holds; 1 where it has none.
        dates: Share of its dates that the evidence holds; 1 where it has none.
        amount: How much of the question stands around an amount of the kind asked for; unknown where none is.
        yes_no: 1 where yes or no is asked.
        unread: 1 where the question is of a script whose cosines tell nothing.
    """

    best: float
    similarity: float
    sentence: float
    chunk: float
    phrases: float
    names: float
    dates: float
    amount: float
    yes_no: float
    unread: float


NOTHING: Final = Features._make([0.0] * 7 + [UNKNOWN] + [0.0] * 2)


@dataclass(frozen=True)
class Asked:
    """The points of a question.

    Attributes:
        words: Its words of content outside dates.
        names: Those of them that are of names.
        numbers: Its numbers outside dates.
        dates: Its dates whose days are known.
        phrases: Pairs of neighbouring words.
        named: The words of each of its names that has several.
    """

    words: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    dates: tuple[When, ...]
    phrases: frozenset[tuple[str, str]]
    named: tuple[frozenset[str], ...] = ()

    def words_of(self, evidence: Evidence) -> frozenset[str]:
        """The words of a chunk and its title, and a name of the question of which its site has a word.

        A page of `averil-council.example` is of Port Averil, and need not say so, nor what `our wiki` is called.
        """
        own, site = _words(evidence), content_words(evidence.site.replace(".", " "))
        return own.union(self.names & site, *(name for name in self.named if name & site))


@lru_cache(maxsize=4096)
def asked(question: str) -> Asked:
    """The points of a question."""
    days = tuple(w for w in dates(question, None) if w.from_day and w.to_day)
    plain = question
    for when in reversed(days):
        plain = f"{plain[: when.start]} {plain[when.end :]}"
    if asks_events(question):  # What bounds a course of events need not stand in any report of it.
        days = tuple(w for w in days if not w.signal and w.precision != "range")
    words = content_words(plain) - _SOURCE - frame_words(plain) - fillers(plain)
    if (of_class := _CLASS.match(plain)) is not None:
        words -= content_words(of_class[1]) - content_words(plain[of_class.end() :])
    after = plain.strip().partition(" ")[2]
    names = frozenset(w for name in _NAME.findall(after) for w in content_words(name))
    several = (content_words(m[0]) & words for m in _SEVERAL_WORDS.finditer(after))
    named = tuple(name for name in several if len(name) > 1)
    return Asked(words, names & words, frozenset(_NUMBER.findall(plain)), days, _pairs(plain), named)


@lru_cache(maxsize=20_000)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """Pairs of neighbouring words of a text, function words too."""
    words = search_terms(text).split()
    return frozenset(pairwise(words))


def features(given: AnswerInput, sentence: float = UNKNOWN) -> Features:
    """The signals of one question and its evidence; `sentence` is the cosine of the likeliest, where it is known."""
    kind = kind_of(given.question)
    likely = lines(given, kind)
    if not likely:
        return NOTHING
    points, chunks = asked(given.question), [_Chunk.of(e, asked(given.question)) for e in given.evidence]
    chunk, everywhere = chunks[likely[0].evidence], frozenset[object]().union(*(c.points for c in chunks))
    weight = _weights(points, likely)
    similarities = [] if _UNREAD.search(given.question) else [s for e in given.evidence for s in e.similarities]
    return Features(
        best=max(_support(line, chunks[line.evidence], sentence) for line in likely),
        similarity=max(similarities) if similarities else sentence,
        sentence=sentence,
        chunk=_share(weight, everywhere if given.before else chunk.points),
        phrases=_part(points.phrases, frozenset().union(*(c.phrases for c in chunks))),
        names=_part(points.names, everywhere if given.before else chunk.points),
        dates=_part(frozenset(points.dates), everywhere),
        amount=_amount(kind, likely),
        yes_no=float(kind.name == "yes_no"),
        unread=float(_UNREAD.search(given.question) is not None),
    )


def sentence_similarities(inputs: Sequence[AnswerInput], encode: Encode, most: int) -> list[float]:
    """Cosine of each question with the nearest of its `most` likeliest sentences; all are embedded in one call."""
    read = [not _UNREAD.search(g.question) for g in inputs]
    likely = [
        [line.text for line in lines(g, kind_of(g.question))[: most * r]] for g, r in zip(inputs, read, strict=True)
    ]
    texts = list(
        dict.fromkeys(text for g, mine in zip(inputs, likely, strict=True) if mine for text in (g.question, *mine))
    )
    place = {text: n for n, text in enumerate(texts)}
    vectors = encode(texts) if texts else np.empty((0, 0), dtype=np.float32)
    return [
        max((float(vectors[place[g.question]] @ vectors[place[text]]) for text in mine), default=UNKNOWN)
        for g, mine in zip(inputs, likely, strict=True)
    ]


def converses(given: AnswerInput) -> bool:
    """Whether the likeliest sentence stands in a conversation: most of the sentences beside it have a speaker.

    All chunks of 200 questions of lihua_world are, and none of 796 of pages, articles and stories.
    """
    likely = lines(given, kind_of(given.question))
    return is_conversation([line for line in likely if line.evidence == likely[0].evidence])


@dataclass(frozen=True)
class _Chunk:
    """What a chunk holds of a question.

    Attributes:
        points: Words of content and dates.
        phrases: Pairs of neighbouring words.
        complete: Whether it holds every number and date.
        usual: Mean cosine of its synthetic queries; unknown where it has none.
    """

    points: frozenset[object]
    phrases: frozenset[tuple[str, str]]
    complete: bool
    usual: float

    @classmethod
    def of(cls, evidence: Evidence, points: Asked) -> _Chunk:
        numbers = points.numbers & _numbers(f"{evidence.title or ''} {evidence.text}")
        days = frozenset(w for w in points.dates if holds(evidence, w))
        complete = numbers == points.numbers and len(days) == len(points.dates)
        phrases = points.phrases & _pairs(evidence.text)
        cosines = evidence.similarities
        usual = math.fsum(cosines) / len(cosines) if cosines else UNKNOWN
        return cls((points.words_of(evidence) & points.words) | days, phrases, complete, usual)


def _weights(points: Asked, likely: Sequence[Line]) -> dict[object, float]:
    """The weight of each point: a word's rarity among the sentences; of a date as of two words that none has."""
    seen = Counter(w for line in likely for w in content_words(line.text) & points.words)
    weight: dict[object, float] = {w: math.log(1 + len(likely) / (0.5 + seen[w])) for w in points.words}
    return weight | {w: 2 * math.log(1 + 2 * len(likely)) for w in points.dates}


def _share(weight: dict[object, float], held: frozenset[object]) -> float:
    # Sets differ in order from process to process: only an exact sum is the same in each.
    return math.fsum(weight[p] for p in held) / (math.fsum(weight.values()) or 1.0)


def _support(line: Line, chunk: _Chunk, sentence: float) -> float:
    """How well a line answers by words and cosines; of a chunk without nodes the likeliest sentence's stands in."""
    s = line.signals
    near = sentence if math.isnan(chunk.usual) else s.quoted + chunk.usual
    share = s.own + s.title + _AROUND * (s.before + s.earlier + s.after + s.chunk)
    worth = (_ASKS if s.asks else 1.0) * (1.0 if chunk.complete else _OTHER_NUMBER)
    return worth * (share if math.isnan(near) else 0.5 * (max(0.0, near) + share))


def _amount(kind: Kind, likely: Sequence[Line]) -> float:
    if kind.name not in _AMOUNTS:
        return UNKNOWN
    return max(line.signals.typed * _near(line.signals) for line in likely[:_LINES])


def _near(signals: Signals) -> float:
    """The share of the question's words in a sentence, those beside it and the title."""
    return signals.own + signals.before + signals.earlier + signals.after + signals.title


def holds(evidence: Evidence, when: When) -> bool:
    """Whether a chunk speaks of these days, or was published on one of them."""
    first, last = when.from_day, when.to_day
    if first is None or last is None:
        return False
    published = evidence.published_at.date() if evidence.published_at else None
    if published and first <= published <= last:
        return True
    said = _days(f"{evidence.title or ''}\n{evidence.text}", published)
    return any(first <= end and start <= last for start, end in said)


@lru_cache(maxsize=5_000)
def _days(text: str, published: date | None) -> frozenset[tuple[date, date]]:
    """First and last day of each date of a text."""
    return frozenset((w.from_day, w.to_day) for w in dates(text, published) if w.from_day and w.to_day)


@lru_cache(maxsize=5_000)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


def _words(evidence: Evidence) -> frozenset[str]:
    return content_words(evidence.text) | content_words(evidence.title or "")


def _part(wanted: frozenset[object], held: frozenset[object]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 1.0


def missing(wanted: frozenset[str], question: str, evidence: Sequence[Evidence]) -> frozenset[str]:
    """What of the words `wanted` of a question no evidence holds."""
    return wanted - frozenset().union(*map(asked(question).words_of, evidence))
