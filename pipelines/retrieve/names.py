"""Names that stand in a text, by their capitals: what joins two documents that do not name each other."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Final

from quern.indexes.catalog.folder import Snapshot
from quern.pipelines.retrieve.searcher import Searcher

# Capitals of all scripts that have them: `re` has no class for these.
_CAPITALS: Final = "".join(c for c in map(chr, range(0x10000)) if c.isupper() or c.istitle())
_PART: Final = rf"[{re.escape(_CAPITALS)}][\w’'-]*"
# Words that stand inside names in lower case, in the languages of Europe.
_INSIDE: Final = "of|the|and|de|la|le|du|des|di|da|do|dos|del|della|der|den|von|van|zu|al|el|bin|ibn|y"
_NAME: Final = re.compile(rf"\b{_PART}(?:[ \t]+(?:(?:{_INSIDE})[ \t]+){{0,2}}{_PART})*")


def names(text: str) -> list[str]:
    """The names in `text`, each once: longest runs of capitalised words, with what joins these.

    A capitalised word at the start of a sentence is one too: that it is none shows in how many documents have it.
    """
    return list(dict.fromkeys(_NAME.findall(text)))


class ChunkNames:
    """Names of the chunks of a snapshot, read when they are first asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._names: dict[str, list[str]] = {}

    @classmethod
    def of_searcher(cls, searcher: Searcher) -> ChunkNames:
        """Those of a searcher's snapshot."""
        return cls(searcher.snapshot)

    def of(self, chunks: Sequence[str]) -> list[list[str]]:
        """The names of each chunk and its title, by the chunks' keys."""
        missing = sorted(set(chunks) - self._names.keys())
        # Chunks whose names are kept in memory, some 1 kB each.
        if len(self._names) + len(missing) > 50_000:
            self._names.clear()
            missing = sorted(set(chunks))
        rows = self._snapshot.table("chunks").lookup("chunk_id", missing, ["chunk_id", "title", "text"])
        for row in rows.to_pylist():
            self._names[row["chunk_id"]] = [sys.intern(n) for n in names(f"{row['title'] or ''}\n{row['text']}")]
        return [self._names[chunk] for chunk in chunks]
