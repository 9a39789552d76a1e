"""Compensation: a further query for what of a question a chunk leaves without a match (GGatrieval, SCQA).

Semantic compensation query alignment: the constituents that the chunk D lacks are replaced by synonymous descriptions,
which makes Q'. Where D matches a share tau of the constituents the next query is `Q + D`, else `Q'` with a passage in
which every constituent of Q' has a match. By rule, descriptions are words of the index that say the same, or those that
its nodes near the question have beside what the question says; the passage is put together from sentences of these
nodes. No rule can write what the index has not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.alignment.labelled import Labelled, quoted_chunk, quoted_constituents
from quern.jobs.reasoning.alignment.roles import Constituent, Parsed
from quern.jobs.reasoning.prompts import disarmed
from quern.jobs.reasoning.task import Checked, Problem, Task
from quern.jobs.text.stems import content_words
from quern.schemas.settings import GGatrievalSettings
from quern.schemas.words.sentences import sentence_spans
from quern.schemas.words.terms import STOP_WORDS, search_terms

_DESCRIPTION: Final = 4  # Words of a description: a constituent has rarely more.
_SENTENCES: Final = 4  # Of a passage that is put together; the paper's is a short paragraph.
_SHOWN: Final = 8  # Nodes in a prompt.
_LONGEST: Final = 600  # Characters of a query's passage: what the default model reads beside a question.


@dataclass(frozen=True)
class Near:
    """A node of the index near the question: what it asks and answers, and the place of its chunk."""

    question: str
    answer: str
    chunk: int


@dataclass(frozen=True)
class CompensateInput:
    """A question, a chunk that does not match all of it, and what the index asks and answers nearby.

    Attributes:
        parsed: The question with its constituents.
        chunk: The chunk.
        near: Nodes near the question and their neighbours, best first.
        synonyms: Of words of the question, words of the index that say the same; may be empty.
    """

    parsed: Parsed
    chunk: Labelled
    near: Collection[Near] = ()
    synonyms: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def missing(self) -> list[Constituent]:
        """The constituents that the chunk lacks, but what is asked for: no other word says it."""
        matched = self.chunk.matched
        return [c for n, c in enumerate(self.parsed.constituents) if n not in matched and not c.asked]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {
            "question": disarmed(self.parsed.question),
            "constituents": quoted_constituents(self.parsed),
            "missing": [disarmed(c.text) for c in self.missing],
            "chunk": quoted_chunk(self.chunk),
            "near": [disarmed(f"{n.question} {n.answer}")[:_LONGEST] for n in islice(self.near, _SHOWN)],
            "share": self.chunk.alignment.share,
        }


class Compensation(BaseModel):
    """A further query: a question, and a passage that is looked for with it.

    Attributes:
        question: Q where the passage is the chunk's own, else Q'.
        passage: What is looked for beside it.
        sources: Numbers of the nodes that the passage was put together from; none where it is the chunk's own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(description="The question, what is missing said in other words.", max_length=_LONGEST)
    passage: str = Field(description="A passage that would answer it.", max_length=4 * _LONGEST)
    sources: list[int] = []

    @property
    def query(self) -> str:
        """What is looked for."""
        return f"{self.question} {self.passage}".strip()


PROMPT = """\
A search for evidence found a passage that answers a question only in part. Write what to search for next.

Question: {{ question }}

Its parts:
{% for n, text in constituents %}{{ n }}. {{ text }}
{% endfor %}
<passage title="{{ chunk.title }}">
{{ chunk.text }}
</passage>
Of the parts it says nothing of: {{ missing | join("; ") }}.

{% for q in near -%}
{% if loop.first %}What the collection says nearby:
{% endif %}- {{ q }}
{% endfor %}
question: the question with each missing part replaced by a description that means the same.
passage: {% if share >= similar %}the sentences of the passage that belong to the question{% else %}a short passage \
in which every part of that question has a match, and which answers it{% endif %}.

Return JSON: {"question": "...", "passage": "...", "sources": []}
"""


def compensate_task(settings: GGatrievalSettings) -> Task[CompensateInput, Compensation]:
    """The task of compensation, with the paper's tau."""
    similar = settings.similar

    def rule(given: CompensateInput) -> Compensation:
        if given.chunk.alignment.share >= similar:
            return Compensation(question=given.parsed.question[:_LONGEST], passage=_said(given.chunk))
        return _put_together(given)

    return Task("compensate", 1, PROMPT, Compensation, rule, _check, constants={"similar": similar})


def _check(_: CompensateInput, output: Compensation) -> Checked[Compensation]:
    """What is put together from nodes is known by rule only."""
    if not output.question.strip():
        return Checked(None, (Problem("blank", "the question is blank"),))
    return Checked(output.model_copy(update={"sources": []}))


def _said(chunk: Labelled) -> str:
    """What of a chunk matches, in whole sentences."""
    text, window = chunk.evidence.text, chunk.alignment.window
    if window is None:
        return text[:_LONGEST]
    said = [text[a:b] for a, b in sentence_spans(text) if a < window[1] and window[0] < b]
    return " ".join(" ".join(said).split())[:_LONGEST]


def _put_together(given: CompensateInput) -> Compensation:
    """Q' and the passage that matches it."""
    described: dict[Constituent, str] = {}
    for c in given.missing:
        described[c] = _description(given, c, frozenset(described.values()))
    asked, wanted, near = given.parsed.question, [], list(given.near)
    for c in sorted(given.parsed.constituents, key=lambda c: -c.start):
        words = described.get(c) or c.text
        asked = f"{asked[: c.start]}{words}{asked[c.end :]}"
        if not c.asked:
            wanted.append(content_words(words))
    sources = _covering(wanted, [content_words(f"{n.question} {n.answer}") for n in near])
    passage = " ".join(dict.fromkeys(near[n].answer for n in sources))
    return Compensation(question=asked[:_LONGEST], passage=passage[:_LONGEST], sources=sources)


def _description(given: CompensateInput, missing: Constituent, used: Collection[str]) -> str:
    """Other words for a constituent; empty where the index has none.

    First words that say the same. Else what the nearest node that speaks of the rest of the question, and not of this
    constituent, has beside it; what is `used` for another constituent describes no second one.
    """
    words = [w for w in search_terms(missing.text).split() if w not in STOP_WORDS]
    others = [sorted(given.synonyms.get(w, ())) for w in words]
    if any(others):
        return " ".join(w for word, mine in zip(words, others, strict=True) for w in (mine[:1] or [word]))
    own, asked = content_words(missing.text), content_words(given.parsed.question)
    for node in given.near:
        said = content_words(node.question)
        if said & (asked - own) and not said & own:
            new = [w for w in dict.fromkeys(search_terms(node.question).split()) if content_words(w) - asked]
            description = " ".join(new[:_DESCRIPTION])
            if description and description not in used:
                return description
    return ""


def _covering(wanted: Sequence[frozenset[str]], said: Sequence[frozenset[str]]) -> list[int]:
    """Numbers of the nodes that together say every constituent, each adding most to those before; at most a few."""
    left = [w for w in wanted if w]
    chosen: list[int] = []
    while left and len(chosen) < _SENTENCES:
        counts = [sum(bool(w & words) for w in left) for words in said]
        best = max(range(len(counts)), key=lambda n: (counts[n], -n), default=-1)
        if best < 0 or not counts[best]:
            break
        chosen.append(best)
        left = [w for w in left if not w & said[best]]
    return chosen
