"""What the graph builder keeps from night to night: vectors' prints, lists of neighbours, partitions.

A state is a directory that appears whole, by one rename; a damaged one costs a full search. For each different
vector it has 12 bytes a neighbour, 4 a partition that it visits, and 20 besides.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from jobs.linking.partitions import Centroids, Members
from jobs.linking.plan import Neighbourhood

log = logging.getLogger(__name__)

_ABOUT = "about.json"


def write_state(folder: Path, name: str, found: Neighbourhood) -> None:
    """Make `found` the state of `folder`, under `name`, and forget those before it."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(".tmp-*"):
        shutil.rmtree(left)
    temporary = folder / f".tmp-{name}"
    temporary.mkdir()
    for column, values in _columns(found).items():
        _write(temporary / f"{column}.npy", values)
    about = {"scale": found.scale, "dimension": found.dimension}
    if found.centroids is not None:
        about |= {"probes": found.centroids.probes, "trained_on": found.centroids.trained_on}
    (temporary / _ABOUT).write_text(json.dumps(about), "utf-8")
    older = [p for p in folder.iterdir() if p != temporary]
    shutil.rmtree(folder / name, ignore_errors=True)
    temporary.replace(folder / name)
    for path in older:
        if path.name != name:
            shutil.rmtree(path)


def read_state(folder: Path) -> Neighbourhood | None:
    """The newest state of `folder` that can be read; None where there is none."""
    if not folder.is_dir():
        return None
    for path in sorted((p for p in folder.iterdir() if not p.name.startswith(".")), reverse=True):
        try:
            return _read(path)
        except (OSError, ValueError, KeyError, EOFError) as error:
            log.warning("state of the graph is damaged and is left aside: %s error=%s", path, error)
    return None


def _columns(found: Neighbourhood) -> Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    columns: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = {
        "prints": found.prints,
        "positions": found.positions,
        "scores": found.scores,
        "cut": found.cut,
    }
    if found.centroids is not None:
        columns["centroids"] = found.centroids.numbers.numpy()
    if found.members is not None:
        columns["probes"] = found.members.probes.numpy()
    return columns


def _write(path: Path, values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    with path.open("wb") as file:
        np.save(file, values, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path) -> Neighbourhood:
    about = json.loads((path / _ABOUT).read_text("utf-8"))
    # Mapped, not copied: what changes is written to new arrays. Those mapped outlive the files.
    read = {p.stem: np.load(p, mmap_mode="c", allow_pickle=False) for p in path.glob("*.npy")}
    if len({len(values) for name, values in read.items() if name != "centroids"}) != 1:
        raise ValueError("its columns differ in length")
    scale = float(about["scale"])
    centroids = None
    if "centroids" in read:
        centroids = Centroids(
            torch.from_numpy(read["centroids"]), scale, int(about["probes"]), int(about["trained_on"])
        )
    lists = (read["prints"], scale, read["positions"], read["scores"], read["cut"])
    members = Members(torch.from_numpy(read["probes"])) if "probes" in read else None
    return Neighbourhood(*lists, centroids, 0, int(about["dimension"]), members=members)
