"""What is killed: builds, their steps one by one, crawls, ingests, answers, and what tidies a warehouse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from quern.indexes.catalog import Warehouse
from quern.indexes.page_store import PageStore
from quern.pipelines.build.stage import AUDIT, PUBLISH, stage_names
from tests.beside import CORPUS
from tests.jobs.crawl.site import Answer, Asked, Site, page
from tests.kills.host import Host
from tests.kills.trial import Runner, Scene

_SITE: Final = CORPUS / "pages" / "brannock-review.example"
_FEW: Final = "2024/02"
_BUILD: Final = "20990101T0600"  # Names of later builds must sort after those of earlier ones.
_SETTINGS: Final = ("--set", "doc2query.pairs=3", "--set", "engine.task_rows=4", "--set", "engine.file_rows=20")
_CRAWL: Final = (
    "contact=kills@quern.example",
    "allow_private=[127.0.0.0/8]",
    "delay=0",
    "autothrottle=false",
    "max_depth=1000",
)
_PAGES: Final = 40
_QUESTIONS: Final = 8


def tables(folder: Path) -> Any:
    """Digests of the tables of the published snapshot, each read and found to be what the manifest says."""
    root = folder / "wh"
    if not (root / "current.json").exists():
        return None
    snapshot = Warehouse.open(root).snapshot()
    for name, version in snapshot.manifest.tables.items():
        if not snapshot.stage(name).as_written():
            raise ValueError(f"the table {name} is not as it was written")
        if version.kind == "served" and snapshot.table(name).rows != version.rows:
            raise ValueError(f"the table {name} serves other rows than its manifest says")
    return {name: version.digest for name, version in snapshot.manifest.tables.items()}


def snapshots(folder: Path) -> Any:
    return len(Warehouse.open(folder / "wh").snapshot_ids()), tables(folder)


def stored(folder: Path) -> Any:
    """Addresses and sizes of the pages of the page store: what was crawled to the end is crawled anew."""
    parts = PageStore(folder / "wh" / "pages").parts()
    rows = [row for part in parts for batch in part.batches("pages", ["url", "body"]) for row in batch.to_pylist()]
    return {(row["url"], len(row["body"])) for row in rows}


def answers(folder: Path) -> Any:
    return [(folder / "out" / f"answers.{kind}").read_text("utf-8") for kind in ("jsonl", "csv")]


def step_of(name: str, folder: Path) -> Any:
    """What a step of the build in progress made, or that its audit was passed; what is published, once it is."""
    begun = folder / "wh" / "builds" / _BUILD
    if name == PUBLISH:
        return tables(folder)
    if name == AUDIT:
        return len(json.loads((begun / "audit.json").read_text("utf-8"))["checks"])
    made = json.loads((begun / "steps" / f"{name}.json").read_text("utf-8"))["tables"]
    return {table: (file["rows"], file["digest"]) for table, file in made.items()}


def left_in_warehouse(folder: Path) -> list[str]:
    """Files of a warehouse that nobody needs once a build was published."""
    root = folder / "wh"
    catalog = Warehouse.open(root)
    named = {root / v.file for s in catalog.snapshot_ids() for v in catalog.manifest(s).tables.values()}
    found = [*root.rglob(".tmp-*"), *root.glob("work/*"), *root.glob("builds/*")]
    found += [path for path in root.glob("stages/*/*.parquet") if path not in named]
    return [str(path.relative_to(folder)) for path in found]


def left_by_others(folder: Path) -> list[str]:
    """Files that nobody needs once a crawl, an ingest or answers have come to their end."""
    found = [*(folder / "wh").glob("crawl/[0-9]*"), *(folder / "out").rglob(".tmp-*")]
    return [str(path.relative_to(folder)) for path in found]


def _nothing(folder: Path) -> None:
    pass


def _copy(source: Path, folder: Path) -> None:
    for path in source.iterdir():
        if path.name not in ("t", "said.txt"):
            copied = shutil.copytree if path.is_dir() else shutil.copy2
            copied(path, folder / path.name)


class Scenes:
    """The scenes of one run of the harness, and the folders that they begin with."""

    def __init__(self, root: Path, host: Host, engine: str = "local") -> None:
        self._root, self._engine = root, engine
        self._runner = Runner(root / "p", host)
        self._site = Site(_route)
        self._made: dict[str, Path] = {}
        self.whole, self.few = root / "whole", root / "few"
        shutil.copytree(_SITE, self.whole / _SITE.name)
        shutil.copytree(_SITE / _FEW, self.few / _SITE.name / _FEW)

    def close(self) -> None:
        self._site.close()

    def scenes(self, names: Sequence[str] = ()) -> dict[str, Callable[[], Scene]]:
        """The scenes by name, each made when it is first wanted: a step begins where the steps before it have ended."""
        every: dict[str, Callable[[], Scene]] = {
            "ingest": self._ingest,
            "crawl": self._crawl,
            **{f"stage {name}": partial(self._stage, name) for name in stage_names()},
            "answer": self._answer,
            "vacuum": partial(self._tidying, "vacuum", "vacuum", "--set", "memo.keep_nights=1"),
            "rebuild": partial(self._build, "rebuild"),
            "build": partial(self._build, "build"),
        }
        return {name: make for name, make in every.items() if not names or name.split()[0] in names or name in names}

    def _building(self, pages: Path, folder: Path, *more: str) -> list[str]:
        return ["build", str(pages), "-w", str(folder / "wh"), "--engine", self._engine, *_SETTINGS, *more]

    def _made_by(self, name: str, before: Callable[[Path], None], *commands: Callable[[Path], Sequence[str]]) -> Path:
        """A folder in which `commands` were run, once."""
        if name not in self._made:
            self._made[name] = self._runner.made(before, commands)
        return self._made[name]

    def _built(self) -> Path:
        return self._made_by("built", _nothing, partial(self._building, self.few))

    def _build(self, name: str) -> Scene:
        prepare = partial(_copy, self._built()) if name == "rebuild" else _nothing
        return Scene(name, prepare, partial(self._building, self.whole), tables, tables, left_in_warehouse)

    def _staging(self, name: str, folder: Path) -> list[str]:
        command = ["stage", name, "--build", _BUILD, "-w", str(folder / "wh"), "--engine", self._engine]
        return [*command, "--source", str(self.whole), *_SETTINGS] if name == stage_names()[0] else command

    def _before(self, name: str) -> Path:
        """A folder in which the steps before the stage `name` have ended."""
        names = stage_names()
        place = names.index(name)
        if not place:
            return self._built()
        last = names[place - 1]
        return self._made_by(f"before {name}", partial(_copy, self._before(last)), partial(self._staging, last))

    def _stage(self, name: str) -> Scene:
        prepare, result = partial(_copy, self._before(name)), partial(step_of, name)
        left = left_in_warehouse if name == PUBLISH else left_by_others
        return Scene(f"stage {name}", prepare, partial(self._staging, name), result, tables, left)

    def _ingest(self) -> Scene:
        options = ("--engine", self._engine, "--set", "ingest.task_bytes=2000")

        def command(folder: Path) -> list[str]:
            return ["ingest", str(self.whole), "-w", str(folder / "wh"), *options]

        return Scene("ingest", _nothing, command, stored, _nothing, left_by_others)

    def _crawl(self) -> Scene:
        def prepare(folder: Path) -> None:
            (folder / "seeds.txt").write_text(f"http://{self._site.address}/p0\n")

        def command(folder: Path) -> list[str]:
            options = [part for setting in _CRAWL for part in ("--set", f"crawl.{setting}")]
            return ["crawl", str(folder / "seeds.txt"), "-w", str(folder / "wh"), "--engine", self._engine, *options]

        return Scene("crawl", prepare, command, stored, _nothing, left_by_others)

    def _answer(self) -> Scene:
        lines = (CORPUS / "questions.jsonl").read_text("utf-8").splitlines()[:_QUESTIONS]

        def prepare(folder: Path) -> None:
            _copy(self._built(), folder)
            (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", "utf-8")

        def command(folder: Path) -> list[str]:
            return ["answer", str(folder / "questions.jsonl"), "-w", str(folder / "wh"), "--out", str(folder / "out")]

        return Scene("answer", prepare, command, answers, tables, left_by_others)

    def _tidying(self, name: str, *command: str) -> Scene:
        """What tidies a warehouse with three snapshots."""

        def building(pages: Path, folder: Path) -> list[str]:
            return self._building(pages, folder, "--set", "audit.max_shrink=1")

        again = (partial(building, self.whole), partial(building, self.few))
        several = self._made_by("several", partial(_copy, self._built()), *again)

        def tidy(folder: Path) -> list[str]:
            return [*command, "-w", str(folder / "wh"), "--keep", "1"]

        return Scene(name, partial(_copy, several), tidy, snapshots, tables, left_by_others)


def _route(asked: Asked) -> Answer:
    number = int(asked.path[2:]) if asked.path.startswith("/p") else _PAGES
    if number >= _PAGES:
        return Answer(status=404)
    return page(*(f"/p{n}" for n in (2 * number + 1, 2 * number + 2) if n < _PAGES), title=f"Berth {number}")
