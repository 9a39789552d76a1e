"""Events in order, told with both dates, and how long lies between them where that is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.reasoning.answering.parts.phrasing import side_name, sided
from quern.jobs.reasoning.answering.parts.values import days_between, time_told
from quern.jobs.reasoning.answering.spans_of_time import Clock, between, clock, counted, so_asked
from quern.jobs.reasoning.answering.typed.when import clocks
from quern.jobs.reasoning.questions.outline import Section
from quern.jobs.text.dates import dates
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_HOUR: Final = 60
_CLOCK_UNIT: Final = lazy_pattern(r"\bhow\s+many\s+(minute|hour)s\b", re.IGNORECASE)
_UNIT_ASKED: Final = re.compile(r"\bhow\s+many\s+(day|week|month|year)s?\b", re.IGNORECASE)


def ordered(given: AnswerInput, section: Section, answers: list[AskedBefore], measure: str) -> str:
    """Events by their times, as the question asks: which first, whether so, how long; empty where both have one date.

    `measure` asks how far they lie apart; may be empty.
    """
    if (unit := _CLOCK_UNIT.search(measure or given.question)) is not None:
        return _by_clock(answers, unit[1].lower()) or sided(section, answers)
    times = [t for a in answers[: len(section.sides)] if (t := time_told(given, a)) is not None]
    if len(times) < max(2, len(section.sides)):
        return sided(section, answers)
    if len(times) > 2:
        placed = sorted(zip(section.sides, times, strict=True), key=lambda p: p[1].day)
        return "; ".join(f"{side_name(side)} ({when.text})" for side, when in placed)
    one, other = times
    if one.day == other.day and [*answers[0].rests_on] == [*answers[1].rests_on]:
        return ""  # One date of one sentence cannot be that of both.
    long = between(one.day, other.day, one.exact and other.exact, _unit_asked(measure or given.question))
    if re.match(r"how\s+(?:long|many|much)\b", section.text, re.IGNORECASE):
        return f"{long}: {one.text} to {other.text}"
    yes = so_asked(section.word, days_between(given, answers, one, other))
    if yes is not None and section.word not in ("before", "after"):
        return f"{'Yes' if yes else 'No'}, {long}: {one.text} to {other.text}"
    first = one.day <= other.day
    if section.word in ("before or after", "after or before"):
        return f"{'before' if first else 'after'}: {one.text}, against {other.text}"
    if yes is not None:
        placed_by = "on the day of" if one.day == other.day else "before" if first else "after"
        return f"{'Yes' if yes else 'No'}: {one.text}, {placed_by} {other.text}"
    latest = section.word in ("later", "last", "latest", "more recently", "most recently")
    pick = 0 if first != latest else 1
    won, lost = (one, other) if pick == 0 else (other, one)
    apart = f"; {long} apart" if measure else ""
    return f"{side_name(section.sides[pick])} ({won.text}), {'after' if latest else 'before'} {lost.text}{apart}"


def hours_of_one_sentence(given: AnswerInput, section: Section, answers: Sequence[AskedBefore]) -> str:
    """How long lies between two events of which one sentence tells both hours: `48 minutes: 7.04am to 7.52`.

    Empty where none does, or where the first sentence that answers both tells more hours than two.
    """
    if not re.match(r"how\s+long\b", section.text, re.IGNORECASE) or len(answers) != 2 or len(section.sides) != 2:
        return ""
    common = [n for n in answers[0].rests_on if n in answers[1].rests_on]
    if not common:
        return ""
    span = given.sentences[common[0] - 1]
    text = given.evidence[span.evidence].text[span.start : span.end]
    hours = clocks(text)
    told = [t for v in hours if (t := clock(v.text)) is not None]
    if len(told) != 2 or len(hours) != 2 or told[1].minutes <= told[0].minutes or len(dates(text, None)) > 1:
        return ""  # Of two days, or over midnight.
    first, last = text[: hours[0].end], text[hours[0].end :]
    sides = [content_words(side) for side in section.sides]
    if not any(a & content_words(first) and b & content_words(last) for a, b in (sides, sides[::-1])):
        return ""
    minutes = told[1].minutes - told[0].minutes
    return _apart(told, "minute" if minutes % _HOUR else "hour")


def _by_clock(answers: Sequence[AskedBefore], unit: str) -> str:
    """How long lies between two hours of one day, where both are told: `three minutes: 7.49am to 7.52am`."""
    times = [t for a in answers if (t := clock(a.answer)) is not None]
    if len(times) != 2 or times[0].minutes == times[1].minutes:
        return ""
    return _apart(times, unit)


def _apart(times: Sequence[Clock], unit: str) -> str:
    """How long lies between two hours of one day, in `unit`, with both."""
    one, other = times
    minutes = abs(other.minutes - one.minutes)
    return f"{counted(minutes / _HOUR if unit == 'hour' else minutes, unit)}: {one.text} to {other.text}"


def measured(given: AnswerInput, answers: list[AskedBefore], measure: str) -> str:
    """A date and how long it lies from another: `December 2024, about six months before 14 June 2025`."""
    one, other = (time_told(given, a) for a in answers[:2])
    if one is None or other is None:
        return ""
    long = between(one.day, other.day, one.exact and other.exact, _unit_asked(measure))
    return f"{one.text}, {long} {'before' if one.day <= other.day else 'after'} {other.text}"


def _unit_asked(text: str) -> str:
    m = _UNIT_ASKED.search(text)
    return m[1].lower() if m else ""
