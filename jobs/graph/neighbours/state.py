"""What the graph builder keeps from night to night: vectors' prints, lists of neighbours, who was in which partition.

For each different vector a state has 8 bytes a neighbour, a bit a partition, and 32 bytes besides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from quern.indexes.night_state import NightStates
from quern.jobs.graph.neighbours.centroids import Cells
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists
from quern.jobs.graph.neighbours.members import Members
from quern.jobs.graph.neighbours.plan import Neighbourhood, Partitioned
from quern.jobs.graph.neighbours.prints import Prints
from quern.jobs.graph.neighbours.truth import Truth

_Columns = Mapping[str, np.ndarray[tuple[int, ...], np.dtype[Any]]]


class StateWriter:
    """Writes the state of tonight: who is in which partition as soon as it is known, while lists are made."""

    def __init__(self, folder: Path, name: str) -> None:
        """The state `name` of `folder`."""
        self._states, self._name = NightStates(folder), name
        self._path: Path | None = None
        self._written: set[str] = set()

    def laid_out(self, prints: Prints, partitioned: Partitioned) -> None:
        """Write what is known before the lists are, and bring it to the disk."""
        for file in self._save(_partition_columns(prints, partitioned)):
            with file.open("rb") as written:
                os.fsync(written.fileno())

    def finish(self, neighbourhood: Neighbourhood) -> None:
        """Make `neighbourhood` the state."""
        self._save(_columns(neighbourhood))
        about: dict[str, Any] = {"dimension": neighbourhood.dimension}
        if neighbourhood.partitioned is not None:
            about["partitions"] = neighbourhood.partitioned.members.partitions
            about["scale"] = neighbourhood.partitioned.cells.scale
        self._states.commit(self._begun(), about)

    def _begun(self) -> Path:
        self._path = self._path or self._states.begin(self._name)
        return self._path

    def _save(self, columns: _Columns) -> list[Path]:
        """Files of those columns that are not written yet."""
        files = []
        for column in [name for name in columns if name not in self._written]:
            files.append(self._begun() / f"{column}.npy")
            np.save(files[-1], columns[column], allow_pickle=False)
            self._written.add(column)
        return files


def write_state(folder: Path, name: str, neighbourhood: Neighbourhood) -> None:
    """Make `neighbourhood` the state of `folder`, under `name`."""
    StateWriter(folder, name).finish(neighbourhood)


def read_state(folder: Path) -> Neighbourhood | None:
    """The newest state of `folder` that is as it was written; None where there is none."""
    return NightStates(folder).newest(_read)


def _columns(neighbourhood: Neighbourhood) -> _Columns:
    parts = neighbourhood.partitioned
    known = {"prints": neighbourhood.prints} if parts is None else _partition_columns(neighbourhood.prints, parts)
    return {**known, **_list_columns("", neighbourhood.lists)}


def _partition_columns(prints: Prints, parts: Partitioned) -> _Columns:
    home = parts.members.home.numpy().astype(np.int32)
    partitioned = {"home": home, "bits": parts.members.bits.numpy(), "sample": parts.truth.rows}
    lists = _list_columns("sample_", parts.truth.lists)
    return {"prints": prints, **partitioned, "cell": parts.cells.nearest, **lists}


def _list_columns(prefix: str, lists: NeighbourLists) -> _Columns:
    few = int(lists.positions.max(initial=0)) < 1 << 31
    positions = lists.positions.astype(np.int32 if few else np.int64)
    return {f"{prefix}positions": positions, f"{prefix}scores": lists.scores, f"{prefix}cut": lists.cut}


def _lists(read: _Columns, prefix: str) -> NeighbourLists:
    positions = read[f"{prefix}positions"].astype(np.int64)
    return NeighbourLists(positions, read[f"{prefix}scores"], read[f"{prefix}cut"])


def _read(path: Path, about: Mapping[str, Any]) -> Neighbourhood:
    """The state at `path`."""
    # Mapped, not copied: what changes is written to new arrays. Those mapped outlive the files.
    names = [name.removesuffix(".npy") for name in about["digests"]]
    read = {name: np.load(path / f"{name}.npy", mmap_mode="c", allow_pickle=False) for name in names}
    partitioned = None
    if "partitions" in about:
        home = torch.from_numpy(read["home"].astype(np.int64))
        members = Members(home, torch.from_numpy(read["bits"]), int(about["partitions"]))
        cells = Cells(read["cell"], float(about["scale"]), members.partitions)
        partitioned = Partitioned(cells, members, Truth(read["sample"], _lists(read, "sample_")))
    return Neighbourhood(read["prints"], _lists(read, ""), int(about["dimension"]), 0, partitioned)
