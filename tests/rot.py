"""Damage to kept files, and what becomes of a warehouse that has it.

A trial takes a copy of a small warehouse, flips a bit of one file or cuts it, asks a question, then ingests and builds
again. It runs in a process of its own, so that a crash is counted and ends nothing.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from quern import ask
from quern.indexes.catalog import Warehouse
from quern.pipelines.build import build
from quern.pipelines.ingest import add_pages
from quern.pipelines.inspect.verify import kept_files, verify
from quern.schemas.errors import QuernError
from quern.schemas.settings import load_settings
from tests.beside import CORPUS

SETTINGS: Final = load_settings(None, ["engine.engine=local"])
QUESTION: Final = "When was the Harbour Tunnel opened?"
_SECONDS: Final = 240
# Written in place, or for people alone: no build and no question reads them.
_UNREAD: Final = ("logs", "audit")
_LOCKS: Final = ("build.lock", "store.lock")


@dataclass(frozen=True)
class Place:
    """Where a file is damaged.

    Attributes:
        file: Path in the warehouse.
        kind: What the file is.
        at: The byte of which a bit is flipped, or at which it is cut.
        cut: Whether it is cut.
    """

    file: str
    kind: str
    at: int
    cut: bool

    def damage(self, warehouse: Path) -> None:
        """Damage the file, and those that are linked to it; the file that they are copies of stays as it is."""
        path = warehouse / self.file
        content = bytearray(path.read_bytes())
        if self.cut:
            del content[self.at :]
        else:
            content[self.at] ^= 1 << self.at % 8
        path.unlink()
        path.write_bytes(content)


@dataclass(frozen=True)
class Outcome:
    """What came of a trial.

    Attributes:
        place: Where the damage was.
        asked: `answered` as without damage, `told` in one sentence, `silent` where the answer is another, or an error.
        built: `equal`, `told`, `silent` where a table differs, `damaged` where `verify` still finds it, or an error.
        seconds: Time.
    """

    place: Place
    asked: str
    built: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether nothing was silent and nothing broke."""
        return self.asked in {"answered", "told"} and self.built in {"equal", ""}


def small_warehouse(root: Path, count: int = 12) -> Path:
    """A warehouse in `root` of a few pages that were ingested, with every kind of file; the pages are beside it."""
    pages = root / "pages"
    pages.mkdir(parents=True)
    for path in sorted((CORPUS / "pages" / "harbour-courier.example").rglob("*.html"))[:count]:
        shutil.copy(path, pages)
    warehouse = Warehouse.create(root / "warehouse")
    add_pages(warehouse, [pages], SETTINGS)
    build(None, warehouse, SETTINGS)
    ask(QUESTION, warehouse.root)
    return warehouse.root


def kept(warehouse: Path) -> list[str]:
    """The files of a warehouse that builds and questions read."""
    files = (path.relative_to(warehouse) for path in sorted(warehouse.rglob("*")) if path.is_file())
    return [str(file) for file in files if file.parts[0] not in _UNREAD and file.name not in _LOCKS]


def kind_of(file: str) -> str:
    """What a kept file is."""
    parts = Path(file).parts
    if parts[0] == "memo":
        return "memo part" if file.endswith(".arrow") else "state of the last night"
    if parts[0] == "lance":
        return f"lance {parts[2]}"
    return parts[0] if len(parts) > 1 else "pointer" if parts[0] == "current.json" else "format"


def places(warehouse: Path, count: int, seed: int) -> list[Place]:
    """`count` places, each kind of file as often as another, two flips for a cut."""
    rng = np.random.default_rng(seed)
    by_kind: dict[str, list[str]] = {}
    for file in kept(warehouse):
        by_kind.setdefault(kind_of(file), []).append(file)
    found = []
    for n in range(count):
        kind = sorted(by_kind)[n % len(by_kind)]
        file = str(rng.choice(by_kind[kind]))
        size = (warehouse / file).stat().st_size
        found.append(Place(file, kind, int(rng.integers(max(size, 1))), bool(rng.random() < 1 / 3) or not size))
    return found


