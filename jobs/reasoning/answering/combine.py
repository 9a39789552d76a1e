"""The answer of a question that needed several answers, made of these by rule.

What is compared by value is told with both values, events in order with both dates, parts of a question one after
another (GraTAG and Xinyu AI Search: the leaves' pairs of question and answer give the final answer).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from quern.jobs.reasoning.answering.contrast import contrasted
from quern.jobs.reasoning.answering.facts import value_of_side
from quern.jobs.reasoning.answering.further import earns_its_place
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.reasoning.answering.kinds import kind_of
from quern.jobs.reasoning.answering.relevance import lines
from quern.jobs.reasoning.answering.short import short_answer
from quern.jobs.reasoning.answering.spans_of_time import between, clock, counted, so_asked
from quern.jobs.reasoning.answering.values import Quantity, When, dates, quantities
from quern.jobs.reasoning.questions.outline import Section, asked_numbers, outline
from quern.jobs.reasoning.questions.plan import REFERENCE
from quern.schemas.words.patterns import lazy_pattern

_LESS: Final = frozenset(
    "less least fewer fewest lower lowest smaller smallest shorter shortest younger youngest lighter lightest cheaper "
    "cheapest slower slowest narrower thinner closer nearer nearest closest colder cooler worse earlier earliest first "
    "sooner".split()
)
_HOW_MUCH: Final = re.compile(
    r"\bby\s+(?:how\s+(?:much|many)|what)\b|\bdifference\b|\bhow\s+(?:much"
    r"|many)\s+more\b",
    re.IGNORECASE,
)
_CLOCK_UNIT: Final = lazy_pattern(r"\bhow\s+many\s+(minute|hour)s\b", re.IGNORECASE)
_UNIT_ASKED: Final = re.compile(r"\bhow\s+many\s+(day|week|month|year)s?\b", re.IGNORECASE)
# Units of one kind, in the smallest of them.
_KINDS: Final[Mapping[str, str]] = {
    "length": "millimetre .001 centimetre .01 metre 1 kilometre 1000 mile 1609.344 foot .3048 inch .0254",
    "weight": "gram .001 kilogram 1 tonne 1000",
    "time": "second 1 minute 60 hour 3600 day 86400 week 604800 fortnight 1209600 month 2630000 year 31557600 "
    "decade 315576000 century 3155760000",
}
_CONVERTED: Final = {
    unit: (kind, float(factor))
    for kind, line in _KINDS.items()
    for unit, factor in zip(line.split()[::2], line.split()[1::2], strict=True)
}
_DECIDES: Final = re.compile(r"(?:yes|no|equal)\b", re.IGNORECASE)
_LONGEST: Final = 600  # Characters of a short answer.
_SHORT: Final = 6  # Words of an answer that is no whole sentence.
_NEXT_BEST: Final = 2  # Sentences of a part, the best among them, that may carry it.
_NEXT_OTHERS: Final = 4  # Sentences of a part, of which one that no other part is told with may answer it.
_NEARLY: Final = 1.5  # Log odds by which the next best sentence may be less likely than the best.
_CLEARLY: Final = 2.0  # Log odds by which a sentence stands out for a part that alone was not answered.
_MOST_GROUNDS: Final = 5
_MOST_CARRYING: Final = 3  # Sentences behind the short answer.


@dataclass(frozen=True)
class _Time:
    """A known time: its first day, whether that is the day itself, and its words."""

    day: date
    exact: bool
    text: str


@dataclass(frozen=True)
class _Told:
    """The answer of one section and the numbers of the sentences it rests on; `partly` where a side is not answered."""

    text: str
    rests_on: tuple[int, ...]
    partly: bool = False


@dataclass(frozen=True)
class Combined:
    """An answer made of several.

    Attributes:
        text: The short answer.
        rests_on: Numbers of the sentences that it rests on.
        carrying: Numbers of the sentences that carry it, at most three.
    """

    text: str
    rests_on: list[int]
    carrying: list[int]


def combined(given: AnswerInput) -> Combined | None:
    """The answer of `given.question` from the answers before it, by rule; None where they give none.

    `given.before` holds the leaves of the decomposition in its order.
    """
    groups = _groups(given)
    told: list[_Told] = []
    for section, answers, measures in groups:
        others = [_otherwise(given, a, told) if section.way in ("single", "chain") else a for a in answers]
        if (found := _section(given, section, others, measures)) is not None:
            told.append(found)
    if not told or (len(groups) == 1 and told[0].partly):
        return None
    left_open = " or " in given.question or not _is_yes_no(given.question)
    if len(groups) == 1 and not left_open and not _DECIDES.match(told[0].text):
        return None  # Neither yes nor no: the evidence is asked as a whole.
    text = "; ".join(_without_end(t.text) for t in told)
    rests_on = list(dict.fromkeys(n for t in told for n in t.rests_on))
    short = f"{text[:1].upper()}{text[1:]}"[:_LONGEST]
    return Combined(short, rests_on[:_MOST_GROUNDS], _carrying(given, short, rests_on)[:_MOST_CARRYING])


def _carrying(given: AnswerInput, short: str, rests_on: Sequence[int]) -> list[int]:
    """The sentences that carry the answer: those it rests on, unless they are the answer, and the next best of parts.

    A part whose short answer is a whole sentence has none that says more of the same, so the next best is told.
    """
    said = [n for n in rests_on if _sentence(given, n) not in short]
    for before in given.before:
        if before.answer and any(n in rests_on and n not in said for n in before.rests_on):
            ranked = lines(AnswerInput(before.question, given.evidence), kind_of(before.question))
            near = [line.number for line in ranked[:_NEXT_BEST] if line.score >= ranked[0].score - _NEARLY]
            own = AnswerInput(before.question, given.evidence)
            own_score = max((line.score for line in ranked if line.number in before.rests_on), default=-math.inf)
            # On another page only what is as much likelier: of the sample corpus the two that were wrong are gone.
            other = near[:1] if ranked[0].score >= own_score + _NEARLY else []
            answering = [*before.rests_on, *other]
            said.extend(n for n in near if _sentence(given, n) not in short and earns_its_place(own, answering, n))
    texts = {_sentence(given, n): n for n in reversed(said)}
    return list(dict.fromkeys(n for n in said if texts[_sentence(given, n)] == n))


def _sentence(given: AnswerInput, number: int) -> str:
    """A sentence of the evidence on one line, without the mark at its end."""
    span = given.sentences[number - 1]
    return _without_end(given.evidence[span.evidence].text[span.start : span.end])


def _groups(given: AnswerInput) -> list[tuple[Section, list[AskedBefore], list[Section]]]:
    """The sections of the question, each with its answers and with the sections of measures behind it."""
    form = outline(given.question)
    needed = {p for s in form.sub_questions for p in s.parents}
    leaves = asked_numbers(form, [n for n in range(1, len(form.sub_questions) + 1) if n not in needed])
    asked = [form.sub_questions[n - 1].text for n in leaves]
    if not asked or len(asked) != len(given.before) or not all(map(_is_asked, asked, given.before)):
        return []  # A sub-question after its ancestors, or a question that a model took apart otherwise.
    by_number = dict(zip(leaves, given.before, strict=True))
    groups: list[tuple[Section, list[AskedBefore], list[Section]]] = []
    for section in form.sections:
        own = [by_number[n] for n in section.numbers if n in by_number]
        if section.way == "measure" and groups:
            groups[-1][1].extend(own)
            groups[-1][2].append(section)
        elif own:
            groups.append((section, own, []))
    return groups


def _is_asked(text: str, before: AskedBefore) -> bool:
    """Whether a pair is that of this sub-question, the answers of its parents filled in."""
    pattern = REFERENCE.sub(".+", re.escape(text).replace("\\#", "#"))
    return re.fullmatch(pattern, before.question, re.IGNORECASE) is not None


def _section(given: AnswerInput, section: Section, answers: list[AskedBefore], measures: list[Section]) -> _Told | None:
    if section.way in ("compare", "order") or (measures and len(answers) == 2):
        answers = _by_facts(given, section, _together(given, section, answers))
    if section.way == "single" and len(given.before) > 1:
        answers = [_in_short(given, a) if a.answer else _clearest(given, a) for a in answers]
    rests_on = tuple(dict.fromkeys(n for a in answers for n in a.rests_on))
    text = ""
    if measures and len(answers) > 1 and section.way == "single":
        text = _measured(given, answers, measures[0].text)
    elif section.way == "compare":
        text = _compared(given, section, answers)
    elif section.way == "order":
        text = _ordered(given, section, answers, measures[0].text if measures else "")
    elif section.way == "both":
        text = _both(section, answers)
    if not text:
        text = _joined([a.answer for a in answers if a.answer])
    partly = section.way in ("compare", "order", "both") and not all(a.answer for a in answers)
    return _Told(text, rests_on, partly) if text else None


def _otherwise(given: AnswerInput, part: AskedBefore, told: Sequence[_Told]) -> AskedBefore:
    """A part whose sentence a part before it is told with already: with the next best, since parts ask for several."""
    known = {_without_end(text) for t in told for text in t.text.split("; ")}
    if not part.answer or _without_end(part.answer) not in known:
        return part
    ranked = lines(AnswerInput(part.question, given.evidence), kind_of(part.question))
    for line in ranked[:_NEXT_OTHERS]:
        text = " ".join(line.text.split())
        if line.signals.heading == 0.0 and not line.signals.asks and not any(_without_end(text) in k for k in known):
            return replace(part, answer=text, rests_on=[line.number])
    return part


def _in_short(given: AnswerInput, part: AskedBefore) -> AskedBefore:
    """A part whose answer is a whole sentence, with a value or phrase where the evidence of all parts has one."""
    if len(part.answer.split()) <= _SHORT:
        return part
    said = short_answer(AnswerInput(part.question, given.evidence))
    if said is None or not said.text:
        return part
    return replace(part, answer=said.text, rests_on=said.numbers[:1], said=said.text)


def _clearest(given: AnswerInput, part: AskedBefore) -> AskedBefore:
    """A part that alone was not answered, with the one sentence that stands out for it, if one does."""
    ranked = lines(AnswerInput(part.question, given.evidence), kind_of(part.question))
    taken = {_sentence(given, n) for b in given.before for n in b.rests_on}
    if len(ranked) < 2 or ranked[0].score - ranked[1].score < _CLEARLY or _sentence(given, ranked[0].number) in taken:
        return part
    return replace(part, answer=_sentence(given, ranked[0].number), rests_on=[ranked[0].number])


def _by_facts(given: AnswerInput, section: Section, answers: list[AskedBefore]) -> list[AskedBefore]:
    """The answers of two sides; one that has none with the value that a triplet of the evidence has of it."""
    if len(answers) != len(section.sides) or all(a.answer for a in answers) or not any(a.answer for a in answers):
        return answers
    return [a if a.answer else _stated(given, side, a) for side, a in zip(section.sides, answers, strict=True)]


def _stated(given: AnswerInput, side: str, part: AskedBefore) -> AskedBefore:
    found = value_of_side(part.question, _side(side), given.told)
    if found is None:
        return part
    return replace(part, answer=found.fact.object, rests_on=[found.number], said=found.fact.object)


def _together(given: AnswerInput, section: Section, answers: list[AskedBefore]) -> list[AskedBefore]:
    """The answers of two sides with the values that the evidence has for both, where it has them."""
    found = contrasted(given, [a.question for a in answers], [a.answer for a in answers], section.word)
    return (
        [AskedBefore(a.question, v.text, [v.number], v.text) for a, v in zip(answers, found, strict=True)]
        if found
        else answers
    )


def _joined(answers: Sequence[str]) -> str:
    """Short answers one after another, each said once."""
    return "; ".join(dict.fromkeys(_without_end(a) for a in answers))


def _without_end(text: str) -> str:
    return " ".join(text.split()).rstrip(".; ")


# Values ---------------------------------------------------------------------------------------------------------------


def _sources(given: AnswerInput, answer: AskedBefore) -> list[tuple[str, date | None]]:
    """Texts that an answer's value is read from, best first, each with the day it was published."""
    published = [given.evidence[given.sentences[n - 1].evidence].published_at for n in answer.rests_on]
    day = next((p.date() for p in published if p is not None), None)
    texts: list[tuple[str, date | None]] = [(answer.answer, day), (answer.said, day)]
    for number, at in zip(answer.rests_on, published, strict=True):
        span = given.sentences[number - 1]
        texts.append((given.evidence[span.evidence].text[span.start : span.end], at.date() if at else None))
    return texts


