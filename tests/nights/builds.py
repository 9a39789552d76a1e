"""Builds that are compared: night upon night in one warehouse, and each once more from nothing."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from quern.indexes.catalog import Warehouse, new_build_id
from quern.indexes.changes import changed_rows
from quern.indexes.stages import Stage
from quern.pipelines.build.in_progress import StagedBuild
from quern.pipelines.build.records import AuditRecord, Begun, table_file
from quern.pipelines.build.whole import make_tables
from quern.pipelines.vacuum import vacuum
from quern.schemas.settings import MemoSettings, Settings
from quern.schemas.settings.reading import load_settings
from quern.schemas.tables import TABLES
from tests.nights.corpus import Corpus

# What a night may set otherwise, and a later one set back: one of each kind of step, all of which change results.
CHANGES: Final = (
    "link.k=2",
    "link.direction=symmetric",
    "doc2query.pairs=3",
    "filter.alpha=0.6",
    "filter.scope=corpus",
    "deduplicate.similarity=0.6",
    "chunk.tokens=40",
    "events.per_chunk=2",
    "triplets.per_chunk=4",
    "timelines.least=3",
    "sources.topics=3",
    "image_rules.repeated=2",
    "normalise.repeated_documents=2",
    "normalise.personal_data=keep",
    "embed.max_tokens=24",
    "clean.min_characters=300",
)


@dataclass(frozen=True)
class Night:
    number: int  # Its number, from 0.
    events: list[str]  # What happened to the corpus.
    changes: list[str]  # What its settings change.
    differing: dict[str, str]  # Tables that are not those of a full build, each with how many rows differ.


def nights(folder: Path, seed: int, count: int, overrides: Sequence[str] = ()) -> Iterator[Night]:
    """So many random nights, each built upon the one before and from nothing; equal seeds give equal nights."""
    rng = random.Random(f"nights {seed}")
    corpus, changes = Corpus.begin(seed), list[str]()
    warehouse = Warehouse.create(folder / "warehouse")
    for number in range(count):
        events = corpus.happen(rng.randint(0, 4)) if number else []
        if number and rng.random() < 0.4:
            changes = [] if changes and rng.random() < 0.5 else rng.sample(CHANGES, rng.randint(1, 2))
        settings = load_settings(None, ["engine.engine=local", *overrides, *changes])
        shutil.rmtree(folder / "pages", ignore_errors=True)
        pages = corpus.write(folder / "pages")
        night = build_unaudited(pages, warehouse, settings)
        vacuum(warehouse, 2, MemoSettings(keep_nights=1 + number % 3))  # What it forgets is made again, equal.
        fresh = Warehouse.create(folder / f"fresh-{number}")
        whole = build_unaudited(pages, fresh, settings)
        yield Night(number, events, list(changes), differing(whole, night))
        shutil.rmtree(fresh.root)


def differing(one: dict[str, Stage], other: dict[str, Stage]) -> dict[str, str]:
    return {
        name: str(changed_rows(one[name], other[name]).counts) for name in one if one[name].digest != other[name].digest
    }


def build_unaudited(pages: Path, warehouse: Warehouse, settings: Settings) -> dict[str, Stage]:
    """The tables of a build, published without the audit: that takes seconds, reads tables and changes none."""
    begun = Begun(build_id=new_build_id(), source=pages, parent=warehouse.current_id(), settings=settings.model_dump())
    folder = warehouse.clear_work(begun.build_id)
    staged = StagedBuild.begin(folder, warehouse, begun)
    with staged.run() as run:
        make_tables(staged, run)
    tables = staged.tables()
    rejects = staged.rejects(tables["pages"])
    audit = AuditRecord(seconds=0, checks=[], rejects=table_file(rejects, warehouse.root), reasons={}, shares={})
    staged.publish(staged.pinned(audit))
    shutil.rmtree(folder.parent, ignore_errors=True)
    snapshot = warehouse.snapshot(leased=False)
    return {name: snapshot.stage(name) for name in (*tables, "rejects") if name in TABLES}
