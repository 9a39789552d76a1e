"""Plans of questions, and the rule that makes them: conjunctions, comparisons of two sides, orders of two events.

Everything else is one question: what it describes is found by the search, and read in one window.

Source: Xinyu AI Search, query decomposition; GraTAG, section 3.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Final

from quern.jobs.text.words import AUXILIARIES, PREPOSITIONS
from quern.schemas.words.scripts import HAN_CHARACTER

REFERENCE: Final = re.compile(r"#(\d{1,2})(?!\d)")
MOST_SUB_QUESTIONS: Final = 6  # Xinyu AI Search and GraTAG, prompt of the decomposition.


@dataclass(frozen=True)
class SubQuestion:
    """A question that helps to answer another."""

    text: str  # Its words; `#k` is the answer to sub-question number k, counted from 1.
    parents: tuple[int, ...] = ()  # Numbers of the sub-questions whose answers it needs, counted from 1.
    # The words of the whole question that each parent's answer takes the place of, by its number.
    stands_for: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A question and its sub-questions, parents before children; none where it is one question by itself."""

    question: str
    sub_questions: tuple[SubQuestion, ...] = ()

    @property
    def is_complex(self) -> bool:
        """Whether the question has parts."""
        return bool(self.sub_questions)

    def levels(self) -> list[list[int]]:
        """Numbers of the sub-questions by level: those of one level need only answers of levels before it."""
        sorter = _sorter(self.sub_questions)
        sorter.prepare()
        levels: list[list[int]] = []
        while sorter.is_active():
            levels.append(sorted(sorter.get_ready()))
            sorter.done(*levels[-1])
        return levels

    def ancestors(self, number: int) -> list[int]:
        """Numbers of the sub-questions whose answers lead to sub-question `number`, in order."""
        parents = self.sub_questions[number - 1].parents
        return sorted({*parents, *(a for parent in parents for a in self.ancestors(parent))})

    def asked(self) -> list[int]:
        """Numbers of the sub-questions whose answers make the whole: all, but for those that only lead to others.

        What leads to the next is asked for too where the question has its words: `who built it, and when was he born`.
        """
        whole = " ".join(self.question.lower().split())
        parents = {p for s in self.sub_questions for p in s.parents}
        return [
            n
            for n, s in enumerate(self.sub_questions, 1)
            if n not in parents or " ".join(s.text.lower().split()).rstrip("?") in whole
        ]

    def filled(self, number: int, answers: Mapping[int, str]) -> str:
        """Sub-question `number`, counted from 1, with its parents' short answers in the place of their references.

        Where one is missing or empty, or longer than a name or a value can be, the words it stands for are put back.
        """
        sub = self.sub_questions[number - 1]

        def filling(match: re.Match[str]) -> str:
            parent = int(match[1])
            if parent not in sub.parents:
                return match[0]
            answer = " ".join(answers.get(parent, "").split()).rstrip(".!?。！？ ")
            # A sentence cannot stand in another question.
            name = answer if len(answer.split()) <= 10 else ""
            if words := name or " ".join(sub.stands_for.get(parent, "").split()):
                return words
            # What the parent asks for, as words that may stand in another question.
            return REFERENCE.sub("it", self.sub_questions[parent - 1].text).rstrip("?？ ")

        return REFERENCE.sub(filling, sub.text)


def fault_of_plan(sub_questions: Sequence[SubQuestion]) -> str | None:
    """What is wrong with such a plan: `blank`, `too_many`, `duplicate`, `dangling` or `cyclic`; None if nothing is.

    A reference `#k` in a text must be to a parent.
    """
    if len(sub_questions) > MOST_SUB_QUESTIONS:
        return "too_many"
    if any(not any(c.isalnum() for c in REFERENCE.sub("", s.text)) for s in sub_questions):
        return "blank"
    texts = {" ".join(s.text.lower().split()).rstrip("?？") for s in sub_questions}
    if len(texts) < len(sub_questions):
        return "duplicate"
    last = len(sub_questions)
    for sub in sub_questions:
        references = {int(k) for k in REFERENCE.findall(sub.text)}
        if not references <= set(sub.parents) or any(not 1 <= p <= last for p in sub.parents):
            return "dangling"
    try:
        _sorter(sub_questions).prepare()
    except CycleError:
        return "cyclic"
    return None


def _sorter(sub_questions: Sequence[SubQuestion]) -> TopologicalSorter[int]:
    return TopologicalSorter({n: sub.parents for n, sub in enumerate(sub_questions, 1)})


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


