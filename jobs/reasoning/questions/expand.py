"""Further questions around a question, to look for what it needs but does not say (query expansion of Xinyu AI Search).

As an expert would ask, along four ways: mastery of the content, its key elements, its context, and thinking further.
The rule makes them of the question's own words and of what the index asks nearby: the synthetic queries nearest to the
question, and the neighbours of these in the graph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.prompts import disarmed
from quern.jobs.reasoning.runner import Reasoner
from quern.jobs.reasoning.task import Task
from quern.schemas.words.terms import STOP_WORDS, search_terms

Way = Literal["content_mastery", "key_elements", "context", "extended_thinking"]
MOST_EXPANSIONS: Final = 4
_MOST_SHARED: Final = 0.8  # Share of its words that a neighbour may have in the question and still ask something else.

_NAME: Final = re.compile(r"\b[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*)*")


class Expansion(BaseModel):
    """A further query and the way that led to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    way: Way
    query: str = Field(max_length=300)


class Expansions(BaseModel):
    """Further queries around a question; none where it says all that is needed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    expansions: list[Expansion] = Field(json_schema_extra={"maxItems": MOST_EXPANSIONS})


@dataclass(frozen=True)
class ExpandInput:
    """A question and what the index asks near it.

    Attributes:
        nearest: The synthetic queries that are nearest to it, best first.
        neighbours: The neighbours of these in the graph, best first.
    """

    question: str
    nearest: Sequence[str] = ()
    neighbours: Sequence[str] = ()

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        near = [disarmed(q) for q in (*self.nearest, *self.neighbours)]
        return {"question": disarmed(self.question), "near": near}


PROMPT = """\
You are an expert who prepares the search for a question: what else must be looked for to answer it well?

Question: {{ question }}

{% for q in near -%}
{% if loop.first %}Questions that the collection can answer, near it:
{% endif %}- {{ q }}
{% endfor %}
Write at most {{ most }} further search queries, each with its way:
content_mastery: what one must know of the subject; key_elements: the names, numbers and terms that decide;
context: what surrounds it; extended_thinking: what follows from it or led to it.
Keep to the names of the question. Repeat neither the question nor each other. Write none where the question is enough.

Return JSON: {"expansions": [{"way": "...", "query": "..."}, ...]}
"""


def expansion(given: ExpandInput) -> Expansions:
    """The queries by rule: the names of the question, its words of content, the nearest other question, a neighbour."""
    terms = [t for t in dict.fromkeys(search_terms(given.question).split()) if t not in STOP_WORDS]
    runs = [[w for w in run.split() if w.lower() not in STOP_WORDS] for run in _NAME.findall(given.question)]
    names = [" ".join(run) for run in runs if run]
    found: list[tuple[Way, str]] = [("content_mastery", " ".join(terms)), ("key_elements", " ".join(names))]
    asked = set(terms)
    found.append(("context", next((q for q in given.nearest if _asks_other(q, asked, names)), "")))
    found.append(("extended_thinking", next((q for q in given.neighbours if _asks_other(q, asked, names)), "")))
    seen = {given.question.lower()}
    kept = []
    for way, query in found:
        if query and query.lower() not in seen:
            seen.add(query.lower())
            kept.append(Expansion(way=way, query=query[:300]))
    return Expansions(expansions=kept)


def _asks_other(query: str, asked: set[str], names: Sequence[str]) -> bool:
    """Whether a query near the question asks something else of what it names."""
    words = {t for t in search_terms(query).split() if t not in STOP_WORDS}
    told = not names or any(name.lower() in query.lower() for name in names)
    return bool(words) and told and len(words & asked) <= _MOST_SHARED * len(words)


EXPAND: Final = Task("expand", 1, PROMPT, Expansions, expansion, constants={"most": MOST_EXPANSIONS})


def expanded(reasoner: Reasoner, inputs: Sequence[ExpandInput]) -> list[list[str]]:
    """The further queries of each question, in their order.

    Raises:
        GeneratorError: The model cannot be asked any more.
    """
    return [[e.query for e in done.output.expansions] for done in reasoner.run(EXPAND, inputs)]
