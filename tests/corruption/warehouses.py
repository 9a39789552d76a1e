"""What is damaged: a small warehouse, and one that has every kind of file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from quern import ask
from quern.indexes.catalog import Warehouse
from quern.indexes.checksums import DamagedError
from quern.pipelines.build.stage import run_stage, stage_names
from quern.pipelines.build.whole import build
from quern.pipelines.pages.crawl import crawl
from quern.pipelines.pages.ingest import add_pages
from quern.schemas.settings import Settings
from quern.schemas.settings.reading import load_settings
from tests.beside import CORPUS
from tests.jobs.crawl.site import Answer, Asked, Site, page

SETTINGS: Final = load_settings(None, ["engine.engine=local"])
# Edges of every kind, and neighbours by partitions, have states of their own.
FULL: Final = load_settings(
    None, ["engine.engine=local", "doc2query.pairs=5", "neighbours.exact_below=10", "audit.max_shrink=1"]
)
QUESTION: Final = "When was the Harbour Tunnel opened?"
IN_PROGRESS_ID: Final = "20990101T0600"
_CRAWL: Final = (
    "crawl.contact=rot@quern.example",
    "crawl.allow_private=[127.0.0.0/8]",
    "crawl.delay=0",
    "crawl.autothrottle=false",
)
_FEW: Final = 7  # Pages of the first build.
_BEGUN: Final = 9  # Steps of the build in progress that are done: up to the triplets, before what embeds.


def small_warehouse(root: Path) -> Path:
    """A warehouse in `root` of a few pages that were ingested and built once; the pages are beside it."""
    pages = root / "pages"
    pages.mkdir(parents=True)
    for path in _corpus()[:5]:
        shutil.copy(path, pages)
    warehouse = Warehouse.create(root / "warehouse")
    add_pages(warehouse, [pages], SETTINGS)
    build(None, warehouse, SETTINGS)
    ask(QUESTION, warehouse.root)
    return warehouse.root


def full_warehouse(root: Path) -> Path:
    """A warehouse with every kind of file: crawled and ingested, built twice, and a third build is in progress.

    Beside it are the `pages` that it has and those that `came` later.
    """
    _write_pages(root)
    warehouse, site, seeds = Warehouse.create(root / "warehouse"), Site(_route), root / "seeds.txt"
    seeds.write_text(f"http://{site.address}/p0\n")
    try:  # Of three pages one is not there.
        crawl(seeds, warehouse, load_settings(None, _CRAWL, base=FULL))
    finally:
        site.close()
    for count in (_FEW, None):
        add_pages(warehouse, sorted((root / "pages").iterdir())[:count], FULL)
        build(None, warehouse, FULL)
    ask(QUESTION, warehouse.root)
    _go_on(warehouse, root, stage_names()[:_BEGUN])
    return warehouse.root


@dataclass(frozen=True)
class Night:
    """What comes after the damage."""

    name: str  # Its name.
    # Reads pages anew and publishes a snapshot, in a copy of the warehouse; given the folder of the pages, and the
    # archives of crawls, too.
    run: Callable[[Path, Path, Sequence[Path]], None]


def _night(settings: Settings, also: Sequence[str], warehouse: Path, root: Path, archives: Sequence[Path]) -> None:
    catalog = Warehouse.create(warehouse)
    add_pages(catalog, [*archives, root / "pages", *(root / name for name in also)], settings)
    build(None, catalog, settings)


def _going_on(warehouse: Path, root: Path, _: Sequence[Path]) -> None:
    """The build in progress is gone on with; where that cannot be, another is begun, as it is told."""
    catalog = Warehouse.open(warehouse)
    try:
        _go_on(catalog, root, stage_names())
    except DamagedError as error:
        if "begin another build" not in error.mend:
            raise
        shutil.rmtree(catalog.builds / IN_PROGRESS_ID)
        _go_on(catalog, root, stage_names())


def _go_on(warehouse: Warehouse, root: Path, names: Sequence[str]) -> None:
    for name in names:
        source = root / "came" if name == stage_names()[0] else None
        run_stage(name, IN_PROGRESS_ID, warehouse, source, lambda _: FULL)


# Steps that have nothing to do read little; for a page that is new and one that changed, what they kept is read.
NIGHTS: Final = (
    Night("the same pages", partial(_night, FULL, ())),
    Night("changed pages", partial(_night, FULL, ("came", "changed"))),
)
SMALL_NIGHT: Final = Night("the same pages", partial(_night, SETTINGS, ()))
GOING_ON: Final = Night("the build in progress", _going_on)


def _corpus() -> list[Path]:
    return sorted((CORPUS / "pages" / "harbour-courier.example").rglob("*.html"))


def _write_pages(root: Path) -> None:
    folders = {name: root / name for name in ("pages", "came", "changed")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    for path in _corpus()[:9]:
        shutil.copy(path, folders["pages"])
    shutil.copy(_corpus()[10], folders["came"])
    old = _corpus()[2].read_text("utf-8")
    more = (
        "<p>On 3 May 2025 the council said that the Harbour Tunnel would be closed for repairs in June.</p></article>"
    )
    new = old.replace("</article>", more, 1)
    assert new != old, "the page has no article"
    (folders["changed"] / _corpus()[2].name).write_text(new, "utf-8")


def _route(asked: Asked) -> Answer:
    if asked.path == "/p0":
        return page("/p1", "/p2", title="The lock", text="The lock at Marl was opened in 1931 by the mayor. " * 8)
    if asked.path == "/p1":
        return page(title="The weir", text="The weir below Marl was raised by two feet in 1947, after a flood. " * 8)
    return Answer(status=404)
