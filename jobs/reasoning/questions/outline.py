"""The form of a question that needs several answers: which parts it has and how their answers make one.

The rule of the decomposition lays it out, and what combines the answers reads it again: both see the same form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from quern.jobs.reasoning.questions.chains import chain
from quern.jobs.reasoning.questions.chinese import chinese_parts
from quern.jobs.reasoning.questions.clause_forms import asked_of_clause
from quern.jobs.reasoning.questions.comparisons import pair
from quern.jobs.reasoning.questions.coordination import parts
from quern.jobs.reasoning.questions.plan import MOST_SUB_QUESTIONS, REFERENCE, Plan, SubQuestion
from quern.jobs.reasoning.questions.references import proper_names
from quern.schemas.words.scripts import HAN

_CHINESE: Final = re.compile(f"[{HAN}]")
_LONGEST: Final = 400  # Characters; the expressions that read a form may take seconds of a text of thousands.
Way = Literal["single", "compare", "order", "both", "chain", "measure"]


@dataclass(frozen=True)
class Section:
    """A part of a question and the sub-questions that answer it.

    Attributes:
        way: How the answers make one: `compare` by value, `order` in time, `both` for yes or no, `chain` and `single`
            the last one's, `measure` a difference between the answers of the section before.
        text: The part, in full names.
        sides: The words of the question for each thing compared.
        word: The word that compares, such as `longer`; empty if there is none.
        numbers: Numbers of its sub-questions, counted from 1.
    """

    way: Way
    text: str
    numbers: tuple[int, ...]
    sides: tuple[str, ...] = ()
    word: str = ""


@dataclass(frozen=True)
class Outline:
    """The sections of a question in order, and all their sub-questions; no sub-questions where it is one question."""

    sections: tuple[Section, ...]
    sub_questions: tuple[SubQuestion, ...]


def parts_alone(question: str) -> list[str]:
    """The sub-questions of `question` that can be asked alone, without another's answer."""
    return [sub.text for sub in outline(question).sub_questions if not REFERENCE.search(sub.text)]


@lru_cache(maxsize=4096)
def outline(question: str) -> Outline:
    """The form of `question`, by rule."""
    if REFERENCE.search(question) or len(question) > _LONGEST:
        return Outline((), ())  # Its own `#1` would be taken for an answer; a text so long is no question.
    if _CHINESE.search(question):
        return _of_texts(chinese_parts(question))
    sections: list[Section] = []
    subs: list[SubQuestion] = []
    last_number: list[int] = []
    for part in parts(question):
        if part.measures:
            event = _event(part.text, subs[-1].text if subs else "")
            sections.append(Section("measure", part.text, (len(subs) + 1,) if event else ()))
            subs.extend([SubQuestion(event)] if event else [])
            last_number.append(0)
            continue
        if part.needs is not None and last_number[part.needs]:
            parent = last_number[part.needs]
            text = part.text.replace("#", f"#{parent}")
            new: tuple[SubQuestion, ...] = (SubQuestion(text, (parent,), {parent: part.stands_for}),)
            section = Section("single", part.text, (len(subs) + 1,))
        else:
            section, new = _section(part.text, len(subs))
        subs.extend(new)
        sections.append(section)
        last_number.append(len(subs))
    if len(subs) > MOST_SUB_QUESTIONS or len({s.text.lower() for s in subs}) < len(subs):
        return Outline((), ())
    whole = len(subs) > 1 or any(s.way == "measure" for s in sections)
    return Outline(tuple(sections), tuple(subs)) if whole and subs else Outline((), ())


def asked_numbers(form: Outline, leaves: Sequence[int]) -> list[int]:
    """Numbers of the sub-questions whose answers make the whole: the leaves, and parents that are asked for themselves.

    `Who built the mill, and when was he born` asks for both.
    """
    return sorted({*leaves, *(s.numbers[-1] for s in form.sections if s.numbers)})


def numbers_told(plan: Plan) -> list[int]:
    """The same of a plan; the leaves, where it is not the rule's."""
    form = outline(plan.question)
    return asked_numbers(form, plan.leaves()) if form.sub_questions == plan.sub_questions else plan.leaves()


_OF_EVENT: Final = re.compile(
    r"how\s+(?:long|many\s+\w+)\s+(?:before|after)\s+(?P<event>.+?)\s+(?:was|is|were|did)\s+(?:that|it|this|they)\b",
    re.IGNORECASE,
)


def _event(measure: str, earlier: str) -> str:
    """The question for the event that a measure counts from: `how long before the opening was that?`; or empty."""
    m = _OF_EVENT.match(measure)
    if m is None:
        return ""
    names = proper_names(earlier)
    scope = f" of {names[-1]}" if names and not proper_names(f"x {m['event']}") else ""
    return asked_of_clause(f"{m['event']}{scope}")


def _of_texts(texts: list[str]) -> Outline:
    if len(texts) < 2:
        return Outline((), ())
    sections = tuple(Section("single", text, (n,)) for n, text in enumerate(texts, 1))
    first = texts[0].rstrip("？")
    described = re.sub(r"是(?:谁|哪一?.)$", "", first)
    parents = [(1,) if "#1" in text else () for text in texts]
    return Outline(
        sections, tuple(SubQuestion(t, p, {1: described} if p else {}) for t, p in zip(texts, parents, strict=True))
    )


def _section(text: str, before: int) -> tuple[Section, tuple[SubQuestion, ...]]:
    """A part as a section, its sub-questions numbered behind `before` others."""
    found = pair(text)
    if found is not None:
        subs = tuple(SubQuestion(q) for q in found.questions)
        numbers = tuple(range(before + 1, before + 1 + len(subs)))
        return Section(found.way, text, numbers, found.sides, found.word), subs
    steps = chain(text)
    if steps:
        numbers = tuple(range(before + 1, before + 1 + len(steps)))
        return Section("chain", text, numbers), tuple(_shifted(s, before) for s in steps)
    return Section("single", text, (before + 1,)), (SubQuestion(text),)


def _shifted(sub: SubQuestion, by: int) -> SubQuestion:
    """The sub-question with its references counted from `by` on."""
    if not by or not sub.parents:
        return sub
    text = re.sub(r"#(\d)", lambda m: f"#{int(m[1]) + by}", sub.text)
    return replace(
        sub,
        text=text,
        parents=tuple(p + by for p in sub.parents),
        stands_for={p + by: w for p, w in sub.stands_for.items()},
    )
