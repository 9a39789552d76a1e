"""What an English question asks for where a noun says it: `what is the height of`, `which of the ships`."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import NAMED, Kind
from quern.jobs.reasoning.answering.kinds.noun_phrases import MOST_WORDS, WORD, is_plural, main_verb, noun_phrase
from quern.jobs.reasoning.answering.kinds.units import OF_ADJECTIVE, OF_MEASURE, SHARES
from quern.jobs.reasoning.answering.kinds.verdict_asked import AUXILIARY, PREPOSITION
from quern.jobs.text.quantities import singular
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

TIMES: Final = "date|day|month|year|century|decade|season|week|weekday|evening|morning"
_PLACES: Final = (
    "place|city|town|village|country|county|state|province|district|region|island|continent|street|road|venue|location|"
    "neighbourhood|borough|municipality|address"
)


_NUMBER_OF: Final = lazy_pattern(
    r"(?:(?:total|exact|final|record|current|average|maximum|minimum|highest|largest|greatest|lowest|smallest|overall|"
    r"combined|estimated|approximate) )?number of (?:the |all |its |their )?(.+)"
)
_EVERYONE: Final = content_words("everyone everybody all people persons those")


def of_the(after: str, rest: str, question: str) -> Kind:
    """`What is the N of ...`: the noun says what is asked for."""
    ends = (
        rf"\s+(?:{PREPOSITION}|that|which|who|when|where|each|every|per|now|the|its|his|her|their|it|they|he|she|"
        rf"{AUXILIARY})\b|[,?]"
    )
    parts = re.split(ends, after, maxsplit=1)
    words = WORD.findall(parts[0])
    if not words or len(words) > MOST_WORDS:
        return Kind("other", verb=main_verb(WORD.findall(rest)))
    if words[-1] in ("name", "names", "surname"):
        of = re.search(r"\bof\s+(?:the\s+|a\s+|an\s+)?([^,?]+)", after)
        named = noun_phrase(of[1]) if of else ""
        if words[-1] == "names":
            return Kind("list", content_words(named) - _EVERYONE)
        kind = of_noun([w.lower() for w in WORD.findall(named)] or ["name"], content_words(named), plural=False)
        return kind if kind.name != "which" or not named else Kind("which", kind.noun, verb=NAMED)
    if words[-1] in ("called", "named") and len(words) > 1:
        kind = of_noun(words[:-1], content_words(" ".join(words[:-1])), plural=False)
        return kind if kind.name != "which" else Kind("which", kind.noun, verb=NAMED)
    counted = _NUMBER_OF.match(after)
    noun = noun_phrase(counted[1]) if counted else ""
    if noun and singular(noun.split()[-1]) != noun.split()[-1]:  # `the number of the house` counts nothing.
        return Kind("how_many", content_words(" ".join([noun, *map(singular, noun.split())])))
    if words[-1] in ("reason", "cause", "purpose"):
        return Kind("why")
    if re.fullmatch(rf"{TIMES}|dates", words[-1]):
        return Kind("when", grain=grain_of(words[-1].removesuffix("s")))
    return of_noun(words, content_words(" ".join(words)), plural=is_plural(words[-1]))


def of_them(rest: str) -> Kind:
    """`Which of the N ...`: one of them, or several where the verb is a plural's."""
    noun = noun_phrase(
        re.sub(r"^(?:\w+\s+)?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+", "", rest)
    )
    words = [w.lower() for w in WORD.findall(noun)]
    if not words:
        return Kind("which")
    plural = re.match(r".*?\b(?:are|were|have|do)\b", rest[len(noun) :].split(",")[0]) is not None
    kind = of_noun([*words[:-1], singular(words[-1])], content_words(noun), plural=plural)
    return Kind("who") if kind.name == "who" else kind  # Of several of a role, the one meant is seldom called by it.


def of_noun(words: list[str], noun: frozenset[str], *, plural: bool) -> Kind:
    """What the last of the words of a noun phrase names; `noun` are its stems."""
    head = words[-1]
    if head == "age":  # That of `how old`.
        return Kind("how_much", units=OF_ADJECTIVE["old"])
    if re.fullmatch(_PLACES, head):
        return Kind("where", noun)
    if head in OF_MEASURE:
        units = OF_MEASURE[head]
        return Kind("how_much", frozenset() if units & SHARES else noun, units)
    if is_person(head.removesuffix("s") if plural else head):
        return Kind("list" if plural else "who", noun)
    return Kind("list" if plural else "which", noun)


def grain_of(rest: str) -> str:
    """How exact the time is that `what year`, `which day` and the like ask for."""
    found = re.match(r"(?:exact\s+)?(year|month|day|date)\b", rest)
    return "" if found is None else found[1].replace("date", "day")