def _quantities(given: AnswerInput, answer: AskedBefore) -> list[Quantity]:
    """The quantities of an answer: those of the short answer, or of what it rests on where it has none."""
    for text, _ in _sources(given, answer):
        found = [q for q in quantities(text) if q.unit != "o'clock"]
        if found:
            return found
    return []


def _when(given: AnswerInput, answer: AskedBefore) -> _Time | None:
    """The time that an answer tells: the most exact of the first text that has one."""
    for text, published in _sources(given, answer):
        known = [(w, w.from_day) for w in dates(text, published) if w.from_day is not None]
        if known:
            when, day = min(known, key=lambda k: (_RANK[k[0].precision], k[0].start))
            return _Time(day, when.precision in ("day", "range"), _words(when, day))
    return None


def _words(when: When, day: date) -> str:
    """A time in its own words; one that they give relative to another, or without its year, as a date."""
    if str(day.year) in when.text or when.precision == "range" or not when.text.isascii():
        return when.text
    if when.precision == "day":
        return f"{day.day} {day:%B %Y}"
    return f"{day:%B %Y}" if when.precision in ("month", "week", "season") else str(day.year)


_RANK: Final = {"day": 0, "range": 0, "week": 1, "month": 2, "season": 3, "year": 4}


def _kind(q: Quantity) -> tuple[str, float]:
    return _CONVERTED.get(q.unit, (q.unit, 1.0))


