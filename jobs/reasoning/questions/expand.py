"""Further questions around a question, to look for what it needs but does not say (query expansion of Xinyu AI Search).

As an expert would ask, along four ways: mastery of the content, its key elements, its context, and thinking further.
A model is shown what the index asks nearby: the synthetic queries nearest to the question, and their neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from quern.jobs.tasks.prompts import disarmed
from quern.jobs.tasks.runner import Reasoner
from quern.jobs.tasks.task import OutputModel, Task

Way = Literal["content_mastery", "key_elements", "context", "extended_thinking"]
MOST_EXPANSIONS: Final = 4


class Expansion(OutputModel):
    """A further query and the way that led to it."""

    way: Way
    query: str = Field(max_length=300)


class Expansions(OutputModel):
    """Further queries around a question; none where it says all that is needed."""

    expansions: list[Expansion] = Field(json_schema_extra={"maxItems": MOST_EXPANSIONS})


@dataclass(frozen=True)
class ExpandInput:
    """A question and what the index asks near it."""

    question: str
    # The synthetic queries that are nearest to it, best first, then their neighbours in the graph.
    near: Sequence[str] = ()

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {"question": disarmed(self.question), "near": [disarmed(q) for q in self.near]}


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


# By rule a question says all that is needed: recall fell with queries made of its words and of its neighbours.
_NONE: Final = Expansions(expansions=[])
EXPAND: Final[Task[ExpandInput, Expansions]] = Task(
    "expand", 2, PROMPT, Expansions, lambda _: _NONE, constants={"most": MOST_EXPANSIONS}
)


def expanded(reasoner: Reasoner, inputs: Sequence[ExpandInput]) -> list[list[str]]:
    """The further queries of each question, in their order.

    Raises:
        GeneratorError: The model cannot be asked any more.
    """
    return [[e.query for e in result.output.expansions] for result in reasoner.run(EXPAND, inputs)]
