"""Rewriting a question: in the words of the corpus, with its times as dates (Xinyu AI Search, query preprocessing)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.questions.vocabulary import Vocabulary
from quern.jobs.reasoning.task import Task


class Change(BaseModel):
    """One change of a question.

    Attributes:
        before: The words of the user.
        after: What stands in their place.
        why: `preamble`, `spelling`, `name` or `time`.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    before: str = Field(alias="from")
    after: str = Field(alias="to")
    why: str


class Rewriting(BaseModel):
    """A question in the words of the corpus, and what was changed to get there."""

    model_config = ConfigDict(extra="forbid")

    question: str
    changes: list[Change]


@dataclass(frozen=True)
class RewriteInput:
    """A question, and what it is rewritten by.

    Attributes:
        now: The day that relative times count from; None leaves them as they are.
    """

    question: str
    vocabulary: Vocabulary
    now: date | None


def rewritten(given: RewriteInput) -> Rewriting:
    """The question by rule."""
    return Rewriting(question=given.question, changes=[])


REWRITE: Final = Task("rewrite", 1, "{{ question }}", Rewriting, rewritten)
