"""What the graph builder keeps from night to night: vectors' prints, lists of neighbours, partitions.

A state is a directory that appears whole, by one rename, with a digest of each of its files; a damaged one costs a full
search. For each different vector it has 8 bytes a neighbour, 4 a partition that it visits, and 20 besides.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from quern.jobs.graph.neighbours.partitions import Centroids, Members
from quern.jobs.graph.neighbours.plan import Neighbourhood

log = logging.getLogger(__name__)

_ABOUT = "about.json"
_KEPT = 4  # Folders with states of other settings: who tries settings goes to and fro between some.


def write_state(folder: Path, name: str, neighbourhood: Neighbourhood) -> None:
    """Make `neighbourhood` the state of `folder`, under `name`; forget those before it."""
    if not folder.is_dir():
        _remove(folder)
    folder.mkdir(parents=True, exist_ok=True)
    older = list(folder.iterdir())
    temporary = folder / f".tmp-{name}"
    _remove(temporary)
    temporary.mkdir()
    digests = {
        column: _write(temporary / f"{column}.npy", values) for column, values in _columns(neighbourhood).items()
    }
    about = {"scale": neighbourhood.scale, "dimension": neighbourhood.dimension, "digests": digests}
    if neighbourhood.centroids is not None:
        about |= {"probes": neighbourhood.centroids.probes, "trained_on": neighbourhood.centroids.trained_on}
    told = json.dumps(about, sort_keys=True)
    _write_text(temporary / _ABOUT, json.dumps({"about": told, "digest": _digest(told.encode())}))
    _remove(folder / name)
    temporary.replace(folder / name)
    for path in older:
        if path not in (temporary, folder / name):
            _remove(path)


def forget_others(folder: Path) -> None:
    """Remove the folders beside `folder` with states of settings that were not used for long."""
    others = sorted((p for p in folder.parent.iterdir() if p != folder), key=lambda p: p.stat().st_mtime)
    for path in others[:-_KEPT]:
        _remove(path)


def read_state(folder: Path) -> Neighbourhood | None:
    """The newest state of `folder` that is as it was written; None where there is none."""
    if not folder.is_dir():
        return None
    for path in sorted((p for p in folder.iterdir() if not p.name.startswith(".")), reverse=True):
        try:
            return _read(path)
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("state of the graph is damaged and is left aside: %s error=%s", path, error)
    return None


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


def _write(path: Path, values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    """Write an array; its digest."""
    with path.open("wb") as file:
        np.save(file, values, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    return _digest_of(path)


def _write_text(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(path: Path) -> None:
    """Remove a file or a directory, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _read(path: Path) -> Neighbourhood:
    """The state at `path`.

    Raises:
        ValueError, KeyError, TypeError: It is not as it was written.
    """
    outer = json.loads((path / _ABOUT).read_bytes())
    if _digest(outer["about"].encode()) != outer["digest"]:
        raise ValueError(f"{_ABOUT} is not as it was written")
    about = json.loads(outer["about"])
    for column, digest in about["digests"].items():
        if _digest_of(path / f"{column}.npy") != digest:
            raise ValueError(f"{column}.npy is not as it was written")
    # Mapped, not copied: what changes is written to new arrays. Those mapped outlive the files.
    read = {c: np.load(path / f"{c}.npy", mmap_mode="c", allow_pickle=False) for c in about["digests"]}
    scale = float(about["scale"])
    centroids = None
    if "centroids" in read:
        numbers = torch.from_numpy(read["centroids"])
        centroids = Centroids(numbers, scale, int(about["probes"]), int(about["trained_on"]))
    lists = (read["prints"], scale, read["positions"].astype(np.int64), read["scores"], read["cut"])
    members = Members(torch.from_numpy(read["probes"])) if "probes" in read else None
    return Neighbourhood(*lists, centroids, 0, int(about["dimension"]), members=members)
