"""Searches of sources over a snapshot, as the command line and the Python API ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from quern.indexes.catalog import Warehouse
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.pages.store import lost_pages
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.measure import SiteOf, sites_by
from quern.pipelines.sources.pool import read_pool
from quern.pipelines.sources.seeds import Seed, SeedFinder, joined, question_of_answer
from quern.pipelines.sources.seek import Seeker
from quern.pipelines.sources.validate import Access
from quern.schemas.answers import Answer, Question
from quern.schemas.sources import FoundSources


@contextmanager
def seeker(searcher: Searcher) -> Iterator[Seeker]:
    """What seeks sources over a snapshot.

    Raises:
        GeneratorError: The model cannot be used.
        NoSourcesError: The snapshot has no sources.
    """
    settings, pool = searcher.settings, searcher.held(read_pool)
    access = Access(pool, settings.crawl if settings.sourcing.online else None)
    # By rule it costs less to seek again than to remember.
    by_model = settings.generator.kind != "rules"
    memo = searcher.snapshot.warehouse.root / "memo" / "reasoning" if by_model else None
    with Reasoner(settings.generator, settings.engine, memo=memo) as reasoner:
        yield Seeker(searcher, pool, reasoner, access)


def sources_of(searcher: Searcher, questions: Iterable[Question]) -> Iterator[FoundSources]:
    """The sources of each question, in their order, computed in batches.

    Raises:
        CrawlError: Sources are to be asked (`sourcing.online`), and `crawl` settings do not allow it.
        GeneratorError: The model cannot be used, or cannot be asked any more.
        NoSourcesError: The snapshot has no sources.
    """
    stream = iter(questions)
    with seeker(searcher) as seeks:
        while some := list(islice(stream, 128)):
            yield from seeks.sources(some)


def seeds_of(searcher: Searcher, answers: Iterable[Answer]) -> list[Seed]:
    """Seeds for the next crawl, from questions that were not answered, in batches.

    Raises:
        CrawlError: Seeds are to be visited (`sourcing.online`), and `crawl` settings do not allow it.
        GeneratorError: The model cannot be used, or cannot be asked any more.
        NoSourcesError: The snapshot has no sources.
    """
    stream, seeds = iter(answers), list[Seed]()
    with seeker(searcher) as seeks:
        batches = lost_pages(Warehouse(searcher.snapshot.warehouse.root))
        finder = SeedFinder(searcher, (key for batch in batches for key in batch.column("key").to_pylist()))
        while some := list(islice(stream, 128)):
            found = seeks.sources([question_of_answer(answer) for answer in some])
            seeds = joined([*seeds, *finder.seeds(some, found)], searcher.settings.sourcing.seeds)
    return seeds


def gold_sites(searcher: Searcher) -> SiteOf:
    """The sites of gold pages, of a snapshot."""
    site_of: dict[str, str] = {}
    for batch in searcher.snapshot.stage("documents").batches(["doc_id", "url", "site"]):
        for row in batch.to_pylist():
            if row["site"]:
                site_of |= {key: row["site"] for key in (row["doc_id"], row["url"]) if key}
    return sites_by(site_of)
