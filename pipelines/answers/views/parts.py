"""The sub-questions of an answer, made ready to be shown as a list that is indented by what depends on what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quern.pipelines.answers.views.passages import Quote, Statement, cited_quotes
from quern.schemas.answers import Answer


@dataclass(frozen=True)
class Part:
    """A sub-question as it is shown."""

    number: int
    parents: list[int]  # Numbers of the sub-questions shown before it whose answers it needed.
    depth: int  # 0 where it needed none, else one more than the deepest of its parents.
    question: str
    statement: Statement | None  # Its answer; None where the evidence had none.


def parts_of(answer: Answer, quotes: Sequence[Quote] = ()) -> list[Part]:
    """The sub-questions in the order of the answer, parents first."""
    parts: list[Part] = []
    depths: dict[int, int] = {}
    for sub in answer.sub_questions:
        parents = [n for n in sub.parents if n in depths]
        depths[sub.number] = 1 + max((depths[n] for n in parents), default=-1)
        statement = Statement(sub.answer, cited_quotes(sub.citations, quotes)) if sub.answer else None
        parts.append(Part(sub.number, parents, depths[sub.number], sub.question, statement))
    return parts