def _matching(ones: Sequence[Quantity], others: Sequence[Quantity]) -> tuple[Quantity, Quantity] | None:
    """The first quantities of both that count the same; a bare number counts what the other counts."""
    for one in ones:
        for other in others:
            if _kind(one)[0] == _kind(other)[0]:
                return one, other
    for one in ones:
        for other in others:
            if "" in (one.unit, other.unit):
                return one, other
    return None


def _size(q: Quantity) -> float:
    return q.value * _kind(q)[1]


# Comparisons ----------------------------------------------------------------------------------------------------------


def _compared(given: AnswerInput, section: Section, answers: list[AskedBefore]) -> str:
    if len(answers) != 2 or not all(a.answer for a in answers):
        return _sided(section, answers)
    pair = _matching(*(_quantities(given, a) for a in answers))
    if pair is None:
        return _by_date(given, section, answers) or _sided(section, answers)
    one, other = pair
    if one == other and set(answers[0].rests_on) == set(answers[1].rests_on):
        return ""  # One value of one sentence cannot be that of both.
    values = f"{_number(one, other)} against {_text(other)}"
    if section.word in ("compare", "compared", "differ", "different", "differed", "difference", ""):
        if _HOW_MUCH.search(given.question) and _size(one) != _size(other):
            return f"{_apart(one, other)} ({values})" if _apart(one, other) else values
        return values
    return _winner(given, section, pair)


