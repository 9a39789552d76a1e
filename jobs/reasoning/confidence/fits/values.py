"""An answer of a kind that has a form must hold a value of that form."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import NAMESAKE
from quern.jobs.reasoning.answering.named_things import asked_by_name, new_names
from quern.jobs.reasoning.answering.typed.sentence import LEAST_FIT, typed
from quern.jobs.reasoning.answering.typed.value import Days
from quern.jobs.reasoning.answering.typed.when import clocks
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.reasons import Reason, as_asked
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

_LEAST_PERSON: Final = 0.3  # Of one asked for by a role: a plural or a body has less.
_WHAT: Final = {"when": "time", "how_many": "number", "how_much": "amount", "how_long": "length or time"}
# When something is or was can be told without a date, and an age by the day of birth.
_WHILE: Final = lazy_pattern(
    r"\b(?:after|before|when|whenever|while|until|till|during|once|every|each|as soon as|"
    r"at the (?:end|start|beginning)|under|usually|always|often)\b",
    re.IGNORECASE,
)
# Times that are no dates: `at nine`, `on Mondays`, `at dusk`, `in spring`.
_OF_DAY: Final = lazy_pattern(
    r"\bat\s+(?:(?:about|around|half\s+past|(?:a\s+)?quarter\s+(?:past|to))\s+)?"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\b(?![.,]?\d)(?!\s+[a-z]+s\b)|"
    r"\b(?:dawn|dusk|sunrise|sunset|nightfall|midday|tonight|today|tomorrow|yesterday|daily|nightly|weekly|monthly|yearly|"
    r"annually|weekends?|weekdays?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|spring|summer|autumn|winter|"
    r"christmas|easter|(?:in|on|at)\s+(?:the\s+)?(?:mornings?|afternoons?|evenings?|night))\b",
    re.IGNORECASE,
)
# An age is told by the year of birth or of making, too; when something comes, by the version that it comes with.
_BORN: Final = lazy_pattern(
    r"\b(?:born|dat(?:es?|ed|ing)(?:\s+back)?|since|(?:built|made|founded|established|opened|created|formed|laid|planted|"
    r"launched|begun|cast|painted|written|erected|completed|constructed)\b[^.;]{0,80}?)\s(?:(?:from|to|in|about|around)\s)*"
    r"[^.;]{0,40}?\b(?:1\d|20)\d\d\b|\bborn\b|\blive[sd]?\s+(?:for|to)\b",
    re.IGNORECASE,
)
_THE_ONE: Final = lazy_pattern(r"(?:The|It|They|This|Our|Its|We)\b")
_AGE: Final = lazy_pattern(r"\b(?:old|age|aged)\b", re.IGNORECASE)
_RELEASE: Final = lazy_pattern(r"\b(?:version|release|edition|volume|issue|season|episode)\s+\d", re.IGNORECASE)
_HABIT: Final = lazy_pattern(r"\bwhen\s+(?:do|does|should|can|must)\b", re.IGNORECASE)


def no_value(chosen: Chosen) -> Reason | None:
    """Why not, where none of its sentences has a time, number, amount or person that might be the one asked for.

    `How old is the captain?` is not answered by what she said. Refused on all sets: 8 that have no answer, 4 wrong
    answers, no right one. In Chinese, where 6 of 12 were right, it is not asked, nor of habits (`when do they march`).
    """
    kind = chosen.kind
    if not chosen.english:
        return None
    values = [*(v for line in chosen.said for v in line.values), *typed(kind, chosen.draft.short, Days())]
    # Where a number is asked for that has no unit, any may be the one meant: a bare one beside the noun has .2.
    least = LEAST_FIT if kind.units else 0.0
    if kind.name in _WHAT and not any(v.fit > least for v in values):
        texts = " ".join(line.text for line in chosen.said)
        if kind.name == "when" and any(p.search(texts) for p in (_WHILE, _RELEASE, _OF_DAY)):
            return None
        if kind.name == "when" and clocks(texts):
            return None
        if (_AGE.search(chosen.question) and _BORN.search(texts)) or _HABIT.search(chosen.question):
            return None
        return Reason("only_related", f"What was found tells no {_WHAT[kind.name]} of what is asked.")
    if kind.verb == NAMESAKE and not any(line.values for line in chosen.said):
        return Reason("only_related", "What was found does not say what that is named after.")
    if kind.name == "who" and kind.noun and not any(v.fit >= _LEAST_PERSON for v in chosen.line.values):
        return Reason("only_related", f"What was found names no {as_asked(chosen.question, kind.noun)}.")
    return None


def no_name(chosen: Chosen) -> Reason | None:
    """Why not, where it is asked which of the things that go by a name, and none is told that the question has not.

    `Which bank lent the rest?` is not answered by `the rest comes from our bank`. On a page whoever names a thing does
    so where he tells of it; in a conversation, where it is not asked, the name may stand anywhere. Refused on all sets:
    3 that have no answer, no right answer; of clapnq 3 and 1.
    """
    noun = asked_by_name(chosen.question)
    if not noun or not chosen.english or chosen.line.row is not None or chosen.converses:
        return None
    if noun == "person" and any(is_person(w) for w in re.findall(r"[a-z]+", chosen.line.text)):
        return None  # `The chair resigned` says which person did, by the office.
    if noun in re.findall(r"[a-z]+", chosen.title.lower()) and _THE_ONE.match(chosen.line.text):
        return None  # `The club has 64 members` on a page of the `Garden club`.
    texts = [chosen.draft.short, chosen.line.text.removeprefix(f"{chosen.line.speaker}:")]
    if chosen.titled_by_name:
        texts.append(chosen.title)
    if any(new_names(text, chosen.question) for text in texts):
        return None
    return Reason("only_related", f"What was found does not say which {noun}.")
