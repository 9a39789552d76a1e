"""What a question wants, as a few intents, each with a query of its own (Know Where to Go, generator)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.prompts import disarmed
from quern.jobs.reasoning.questions.parts import parts_alone
from quern.jobs.reasoning.task import Checked, Problem, Task
from quern.schemas.words.terms import STOP_WORDS, search_terms

MOST_INTENTS: Final = 5


class Intent(BaseModel):
    """One thing that a question wants, and the query by which it is looked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intent: str = Field(max_length=300)
    query: str = Field(max_length=600)


class Intents(BaseModel):
    """The intents of a question, the most important first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intents: list[Intent] = Field(json_schema_extra={"maxItems": MOST_INTENTS})


@dataclass(frozen=True)
class IntentInput:
    """A question.

    Attributes:
        most: Most intents that are wanted.
    """

    question: str
    most: int

    @property
    def identity(self) -> object:
        """All that its intents depend on."""
        return [self.question, self.most]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {"question": disarmed(self.question), "most": self.most}


PROMPT = """\
Somebody asks: {{ question }}

What is wanted? Write at most {{ most }} intents, the most important first. For each write a search query that spells
it out: full names, times and places, in the words that a page with the answer would use.

Return JSON: {"intents": [{"intent": "...", "query": "..."}]}
"""


def intents(given: IntentInput) -> Intents:
    """By rule: the question itself, then its parts that can be asked alone, then its words of content."""
    words = " ".join(w for w in dict.fromkeys(search_terms(given.question).split()) if w not in STOP_WORDS)
    queries = dict.fromkeys([given.question, *parts_alone(given.question), words])
    kept = [q for q in queries if q.strip()][: given.most]
    return Intents(intents=[Intent(intent=q[:300], query=q[:600]) for q in kept])


def checked(given: IntentInput, output: Intents) -> Checked[Intents]:
    """The first `most` intents whose query says something."""
    said = [i for i in output.intents if i.query.strip()][: given.most]
    if not said:
        return Checked(None, (Problem("empty", "write at least one intent with its query"),))
    return Checked(Intents(intents=said))


INTENTS: Final = Task("source_intents", 2, PROMPT, Intents, intents, checked)
