"""What the graph builder keeps from night to night: vectors' prints, lists of neighbours, partitions.

For each different vector a state has 8 bytes a neighbour, 4 a partition that it visits, and 20 besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from quern.indexes.night_state import NightStates
from quern.jobs.graph.neighbours.partitions import Centroids, Members
from quern.jobs.graph.neighbours.plan import Neighbourhood


def write_state(folder: Path, name: str, neighbourhood: Neighbourhood) -> None:
    """Make `neighbourhood` the state of `folder`, under `name`."""
    states = NightStates(folder)
    path = states.begin(name)
    for column, values in _columns(neighbourhood).items():
        np.save(path / f"{column}.npy", values, allow_pickle=False)
    about: dict[str, Any] = {"scale": neighbourhood.scale, "dimension": neighbourhood.dimension}
    if neighbourhood.centroids is not None:
        about |= {"probes": neighbourhood.centroids.probes, "trained_on": neighbourhood.centroids.trained_on}
    states.commit(path, about)


def read_state(folder: Path) -> Neighbourhood | None:
    """The newest state of `folder` that is as it was written; None where there is none."""
    return NightStates(folder).newest(_read)


def _columns(neighbourhood: Neighbourhood) -> Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    columns: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = {
        "prints": neighbourhood.prints,
        "positions": neighbourhood.positions.astype(np.int32 if len(neighbourhood.positions) < 1 << 31 else np.int64),
        "scores": neighbourhood.scores,
        "cut": neighbourhood.cut,
    }
    if neighbourhood.centroids is not None:
        columns["centroids"] = neighbourhood.centroids.numbers.numpy()
    if neighbourhood.members is not None:
        columns["probes"] = neighbourhood.members.probes.numpy()
    return columns


def _read(path: Path, about: Mapping[str, Any]) -> Neighbourhood:
    """The state at `path`."""
    # Mapped, not copied: what changes is written to new arrays. Those mapped outlive the files.
    names = [name.removesuffix(".npy") for name in about["digests"]]
    read = {name: np.load(path / f"{name}.npy", mmap_mode="c", allow_pickle=False) for name in names}
    scale = float(about["scale"])
    centroids = None
    if "centroids" in read:
        numbers = torch.from_numpy(read["centroids"])
        centroids = Centroids(numbers, scale, int(about["probes"]), int(about["trained_on"]))
    lists = (read["prints"], scale, read["positions"].astype(np.int64), read["scores"], read["cut"])
    members = Members(torch.from_numpy(read["probes"])) if "probes" in read else None
    return Neighbourhood(*lists, centroids, 0, int(about["dimension"]), members=members)
