"""The history of sources: which source answered which question, with its evidence (Know Where to Go, optimizer).

    WAREHOUSE/sources/history.jsonl   a line for each question and source that answered it; of two the later counts

A question near one of the history proposes that one's sources. Each is validated again: what the history holds is no
evidence, and how often it names a source counts for nothing.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Iterable, Sequence
from os import SEEK_END
from pathlib import Path
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from quern.indexes.vectors import Floats
from quern.jobs.images.place import Encode

log = logging.getLogger(__name__)

_MOST_LINES: Final = 20_000  # Of the file that are read, the newest: a question's vector is 1.5 kB.
_MOST_PROPOSED: Final = 10  # Sites for one question: each costs a search, and the nearest questions tell most.


class Told(BaseModel):
    """A question and a source that answered it."""

    model_config = ConfigDict(frozen=True)

    question: str
    site: str
    chunk_id: str
    evidence: str


class History:
    """What earlier searches found; nothing, where `path` is None."""

    def __init__(self, path: Path | None, encode: Encode) -> None:
        self._path, self._encode = path, encode
        self._told = {(t.question, t.site): t for t in _read(path)} if path else {}
        self._questions = list(dict.fromkeys(question for question, _ in self._told))
        self._vectors: Floats | None = None

    def proposals(self, vectors: Floats, least: float) -> list[list[str]]:
        """For each question, by its vector, the sites that answered those nearest to it, above `least`; at most 10."""
        if not self._questions:
            return [[] for _ in vectors]
        if self._vectors is None:
            self._vectors = self._encode(self._questions)
        near = vectors @ self._vectors.T
        sites: dict[str, list[str]] = {}
        for question, site in self._told:
            sites.setdefault(question, []).append(site)
        found = []
        for row in near:
            order = [n for n in np.argsort(-row, kind="stable").tolist() if row[n] > least]
            near_sites = dict.fromkeys(site for n in order for site in sites[self._questions[n]])
            found.append(list(near_sites)[:_MOST_PROPOSED])
        return found

    def add(self, told: Iterable[Told]) -> None:
        """Keep what is new; where nothing can be written, it is not kept."""
        new = [t for t in told if self._told.get((t.question, t.site)) != t]
        if self._path is None or not new:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab+") as file:
                whole = file.tell() == 0 or (file.seek(-1, SEEK_END) >= 0 and file.read(1) == b"\n")
                text = "".join(t.model_dump_json() + "\n" for t in new)
                file.write(f"{'' if whole else chr(10)}{text}".encode())
        except OSError as error:
            log.warning("%d sources are not kept in the history: %s", len(new), error)


def _read(path: Path) -> Sequence[Told]:
    """The newest lines of the file; one that is damaged is left out."""
    try:
        # JSON leaves U+2028 as it is, at which `splitlines` would break a line in two.
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            lines = deque(file, maxlen=_MOST_LINES)
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            found.append(Told.model_validate(json.loads(line)))
        except (ValueError, ValidationError):
            log.warning("a damaged line of %s is left out", path)
    return found
