"""Which sentences of a chunk tell its events, and on which day: the rule, which needs no model.

A sentence with a date of its own comes first, the more exact the better; then, in a dated document that is no
conversation, those near its beginning, where news tells what is new (Xinyu, section 3.6.2: the event's time, else the
report's; else it is dropped).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Final, Literal

from quern.jobs.events.entities import entities
from quern.jobs.events.telling import Telling, gone, headline, perfect, plans, telling
from quern.jobs.events.timex import Period, of_days, period, timex
from quern.jobs.events.titles import shortened
from quern.jobs.queries.rules.units import dialogue_speakers, person_name, word_count
from quern.jobs.reasoning.answering.names import speaker
from quern.jobs.text.dates import When, dates, order_of
from quern.schemas.words.sentences import sentence_spans
from quern.schemas.words.terms import STOP_WORDS, search_terms

# Of several dates in a sentence the most exact is the event's; of as exact ones the first.
_EXACT: Final = {"day": 0, "week": 1, "month": 2, "range": 3, "season": 4, "quarter": 4, "half": 5, "year": 6}
_DECADE: Final = 9
# What a sentence is worth, tuned by recall of gold sentences on `airbus`, checked on `apple` (SemEval-2015 task 4).
_OWN_DATE: Final = (1.5, 1.25, 1.0, 1.0, 0.75, 0.75, 0.75, 0.5)
_TELLS: Final = {"past": 1.0, "present": 1.0, "plan": 0.5, "state": 0.2}
_PLACE: Final = (2.0, 1.5, 1.0, 0.8, 0.6, 0.4)
_NAME: Final = 0.8
_TOPIC: Final = 0.5
# Characters from the beginning of a document whose events may bear its own date: as long as articles of news are.
LEAD: Final = 6000
# What overlaps with the chunk before is told there.
_OVERLAP: Final = 0.2
_TOLD: Final = 1.0
_ROW: Final = re.compile(r"\|.*\||\t")
_ENDS: Final = re.compile(r"[.!?…。！？][\"'”’»」』）)\]]*$")
_LABEL: Final = re.compile(r"^\s*[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*){0,3}:\s+")

DateFrom = Literal["text", "document"]


@dataclass(frozen=True)
class Passage:
    """A chunk as events are found in it.

    Attributes:
        text: Its text.
        title: Title of the document; may be empty.
        published: Day of the document's publication, if known.
        start: Where it begins in the document's text.
    """

    text: str
    title: str
    published: date | None
    start: int

    @property
    def first(self) -> bool:
        """Whether it begins the document."""
        return self.start == 0

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, numbered from 1."""
        return _sentences(self)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a chunk.

    Attributes:
        number: Its number, from 1.
        start: First character in the chunk.
        end: One past the last.
        text: The characters themselves.
        who: Who says it in a conversation; may be empty.
        line: Number of its line.
    """

    number: int
    start: int
    end: int
    text: str
    who: str
    line: int

    @property
    def said(self) -> str:
        """Its text without the label of who says it."""
        return _LABEL.sub("", self.text) if self.who else self.text


@dataclass(frozen=True)
class Dating:
    """When the event of a sentence is.

    Attributes:
        timex: The day or days, as a TIMEX value.
        date_from: Where that was taken from.
        expected: Whether it was yet to come.
    """

    timex: str
    date_from: DateFrom
    expected: bool = False


@dataclass(frozen=True)
class Report:
    """An event as a sentence tells it.

    Attributes:
        sentence: The sentence.
        dating: When.
        title: What happened, in a few words.
        entities: Names of those that it is about.
    """

    sentence: Sentence
    dating: Dating
    title: str
    entities: tuple[str, ...]


@dataclass(frozen=True)
class Reports:
    """The events of a chunk in reading order, and how many more have no date."""

    reports: tuple[Report, ...]
    undated: int


@lru_cache(maxsize=64)
def _sentences(passage: Passage) -> tuple[Sentence, ...]:
    text = passage.text
    talk = bool(dialogue_speakers(text))
    found: list[Sentence] = []
    line, at, who = 0, 0, ""
    for number, (start, end) in enumerate(sentence_spans(text), 1):
        breaks = text.count("\n", at, start)
        if talk and (breaks or not found):
            who = speaker(text[start:end])
        line, at = line + breaks, start
        found.append(Sentence(number, start, end, text[start:end], person_name(who), line))
    return tuple(found)


def read_reports(passage: Passage, most: int, title_words: int) -> Reports:
    """At most `most` events of a chunk: those that are worth most, in reading order."""
    sentences = passage.sentences
    talk = any(s.who for s in sentences)
    topic = {w for w in search_terms(passage.title).split() if w not in STOP_WORDS}
    order = order_of(text=passage.text) if "/" in passage.text else None
    rated: list[tuple[float, Sentence, Dating]] = []
    undated, carried, place = 0, _NOTHING, -1
    news: Dating | None = None
    for sentence in sentences:
        tells = _said(sentence) if talk else _tells(sentence, passage.title)
        headed = _is_title(sentence.text, passage.title)
        place += not headed and len(sentence.text) > _SHORT
        times = dates(sentence.said, passage.published, order) if tells else []
        own = own_dating(sentence.said, times, passage.published)
        if own and not talk and passage.first and _is_background(sentence, own, passage.published, place):
            own = None
        carried = _Carried(sentence.line, own) if own else carried
        news = news or (_news(own, passage.published) if own and place <= _OPENING and passage.first else None)
        if tells is None:
            continue
        if own and talk and tells == "plan":
            own = _next(own, passage.published)
        # Of a hundred undated turns of LiHua-World that tell of the past, few tell what happened that day.
        unsure = own is None and any(_undatable(sentence.said, when) for when in times)
        dating = own or (None if talk or unsure else _borrowed(sentence, tells, passage, carried, news))
        if dating is None:
            undated += not talk and tells in ("past", "present")
            continue
        first = passage.first and not talk
        worth = _worth(sentence, tells, own, 0 if headed else place, first)
        worth += _TOPIC * bool(topic & set(search_terms(sentence.text).split()))
        if passage.start and sentence.start < _OVERLAP * len(passage.text):
            worth -= _TOLD
        rated.append((worth, sentence, dating))
    best = sorted(rated, key=lambda r: (-r[0], r[1].number))[:most]
    # What does not say who or what leaves no room: what is worth less than that is no event for it.
    named = [r for r in best if talk or not _is_unnamed(r[1].text, passage.title)]
    chosen = sorted(named, key=lambda r: r[1].number)
    lead = next((s.number for s in sentences if not _is_title(s.text, passage.title)), 0) if passage.first else 0
    return Reports(
        tuple(report(passage, s, dating, "", (), title_words, lead=s.number == lead) for _, s, dating in chosen),
        undated,
    )


def _is_unnamed(text: str, title: str) -> bool:
    """Whether a sentence begins with a pronoun for what stands before it: alone, it does not say who or what.

    A document that has a name for its title, as in an encyclopaedia, is about what bears it, and so are its pronouns.
    """
    return _PRONOUN.match(text) is not None and not _is_name(title)


def _is_name(title: str) -> bool:
    """Whether a document's title is a name: few words that tell nothing."""
    return 0 < word_count(title) <= _LONGEST_NAME and not headline(title) and telling(title + ".") is None


