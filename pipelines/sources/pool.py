"""The sources of a snapshot as a search reads them: the pool that the generator chooses from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from quern.indexes.keys import positions_in
from quern.indexes.vectors import Positions
from quern.jobs.sources.naming import KnownSource, NamedSource
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.errors import QuernError
from quern.schemas.tables import SOURCES
from quern.schemas.words.fields import quoted

RECIPE: Final = "hybrid"


class NoSourcesError(QuernError):
    """A snapshot without sources; the message says what to do."""


@dataclass(frozen=True)
class SourcePool:
    """The sources of a snapshot, and whose the chunks are."""

    rows: Mapping[str, Mapping[str, Any]]  # Rows of the table `sources`, by site.
    sites: Sequence[str]  # The sites, in the order of their numbers.
    of_chunk: Positions  # The number of each chunk's site, -1 where it has none; shape (chunks,).

    def condition(self, site: str) -> str:
        """The condition that chunks of a site meet."""
        return f"site={quoted(site)}"

    @cached_property
    def _by_url(self) -> dict[str, str]:
        return {source.url: site for site in self.rows for source in (self.known(site, 0.0),)}

    def site_of(self, named: NamedSource) -> str:
        """The site of a source that was named: of the pool, where it has one with this home page."""
        return self._by_url.get(named.url) or named.site

    def known(self, site: str, similarity: float) -> KnownSource:
        """A source as the generator is shown it."""
        row = self.rows[site]
        about = tuple(row.get("topics") or ())
        return KnownSource(site, row.get("name") or site, row.get("home_url") or site, about, similarity)

    def likely(self, batch: Batch) -> list[list[KnownSource]]:
        """For each question of a batch the sources of the best chunks, the best first."""
        (recipe,) = find_recipes(RECIPE)
        chunks = recipe.rank(batch).chunks
        best: list[dict[int, float]] = [{} for _ in range(len(batch))]
        owners = self.of_chunk[chunks.chunk].tolist()
        for question, owner, score in zip(chunks.question.tolist(), owners, chunks.score.tolist(), strict=True):
            if owner >= 0:  # Chunks come best first.
                best[question].setdefault(owner, round(score, 6))
        return [[self.known(self.sites[n], score) for n, score in found.items()] for found in best]


def read_pool(searcher: Searcher) -> SourcePool:
    """The pool of a snapshot.

    Raises:
        NoSourcesError: It has no table of sources, or no document of it has a site.
    """
    snapshot = searcher.snapshot
    if SOURCES.name not in snapshot.manifest.tables:
        raise NoSourcesError(
            f"snapshot {snapshot.manifest.build_id} has no sources: it was built before there were; build again"
        )
    rows = [row for batch in snapshot.stage(SOURCES.name).batches() for row in batch.to_pylist()]
    if not rows:
        raise NoSourcesError(
            f"no document of snapshot {snapshot.manifest.build_id} has a site: pages have one by their address, "
            "documents of a JSONL file by the field site or url"
        )
    return pool_of(searcher, rows)


def pool_of(searcher: Searcher, rows: Iterable[Mapping[str, Any]]) -> SourcePool:
    """The pool of these sources."""
    by_site = {str(row["site"]): row for row in rows}
    number = {site: n for n, site in enumerate(by_site)}
    documents = searcher.graph.documents
    of_document = np.full(len(documents.keys), -1, dtype=np.int64)
    for batch in searcher.snapshot.table("documents").batches(["doc_id", "site"]):
        places = positions_in(documents.keys, batch.column("doc_id")).tolist()
        for site, at in zip(batch.column("site").to_pylist(), places, strict=True):
            if at >= 0 and site is not None:
                of_document[at] = number.get(site, -1)
    return SourcePool(by_site, list(by_site), of_document[documents.of_chunk])
