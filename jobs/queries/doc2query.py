"""Table `queries`, before filtering: up to M question-answer pairs of each chunk (QCG-RAG, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from quern.jobs.queries.rules.rule import RULES_VERSION
from quern.jobs.queries.task import ChunkContext, Pairs, doc2query
from quern.jobs.tasks.table import TaskJob
from quern.jobs.tasks.task import Problem, Task
from quern.jobs.text.plain_text import publication
from quern.jobs.text.search_form import SearchForm
from quern.schemas.settings import Doc2QuerySettings, GeneratorSettings, NormaliseSettings
from quern.schemas.tables import QUERIES, Table
from quern.schemas.words import sentences


@dataclass(frozen=True)
class Doc2Query(TaskJob[ChunkContext, Pairs]):
    """Synthetic question-answer pairs, by rules or by a model."""

    settings: Doc2QuerySettings = field(default_factory=Doc2QuerySettings)  # How many pairs, and which are left out.
    generator: GeneratorSettings = field(default_factory=GeneratorSettings)  # What writes them.
    # The form of the sentences that the rule asks about; answers are quoted as they stand.
    normalise: NormaliseSettings = field(default_factory=NormaliseSettings)

    name: ClassVar[str] = "doc2query"
    version: ClassVar[int] = 4
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("chunk_id", "text", "title", "published_at", "utc_offset")
    key: ClassVar[str] = "chunk_id"

    @property
    def makes(self) -> Table:
        """`queries` without what the filter adds."""
        return QUERIES.without("similarity", "kept")

    @property
    def task(self) -> Task[ChunkContext, Pairs]:
        """Doc2Query with these settings."""
        settings = self.settings
        return doc2query(settings.pairs, settings.near_identical, settings.groundedness, SearchForm(self.normalise))

    def configuration(self) -> Mapping[str, object]:
        """Number of pairs, what writes them and how; of a model also the prompt and what it is held to."""
        settings, task = self.settings, self.task
        of_all = {"pairs": settings.pairs, "near_identical": settings.near_identical}
        if self.by_model:
            return {**of_all, "groundedness": settings.groundedness, **task.configuration(self.generator)}
        form = SearchForm(self.normalise).configuration()
        return {**of_all, "generator": "rules", "rules": RULES_VERSION, "sentences": sentences.VERSION, "form": form}

    def inputs(self, rows: Sequence[Mapping[str, Any]]) -> list[ChunkContext]:
        """Text, title and date of each chunk."""
        return [ChunkContext(row["text"], row["title"], publication(row)) for row in rows]

    def made(self, row: Mapping[str, Any], output: Pairs) -> list[dict[str, object]]:
        """A row for each pair, numbered within its chunk."""
        chunk = row["chunk_id"]
        return [
            {"query_id": f"{chunk}-{m}", "chunk_id": chunk, **pair.model_dump()} for m, pair in enumerate(output.pairs)
        ]

    def loss(self, given: ChunkContext) -> Problem | None:
        """A chunk without any pair is rejected as `no_pairs`."""
        return Problem("no_pairs", f"no sentence with words in {given.text[:60]!r}")
