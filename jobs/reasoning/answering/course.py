"""The course of events: which events of the evidence bear on a question, and the answer that tells them in their order.

Xinyu AI Search, section 3.6.2: a timeline at query time is made of the events of the selected chunks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from quern.jobs.reasoning.answering.draft import Statement, statement
from quern.jobs.reasoning.answering.inputs import AnswerInput, ReportedEvent, asks_course, asks_events, without_times
from quern.jobs.reasoning.answering.lines import ranked
from quern.jobs.text.date_words import date_words
from quern.jobs.text.dates import dates
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import HAN

_FEWEST: Final = 2
_ASKING: Final = content_words("happen happened occurred event events took place went on 发生 发生了 什么 哪些 事")
# What names no topic beside these: `what else happened here in the month of June`.
_NO_TOPIC: Final = _ASKING | content_words("else all exactly really things anything here us month year week day days")
_ASKED_ZH: Final = lazy_pattern(r"(?:都|还|在|里|期间|间|份)|发生[了过]?(?:什么|哪些)(?:大?事情?|事件)?|出了什么事")
_ENDS: Final = tuple('.!?。！？…"”’)')
_WEEK: Final = timedelta(7)  # As newspapers report.
_MOST_TOLD: Final = 5
_MOST_WORDS: Final = 30  # Of a sentence that is told whole; of a longer one its main clause is.
# An event bears on a question where its sentence has so much of the question as this share of what the best one has;
# words that only the sentences before it have count less. Of shares of .4 to .9 and weights of .3, .5, .7 and 1 those
# at which the days of the timelines of answers were most alike to the sample corpus' six gold timelines.
_BEARS: Final = 0.6
_BESIDE: Final = 0.7
# A clause names an event whose sentence has so many of its words.
_NAMES: Final = 0.6
# What another event bounds: `after the collision`, `在碰撞之后`.
_BOUND: Final = lazy_pattern(
    r"\b(?P<way>after|since|following|before|until|prior to)\s+(?P<clause>[^,;?.]+)|"
    r"(?P<clause_zh>[^，。；？,?]{2,20}?)(?P<way_zh>之后|以后|之前|以前)",
    re.IGNORECASE,
)
_LATER: Final = frozenset({"after", "since", "following", "之后", "以后"})
_WITH_IT: Final = frozenset({"since", "until"})


@dataclass(frozen=True)
class ToldEvent:
    """An event of the evidence that bears on a question."""

    event: ReportedEvent
    evidence: int  # Number of the evidence that reports it, from 0.
    number: int  # Number of the sentence that tells it, from 1.
    covered: float  # Share of the question, by rarity of its words, that the sentence has with what stands around it.

    @property
    def place(self) -> tuple[date, date, str]:
        """Where it stands in the order of time: by its first day, the more exact first."""
        return (self.event.from_day, self.event.to_day, self.event.event_id)


def timeline(given: AnswerInput) -> list[ToldEvent]:
    """The events that bear on the question, within the days that it names, in the order of time; two at least."""
    if not any(evidence.events for evidence in given.evidence):
        return []
    question = given.question
    times = [when for when in dates(question) if not when.flaw]
    # No report of an event need have the times and clauses by which the question bounds events.
    unbounded = _BOUND.sub(" ", without_times(question, times))
    unbounded = unbounded if content_words(unbounded) - _ASKING else question
    events = _events(given if unbounded == question else replace(given, question=unbounded))
    if len(events) < _FEWEST:
        return []
    within = list(events)
    for when in times:
        first, last = _outside(question, when.start, *when.days)
        within = [t for t in within if t.event.to_day >= (first or date.min) and t.event.from_day <= (last or date.max)]
    for match in _BOUND.finditer(question):
        if not any(match.start() < when.end and when.start < match.end() for when in times):
            within = _beside(given, within, events, match)
    items = sorted(within, key=lambda item: item.place)
    if span_without_topic(question) is not None:
        # What many pages say in the same words is told once.
        once = {_sentence(given, item.number).casefold(): item for item in reversed(items)}
        bearing = [item for item in items if item in once.values()]
    else:
        most = max((item.covered for item in items), default=0.0)
        bearing = [item for item in items if item.covered > 0 and item.covered >= _BEARS * most]
    return bearing if len(bearing) >= _FEWEST else []


def span_without_topic(question: str) -> tuple[date | None, date | None] | None:
    """The first and the last day of which a question asks what happened, whatever it was: `What happened in June?`.

    None where it asks something else, or of some topic.
    """
    if not asks_events(question):
        return None
    times = [when for when in dates(question) if not when.flaw]
    rest = _ASKED_ZH.sub(" ", without_times(question, times))
    if len(times) != 1 or content_words(rest) - _NO_TOPIC:
        return None
    first, last = _outside(question, times[0].start, *times[0].days)
    return None if first is None and last is None else (first, last)


def stages(given: AnswerInput) -> list[Statement]:
    """The answer to a question for the course of events: those that fit best, in the order of time; else none.

    A question what happened is answered so where it names a time or an event before or after which that was, or where
    the likeliest sentence of the evidence tells one of the events.
    """
    if not asks_events(given.question) or (given.before and not asks_course(given.question)):
        return []
    events = timeline(given)
    if not events:
        return []
    in_order = asks_course(given.question) or _BOUND.search(given.question) is not None
    in_order = in_order or any(not when.flaw for when in dates(given.question))
    if not in_order and ranked(given)[0].number not in {item.number for item in events}:
        return []
    # What a page reports as its news: the first event of a day within a week before it.
    news: dict[str, str] = {}
    for item in sorted(events, key=lambda item: item.number):
        page, published = given.evidence[item.evidence].page, given.evidence[item.evidence].published_at
        recent = published and timedelta(0) <= published.date() - item.event.from_day <= _WEEK
        if recent and item.event.precision == "day":
            news.setdefault(page, item.event.event_id)
    score = {line.number: line.score for line in ranked(given)}

    def worth(item: ToldEvent) -> tuple[bool, float, float]:
        return item.event.event_id in news.values(), item.covered, score[item.number]

    # One of each sentence and of each day: the next stage is another time.
    by_worth = sorted(events, key=worth)
    of_sentence = {item.number: item for item in by_worth}
    of_day = {item.event.from_day: item for item in by_worth if of_sentence[item.number] is item}
    best = sorted(of_day.values(), key=worth, reverse=True)[:_MOST_TOLD]
    return [_stage(given, item) for item in sorted(best, key=lambda item: item.place)] if len(best) >= _FEWEST else []


def _stage(given: AnswerInput, item: ToldEvent) -> Statement:
    sentence, event = _sentence(given, item.number).lstrip("•-–*· "), item.event
    chinese = re.search(f"[{HAN}]", sentence) is not None
    when = date_words(event.timex, event.from_day, event.to_day, chinese=chinese)
    short = len(sentence.split()) <= _MOST_WORDS or not content_words(event.title) <= content_words(sentence)
    text = (sentence if short else event.title).rstrip(" ;,；，")
    end = "" if text.endswith(_ENDS) else "。" if chinese else "."
    return statement(f"{when}{'：' if chinese else ': '}{text}{end}", [item.number])


def _events(given: AnswerInput) -> list[ToldEvent]:
    """All events of the evidence, each with the sentence that its report shares most with."""
    by_number = {line.number: line for line in ranked(given)}
    of_evidence: dict[int, list[tuple[int, int, int]]] = {}
    for number, (at, start, end) in enumerate(given.sentences, 1):
        of_evidence.setdefault(at, []).append((number, start, end))
    items = []
    for at, evidence in enumerate(given.evidence):
        for event in evidence.events:
            common = [(min(end, event.end) - max(start, event.start), -n) for n, start, end in of_evidence.get(at, [])]
            most, number = max(common, default=(0, 0))
            if most > 0:
                shares = by_number[-number].shares
                items.append(ToldEvent(event, at, -number, shares.own + shares.title + _BESIDE * shares.before))
    return items


def _outside(question: str, start: int, first: date | None, last: date | None) -> tuple[date | None, date | None]:
    """The days that a question lets an event have: `after 2 March` begins on the day behind."""
    before = question[:start].rstrip().lower()
    if first is None and last is not None and before.endswith("before"):
        return first, last - timedelta(1)
    if last is None and first is not None and before.endswith("after"):
        return first + timedelta(1), last
    return first, last


def _beside(
    given: AnswerInput, items: Sequence[ToldEvent], events: Sequence[ToldEvent], match: re.Match[str]
) -> list[ToldEvent]:
    """The events on one side of the event that a clause names; all where none of them is that."""
    clause = content_words(match["clause"] or match["clause_zh"])
    way = (match["way"] or match["way_zh"]).lower()
    shares = [(len(clause & content_words(_sentence(given, t.number))) / max(1, len(clause)), t) for t in events]
    share, anchor = max(shares, key=lambda row: (row[0], -row[1].event.from_day.toordinal()))
    if share < _NAMES:
        return list(items)
    first, last = anchor.event.from_day, anchor.event.to_day
    if way in _LATER:
        beyond = [t for t in items if t.event.to_day > first and t.event.from_day >= first]
    else:
        beyond = [t for t in items if t.event.from_day < last and t.event.to_day <= last]
    return [t for t in beyond if t.number != anchor.number] + [t for t in items if t is anchor and way in _WITH_IT]


def _sentence(given: AnswerInput, number: int) -> str:
    """A sentence of the evidence on one line."""
    at, start, end = given.sentences[number - 1]
    return " ".join(given.evidence[at].text[start:end].split())
