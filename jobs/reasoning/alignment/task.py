"""The task of aligning: which segments of one continuous window of a chunk match the constituents of a question.

GGatrieval, section on FGA (fine-grained alignment): matching segments for each constituent, one reflection on that
list, and a label: full where every constituent has a match, partial, or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.alignment.matching import asked_of, candidates, titled
from quern.jobs.reasoning.alignment.reflection import Why, taken_back
from quern.jobs.reasoning.alignment.roles import Parsed
from quern.jobs.reasoning.alignment.window import Candidate, How, best_window
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.reasoning.prompts import disarmed
from quern.jobs.reasoning.task import Task
from quern.schemas.settings import AlignSettings

Label = Literal["full", "partial", "none"]

_TOLD_BY_TITLE = 0.25  # What a match in the window adds where the title says the constituent anyway.


@dataclass(frozen=True)
class AlignInput:
    """A question and a chunk that may answer it.

    Attributes:
        parsed: The question with its constituents.
        evidence: The chunk.
        synonyms: Of words of the question, words of the index that say the same; may be empty.
    """

    parsed: Parsed
    evidence: Evidence
    synonyms: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def quoted(self) -> dict[str, Any]:
        """The fields for a prompt."""
        parts = [(n, c.role, disarmed(c.text)) for n, c in enumerate(self.parsed.constituents, 1)]
        return {"question": disarmed(self.parsed.question), "constituents": parts, "text": disarmed(self.evidence.text)}


class Match(BaseModel):
    """A segment that matches a constituent: the characters `start` to `end` of the chunk; none where its title does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    constituent: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    how: How


class Dropped(BaseModel):
    """A match that reflection took back."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    constituent: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    why: Why


class Alignment(BaseModel):
    """What of a question one window of a chunk matches."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    matches: list[Match]
    dropped: list[Dropped] = []
    constituents: int = Field(ge=0)
    window: tuple[int, int] | None = None

    @property
    def label(self) -> Label:
        """Full where every constituent has a match, none where none has."""
        if not self.matches:
            return "none"
        return "full" if len(self.matches) >= self.constituents else "partial"

    @property
    def share(self) -> float:
        """Share of the constituents that have a match, |L| / |Q|, in [0, 1]."""
        return len(self.matches) / self.constituents if self.constituents else 0.0


PROMPT = """\
Which words of a text match each part of a question?

Question: {{ question }}
{% for n, role, text in constituents %}{{ n }}. {{ text }} ({{ role }})
{% endfor %}
Text: {{ text }}

Return JSON.
"""


def aligned(given: AlignInput) -> Alignment:
    """The alignment by rule."""
    asked = asked_of(given.parsed)
    count = len(given.parsed.constituents)
    if not count:
        return Alignment(matches=[], constituents=0)
    by_title = titled(asked, given.evidence.title)
    weights = {n: _TOLD_BY_TITLE if n in by_title else 1.0 for n in range(count)}
    every = list(candidates(asked, given.evidence, given.synonyms))
    chosen = best_window(every, weights)
    gone = taken_back(asked, given.evidence, chosen)
    if gone:
        refused = {c for c, _ in gone}
        chosen = best_window([c for c in every if c not in refused], weights)
    return _alignment(chosen, by_title, gone, count)


def _alignment(
    chosen: Sequence[Candidate], by_title: list[int], gone: list[tuple[Candidate, Why]], count: int
) -> Alignment:
    window = (min(c.start for c in chosen), max(c.end for c in chosen)) if chosen else None
    at = window[0] if window else 0
    matches = [Match(constituent=c.constituent, start=c.start, end=c.end, how=c.how) for c in chosen]
    seen = {c.constituent for c in chosen}
    matches += [Match(constituent=n, start=at, end=at, how="title") for n in by_title if n not in seen]
    return Alignment(
        matches=sorted(matches, key=lambda m: m.constituent),
        dropped=[Dropped(constituent=c.constituent, start=c.start, end=c.end, why=why) for c, why in gone],
        constituents=count,
        window=window,
    )


def align_task(settings: AlignSettings | None = None) -> Task[AlignInput, Alignment]:
    """The task of aligning a question and a chunk."""
    return Task("align", 1, PROMPT, Alignment, aligned)
