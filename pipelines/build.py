"""The nightly build: every table in the order it is made, then write, audit, publish."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from quern.indexes.catalog import Manifest, Warehouse, new_build_id
from quern.indexes.stages import Stage, StageWriter
from quern.jobs.chunks.chunk import Chunk
from quern.jobs.core.memory import MemoryMeter
from quern.jobs.core.run import JobReport, Run, derive
from quern.jobs.documents.boilerplate import repeated_lines
from quern.jobs.documents.clean import Clean
from quern.jobs.documents.deduplicate import deduplicate, originals
from quern.jobs.documents.normalise import Normalise
from quern.jobs.engines import Engines, core_count
from quern.jobs.graph import link
from quern.jobs.graph.filter import filter_queries
from quern.jobs.pages import reading
from quern.jobs.pages.pages import ingest, stored
from quern.jobs.queries.doc2query import Doc2Query
from quern.jobs.reasoning.generators.backends import prepare_generator
from quern.jobs.reasoning.table import GeneratorEngine
from quern.jobs.vectors.embed import Embed, prepare
from quern.jobs.vectors.embedded_tables import embed_chunks
from quern.pipelines.audit.audit import Audited, audit_tables, count_reasons, measures_of, reject_shares, rows_in
from quern.pipelines.ingest import PAGE_STORE, page_store
from quern.schemas.errors import QuernError
from quern.schemas.settings import Settings
from quern.schemas.tables import REJECTS

log = logging.getLogger(__name__)

_PACKAGES = ("quern",)
_PRELOAD = (reading.__name__, Clean.__module__, Normalise.__module__)


class BuildRefusedError(QuernError):
    """A build that was written but failed its audit: nothing was published."""


def build(source: Path | None, warehouse: Warehouse, settings: Settings) -> Manifest:
    """Build an index of the pages under `source`, or of the page store, and publish it as a new snapshot.

    Raises:
        BuildRefusedError: A critical expectation failed; the snapshot published before stays.
        IngestError: There is nothing to read at `source`, or in the page store.
        WarehouseError: Another build is writing.
    """
    started_at, started = datetime.now(UTC), time.monotonic()
    build_id = new_build_id()
    with warehouse.lock(), _log_file(warehouse.logs / f"{build_id}.log"), MemoryMeter() as meter:
        parent = warehouse.manifest() if warehouse.current_id() else None
        with started_run(warehouse, build_id, settings) as run:
            stages = _make_tables(source, run, settings, parent, warehouse)
            if source is None:
                for plan in sorted((warehouse.root / "crawl").glob("*/plan.json")):
                    log.info("crawl=%s is not finished: the page store lacks its pages", plan.parent.name)
                tell_lost_pages(warehouse, stages["pages"], run)
        stages["rejects"] = run.rejects.stage()
        reasons = count_reasons(stages["rejects"])
        given = rows_in(map(vars, run.reports), reasons, stages["pages"].rows)
        before = {name: table.rows for name, table in parent.tables.items()} if parent else {}
        told = (build_id, started_at, before, measures_of(map(vars, run.reports)))
        audited = audit_tables(warehouse, stages, given, reasons, settings, *told)
        _refuse_failures(build_id, audited, stages["rejects"])
        manifest = Manifest(
            build_id=build_id,
            parent=parent.build_id if parent else None,
            started_at=started_at,
            source=str(source.absolute()) if source else PAGE_STORE,
            tables={name: warehouse.pin(stage, parent) for name, stage in stages.items()},
            jobs=[vars(r) for r in run.reports],
            audit=[c.as_row() for c in audited.audit.checks],
            rejects={f"{job}: {reason}": n for (job, reason), n in sorted(reasons.items())},
            reject_shares=reject_shares(given, reasons),
            settings=settings.model_dump(),
            model=str(Embed(settings.embed).configuration()["model"]),
        )
        manifest.seconds = round(time.monotonic() - started, 1)
        manifest.peak_memory_bytes = meter.peak_bytes
        manifest = warehouse.publish(manifest)
        warehouse.prune(settings.audit.keep_snapshots)
        log.info(
            "build=%s published seconds=%.1f peak_memory_mib=%d",
            build_id,
            manifest.seconds,
            manifest.peak_memory_bytes >> 20,
        )
    return manifest


def _make_tables(
    source: Path | None, run: Run, settings: Settings, parent: Manifest | None, warehouse: Warehouse
) -> dict[str, Stage]:
    embed = Embed(settings.embed)
    prepare(settings.embed)
    prepare_generator(settings.generator, settings.engine, run.work)
    pages, documents, cut = cut_chunks(source, run, settings, warehouse)
    pairs = derive(Doc2Query(settings.doc2query, settings.generator), cut, run, scratch=True)
    run.engines.release("spark")
    run.engines.release("generator")
    chunks = embed_chunks(embed, cut, run)
    queries, nodes = filter_queries(embed, pairs, chunks, settings.filter, run)
    run.engines.release("ray")
    edges = _edges(nodes, documents, link.Answers(queries, embed), settings, run, parent, warehouse)
    tables = (pages, documents, chunks, queries, nodes, edges)
    return {stage.table.name: stage for stage in tables}


def cut_chunks(source: Path | None, run: Run, settings: Settings, warehouse: Warehouse) -> tuple[Stage, Stage, Stage]:
    """Pages, documents, and the chunks of those that repeat no other, before they are embedded."""
    pages = ingest(source, settings.ingest, run) if source else stored(page_store(warehouse), settings.ingest, run)
    drafts = derive(Clean(settings.clean), pages, run, scratch=True)
    marked = repeated_lines(drafts, settings.normalise, run)
    normalised = derive(Normalise(settings.normalise, settings.quality), marked, run, scratch=True)
    documents = deduplicate(normalised, settings.deduplicate, run)
    cut = derive(Chunk(settings.chunk, settings.embed.model), originals(documents), run, scratch=True)
    return pages, documents, cut


def tell_lost_pages(warehouse: Warehouse, pages: Stage, run: Run) -> None:
    """Record what the warehouse's crawls lost, but for pages that another crawl or ingest did get."""
    from quern.pipelines.crawl import lost_pages  # Scrapy takes a second to import

    for batch in lost_pages(warehouse):
        got = set(pages.lookup("url", batch.column("key"), ["url"]).column("url").to_pylist())
        rows = zip(*(batch.column(name).to_pylist() for name in ("key", "reason", "detail")), strict=True)
        run.reject("crawl", [row for row in rows if row[0] not in got])


