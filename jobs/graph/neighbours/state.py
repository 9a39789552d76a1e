"""What the graph builder keeps from night to night: vectors' prints, lists of neighbours, who was in which partition.

For each different vector a state has 8 bytes a neighbour, a bit a partition, and 32 bytes besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from quern.indexes.night_state import NightStates
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists
from quern.jobs.graph.neighbours.layout import Layout, Neighbourhood, Truth
from quern.jobs.graph.neighbours.members import Members

_Columns = dict[str, np.ndarray[tuple[int, ...], np.dtype[Any]]]


def write_state(folder: Path, name: str, neighbourhood: Neighbourhood) -> None:
    """Make `neighbourhood` the state `name` of `folder`."""
    columns: _Columns = {"prints": neighbourhood.prints, **_list_columns("", neighbourhood.lists)}
    about: dict[str, Any] = {"dimension": neighbourhood.dimension}
    if (layout := neighbourhood.layout) is not None:
        about["partitions"] = layout.members.partitions
        columns |= {"home": layout.members.home.astype(np.int32), "bits": layout.members.bits}
        columns |= {"sample": layout.truth.rows, **_list_columns("sample_", layout.truth.lists)}
    states = NightStates(folder)
    path = states.begin(name)
    for column, values in columns.items():
        np.save(path / f"{column}.npy", values, allow_pickle=False)
    states.commit(path, about)


def read_state(folder: Path) -> Neighbourhood | None:
    """The newest state of `folder` that is as it was written; None where there is none."""
    return NightStates(folder).newest(_read)


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
    layout = None
    if "partitions" in about:
        members = Members(read["home"].astype(np.int64), read["bits"], int(about["partitions"]))
        layout = Layout(members, Truth(read["sample"], _lists(read, "sample_")))
    return Neighbourhood(read["prints"], _lists(read, ""), int(about["dimension"]), 0, layout)
