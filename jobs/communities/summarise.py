"""The table `communities`: what each community is about, by rule or by a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from quern.jobs.communities.find import BARE_COMMUNITIES
from quern.jobs.communities.tasks import Quote, QuotesInput, Summary, numbered, summary_task
from quern.jobs.tasks.table import TaskJob
from quern.jobs.tasks.task import Task
from quern.schemas.contract.table import Table
from quern.schemas.settings import CommunitySettings, GeneratorSettings
from quern.schemas.tables import COMMUNITIES


@dataclass(frozen=True)
class SummariseCommunities(TaskJob[QuotesInput, Summary]):
    """Title and summary of each community."""

    settings: CommunitySettings = field(default_factory=CommunitySettings)  # How long summaries are.
    generator: GeneratorSettings = field(default_factory=GeneratorSettings)  # What writes them.

    name: ClassVar[str] = "communities"
    version: ClassVar[int] = 1
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = tuple(BARE_COMMUNITIES.schema.names)
    key: ClassVar[str] = "community_id"
    known_by: ClassVar[tuple[str, ...]] = ("community_id", "digest")

    @property
    def identity(self) -> tuple[str, ...]:
        """By rule also the keywords, which titles are made of; a model has no use for them, and its rows have none."""
        return self.known_by if self.by_model else (*self.known_by, "keywords")

    @property
    def makes(self) -> Table:
        """`communities`."""
        return COMMUNITIES

    @property
    def task(self) -> Task[QuotesInput, Summary]:
        """Summarising with these settings."""
        return summary_task(self.settings.summary)

    def configuration(self) -> Mapping[str, object]:
        """How long summaries are, and what writes them."""
        return {"summary": self.settings.summary, **super().configuration()}

    def inputs(self, rows: Sequence[Mapping[str, Any]]) -> list[QuotesInput]:
        """The central sentences of each community."""
        return [
            QuotesInput(
                tuple(Quote(s["text"], s["title"], s["published_at"]) for s in row["sentences"]),
                most=self.settings.summary,
                keywords=tuple(row["keywords"]),
            )
            for row in rows
        ]

    def made(self, row: Mapping[str, Any], output: Summary) -> list[dict[str, object]]:
        """The row with its title and summary."""
        by = self.generator.of(self.task.name).kind
        keywords = [] if self.by_model else row["keywords"]
        stated = {"title": output.title, "summary": numbered(output.sentences), "by": by}
        return [{**row, "keywords": keywords, **stated}]


def summarise_communities(settings: CommunitySettings, generator: GeneratorSettings) -> SummariseCommunities:
    """The job with these settings: by the rule, unless a model is wanted for communities too."""
    return SummariseCommunities(settings, generator if settings.by_model else GeneratorSettings())