_PRONOUN: Final = re.compile(
    r"[\"“'‘«`*•-]*\s*(?:(?:It|He|She|They)\b|(?:One|This|That|These|Those|Both|Each|Neither|Some|Others)\s+"
    r"(?:is|are|was|were|has|have|had|will|would|did|does|of\s+(?:them|these|those)|\w+ed)\b)"
)
_LONGEST_NAME: Final = 4  # Words.
_SHORT: Final = 20  # Characters: a date line or a mark is no sentence of the lead.


@dataclass(frozen=True)
class _Carried:
    """The last date that a sentence before gave, and the line that it stands in."""

    line: int
    dating: Dating | None


_NOTHING: Final = _Carried(-1, None)


def report(
    passage: Passage,
    sentence: Sentence,
    dating: Dating,
    title: str,
    named: Sequence[str],
    title_words: int,
    *,
    lead: bool = False,
) -> Report:
    """The event that a sentence tells, with title and names where none are given.

    Args:
        passage: The chunk.
        sentence: The sentence.
        dating: When.
        title: What happened; empty for the document's title where the sentence leads it and repeats it, else for the
            sentence's main clause.
        named: Whom it is about; none for the names in it.
        title_words: Most words of a title.
        lead: Whether the sentence is the document's first.
    """
    if not title and lead and _titled(passage.title, sentence.text, title_words):
        title = " ".join(passage.title.split())
    if not title:
        said = shortened(sentence.said, title_words - (len(sentence.who.split()) if sentence.who else 0))
        title = f"{sentence.who}: {said}" if sentence.who else said
    if not named:
        others = tuple(s.text for s in passage.sentences if s.number != sentence.number)
        named = entities(sentence.said, others, passage.title)
        if sentence.who:
            named = list(dict.fromkeys([sentence.who, *named]))
    return Report(sentence, dating, title, tuple(named))