def copy_of(warehouse: Path, to: Path) -> Path:
    """A copy of a warehouse, of which most files are links: they are never written to."""
    unread = {warehouse / name for name in _UNREAD}

    def link(source: str, target: str) -> str:
        path = Path(source)
        if path.name in _LOCKS or unread & set(path.parents):
            return str(shutil.copyfile(source, target))
        os.link(source, target)
        return target

    return Path(shutil.copytree(warehouse, to, copy_function=link))


def digests(warehouse: Path) -> dict[str, str]:
    """Digests of the tables of what is published."""
    return {name: table.digest for name, table in Warehouse.open(warehouse).manifest().tables.items()}


def answered(warehouse: Path) -> str:
    """What is answered, as a digest."""
    answer = ask(QUESTION, warehouse)
    return hashlib.sha256(answer.model_dump_json(exclude={"seconds"}).encode()).hexdigest()


def named_by_verify(warehouse: Path, place: Place) -> bool:
    """Whether `verify` names a damaged file, and no other."""
    bad = verify(kept_files(Warehouse(warehouse))).bad
    return [str(file.path.relative_to(warehouse.absolute())) for file in bad] == [place.file]


@dataclass(frozen=True)
class Expected:
    """What an undamaged warehouse answers and holds."""

    answer: str
    tables: dict[str, str]


def trial(warehouse: Path, place: Place, expected: Expected, work: Path, *, builds: bool = True) -> Outcome:
    """Damage a copy of `warehouse` at `place`, ask, and build again; in a process of its own."""
    started = time.monotonic()
    report = work / "outcome"
    report.write_text("\n")
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(_SECONDS)
        logging.disable(logging.CRITICAL)
        told: list[str] = []
        try:
            copy = copy_of(warehouse, work / "copy")
            place.damage(copy)
            told.append(asked_of(copy, expected))
            told.append(built_on(copy, warehouse.parent / "pages", expected) if builds else "")
        finally:
            if sys.exc_info()[0] is not None:
                told.append(f"traceback {' '.join(traceback.format_exc().split())[-600:]}")
            report.write_text("\n".join([*told, ""]))
            os._exit(0)
    _, status = os.waitpid(child, 0)
    shutil.rmtree(work / "copy", ignore_errors=True)
    asked, built, *_ = [*report.read_text().splitlines(), "", ""]
    if status:
        asked = f"crash {signal.Signals(os.WTERMSIG(status)).name}"
    return Outcome(place, asked, built, time.monotonic() - started)


def asked_of(copy: Path, expected: Expected) -> str:
    """What came of a question; whatever is no error that a person can mend is raised."""
    try:
        return "answered" if answered(copy) == expected.answer else "silent"
    except QuernError as error:
        return "told" if "\n" not in str(error) else "told in many lines"


def built_on(copy: Path, pages: Path, expected: Expected) -> str:
    """What came of the next ingest and build, the same way."""
    try:
        warehouse = Warehouse.create(copy)
        add_pages(warehouse, [pages], SETTINGS)
        build(None, warehouse, SETTINGS)
        if digests(copy) != expected.tables:
            return "silent"
        bad = [file for file in verify(kept_files(warehouse)).bad if "snapshots" not in file.path.parts]
        return f"damaged {bad[0].line()}" if bad else "equal"
    except QuernError as error:
        return f"told {error}"


def count_of(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many trials ended in each way."""
    ways = {"silent": 0, "crash": 0, "traceback": 0, "not mended": 0}
    for outcome in outcomes:
        for way in ("silent", "crash", "traceback"):
            ways[way] += outcome.asked.startswith(way) or outcome.built.startswith(way)
        ways["not mended"] += outcome.built.startswith(("told", "damaged"))
    return ways