@dataclass(frozen=True)
class Comparison:
    """What a question compares."""

    sides: tuple[str, str]  # The words for both sides.
    questions: tuple[str, str]  # A question for each side.
    less: bool  # Whether the side with the smaller value, or the earlier day, is meant.
    in_time: bool  # Whether days are compared.
    verdict: bool  # Whether yes or no is asked.


@lru_cache(maxsize=4096)
def comparison(question: str) -> Comparison | None:
    """The two sides that `question` compares; None where it compares nothing."""
    text = " ".join(question.split()).rstrip("?.!？ ")
    if len(text) > _LONGEST:
        return None
    if match := _EITHER.fullmatch(text):
        stem, a, b = match["stem"].strip(), (match["a"] or match["x"]).strip(), match["b"].strip()
        return _comparison((a, b), (f"{stem}: {a}?", f"{stem}: {b}?"), match["word"], verdict=False)
    if match := _THAN.fullmatch(text):
        a, b = match["a"].strip(), match["b"].strip()
        phrase = f"{match['word']}{match['rest']}"
        if _LEANS.match(b) or b[:1].isdigit():
            return None
        verdict = text.partition(" ")[0].lower() in AUXILIARIES
        # `in 2023 than in 2024` compares two times or places of one thing.
        beside = match["rest"] and b.partition(" ")[0].lower() in PREPOSITIONS
        other = f"{a} {match['word']} {b}?" if beside else f"{phrase}: {b}?"
        return _comparison((a, b), (f"{a} {phrase}?", other), match["word"], verdict=verdict)
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
    if (pair := comparison(question)) is not None:
        return tuple(map(SubQuestion, pair.questions))
    pieces = [f"{part.strip(' ,;?')}?" for part in _AND.split(text)]
    if not 1 < len(pieces) <= MOST_SUB_QUESTIONS or any(len(part.split()) < _LEAST_WORDS for part in pieces):
        return ()
    first, *others = (f"{part[:1].upper()}{part[1:]}" for part in pieces)
    subs = [SubQuestion(first)]
    for part in others:
        # A part that leans on the first has that one's answer, or its words, behind it.
        words = first.rstrip("?")
        if not _LEANS.search(part):
            subs.append(SubQuestion(part))
        elif _NAMES.match(first):
            subs.append(SubQuestion(f"{part} (#1)", (1,), {1: words}))
        else:
            subs.append(SubQuestion(f"{part} ({words})"))
    return tuple(subs)


def parts_alone(question: str) -> list[str]:
    """The sub-questions of `question` that can be asked without another's answer."""
    return [sub.text for sub in parts(question) if not sub.parents]


def _comparison(
    sides: tuple[str, str], questions: tuple[str, str], word: str, *, verdict: bool, in_time: bool = False
) -> Comparison | None:
    if sides[0].lower() == sides[1].lower():
        return None
    word = word.lower()
    return Comparison(sides, questions, word in _LESS, in_time or word in _TIME, verdict)


_BETWEEN: Final = re.compile(r"\bbetween (.+?) and (.+)$", re.I)
# Of a text whose white space is squeezed: two runs of it side by side would be tried in every way to part them.
_CUT: Final = re.compile(
    r"(?: ?,)? (?:before|after|until|while|since|then|and then|as well as) |;| ?, (?:and|but|or|so) ", re.I
)
# Chinese: a pause or a word for `before`, `after`, `meanwhile` between two events.
_CUT_CHINESE: Final = re.compile(r"[，；,;]|(?:之前|以前|之后|以后|然后|同时)")


def clauses(question: str) -> list[str]:
    """The clauses of `question`, at most 4, that look for evidence beside the whole; none where it is but one.

    A sub-question is a whole question in full names, answered by itself; a clause only finds, in the question's words.
    It is cut at words that join two events (`A before B`, `between A and B`) and at marks between main clauses, where
    both sides have at least three words. A clause keeps its own words alone: its subject may stand in another.
    """
    text = " ".join(question.split()).rstrip("?.!？。！ ")
    if HAN_CHARACTER.search(text):
        parts = [p.strip() for p in _CUT_CHINESE.split(text)]
        parts = [p for p in parts if len(p) >= 4]
    else:
        both = _BETWEEN.search(text)
        parts = [both[1], both[2]] if both else _CUT.split(text)
        parts = [p.strip() for p in parts if len(re.findall(r"\w+", p)) >= 3]
    return parts[:4] if len(parts) > 1 else []
