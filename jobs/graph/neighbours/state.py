"""What the graph builder keeps from night to night: vectors' prints, lists of neighbours, who was in which partition.

For each different vector a state has 8 bytes a neighbour, a bit a partition, and 32 bytes besides.
"""

from __future__ import annotations

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
from quern.jobs.graph.neighbours.truth import Truth

_Columns = Mapping[str, np.ndarray[tuple[int, ...], np.dtype[Any]]]


def write_state(folder: Path, name: str, neighbourhood: Neighbourhood) -> None:
    """Make `neighbourhood` the state of `folder`, under `name`."""
    states = NightStates(folder)
    path = states.begin(name)
    for column, values in _columns(neighbourhood).items():
        np.save(path / f"{column}.npy", values, allow_pickle=False)
    about: dict[str, Any] = {"dimension": neighbourhood.dimension}
    if neighbourhood.partitioned is not None:
        about["partitions"] = neighbourhood.partitioned.members.partitions
        about["scale"] = neighbourhood.partitioned.cells.scale
    states.commit(path, about)


def read_state(folder: Path) -> Neighbourhood | None:
    """The newest state of `folder` that is as it was written; None where there is none."""
    return NightStates(folder).newest(_read)


def _columns(neighbourhood: Neighbourhood) -> _Columns:
    columns = {"prints": neighbourhood.prints, **_list_columns("", neighbourhood.lists)}
    parts = neighbourhood.partitioned
    if parts is None:
        return columns
    home = parts.members.home.numpy().astype(np.int32)
    partitioned = {"home": home, "bits": parts.members.bits.numpy(), "sample": parts.truth.rows}
    return {**columns, **partitioned, "cell": parts.cells.nearest, **_list_columns("sample_", parts.truth.lists)}


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
