"""The parts of a question by rule: explicit conjunctions, comparisons of two sides, and the order of two events.

Everything else is one question: what it describes is found by the search, and read in one window.

Source: Xinyu AI Search, query decomposition; GraTAG, section 3.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quern.jobs.reasoning.questions.plan import MOST_SUB_QUESTIONS, REFERENCE, SubQuestion

_LONGEST: Final = 400  # Characters: a longer text is no question that a rule reads.
_LEAST_WORDS: Final = 3  # Of a part that asks something.
_WH: Final = r"(?:who|what|when|where|why|how|which|whose)\b"
_AUXILIARY: Final = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|may)\b"
_AND: Final = re.compile(
    rf"\?\s+(?:and\s+)?(?=\S)|\s*[,;]?\s+and\s+(?={_WH})|\s*;\s+(?={_WH}|{_AUXILIARY})", re.IGNORECASE
)
_LEANS: Final = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|there|then|one|ones)\b",
    re.IGNORECASE,
)
_MORE: Final = (
    r"(?:more|most|less|least|fewer|fewest|earlier|earliest|later|latest|first|last|sooner|[a-z]{2,}(?:er|est))"
)
_LESS: Final = frozenset(
    "less least fewer fewest lower lowest smaller smallest shorter shortest younger youngest lighter lightest cheaper "
    "cheapest slower slowest nearer nearest closer closest narrower narrowest colder coldest earlier earliest first "
    "sooner soonest older oldest before".split()
)
_TIME: Final = frozenset(
    "earlier earliest later latest first last sooner soonest older oldest newer newest before after".split()
)
_EITHER: Final = re.compile(
    rf"(?P<stem>{_WH}.*?\b(?P<word>{_MORE})\b.*?)(?:[,:–—]\s*(?P<a>[^,:]+?),?\s+or\s+|\s+between\s+(?P<x>[^,:]+?)\s+and\s+)"
    r"(?P<b>[^,]+)",
    re.IGNORECASE,
)
_THAN: Final = re.compile(rf"(?P<a>.+?)\s+(?P<word>{_MORE})\b(?P<rest>.*?)\s+than\s+(?P<b>.+)", re.IGNORECASE)
_ORDER: Final = re.compile(
    rf"(?P<a>{_AUXILIARY}.+?)\s+(?P<word>before\s+or\s+after|before|after)\s+(?P<b>.+)", re.IGNORECASE
)
# What these ask for can stand in another question; a number or a reason cannot.
_NAMES: Final = re.compile(r"(?:who|which|where|what\s+(?!is|was|are|were|do|does|did|has|have)\w+)\b", re.IGNORECASE)
_PREPOSITION: Final = re.compile(r"(?:in|on|at|for|from|by|with|before|after|under)\b", re.IGNORECASE)
_IS_VERDICT: Final = re.compile(_AUXILIARY, re.IGNORECASE)


@dataclass(frozen=True)
class Comparison:
    """What a question compares.

    Attributes:
        sides: The words for both sides.
        questions: A question for each side.
        less: Whether the side with the smaller value, or the earlier day, is meant.
        in_time: Whether days are compared.
        verdict: Whether yes or no is asked.
    """

    sides: tuple[str, str]
    questions: tuple[str, str]
    less: bool
    in_time: bool
    verdict: bool


@lru_cache(maxsize=4096)
def comparison(question: str) -> Comparison | None:
    """The two sides that `question` compares; None where it compares nothing."""
    text = _plain(question)
    if len(text) > _LONGEST:
        return None
    if match := _EITHER.fullmatch(text):
        stem, a, b = match["stem"].strip(), (match["a"] or match["x"]).strip(), match["b"].strip()
        return _comparison((a, b), (f"{stem}: {a}?", f"{stem}: {b}?"), match["word"], verdict=False)
    if match := _THAN.fullmatch(text):
        a, b = match["a"].strip(), match["b"].strip()
        asked = f"{match['word']}{match['rest']}"
        if _LEANS.match(b) or b[:1].isdigit():
            return None
        verdict = _IS_VERDICT.match(text) is not None
        # `in 2023 than in 2024` compares two times or places of one thing.
        other = f"{a} {match['word']} {b}?" if match["rest"] and _PREPOSITION.match(b) else f"{asked}: {b}?"
        return _comparison((a, b), (f"{a} {asked}?", other), match["word"], verdict=verdict)
    if (match := _ORDER.fullmatch(text)) and len(match["b"].split()) >= _LEAST_WORDS:
        a, b = match["a"].strip(), match["b"].strip()
        verdict = " or " not in match["word"]
        return _comparison(
            (a, b), (f"When: {a}?", f"When: {b}?"), match["word"].split()[0], verdict=verdict, in_time=True
        )
    return None


@lru_cache(maxsize=4096)
def parts(question: str) -> tuple[SubQuestion, ...]:
    """The questions that `question` joins; empty where it is one question."""
    text = " ".join(question.split())
    if len(text) > _LONGEST or REFERENCE.search(text):
        return ()
    if (compared := comparison(question)) is not None:
        return tuple(map(SubQuestion, compared.questions))
    asked = [f"{part.strip(' ,;?')}?" for part in _AND.split(text)]
    if not 1 < len(asked) <= MOST_SUB_QUESTIONS or any(len(part.split()) < _LEAST_WORDS for part in asked):
        return ()
    first, *others = (f"{part[:1].upper()}{part[1:]}" for part in asked)
    return (SubQuestion(first), *(_beside(part, first) for part in others))


def parts_alone(question: str) -> list[str]:
    """The sub-questions of `question` that can be asked without another's answer."""
    return [sub.text for sub in parts(question) if not sub.parents]


def _beside(part: str, first: str) -> SubQuestion:
    """A further part; one that leans on the first has that one's answer, or its words, behind it."""
    if not _LEANS.search(part):
        return SubQuestion(part)
    words = first.rstrip("?")
    return SubQuestion(f"{part} (#1)", (1,), {1: words}) if _NAMES.match(first) else SubQuestion(f"{part} ({words})")


def _plain(question: str) -> str:
    return " ".join(question.split()).rstrip("?.!？ ")


def _comparison(
    sides: tuple[str, str], questions: tuple[str, str], word: str, *, verdict: bool, in_time: bool = False
) -> Comparison | None:
    if sides[0].lower() == sides[1].lower():
        return None
    word = word.lower()
    return Comparison(sides, questions, word in _LESS, in_time or word in _TIME, verdict)
