"""What is compared by value, told with both values: `The Maren, by seven metres (68 against 61 metres)`."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.reasoning.answering.parts.phrasing import asks_verdict, side_name, sided
from quern.jobs.reasoning.answering.parts.values import matching, quantities_told, size, time_told
from quern.jobs.reasoning.answering.spans_of_time import counted
from quern.jobs.reasoning.questions.outline import Section
from quern.jobs.text.quantities import Quantity

_LESS: Final = frozenset(
    "less least fewer fewest lower lowest smaller smallest shorter shortest younger youngest lighter lightest cheaper "
    "cheapest slower slowest narrower thinner closer nearer nearest closest colder cooler worse earlier earliest first "
    "sooner".split()
)
_HOW_MUCH: Final = re.compile(
    r"\bby\s+(?:how\s+(?:much|many)|what)\b|\bdifference\b|\bhow\s+(?:much|many)\s+(?:more\b|(?:less|[a-z]+er)\b.*\bthan\b)",
    re.IGNORECASE,
)


def compared(given: AnswerInput, section: Section, answers: list[AskedBefore]) -> str:
    """Two sides by their values, by dates where ages are asked for and none told; empty where both have one value."""
    if len(answers) != 2 or not all(a.answer for a in answers):
        return sided(section, answers)
    pair = matching(*(quantities_told(given, a) for a in answers))
    if pair is None:
        return _by_date(given, section, answers) or sided(section, answers)
    one, other = pair
    if one == other and set(answers[0].rests_on) == set(answers[1].rests_on):
        return ""  # One value of one sentence cannot be that of both.
    values = f"{_number(one, other)} against {_text(other)}"
    if section.word in ("compare", "compared", "differ", "different", "differed", "difference", ""):
        if _HOW_MUCH.search(given.question) and size(one) != size(other):
            return f"{_apart(one, other)} ({values})" if _apart(one, other) else values
        return values
    return _winner(given, section, pair)


def _winner(given: AnswerInput, section: Section, pair: tuple[Quantity, Quantity]) -> str:
    sizes = [size(q) for q in pair]
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
    if asks_verdict(section.text) and " or " not in section.text:
        return f"{'Yes' if first else 'No'}: {_number(*pair)} against {_text(pair[1])}"
    return f"{side_name(section.sides[0 if first else 1])}{by} ({values})"


def _by_date(given: AnswerInput, section: Section, answers: list[AskedBefore]) -> str:
    """Older or younger by dates, where no ages are told."""
    times = [t for a in answers if (t := time_told(given, a)) is not None]
    if len(times) != 2 or section.word not in ("older", "oldest", "younger", "youngest", "elder", "eldest"):
        return ""
    first = (times[0].day < times[1].day) == (section.word[0] != "y")
    won, lost = times if first else reversed(times)
    return f"{side_name(section.sides[0 if first else 1])} ({won.text} against {lost.text})"


def _number(one: Quantity, other: Quantity) -> str:
    """The first value without its unit where the second repeats it: `3.1 million against 2.9 million crowns`."""
    text, tail = _text(one), re.search(r"\s(?:per cent|[a-z]+)$", _text(one))
    return text[: tail.start()] if tail and one.unit == other.unit and _text(other).endswith(tail[0]) else text


def _text(q: Quantity) -> str:
    """A quantity in its own words; `61-metre` stands before a noun only."""
    return counted(q.value, q.unit) if re.fullmatch(r"[\d.,]+-[a-z]+", q.text) else q.text


def _apart(one: Quantity, other: Quantity) -> str:
    """The difference of two quantities, a bare number counting what the other does; empty where they have two units."""
    units = sorted({one.unit, other.unit} - {""})
    return counted(abs(one.value - other.value), next(iter(units), "")) if len(units) < 2 else ""
