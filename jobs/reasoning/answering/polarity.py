"""Whether a clause says that something is not so, and whether it says the opposite of a word."""

from __future__ import annotations

import re
from typing import Final

from quern.schemas.words.patterns import lazy_pattern

_NOT: Final = lazy_pattern(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|without|cannot|hardly|scarcely|barely|unable|"
    r"refus(?:es?|ed|al)|den(?:y|ies|ied)|fail(?:s|ed)? to|lack(?:s|ed|ing)?|declin(?:es?|ed) to|instead of|"
    r"rather than|(?:turned|voted) down|call(?:ed|s) off|ruled out|cancel(?:s|led|ed)|abandoned|scrapped|"
    r"escap(?:es?|ed)|avoid(?:s|ed)?|prevent(?:s|ed)?|prohibit(?:s|ed)?|forbid(?:s|den)?|ban(?:s|ned)?|"
    r"un(?:harmed|hurt|injured|known|changed|paid|safe|likely|damaged|touched|able))\b|n['’]t\b|[不没未无非]",
    re.IGNORECASE,
)
# Words of denial that deny nothing.
_NO_DENIAL: Final = lazy_pattern(
    r"\b(?:(?:not|no|nothing) (?:only|just|merely|doubt|wonder)\b|nothing but|(?:whether|if|why|or) not|not before|"
    r"(?:not|no|nothing) (?:fewer|less|later|more|earlier|longer|sooner|shorter|older|younger)(?= than)|"
    r"not long (?:after|before)|no\.? ?(?=\d))|"
    r"(?:\b(?:not|never|no)|n['’]t)(?=(?: [\w'’-]+){0,6} (?:until|till)\b)",
    re.IGNORECASE,
)
_OPPOSITES: Final = tuple(
    tuple(frozenset(side.split()) for side in pair.split("|"))
    for pair in (
        "open opened opens reopened|closed close closes shut",
        "rise rose risen increase increased higher grow grew grown raised|"
        "fall fell fallen decrease decreased lower lowered reduced shrank cut",
        "accept accepted approve approved agreed allow allowed permitted|"
        "reject rejected refuse refused declined forbidden prohibited banned withdrawn",
        "win won|lose lost",
        "profit profitable|loss losses lose lost losing deficit",
        "alive survived|dead died killed",
        "begin began begun started start|end ended stopped stop finished",
        "buy bought|sell sold",
        "arrive arrived|leave left departed",
        "keep kept remain remained stayed|leave left quit removed",
        "hired appointed elected|fired dismissed sacked resigned",
        "free|paid charged cost costs",
        "north northern|south southern",
        "east eastern|west western",
        "man male|woman female",
        "public|private",
        "large larger big bigger|small smaller",
        "long longer|short shorter",
        "old older|new newer young younger",
        "same identical unchanged|different changed",
        "success succeeded successful|failure failed unsuccessful",
        "true correct right|false wrong mistaken",
        "guilty convicted|innocent acquitted cleared",
        "full|empty",
        "hot warm|cold",
        "clear clearly sunny cloudless|fog foggy mist misty cloudy overcast",
        "dry|wet rainy",
        "calm|rough stormy",
        "voluntary optional voluntarily|compulsory obligatory mandatory required",
        "include included includes including|exclude excluded excludes except",
        "inside indoors|outside outdoors",
        "present attended|absent missing",
        "support supported favour favoured favor favored backed|oppose opposed opposes objected against",
        "temporary temporarily|permanent permanently",
        "cheap cheaper|expensive dear dearer costlier",
        "early|late",
        "fast faster quick quickly|slow slower slowly",
        "strong stronger|weak weaker",
        "safe safely|dangerous unsafe",
        "deliberate deliberately intentional|accident accidental accidentally",
        "alone|together accompanied",
        "legal legally lawful|illegal illegally unlawful",
        "unanimous unanimously|divided majority",
        "married|single unmarried",
    )
)
_WORD: Final = lazy_pattern(r"[a-z]+")
_NO_LOSS: Final = lazy_pattern(r"\bbr(?:eak|eaks|oke|oken|eaking) even\b", re.IGNORECASE)


def denies(text: str) -> bool:
    """Whether a clause denies something, by its words of denial: `cannot`, `without`, `refused`."""
    return _NOT.search(_NO_DENIAL.sub(" ", text)) is not None


def opposed(question: str, text: str) -> str:
    """The word of the question whose opposite `text` has, and not the word itself; empty if there is none."""
    asked: set[str] = set(_WORD.findall(_NO_LOSS.sub("profit", question).lower()))
    said: set[str] = set(_WORD.findall(_NO_LOSS.sub("profit", text).lower()))
    for one, other in _OPPOSITES:
        for mine, theirs in ((one, other), (other, one)):
            if asked & mine and not asked & theirs and said & theirs and not said & mine:
                return min(asked & mine)
    return ""