def own_dating(said: str, times: Sequence[When], published: date | None) -> Dating | None:
    """The date that a sentence gives its event: the most exact; a later one than the report's only where planned.

    A time that the text speaks before or after of gives way to one that it speaks at. A time until which something
    lasted is none, and an old one in a relative clause is of that clause.
    """
    ahead = plans(said)
    found: list[tuple[bool, bool, int, int, str]] = []
    for when in times:
        days = period(value) if (value := timex(when)) else None
        if days is None or _unreadable(said, when) or _spans(days, published) or _names_thing(said, when, days):
            continue
        if _bounds(said, when) or _in_clause(said, when, days, published):
            continue
        later = published is not None and days.from_day > published
        if later and not ahead and _OPEN_YEAR.match(when.timex):
            # A year that the text leaves open is then the last one, not the next.
            days = _year_before(days)
            if days is None:
                continue
            later, value = False, of_days(days.from_day, days.to_day)
        elif later and not ahead and _NUMBER.search(when.text):
            continue
        found.append((later, bool(when.signal), _EXACT.get(days.precision, _DECADE), when.start, value))
    if not found:
        return None
    later, *_, value = min(found)
    return Dating(value, "text", later)


# A day and a month without a year; a time that is told in words alone (`this weekend`) is to come where it says so.
_OPEN_YEAR: Final = re.compile(r"XXXX-\d\d")
_NUMBER: Final = re.compile(r"\d|[〇零一二三四五六七八九十]")


def _names_thing(said: str, when: When, days: Period) -> bool:
    """Whether a year tells which thing is meant, not when it was: `the bell of 1886`, `the 1991 agreement`."""
    if days.precision != "year":
        return False
    of = _OF.search(said, 0, when.start) is not None
    return of or (_DETERMINER.search(said, 0, when.start) is not None and _NOUN.match(said, when.end) is not None)


_OF: Final = re.compile(r"\bof\s+$")
_DETERMINER: Final = re.compile(r"(?:\b(?:the|an?|its|their|his|her|our)|['’]s)\s+$", re.I)
_NOUN: Final = re.compile(r"\s+[A-Za-z]")


def _bounds(said: str, when: When) -> bool:
    """Whether a time ends how long something lasts, or begins it: `until 1949`; not what `has` been so since."""
    bound = _BOUND.search(said, 0, when.start)
    return bound is not None and not (bound["since"] and (perfect(said) or gone(said)))


def _undatable(said: str, when: When) -> bool:
    """Whether a time shows that a sentence is not of the day of its report: it tells how long something lasts.

    Where the time is of a relative clause, what stands before that has to tell something.
    """
    if when.flaw or _unreadable(said, when):
        return True
    clause = _RELATIVE.search(said, 0, when.start)
    if clause is not None:
        return telling(said[: clause.start()].rstrip(" ,") + ".") is None
    return _bounds(said, when)


_BOUND: Final = re.compile(
    r"\b(?:until|till|up\s+to|(?P<since>since))\s+(?:the\s+)?(?:(?:very\s+)?(?:late|early|end\s+of|beginning\s+of|"
    r"start\s+of|mid)[\s-]+)?(?:in|on)?\s*$",
    re.I,
)


def _in_clause(said: str, when: When, days: Period, published: date | None) -> bool:
    """Whether a time is of a clause about one that the sentence names: `the mayor, who was born in 1949`.

    A day near the report's own is of its news, wherever it stands.
    """
    if published is not None and abs(published - days.from_day) <= _MONTH:
        return False
    if _ASIDE.search(said, 0, when.start) is not None and said.startswith(",", when.end):
        return True
    clause = _RELATIVE.search(said, 0, when.start)
    return clause is not None and word_count(said[: clause.start()]) >= _MAIN_CLAUSE


# `The boiler, installed in 1979, had failed`.
_ASIDE: Final = re.compile(r",\s+(?:\w+ed|built|made|born|held|begun)\s+(?:in|on)\s+$")
# A clause that no comma ends before the time.
_RELATIVE: Final = re.compile(
    r"(?:\b(?:who|whose|whom|which)\b|\b(?<!said )(?<!told )(?<!announced )that\s+"
    r"(?:was|were|had|ran|stood|hung|\w+ed)\b)[^,;:]*$"
)
_MAIN_CLAUSE: Final = 2  # Words before it: who or what, and what happened.


def _unreadable(said: str, when: When) -> bool:
    """Whether a day is of a year that none can be: `31 December 9999`, `1 May 0000`."""
    return _OPEN_YEAR.match(when.timex) is not None and _MORE_DIGITS.match(said, when.end) is not None


_MORE_DIGITS: Final = re.compile(r",?\s*(?:of\s+)?\d{3,}\b")


def _spans(days: Period, published: date | None) -> bool:
    """Whether a time is how long something lasts at the time of the report: `over the next four years`."""
    if published is None or days.precision != "range" or not days.from_day <= published <= days.to_day:
        return False
    return days.to_day - days.from_day > _MONTH


def _year_before(days: Period) -> Period | None:
    """The same days a year earlier; None where that year lacks one of them."""
    try:
        first, last = (day.replace(year=day.year - 1) for day in (days.from_day, days.to_day))
    except ValueError:  # 29 February.
        return None
    return replace(days, from_day=first, to_day=last)