def _number(one: Quantity, other: Quantity) -> str:
    """The first value without its unit where the second repeats it: `3.1 million against 2.9 million crowns`."""
    text, tail = _text(one), re.search(r"\s(?:per cent|[a-z]+)$", _text(one))
    return text[: tail.start()] if tail and one.unit == other.unit and _text(other).endswith(tail[0]) else text


def _text(q: Quantity) -> str:
    """A quantity in its own words; `61-metre` stands before a noun only."""
    return counted(q.value, q.unit) if re.fullmatch(r"[\d.,]+-[a-z]+", q.text) else q.text


def _winner(given: AnswerInput, section: Section, pair: tuple[Quantity, Quantity]) -> str:
    sizes = [_size(q) for q in pair]
    less = section.word.split(" or ")[0] in _LESS
    first = sizes[0] < sizes[1] if less else sizes[0] > sizes[1]
    won, lost = pair if first else (pair[1], pair[0])
    values = f"{_number(won, lost)} against {_text(lost)}"
    by = ""
    if _HOW_MUCH.search(given.question) and _apart(won, lost):
        by = f", by {_apart(won, lost)}"
    if sizes[0] == sizes[1]:
        return f"Equal: {pair[0].text} each"
    if " or " in section.word:
        words = section.word.split(" or ")
        return f"{words[0] if first else words[1]}{by}: {_number(*pair)} against {_text(pair[1])}"
    if _is_yes_no(section.text) and " or " not in section.text:
        return f"{'Yes' if first else 'No'}: {_number(*pair)} against {_text(pair[1])}"
    return f"{_side(section.sides[0 if first else 1])}{by} ({values})"


