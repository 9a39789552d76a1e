"""Forgetting: a folder of the memo without the results that no build of late has used.

What is forgotten is decided by the night of its last use (`indexes.memo_uses`) alone. A part that nothing uses goes;
one that is mostly unused is written again without them, under a name that begins as its own did, so that results keep
their order, and only then goes: at each moment every result that stays is there.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.indexes.checksums import DamagedError
from quern.indexes.memo import Memo, commit_part, part_paths
from quern.indexes.memo_parts import BLOCK_ROWS, PartFile
from quern.indexes.memo_uses import Nights, night_at, read_uses, uses_file, write_uses
from quern.indexes.storage import Space, size_of

log = logging.getLogger(__name__)

# A night writes so much at most for the sake of a part that frees as much or more; over many nights a memo then takes
# at most twice what is used of it. `quern vacuum`, which is asked to free, takes the second.
MOSTLY_UNUSED: Final = 0.5
PARTLY_UNUSED: Final = 0.1


@dataclass(frozen=True)
class _Part:
    """A part, by what its name and its size say."""

    path: Path
    committed_ns: int
    rows: int
    size: int

    @classmethod
    def at(cls, path: Path) -> _Part:
        time_ns, _, rows = path.stem.split("-")
        return cls(path, int(time_ns), int(rows), size_of(path))

    @property
    def night(self) -> int:
        return night_at(self.committed_ns)


class MemoFolder:
    """A folder of the memo as vacuum sees it: its results and when they were last used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts = [_Part.at(path) for path in part_paths(folder)]
        self._uses = read_uses(folder)

    @property
    def rows(self) -> int:
        """Results in all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def newest(self) -> int:
        """The night in which something of it was last used or committed, 0 for never."""
        used = int(self._uses.nights.max()) if len(self._uses.nights) else 0
        return max([used, *(part.night for part in self.parts)])

    @cached_property
    def _results(self) -> list[tuple[_Part, Nights]]:
        """The parts, each with the night in which each of its results was last used; 0 for what no lookup finds."""
        index = Memo(self.folder).results()
        nights = self._uses.of(index.heads)
        parts = {part.path: part for part in self.parts}
        results: list[tuple[_Part, Nights]] = []
        for number, path in enumerate(index.parts):
            inside = index.part == number
            part = parts[path] if path in parts else _Part.at(path)
            of_rows = np.zeros(part.rows, dtype=np.int64)
            of_rows[index.row[inside]] = np.where(index.found[inside], np.maximum(nights[inside], part.night), 0)
            results.append((part, of_rows))
        return results

    def mend_marks(self) -> None:
        """Remove marks that tell nothing, such as damaged ones: no build writes those of settings that are not used."""
        if not len(self._uses.heads):
            uses_file(self.folder).unlink(missing_ok=True)

    def forget(self, cutoff: int, share: float, *, dry_run: bool) -> Space:
        """Forget what was last used before `cutoff`, where at least a `share` of a part was; returns what that frees.

        With `dry_run` nothing is written, and bytes of parts that would be written again are estimated.
        """
        if not self.parts:
            return Space()
        if self.newest < cutoff:
            paths = [*(part.path for part in self.parts), uses_file(self.folder)]
            freed = Space(sum(path.exists() for path in paths), sum(size_of(path) for path in paths))
            if not dry_run:
                for path in paths:
                    path.unlink(missing_ok=True)
            return freed
        used_since = int((self._uses.nights >= cutoff).sum())  # By the marks alone: no part is opened for it.
        if self.rows - used_since < PARTLY_UNUSED * self.rows and share >= PARTLY_UNUSED:
            return Space()
        freed = Space()
        for part, nights in self._results:
            used = nights >= cutoff
            if (~used).sum() >= max(1, share * part.rows):
                freed += _shrink(part, used, dry_run=dry_run)
        if freed.files and not dry_run:
            # Leave no marks of what is not there any more.
            index = Memo(self.folder).results()
            write_uses(self.folder, self._uses.only(np.unique(index.heads)))
        return freed


def _shrink(part: _Part, used: npt.NDArray[np.bool_], *, dry_run: bool) -> Space:
    """Write `part` again without what is not used, or drop it where nothing is; what that frees."""
    if not used.any():
        if not dry_run:
            part.path.unlink(missing_ok=True)
        return Space(1, part.size)
    if dry_run:
        return Space(1, part.size - part.size * int(used.sum()) // part.rows)
    try:
        whole, size = PartFile(part.path), BLOCK_ROWS
        blocks = [whole.block(n).filter(pa.array(used[n * size : (n + 1) * size])) for n in range(whole.blocks)]
        rows = pa.Table.from_batches(blocks).combine_chunks().to_batches()[0]
    except DamagedError as error:  # Builds mend it: what is not as it was written is not written again as if it were.
        log.warning("memo part is damaged and stays as it is: file=%s error=%s", error.path, error.why)
        return Space()
    again = commit_part(part.path.parent, rows, part.committed_ns)
    part.path.unlink(missing_ok=True)
    return Space(1, part.size - size_of(again))
