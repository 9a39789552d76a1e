"""When each result of a memo was last used: what says which are to be forgotten.

A folder of the memo has one small file of marks: the first 8 bytes of each fingerprint and the night in which a build
last asked for it. A build writes it anew, with its own night for all that it asked for, so that its size is that of
the folder's inputs, whatever the number of nights. A result that has no mark, of a build that was killed, counts as
used when it was committed. Marks decide what is computed again, never what comes out: without them nothing is wrong.
Beside them is a list of the nights: the builds that were published, also those whose snapshots are pruned.
"""

from __future__ import annotations

import logging
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.indexes.checksums import DamagedError, checksum, read_sealed, write_sealed
from quern.indexes.memo import Memo
from quern.indexes.storage import exclusive, void, write_whole

log = logging.getLogger(__name__)

_FILE: Final = "uses.marks"
_DIGITS: Final = 17
_OPTIONS: Final = pa.ipc.IpcWriteOptions(compression="lz4")

Heads = npt.NDArray[np.uint64]
Nights = npt.NDArray[np.int64]


def night_of(build_id: str) -> int:
    """A build's name as a number that sorts as names do: its start in UTC, YYYYMMDDHHMMSSmmm.

    0 for a name that is no build's, such as a plan's, which uses nothing.
    """
    return int((re.sub(r"\D", "", build_id)[:_DIGITS] or "0").ljust(_DIGITS, "0"))


def night_at(time_ns: int) -> int:
    """The same of a moment, in nanoseconds since 1970."""
    return int(datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%Y%m%d%H%M%S%f")[:_DIGITS])


@dataclass(frozen=True)
class Uses:
    """Marks of a folder, arrays of one length."""

    # First 8 bytes of fingerprints as numbers, increasing, each once. Two results that share them are kept or forgotten
    # together.
    heads: Heads
    nights: Nights  # The night in which each was last used (`night_of`).

    def of(self, heads: Heads) -> Nights:
        """The night of each of `heads`, 0 where it has no mark, shape (len(heads),)."""
        if not len(self.heads):
            return np.zeros(len(heads), dtype=np.int64)
        at = np.minimum(np.searchsorted(self.heads, heads), len(self.heads) - 1)
        return np.where(self.heads[at] == heads, self.nights[at], 0)

    def with_night(self, heads: Heads, night: int) -> Uses:
        """The marks with those of `heads`, which do not decrease, at `night`."""
        first = np.ones(len(heads), dtype=np.bool_)
        first[1:] = heads[1:] != heads[:-1]
        heads = heads[first]
        new = np.ones(len(heads), dtype=np.bool_)
        nights = self.nights.copy()
        if len(self.heads):
            at = np.minimum(np.searchsorted(self.heads, heads), len(self.heads) - 1)
            new = self.heads[at] != heads
            nights[at[~new]] = night
        if not new.any():
            return Uses(self.heads, nights)
        both = np.concatenate([self.heads, heads[new]])
        order = np.argsort(both, kind="stable")
        return Uses(both[order], np.concatenate([nights, np.full(new.sum(), night, dtype=np.int64)])[order])

    def again(self, since: int, night: int) -> Uses:
        """The marks with those of `since` and later at `night`."""
        return Uses(self.heads, np.where(self.nights >= since, night, self.nights))

    def only(self, heads: Heads) -> Uses:
        """The marks of `heads`, which do not decrease, alone."""
        if not len(heads):
            return NO_USES
        at = np.minimum(np.searchsorted(heads, self.heads), len(heads) - 1)
        stays = heads[at] == self.heads
        return Uses(self.heads[stays], self.nights[stays])


NO_USES: Final = Uses(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))


def uses_file(folder: Path) -> Path:
    """The marks of a folder of the memo."""
    return folder / _FILE


def read_uses(folder: Path) -> Uses:
    """The marks of a folder; none where there are none, or they are damaged, which is logged."""
    path = uses_file(folder)
    try:
        digest, _, content = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return NO_USES
    except OSError as error:
        return _damaged(path, str(error))
    if digest.decode("ascii", "replace") != checksum(content):
        return _damaged(path, "its bytes are others than were written")
    marks = pa.ipc.open_file(pa.py_buffer(content)).read_all().combine_chunks()
    return Uses(marks.column("head").to_numpy(), marks.column("night").to_numpy())


def _damaged(path: Path, why: str) -> Uses:
    log.warning("marks of what is used are damaged and begin anew: file=%s error=%s", path, why)
    return NO_USES


def write_uses(folder: Path, uses: Uses) -> None:
    """Replace the marks of a folder, in one step."""
    sink = pa.BufferOutputStream()
    marks = pa.table({"head": pa.array(uses.heads, pa.uint64()), "night": pa.array(uses.nights, pa.int64())})
    with pa.ipc.new_file(sink, marks.schema, options=_OPTIONS) as writer:
        writer.write_table(marks)
    content = sink.getvalue().to_pybytes()
    write_whole(uses_file(folder), lambda path: void(path.write_bytes(checksum(content).encode() + b"\n" + content)))


def mark_used(memo: Memo, before: Memo, night: int) -> None:
    """Remember that a build of `night` used what it asked `before` for, and what was committed since."""
    heads = memo.used_since(before)
    if night and len(heads):
        with _marking(memo.directory):
            write_uses(memo.directory, read_uses(memo.directory).with_night(heads, night))


def use_again(directory: Path, since: int, night: int) -> None:
    """Mark what was used in `since` or later as used in `night`: for a step that is not run, and would use the same.

    Where there are no marks, or damaged ones, nothing tells what that was: all results count as used.
    """
    if not night:
        return
    if not directory.is_dir():
        return
    with _marking(directory):
        uses = read_uses(directory)
        if len(uses.heads):
            write_uses(directory, uses.again(since, night))
        elif len(there := Memo(directory).results().heads):
            write_uses(directory, uses.with_night(there, night))


def _marking(directory: Path) -> AbstractContextManager[None]:
    """Hold the marks of a folder: two steps of a build may use one memo at once."""
    return exclusive(directory / "uses.lock", TimeoutError(), -1.0)


NIGHTS_FILE: Final = "nights.json"


def published_nights(memo: Path) -> list[str]:
    """Names of the builds that were published, in that order; none where that is not known."""
    try:
        return [str(name) for name in read_sealed(memo / NIGHTS_FILE, "the next build begins it anew")["nights"]]
    except FileNotFoundError:
        return []
    except DamagedError as error:
        log.warning("%s", error)
        return []


def add_night(memo: Path, build_id: str) -> None:
    """Remember that a build was published."""
    nights = [*(night for night in published_nights(memo) if night != build_id), build_id]
    write_sealed(memo / NIGHTS_FILE, {"nights": nights[-1000:]})


def oldest_kept(nights: list[str], keep: int, published: str | None) -> int:
    """The night since which results stay: the earliest of the newest `keep` and of the published one; 0 for all.

    By the numbers of all of these, for a clock that was moved back gives a later night an earlier name.
    """
    if len(nights) < keep:
        return 0
    return min(night_of(night) for night in [*nights[-keep:], *([published] if published else [])])
