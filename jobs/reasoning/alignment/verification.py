"""Verification: whether the chunks that were selected answer the question (GGatrieval, its loop).

By rule they do where one of them matches every constituent of it in one place, what is asked for among them.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.alignment.labelled import LabelledChunks
from quern.jobs.reasoning.task import Checked, Problem, Task


class Verification(BaseModel):
    """Whether chunks answer a question, and the numbers of the constituents that none of them matches."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: bool = Field(description="Whether the passages, together, answer the question.")
    missing: list[int] = Field(default=[], description="Numbers of the parts that no passage says anything of.")


PROMPT = """\
Do these passages answer the question?

Question: {{ question }}

Its parts:
{% for n, text in constituents %}{{ n }}. {{ text }}
{% endfor %}
{% for c in chunks %}<passage title="{{ c.title }}">
{{ c.text }}
</passage>
{% endfor %}
They answer it only if what is asked is stated there, of the very persons, things and times that the question names.

Return JSON: {"answers": true or false, "missing": [number of a part that no passage says anything of, ...]}
"""


def _verified(given: LabelledChunks) -> Verification:
    matched = frozenset[int]().union(*(c.matched for c in given.chunks))
    missing = [n for n in range(len(given.parsed.constituents)) if n not in matched]
    return Verification(answers=any(c.alignment.label == "full" for c in given.chunks), missing=missing)


def _check(given: LabelledChunks, output: Verification) -> Checked[Verification]:
    """A model's verdict without numbers that are no part's; of no chunk at all only the rule judges."""
    if not given.chunks:
        return Checked(_verified(given))
    known = [n for n in dict.fromkeys(output.missing) if 0 <= n < len(given.parsed.constituents)]
    problems = () if len(known) == len(output.missing) else (Problem("unknown_part", "a number is no part's"),)
    return Checked(output.model_copy(update={"missing": known}), problems)


def _any(_: Verification) -> bool:
    return True


def verify_task() -> Task[LabelledChunks, Verification]:
    """The task of verification."""
    return Task("verify", 1, PROMPT, Verification, _verified, _check, enough=_any)
