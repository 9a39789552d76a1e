"""How English asks for a price, an hour, a cause or a name without the word for it: `what did they charge for`.

Frames of general English: verbs of paying, words of opening hours and timetables, verbs of hindering.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_ASKS_WHAT: Final = r"\bwhat\s+(?:do|does|did|is|are|was|were|has|have|had|will|would|could|might|must|should)\b"
_PER: Final = (
    r"(?:(?:per|each|every)\s+[a-z]+|an?\s+(?:day|night|week|month|year|hour|head)|"
    r"daily|weekly|monthly|yearly|annually)\b"
)
# What is paid is an amount, unless it is paid `for`: `what did they pay for?`
_PAYS: Final = lazy_pattern(
    rf"{_ASKS_WHAT}[^?]{{0,150}}?\b(?:(?:cost|charged?|charging|pay|pays|paid|paying|spend|spent|spending|earn|earned|earning|"
    r"fetch|fetched)\b(?!\s+for\s*(?:[?.]|$))"
    r"|set\s+aside\b"
    # `What did the cables come to`, but not `what did they come to see`.
    r"|(?:com(?:e|es|ing)|came|add(?:s|ed)?\s+up|amount(?:s|ed)?)\s+to(?=\s*(?:[?,.]|$)|\s+(?:when|in|at|by|per|after|for|on|"
    r"altogether|overall)\b)"
    # Who asks `for the boat` what, asks a price; what is asked `for` and nothing behind it is any thing.
    r"|ask(?:ed|ing)?\s+for\s+(?:the|an?|its|his|her|their|each|one)\b"
    rf"|(?:get|gets|receive[sd]?|got|mak(?:e|es|ing)|made|sav(?:e|ed|es|ing)|los(?:e|es|ing|t))\s+{_PER})",
    re.IGNORECASE,
)
_BARE: Final = lazy_pattern(r"\bhow much\s*[?.!]*$", re.IGNORECASE)
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_TIMETABLED: Final = lazy_pattern(
    rf"\b(?:of the day|(?:on|every|each)\s+(?:an?\s+)?{_WEEKDAY}s?\b(?!\s+\d)|{_WEEKDAY}s\b|"
    r"on (?:weekdays|weekends|holidays)|at (?:the )?weekends?|each day|every day|daily|each (?:morning|evening|night)|"
    r"every (?:morning|evening|night))",
    re.IGNORECASE,
)
# A time of the day that a question names, and what comes after it: `if I miss the 10.05, when is the next`.
_HOUR: Final = lazy_pattern(
    r"(?<![\d.])(?:[01]?\d|2[0-4])[.:][0-5]\d(?![\d%.]|\s*(?:m\b|million|per\b|km\b))", re.IGNORECASE
)
_NEXT: Final = lazy_pattern(
    r"\b(?:next|previous|following|one\s+(?:after|before)|(?:first|last)\s+(?:\w+\s+){0,3}(?:after|before))\b",
    re.IGNORECASE,
)
_RUNS: Final = lazy_pattern(
    r"\b(?:open|opens|shut|shuts|close|closes|start|starts|begin|begins|end|ends|finish|finishes|leave|leaves|arrive|"
    r"arrives|depart|departs|sail|sails|run|runs|go|goes|set off|sets off|back|get|gets)\b",
    re.IGNORECASE,
)
# When what goes by a timetable leaves or arrives elsewhere: `when did the bus that left at 14.00 get back`.
_VEHICLE: Final = r"(?:bus|boat|ferry|train|tram|sailing|service|flight|coach|crossing)"
_GOES_AT: Final = lazy_pattern(
    rf"\bwhen\s+(?:do|does|did|will|is|was)\s+the\s+(?:(?:[a-z]+\s+){{0,2}}?{_VEHICLE}|\d{{1,2}}[.:]\d\d)\b(?!['’]s)\s+"
    r"(?:[^\s?]+\s+){0,12}?(?:leave|arrive|reach|return|depart|sail|get\s+(?:in|to|back)|come\s+back|back|due)\b",
    re.IGNORECASE,
)
_HINDERS: Final = lazy_pattern(
    r"\bwhat(?:\s+is\s+it\s+that|\s+was\s+it\s+that|\s+(?:is|was|has|had|have|are|were)(?:\s+been)?|\s+exactly)?\s+"
    r"(?:stop(?:s|ped|ping)|keep(?:s|ing)|kept|prevent(?:s|ed|ing)|hinder(?:s|ed|ing)|hold(?:s|ing)?\s+\w+\s+(?:back|up)|"
    r"held\s+\w+\s+(?:back|up)|explains|explained|forced|drove|behind|made|makes|caused|causes|causing|led to|prompted|"
    r"brought about|triggered|sparked)\b",
    re.IGNORECASE,
)
_HIS_NAME: Final = lazy_pattern(
    r"(?:is|was)\s+(?:his|her)\s+(?:full\s+|first\s+|last\s+)?(?:sur)?name\b", re.IGNORECASE
)


def asks_price(question: str) -> bool:
    """Whether an amount of money is asked for by a verb of paying, or by a bare `how much` at the end."""
    return _PAYS.search(question) is not None or _BARE.search(question) is not None


def asks_clock(question: str) -> bool:
    """Whether `when` asks for an hour: of what goes by a timetable or has opening hours."""
    if _HOUR.search(question) is not None and (_NEXT.search(question) or _GOES_AT.search(question)):
        return True
    return _TIMETABLED.search(question) is not None and _RUNS.search(question) is not None


def asks_cause(question: str) -> bool:
    """Whether `what` asks for what made something happen or keeps it from happening."""
    return _HINDERS.search(question) is not None


def asks_his_name(rest: str) -> bool:
    """Whether what follows `what` asks for the name of a person told of before: `what is his name`."""
    return _HIS_NAME.match(rest) is not None


_ASKS_COURSE: Final = lazy_pattern(
    r"\btime[- ]?lines?\b|\bchronolog(?:y|ies|ical(?:ly)?)\b|\bunfold(?:s|ed|ing)?\b|\bplay(?:ed)? out\b|"
    r"\b(?:course|sequence|succession|chain|history|order) of (?:the )?events\b|"
    r"^(?:please\s+)?(?:trace|recount|outline)\b.*\b(?:events?|history|course|story|development)\b|"
    r"\bhow (?:did|has|have)\b.*\b(?:develop(?:ed)?|evolve[d]?|proceed(?:ed)?|progress(?:ed)?|come about)\b|"
    r"时间[线轴]|来龙去脉|始末|大事记|历程|的经过|经过(?:是|如何|怎样|怎么)",
    re.IGNORECASE,
)
_ASKS_EVENTS: Final = lazy_pattern(
    r"\b(?:what(?:\s+(?:else|all|exactly|really|actually|then|next|has|have|had|events?|things))*|which events)\s+"
    r"(?:happen(?:s|ed)?|occurred|took place|went on)\b(?!.*\band\s+(?:what|who|whom|when|where|which|why|how)\b)|"
    r"发生了?(?:什么|哪些|过什么)|出了什么事",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def asks_course(question: str) -> bool:
    """Whether a question asks for several events in their order."""
    return _ASKS_COURSE.search(question) is not None


@lru_cache(maxsize=4096)
def asks_events(question: str) -> bool:
    """Whether a question asks what happened."""
    return asks_course(question) or _ASKS_EVENTS.search(question) is not None


# What people put into a question that no answer need repeat: of emphasis, of being exact, of how large a thing is.
_FILLERS: Final = content_words(
    "actually eventually currently finally altogether just also ever really apparently supposedly roughly "
    "approximately later itself himself herself themselves"
)
_ASKED_BY: Final = lazy_pattern(r"\bhow\s+(large|big|small|much\s+money)\b", re.IGNORECASE)


def frame_words(question: str) -> frozenset[str]:
    """Stems of the words by which a question asks for a course of events: no evidence need have them."""
    return _frame_words() & content_words(question) if asks_course(question) else frozenset()


@lru_cache(maxsize=4096)
def fillers(question: str) -> frozenset[str]:
    """Stems of words that no evidence is missed for lacking: `actually`, `how large a fine`, `how much money`."""
    asked_by = " ".join(m[1] for m in _ASKED_BY.finditer(question))
    return _FILLERS & content_words(question) | content_words(asked_by)


@lru_cache(maxsize=1)
def _frame_words() -> frozenset[str]:
    return content_words(
        "give show tell list make draw timeline timelines chronology chronologies chronological chronologically unfold "
        "unfolded play out course sequence succession chain history order events event happened trace recount outline "
        "development developed evolve evolved proceed proceeded progress progressed come story me us "
        "时间线 时间轴 来龙去脉 始末 大事记 历程 经过 是什么 什么 怎样 如何"
    )