def _apart(one: Quantity, other: Quantity) -> str:
    """The difference of two quantities, a bare number counting what the other does; empty where they have two units."""
    units = sorted({one.unit, other.unit} - {""})
    return counted(abs(one.value - other.value), next(iter(units), "")) if len(units) < 2 else ""


def _is_yes_no(text: str) -> bool:
    return (
        re.match(
            r"(?:is|was|are|were|do|does|did|has|have|had|can|could|will"
            r"|would)\b",
            text,
            re.IGNORECASE,
        )
        is not None
    )


def _side(side: str) -> str:
    """A side as a name: without a preposition or `either` before it."""
    return re.sub(r"^(?:either|on|in|at|by|for|with|from|during)\s+", "", side.strip(" ,"))


def _sided(section: Section, answers: Sequence[AskedBefore]) -> str:
    """What was found of each side, one against the other."""
    found = [(side, _without_end(a.answer)) for side, a in zip(section.sides, answers, strict=False) if a.answer]
    if len(found) == 2:
        return f"{found[0][1]}, against {found[1][1]}"
    return "; ".join(f"{_side(side)}: {answer}" for side, answer in found)


def _by_date(given: AnswerInput, section: Section, answers: list[AskedBefore]) -> str:
    """Older or younger by dates, where no ages are told."""
    times = [t for a in answers if (t := _when(given, a)) is not None]
    if len(times) != 2 or section.word not in ("older", "oldest", "younger", "youngest", "elder", "eldest"):
        return ""
    first = (times[0].day < times[1].day) == (section.word[0] != "y")
    won, lost = times if first else reversed(times)
    return f"{_side(section.sides[0 if first else 1])} ({won.text} against {lost.text})"


# Order ----------------------------------------------------------------------------------------------------------------


