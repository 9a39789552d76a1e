"""What an answer is before it is cited: sentences, and the sentences of the evidence that each rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from quern.jobs.tasks.task import OutputModel

MOST_SENTENCES: Final = 4  # The short answer and three that carry it.
MOST_CHARACTERS: Final = 600  # Of one sentence.
MOST_SOURCES: Final = 5  # Sentences that one may rest on.


class Statement(OutputModel):
    """A sentence of an answer and the sentences of the evidence that it rests on."""

    text: str = Field(description="One sentence of the answer.", max_length=MOST_CHARACTERS)
    # Numbers of the sentences of the evidence that it rests on, which no model is asked for: they are looked up.
    rests_on: SkipJsonSchema[list[int]] = Field(default_factory=list)


class Draft(OutputModel):
    """An answer before it is cited: the short answer first, then what carries it; empty where there is no answer."""

    sentences: list[Statement] = Field(
        description="The short answer, then at most three sentences that carry it; none where the evidence has none.",
        json_schema_extra={"maxItems": MOST_SENTENCES},
    )

    @property
    def short(self) -> str:
        """The short answer; empty where there is none."""
        return self.sentences[0].text if self.sentences else ""


def statement(text: str, rests_on: Sequence[int]) -> Statement:
    """A sentence on one line; what a page writes without an end is cut to what a statement may have."""
    return Statement(text=" ".join(text.split())[:MOST_CHARACTERS], rests_on=list(rests_on)[:MOST_SOURCES])
