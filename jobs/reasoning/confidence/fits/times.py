"""What was at another time than the one asked about, or is only planned, answers nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import OFTEN
from quern.jobs.reasoning.answering.typed.value import Period, times
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.reasons import Reason
from quern.jobs.reasoning.questions.asked_times import Asked, asked_times, meet
from quern.jobs.reasoning.questions.words import bare, is_past, is_verb, plain_pasts
from quern.jobs.text.dates import When
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_YEAR: Final = lazy_pattern(r"(?:1[5-9]|20)\d\d")
# From here on a clause says when else or of which thing: its dates are not those of what is asked.
_CLAUSE: Final = lazy_pattern(
    r"\b(?:after|before|since|until|till|when|while|once|following|because|who|which|that|whose|where|as)\b",
    re.IGNORECASE,
)
_ASKS: Final = frozenset({"when", "where", "who", "which", "whose"})  # At the beginning of a question.
_EVENT: Final = lazy_pattern(r"\b(?:after|since|following|once|when|because|before)\b", re.IGNORECASE)
# A date that says of which thing is spoken, not when: `a main of 1931`, `the pipe laid in 1931`.
_OF_THING: Final = lazy_pattern(
    r"\b(?:of|from|[a-z]+ed|laid|built|made|cut|set|hung|sunk|begun|bought|brought|found)(?:\s+(?:in|on|by))?\s+(?:the\s+)?$"
)
_AHEAD: Final = lazy_pattern(
    r"\b(?:will|by|plan\w*|due|expected|going to|until|target|next|would|should|scheduled)\b", re.IGNORECASE
)
_UNTIL: Final = lazy_pattern(r"\b(?:before|until|till|up to|since|from)\s+(?:\w+\s+){0,3}$", re.IGNORECASE)
# What a name with a year has beside that: `Nokta` of `the Nokta 2020`.
_NAMED_BEFORE: Final = lazy_pattern(r"\b[A-Z][\w’'-]*\s$")
_FROM_THEN: Final = lazy_pattern(r"\b(?:since|from)\s+(?:\w+\s+)?$", re.IGNORECASE)
_TILL_THEN: Final = lazy_pattern(r"\b(?:until|till|up\s+to)\s+(?:\w+\s+)?$", re.IGNORECASE)
_NEXT_CLAUSE: Final = lazy_pattern(r"\s(?:and|but|while)\s|;\s")
# What is added of something by the way: `the command replaces push, which will be removed`.
_ASIDE: Final = lazy_pattern(r",\s+(?:which|who|that|whose\s+\w+)\s+$")
# A clause with a verb of its own tells of another event: `the most since the scheme was founded by her in 1961`.
_OTHER_EVENT: Final = lazy_pattern(
    r"(?:,\s+(?:which|who|whose)|\b(?:since|after|before|when|where|until|till))\s+(?!\d)(?:[^\s,;.]+\s+){0,6}?"
    r"(?:was|were|had|has|[a-z]{3,}ed|began|opened|came|left|rose|fell|took|made|went)\b[^,;.]*$",
    re.IGNORECASE,
)
# Who asks of a season has no first day of it in mind: what arrives in the month before it is there in it.
_ABOUT: Final = timedelta(days=31)
_YEAR_LONG: Final = timedelta(days=360)
_NO: Final = lazy_pattern(r"no\b|否", re.IGNORECASE)
_WAS: Final = lazy_pattern(r"\b(?:did|was|were|has|have|had)\b", re.IGNORECASE)
# Who asks what was planned, said or wished is answered by plans.
_ASKS_PLAN: Final = lazy_pattern(
    r"\b(?:will|shall|would|could|(?-i:may)|might|should|plan\w*|hop(?:e|es|ed|ing)|intend\w*|propos\w*|expect\w*|aim\w*|"
    r"schedul\w*|suppos\w*|suggest\w*|promis\w*|going to|due|set to|want\w*|need\w*|if|estimat\w*|ask\w*|recommend\w*|"
    r"offer\w*|invit\w*|remind\w*|announc\w*|deci[ds]\w*|agree\w*|resolv\w*|ruled?|order\w*|vote[ds]?|book\w*|said|say|tell|told|mention\w*)\b",
    re.IGNORECASE,
)
_WAS_TO: Final = lazy_pattern(
    r"\b(?:is|are|was|were)\s+(?:(?!(?:able|allowed|permitted|first|last|likely|ready|close|near|back|next|known|said|"
    r"seen|heard|found|only|one|ones)\b)[\w’'-]+\s+){1,3}?to\s+(?P<verb>[a-z]+)\b"
)
# Who asks how something went is not answered by what is to come of it, though the sentence plans the very thing.
_OUTCOME: Final = lazy_pattern(
    r"\b(?:results?|outcomes?|findings?)\s+of\b|\bhow\s+did\b[^?]*\b(?:go|turn\s+out|end)\b|\bcame\s+of\b",
    re.IGNORECASE,
)
_PLAN: Final = lazy_pattern(
    r"(?:\b(?:will|shall|would|(?:plans?|hopes?|intends?|aims?) to|(?:is|are) to|"
    r"(?:is|are) (?:expected|due|set|planned|scheduled) (?:to|for)|considering)\b|['’]ll\b)(?:\s+be)?\s*(?P<does>\w*)"
)


def written_before(chosen: Chosen) -> Reason | None:
    """Why not, where it is asked what was and the page was written before that.

    A page of 2025 says nothing of what was in 2026, in whatever clause the question names the time. Refused on all
    sets: 5 that have no answer beside those of `other_time`, no right answer.
    """
    line, question = chosen.line, chosen.question
    if line.speaker or line.published is None or _AHEAD.search(question) or _asks_plan(question):
        return None
    if chosen.kind.name == "yes_no" and _NO.match(chosen.draft.short):
        return None
    after = [
        a for a in asked_times(question) if _about(a).first > line.published and not _UNTIL.search(question[: a.start])
    ]
    after = [a for a in after if not _is_named(chosen, a)]
    if not after or meet(after, times(line.text, line.published)):
        return None
    return Reason(
        "other_time", f"What was found is of {line.published:%B %Y}, before {', '.join(a.text for a in after)}."
    )


def other_time(chosen: Chosen) -> Reason | None:
    """Why not, where the sentence tells of other years than the one asked about.

    `In 1983 the squares held 4,412 limpets` does not say how many there were in 2013. Dates of another clause of the
    question, and those by which a thing is told from others, do not count. Refused on all sets: 3 that have no answer,
    2 wrong answers, no right one.
    """
    line = chosen.line
    if chosen.kind.name == "yes_no" or line.speaker or line.row is not None:
        return None
    asked = [a for a in asked_times(chosen.question) if not _in_clause(chosen.question, a.start)]
    asked = [a for a in asked if not _is_named(chosen, a)]
    said = [w for w in times(line.text, line.published) if w.from_day and w.to_day]
    if not asked or meet(asked, said):
        return None
    told = [w for w in said if _YEAR.search(w.text) and not _OF_THING.search(line.text[: w.start])]
    if not told or all(_goes_on(line.text, w, asked) for w in told) or _is_of_page(chosen, asked, told):
        return None
    if all(_is_of_other_event(chosen, w) for w in told) and _is_about(chosen, asked):
        return None
    return Reason("other_time", f"What was found is of {told[0].text}, not of {', '.join(a.text for a in asked)}.")


def own_time(chosen: Chosen) -> Reason | None:
    """Why not, where the time told lies in one that the question gives for something else.

    `When was work resumed after the halt in March 2024?` is not answered by a day of that March.
    Refused on all sets: 1 that has no answer, no right answer.
    """
    if chosen.kind.name != "when" or not chosen.told or not isinstance(chosen.told[0].same, Period):
        return None
    told, question = chosen.told[0].same, chosen.question
    for asked in asked_times(question):
        clause = _EVENT.search(question, 1, asked.start)
        within = told.first and told.last and asked.first <= told.first and told.last <= asked.last
        a_day_of_a_year = told.first == told.last and asked.last - asked.first >= _YEAR_LONG
        # Much comes after what was in 2024 in the same year.
        if clause is not None and within and not a_day_of_a_year:
            return Reason("only_related", f"What was found tells only of {asked.text}, which the question gives.")
    return None


def only_planned(chosen: Chosen) -> Reason | None:
    """Why not, where it is asked what was and the sentence says only what will be, or would.

    `Surgeons will test twelve lenses` does not say how the test went. Where the sentence plans the very thing that is
    asked about (`bins will be emptied late`), who asks looks back on it; how often it was is told by timetables.
    Refused on all sets: 5 that have no answer, no right answer.
    """
    question, text = chosen.question, chosen.line.text
    if chosen.kind.name == "list" or chosen.kind.verb == OFTEN:
        return None  # Who they are holds whatever they will do.
    if chosen.line.row is not None or not _WAS.search(question) or _asks_plan(question):
        return None
    plan = _PLAN.search(text)
    if plan is None:
        return None
    very = content_words(plan["does"]) & content_words(f"{question} {plain_pasts(question)}")
    if (very and not _OUTCOME.search(question)) or _ASIDE.search(text, 0, plan.start()):
        return None
    told = chosen.told[0].start if chosen.told else -1
    # What stands behind the plan is planned, whatever was before: `it opened in May and intends to hire 30`.
    cut = next((m.end() for m in _NEXT_CLAUSE.finditer(text, 0, plan.start())), 0) if told > plan.end() else 0
    words = [bare(w) for w in text[cut : plan.start()].split()]
    if plan[0].startswith("would"):  # In a story it tells of what was again and again.
        words += [bare(w) for w in text[plan.end() :].split()]
    if any(is_past(w) or _WAS.fullmatch(w) for w in words) or _WAS.search(text, plan.end()):
        return None
    return Reason("only_related", "What was found says what was planned, not what came of it.")


def _asks_plan(question: str) -> bool:
    """Whether it is asked what was planned, said or wished: `when was the hall to open`, not `a road to the hall`."""
    return bool(_ASKS_PLAN.search(question)) or any(is_verb(m["verb"]) for m in _WAS_TO.finditer(question))


def _goes_on(text: str, when: When, asked: Iterable[Asked]) -> bool:
    """Whether a time is the beginning or end of one that holds what is asked: `since 2010 she has led it`."""
    if when.from_day is None or when.to_day is None:
        return False
    if _FROM_THEN.search(text, 0, when.start):
        return any(when.from_day <= a.last for a in asked)
    return _TILL_THEN.search(text, 0, when.start) is not None and any(a.first <= when.to_day for a in asked)


def _is_of_page(chosen: Chosen, asked: Iterable[Asked], said: Iterable[When]) -> bool:
    """Whether the value told stands in a clause without a date, on a page of the time asked about.

    `It employs 240 people and had sales of 31 million in 2022`, of 2023, tells how many it employs in 2023.
    """
    published = chosen.line.published
    if published is None or not chosen.told or not any(a.first <= published <= a.last for a in asked):
        return False
    at = chosen.told[0].start
    cuts = [m.start() for m in _NEXT_CLAUSE.finditer(chosen.line.text)]
    return all(any(min(at, w.start) < cut <= max(at, w.start) for cut in cuts) for w in said)


def _about(asked: Asked) -> Asked:
    """A season with a month before and after it, anything else as it is."""
    return asked._replace(first=asked.first - _ABOUT, last=asked.last + _ABOUT) if asked.season else asked


def _is_of_other_event(chosen: Chosen, when: When) -> bool:
    """Whether a date stands in a clause of another event, and no value told stands in that clause."""
    text = chosen.line.text
    clause = _OTHER_EVENT.search(text, 0, when.start)
    return clause is not None and not any(clause.start() <= v.start < when.end for v in chosen.told)


def _is_about(chosen: Chosen, asked: Iterable[Asked]) -> bool:
    """Whether the page, or a date of the sentence or one beside it, is of a time asked about."""
    spans, published = [_about(a) for a in asked], chosen.line.published
    if published is not None and any(a.first <= published <= a.last for a in spans):
        return True
    return meet(spans, times(chosen.near, published))


def _in_clause(question: str, at: int) -> bool:
    """Whether a place of a question stands in a clause that says when else or of which thing."""
    opens = (m for m in _CLAUSE.finditer(question, 0, at) if m.start() or m[0].lower() not in _ASKS)
    return next(opens, None) is not None


def _is_named(chosen: Chosen, asked: Asked) -> bool:
    """Whether a year is of a name that the page has: the phone `Nokta 2020`."""
    named = _NAMED_BEFORE.search(chosen.question, 0, asked.start)
    return named is not None and f"{named[0]}{asked.text}" in chosen.chunk
