"""The answer of a question from the answers of its parts: section by section, with the sentences that carry it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.answering.further import earns_its_place
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.parts.both import both
from quern.jobs.reasoning.answering.parts.comparison import compared
from quern.jobs.reasoning.answering.parts.order import hours_of_one_sentence, measured, ordered
from quern.jobs.reasoning.answering.parts.phrasing import asks_verdict, joined, sentence_told, without_end
from quern.jobs.reasoning.answering.parts.revision import by_facts, clearest, in_short, together, told_otherwise
from quern.jobs.reasoning.answering.parts.stated import difference_stated, stated
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.questions.outline import Section, asked_numbers, outline
from quern.jobs.reasoning.questions.plan import REFERENCE

_DECIDES: Final = re.compile(r"(?:yes|no|equal)\b", re.IGNORECASE)
_LONGEST: Final = 600  # Characters of a short answer.
_NEXT_BEST: Final = 2  # Sentences of a part, the best among them, that may carry it.
_NEARLY: Final = 1.5  # Log odds by which the next best sentence may be less likely than the best.
_MOST_GROUNDS: Final = 5
_MOST_CARRYING: Final = 3  # Sentences behind the short answer.


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
        others = [
            told_otherwise(given, a, [t.text for t in told]) if section.way in ("single", "chain") else a
            for a in answers
        ]
        if (found := _section(given, section, others, measures)) is not None:
            told.append(found)
    if not told or (len(groups) == 1 and told[0].partly):
        return None
    left_open = " or " in given.question or not asks_verdict(given.question)
    if len(groups) == 1 and not left_open and not _DECIDES.match(told[0].text):
        return None  # Neither yes nor no: the evidence is asked as a whole.
    text = "; ".join(without_end(t.text) for t in told)
    rests_on = list(dict.fromkeys(n for t in told for n in t.rests_on))
    short = f"{text[:1].upper()}{text[1:]}"[:_LONGEST]
    return Combined(short, rests_on[:_MOST_GROUNDS], _carrying(given, short, rests_on)[:_MOST_CARRYING])


def _carrying(given: AnswerInput, short: str, rests_on: Sequence[int]) -> list[int]:
    """The sentences that carry the answer: those it rests on, unless they are the answer, and the next best of parts.

    A part whose short answer is a whole sentence has none that says more of the same, so the next best is told.
    """
    said = [n for n in rests_on if sentence_told(given, n) not in short]
    for before in given.before:
        if before.answer and any(n in rests_on and n not in said for n in before.rests_on):
            ranked = lines(AnswerInput(before.question, given.evidence), kind_of(before.question))
            near = [line.number for line in ranked[:_NEXT_BEST] if line.score >= ranked[0].score - _NEARLY]
            own = AnswerInput(before.question, given.evidence)
            own_score = max((line.score for line in ranked if line.number in before.rests_on), default=-math.inf)
            # On another page only what is as much likelier: of the sample corpus the two that were wrong are gone.
            other = near[:1] if ranked[0].score >= own_score + _NEARLY else []
            answering = [*before.rests_on, *other]
            said.extend(n for n in near if sentence_told(given, n) not in short and earns_its_place(own, answering, n))
    texts = {sentence_told(given, n): n for n in reversed(said)}
    return list(dict.fromkeys(n for n in said if texts[sentence_told(given, n)] == n))


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
    if section.way == "order" and (hours := hours_of_one_sentence(given, section, answers)):
        return _Told(hours, tuple(answers[0].rests_on[:1]))
    apart = difference_stated(given, section, answers) if section.way == "compare" else None
    if apart is not None and not compared(given, section, answers):
        return _Told(apart.side, (apart.number,))
    if section.way in ("compare", "order") or (measures and len(answers) == 2):
        answers = by_facts(given, section, together(given, section, answers))
    if section.way == "single" and len(given.before) > 1:
        answers = [in_short(given, a) if a.answer else clearest(given, a) for a in answers]
    rests_on = tuple(dict.fromkeys(n for a in answers for n in a.rests_on))
    text = ""
    if measures and len(answers) > 1 and section.way == "single":
        text = measured(given, answers, measures[0].text)
    elif section.way == "compare":
        text = compared(given, section, answers)
        open_still = not text or not all(a.answer for a in answers)
        if open_still and not asks_verdict(section.text) and (found := stated(given, section)) is not None:
            return _Told(found.side, (found.number,))
    elif section.way == "order":
        text = ordered(given, section, answers, measures[0].text if measures else "")
    elif section.way == "both":
        text = both(section, answers)
    if not text:
        text = joined([a.answer for a in answers if a.answer])
    partly = section.way in ("compare", "order", "both") and not all(a.answer for a in answers)
    return _Told(text, rests_on, partly) if text else None
