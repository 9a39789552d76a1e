"""Places of a warehouse that can be damaged, by the kind of file."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

# Written in place, or for people alone: no build and no question reads them.
_UNREAD: Final = ("logs", "audit", "lineage")
_LOCKS: Final = ("build.lock", "store.lock", "crawl.lock", "history.lock", "uses.lock")
# The state of the crawler is SQLite's, which is written in place, and has journals of its own.
_IN_PLACE: Final = (".sqlite", ".sqlite-wal", ".sqlite-shm")
IN_PROGRESS: Final = "build in progress"


@dataclass(frozen=True)
class Place:
    file: str  # Path in the warehouse.
    kind: str  # What the file is.
    at: int  # The byte of which a bit is flipped, or at which it is cut.
    cut: bool  # Whether it is cut.

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


def kept(warehouse: Path) -> list[str]:
    files = (path.relative_to(warehouse) for path in sorted(warehouse.rglob("*")) if path.is_file())
    return [str(file) for file in files if file.parts[0] not in _UNREAD and not _is_in_place(file)]


def _is_in_place(file: Path) -> bool:
    return file.name in _LOCKS or file.suffix in _IN_PLACE


def kinds(warehouse: Path) -> dict[str, list[str]]:
    """The kept files of a warehouse by what they are."""
    published = json.loads((warehouse / "current.json").read_bytes())["build_id"]
    in_progress = {path.name for path in (warehouse / "builds").glob("*")}
    found: dict[str, list[str]] = {}
    for file in kept(warehouse):
        found.setdefault(_kind_of(file, published, in_progress), []).append(file)
    return found


def _kind_of(file: str, published: str, in_progress: set[str]) -> str:
    path = Path(file)
    room, name = path.parts[0], path.name
    if len(path.parts) == 1:
        return "pointer" if name == "current.json" else "format"
    if room == "memo":
        if name in ("uses.marks", "nights.json"):
            return "uses of the memo"
        if path.suffix == ".arrow":
            return "answers' memo" if path.parts[1] == "reasoning" else "memo part"
        return "state of the last night"
    if room == "lance":
        return f"lance {path.parts[2]}"
    if room == "builds":
        return IN_PROGRESS
    if room == "stages" and any(build_id in file for build_id in in_progress):
        return f"table of a {IN_PROGRESS}"
    if room in ("stages", "snapshots") and published not in file:
        return f"earlier {room}"
    if room == "pages":
        return "pages, parts" if "parts" in path.parts else "pages, manifest"
    return room


def places(warehouse: Path, count: int, seed: int) -> list[Place]:
    """`count` places, each kind of file as often as another, two flips for a cut."""
    rng = np.random.default_rng(seed)
    by_kind = kinds(warehouse)
    found = []
    for n in range(count):
        # Short runs begin elsewhere, so that many of them try each kind as often as one long run.
        kind = sorted(by_kind)[(n + seed) % len(by_kind)]
        file = str(rng.choice(by_kind[kind]))
        size = (warehouse / file).stat().st_size
        found.append(Place(file, kind, int(rng.integers(max(size, 1))), bool(rng.random() < 1 / 3) or not size))
    return found


def copy_of(warehouse: Path, to: Path) -> Path:
    """A copy of a warehouse, of which most files are links: they are never written to."""
    unread = {warehouse / name for name in _UNREAD}

    def link(source: str, target: str) -> str:
        path = Path(source)
        if _is_in_place(path) or unread & set(path.parents):
            return str(shutil.copyfile(source, target))
        os.link(source, target)
        return target

    return Path(shutil.copytree(warehouse, to, copy_function=link))