def known_days(passage: Passage) -> list[Period]:
    """The days that the chunk names and the day of its publication: what a model may date its events by."""
    found = [period(value) for when in dates(passage.text, passage.published) if (value := timex(when))]
    own = [Period(passage.published, passage.published, "day")] if passage.published else []
    return [*(days for days in found if days), *own]


def _tells(sentence: Sentence, title: str) -> Telling | None:
    """What a sentence tells; None for a row of a table, and for a line without an end that is no title and no date."""
    text = sentence.said
    if _ROW.search(text):
        return None
    if _is_title(text, title):
        return telling(text + "。") or ("present" if headline(text) else None)
    tells = telling(text)
    if tells and not sentence.who and not _ENDS.search(text) and word_count(text) < 8:
        return None
    return tells


def _said(sentence: Sentence) -> Telling | None:
    """What a turn of a conversation tells; small talk is short."""
    tells = telling(sentence.said) if word_count(sentence.said) >= _SMALL_TALK else None
    return None if tells == "state" else tells


_SMALL_TALK: Final = 8


def _next(own: Dating, published: date | None) -> Dating:
    """The date of a plan; what falls in the week before is of the week to come: `let's meet on Saturday`."""
    days = period(own.timex)
    if published is None or days is None or days.to_day >= published or published - days.from_day > _WEEK:
        return own
    if days.to_day > date.max - _WEEK:
        return own
    return Dating(of_days(days.from_day + _WEEK, days.to_day + _WEEK), "text", expected=True)


def _is_title(text: str, title: str) -> bool:
    return bool(title) and " ".join(text.split()).rstrip(".") == " ".join(title.split()).rstrip(".")


def _borrowed(
    sentence: Sentence, tells: Telling, passage: Passage, carried: _Carried, news: Dating | None
) -> Dating | None:
    """The date of an event whose sentence has none.

    It is that of the sentence before in its paragraph, else the day that the news is of, else the report's.
    """
    if tells in ("state", "plan"):
        return None
    before = carried.dating
    follows = carried.line == sentence.line and not _is_name(passage.title)
    if before is not None and follows and not before.expected and len(before.timex) == _DAY:
        return before
    if passage.published is None or passage.start + sentence.start > LEAD or gone(sentence.text):
        return None
    if _is_name(passage.title):
        return None  # An encyclopaedia goes from time to time, and what it tells was not new when it was written.
    if passage.start and _FIRST_PERSON.search(sentence.text):
        return None  # A long turn of a conversation, or a memory.
    return news or Dating(passage.published.isoformat(), "document")


def _is_background(sentence: Sentence, own: Dating, published: date | None, place: int) -> bool:
    """Whether the date in one of the first sentences of a report is too old to be that of its news.

    So it is in the very first where it is vague, and where the sentence tells in the present perfect what is new.
    """
    days = period(own.timex)
    if published is None or days is None or own.expected or days.to_day >= published or place > _OPENING:
        return False
    vague = place == 0 and days.to_day - days.from_day > _MONTH
    return vague or (published - days.to_day > _MONTH and perfect(sentence.text))


def _news(own: Dating, published: date | None) -> Dating | None:
    """The day of the news, where the opening of a report gives one of the week before its own."""
    days = period(own.timex)
    if published is None or days is None or own.expected or days.precision != "day":
        return None
    return own if timedelta(0) <= published - days.from_day <= _WEEK else None


_FIRST_PERSON: Final = re.compile(r"^[^\"“`]*\bI(?:['’]\w+)?\b")
_MONTH: Final = timedelta(31)
_WEEK: Final = timedelta(7)
_OPENING: Final = 1  # Sentences 0 and 1: what, and when.
_DAY: Final = len("2024-03-02")


def _worth(sentence: Sentence, tells: Telling, own: Dating | None, place: int, first: bool) -> float:
    """What a sentence is worth as the report of an event."""
    worth = _TELLS[tells]
    days = period(own.timex) if own else None
    if days:
        rank = _EXACT.get(days.precision, _DECADE)
        worth += _OWN_DATE[rank] if rank < len(_OWN_DATE) else 0.25
    if first:
        worth += _PLACE[place] if 0 <= place < len(_PLACE) else 0.0
    return worth + _NAME * min(2, sum(1 for _ in _CAPITAL.finditer(sentence.text, 1)))


_CAPITAL: Final = re.compile(r"(?<=[\w,;:] )[A-Z][a-z]+|《")


def _titled(title: str, sentence: str, most: int) -> bool:
    """Whether the document's title can stand for its first sentence: short, and two of its words there."""
    if not title or word_count(title) > most:
        return False
    shared = set(search_terms(title).split()) & set(search_terms(sentence).split())
    return sum(len(word) > 2 or not word.isascii() for word in shared) >= 2