def _edges(
    nodes: Stage,
    documents: Stage,
    answers: link.Answers,
    settings: Settings,
    run: Run,
    parent: Manifest | None,
    warehouse: Warehouse,
) -> Stage:
    """The edges; those of the parent snapshot where neither what they are made of nor settings changed."""
    wanted = link.fingerprint(settings.graph, settings.link)
    if parent and all(parent.tables[s.table.name].digest == s.digest for s in (nodes, documents)):
        before = [j for j in parent.jobs if j["job"] == link.NAME and j["fingerprint"] == wanted]
        edges = warehouse.snapshot(parent.build_id).stage("edges")
        if before and edges.path.exists():
            counts = (nodes.rows, edges.rows, nodes.rows, 0, 0, 0.0)
            run.report(JobReport(link.NAME, wanted, *counts, "none", before[0].get("notes", {})))
            return edges
    return link.link(nodes, settings.graph, settings.link, run, documents, answers)


@contextmanager
def started_run(warehouse: Warehouse, build_id: str, settings: Settings, *, trial: bool = False) -> Iterator[Run]:
    """What the jobs of a build share; of a `trial` only the memo stays, its tables go with the work directory."""
    work = warehouse.clear_work(build_id)
    stages = work / "trial" if trial else warehouse.stages
    rejects = stages / REJECTS.name / f"{build_id}.parquet"
    try:
        with Engines(settings.engine, GeneratorEngine, _PRELOAD) as engines, StageWriter(rejects, REJECTS) as writer:
            yield Run(
                build_id=build_id,
                memo=warehouse.memo,
                work=work,
                stages=stages,
                engines=engines,
                rejects=writer,
                batch_rows=settings.engine.batch_rows,
                task_rows=settings.engine.task_rows,
                cores=core_count(settings.engine),
            )
    finally:
        shutil.rmtree(work.parent, ignore_errors=True)


def _refuse_failures(build_id: str, audited: Audited, rejects: Stage) -> None:
    """Log what failed in the audit; stop where it is critical.

    Raises:
        BuildRefusedError: The message names what failed, the data docs, and the first reject of the build.
    """
    for check in audited.audit.checks:
        if not check.passed:
            log.warning("audit %s failed: %s severity=%s", check.expectation, check.observed, check.severity)
    if failed := audited.audit.failures():
        named = "; ".join(f"{c.expectation}: {c.observed}" for c in failed)
        first = next((r for b in rejects.batches(rows=1) for r in b.to_pylist()), None)
        told = f"; first reject: {first['key']}: {first['reason']} ({first['detail']})" if first else ""
        raise BuildRefusedError(
            f"build {build_id} failed its audit and was not published: {named}{told}; {audited.docs} shows the audit, "
            "`quern settings` its thresholds (group audit)"
        )


@contextmanager
def _log_file(path: Path) -> Iterator[None]:
    """Write the build's log lines to `path` too: one line per job."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    loggers = [logging.getLogger(name) for name in _PACKAGES]
    for logger in loggers:
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        handler.close()
