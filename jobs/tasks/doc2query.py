"""Doc2Query, extended (QCG-RAG, arXiv 2509.21237, section 3.3): question-answer pairs that a chunk answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from pydantic import BaseModel, ConfigDict, Field

from jobs.task import Task
from jobs.tasks.doc2query_rules import NEAR_IDENTICAL, write_pairs


@dataclass(frozen=True)
class ChunkContext:
    """A chunk and what its document says of it.

    Attributes:
        text: The chunk.
        title: Title of the document, if it has one.
        published_at: Publication time of the document, if known.
    """

    text: str
    title: str | None = None
    published_at: datetime | None = None


class Pair(BaseModel):
    """A question and its answer, quoted from the chunk."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, description="A question that can be understood without the passage.")
    answer: str = Field(min_length=1, description="The words of the passage that answer it.")


class Pairs(BaseModel):
    """The pairs of one chunk, in reading order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pairs: list[Pair] = Field(description="The question-answer pairs.")


PROMPT = """\
You write the questions under which readers will later find a passage.

{% if title %}Document: {{ title }}
{% endif %}{% if published_at %}Published: {{ published_at.date().isoformat() }}
{% endif %}Passage:
<passage>
{{ text }}
</passage>

Write up to {{ pairs }} pairs of a question and its answer, in the language of the passage.
- The passage alone must answer every question. Copy the answer from the passage word for word, as one continuous span.
- A question must be clear to someone who has not seen the passage: put full names for pronouns, name who speaks to
  whom, and give dates and places where the passage has them. Never write "the passage", "the text" or "the author".
- Together the pairs cover every key idea and every specific fact: persons, dates, places, figures, causes, outcomes.
- Vary the form: who, what, when, where, why, how, how many, did or is, an imperative ("Name the ..."), a comparison,
  a condition ("What happens if ...").
- Vary the aim: a fact, a definition, a method, a reason, a result, an example, a limitation; and the grain, from what
  the whole passage is about to a single figure. Some readers want to confirm, others to use, judge or decide.
- No two questions may ask for the same thing in other words. Write fewer pairs rather than weak ones.

Return JSON: {"pairs": [{"question": "...", "answer": "..."}, ...]}
"""


def rule(most: int, near_identical: float = NEAR_IDENTICAL) -> Callable[[ChunkContext], Pairs]:
    """The rule that writes at most `most` pairs of a chunk, no two of them `near_identical`."""
    return partial(_apply_rule, most, near_identical)


def _apply_rule(most: int, near_identical: float, chunk: ChunkContext) -> Pairs:
    written = write_pairs(chunk.text, chunk.title, chunk.published_at, most, near_identical)
    return Pairs(pairs=[Pair(question=question, answer=answer) for question, answer in written])


def doc2query(most: int, near_identical: float = NEAR_IDENTICAL) -> Task[ChunkContext, Pairs]:
    """The task of writing at most `most` pairs of a chunk (the paper's M), no two of them `near_identical`."""
    return Task("doc2query", 2, PROMPT.replace("{{ pairs }}", str(most)), Pairs, rule(most, near_identical))