def _ordered(given: AnswerInput, section: Section, answers: list[AskedBefore], measure: str) -> str:
    if (unit := _CLOCK_UNIT.search(measure or given.question)) is not None:
        return _by_clock(answers, unit[1].lower()) or _sided(section, answers)
    times = [t for a in answers[: len(section.sides)] if (t := _when(given, a)) is not None]
    if len(times) < max(2, len(section.sides)):
        return _sided(section, answers)
    if len(times) > 2:
        placed = sorted(zip(section.sides, times, strict=True), key=lambda p: p[1].day)
        return "; ".join(f"{_side(side)} ({when.text})" for side, when in placed)
    one, other = times
    if one.day == other.day and [*answers[0].rests_on] == [*answers[1].rests_on]:
        return ""  # One date of one sentence cannot be that of both.
    long = between(one.day, other.day, one.exact and other.exact, _unit_asked(measure or given.question))
    if re.match(r"how\s+(?:long|many|much)\b", section.text, re.IGNORECASE):
        return f"{long}: {one.text} to {other.text}"
    yes = so_asked(section.word, _days_between(given, answers, one, other))
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
    return f"{_side(section.sides[pick])} ({won.text}), {'after' if latest else 'before'} {lost.text}{apart}"


def _by_clock(answers: Sequence[AskedBefore], unit: str) -> str:
    """How long lies between two hours of one day, where both are told: `three minutes: 7.49am to 7.52am`."""
    times = [t for a in answers if (t := clock(a.answer)) is not None]
    if len(times) != 2 or times[0].minutes == times[1].minutes:
        return ""
    one, other = times
    minutes = abs(other.minutes - one.minutes)
    long = counted(minutes / 60 if unit == "hour" else minutes, unit)
    return f"{long}: {one.text} to {other.text}"


def _days_between(given: AnswerInput, answers: Sequence[AskedBefore], one: _Time, other: _Time) -> float:
    """Days from one time to the other, by the hours at which their texts were published where those are the times."""
    hours = [_published(given, a, t.day) for a, t in zip(answers, (one, other), strict=False)]
    if len(hours) == 2 and hours[0] is not None and hours[1] is not None:
        return (hours[1] - hours[0]).total_seconds() / timedelta(days=1).total_seconds()
    return float((other.day - one.day).days)


def _published(given: AnswerInput, answer: AskedBefore, day: date) -> datetime | None:
    """When the first text that an answer rests on was published, if that was on `day`."""
    at = [given.evidence[given.sentences[n - 1].evidence].published_at for n in answer.rests_on[:1]]
    return at[0] if at and at[0] is not None and at[0].date() == day else None


def _unit_asked(text: str) -> str:
    m = _UNIT_ASKED.search(text)
    return m[1].lower() if m else ""


def _measured(given: AnswerInput, answers: list[AskedBefore], measure: str) -> str:
    """A date and how long it lies from another: `December 2024, about six months before 14 June 2025`."""
    one, other = (_when(given, a) for a in answers[:2])
    if one is None or other is None:
        return ""
    long = between(one.day, other.day, one.exact and other.exact, _unit_asked(measure))
    return f"{one.text}, {long} {'before' if one.day <= other.day else 'after'} {other.text}"


# Yes or no ------------------------------------------------------------------------------------------------------------

_TRUTH: Final = re.compile(r"(yes|no)\b", re.IGNORECASE)


def _both(section: Section, answers: list[AskedBefore]) -> str:
    """Yes where it is so of each; for `the same`, where both answers are."""
    if not all(a.answer for a in answers):
        return ""
    short = [_without_end(a.answer) for a in answers]
    if section.word == "same":
        alike = len({s.lower() for s in short}) == 1
        return f"Yes: {short[0]}" if alike else f"No: {', against '.join(short)}"
    truths = [m[1].lower() == "yes" if (m := _TRUTH.match(s)) else None for s in short]
    if any(t is None for t in truths):
        return ""
    sides = [_side(s) for s in section.sides]
    true = [s for s, t in zip(sides, truths, strict=True) if t]
    if not _is_yes_no(section.text):
        return " and ".join(true) if true else "Neither"
    if len(true) == len(sides):
        return f"Yes: {' and '.join(true)}"
    return f"No: only {' and '.join(true)}" if true else f"No: neither {' nor '.join(sides)}"
