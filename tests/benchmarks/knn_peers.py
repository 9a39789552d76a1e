"""What the graph builder is measured against: faiss and pynndescent, each as its own documentation uses it.

A peer joins a matrix of unit vectors with itself, on as many threads as it is given. Its parameters are the cheapest
of a small grid that reach the recall that is asked for, on the same vectors. Which of them are installed is the
machine's affair: `pip install faiss-cpu pynndescent`.
"""

from __future__ import annotations

import importlib.util
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from quern.indexes.vectors import Floats, Positions

log = logging.getLogger(__name__)

# Of a row: the positions of its nearest, itself perhaps among them.
Search = Callable[[], Positions]
_WARM = 2000
_TRAINED_ON = 39  # Vectors that faiss wants for each list.


@dataclass(frozen=True)
class Index:
    """An index that is built, and the searches that it offers."""

    seconds: float  # What building it took.
    searches: dict[str, Search]  # By the name of their parameters, the cheapest first.


Build = Callable[[Floats, int, int], dict[str, Search]]


@dataclass(frozen=True)
class Peer:
    """A library, and the indexes that it is tried with."""

    name: str  # Its name.
    module: str  # What is imported.
    package: str  # What is installed.
    # By the name of their parameters: of (vectors, k, threads) an index' searches, built at once.
    builds: dict[str, Build]

    @property
    def is_installed(self) -> bool:
        """Whether it can be imported."""
        return importlib.util.find_spec(self.module) is not None


def installed(peers: tuple[Peer, ...]) -> list[Peer]:
    """Those that can be imported; of the others the log says how to get them."""
    for peer in peers:
        if not peer.is_installed:
            log.warning("%s is left out: pip install %s", peer.name, peer.package)
    return [peer for peer in peers if peer.is_installed]


@dataclass(frozen=True)
class Join:
    """A peer with its parameters."""

    peer: Peer  # The peer.
    build: str  # Name of the parameters of its index.
    search: str  # Name of those of its search.

    def run(self, vectors: Floats, k: int, threads: int) -> Positions:
        """The `k` nearest of each vector, found from nothing; shape (n, k), -1 where fewer were found."""
        found = self.peer.builds[self.build](vectors, k, threads)[self.search]()
        return without_self(found, k)

    def __str__(self) -> str:
        return " ".join(part for part in (self.peer.name, self.build, self.search) if part)


def without_self(found: Positions, k: int) -> Positions:
    """The first `k` of each row that are not the row itself."""
    other = found != np.arange(len(found))[:, None]
    order = np.argsort(~other, axis=1, kind="stable")[:, :k]
    rows = np.take_along_axis(found, order, axis=1)
    kept: Positions = np.where(np.take_along_axis(other, order, axis=1), rows, -1)
    return kept


def tuned(
    peer: Peer, vectors: Floats, k: int, threads: int, recall_of: Callable[[Positions], float], recall: float
) -> Join | None:
    """The cheapest of the peer's parameters, by seconds of building and searching, that reach `recall`; None if none.

    Each index is built and searched once; one that takes longer to build than the best takes in all is not searched.
    """
    # Just-in-time compilers and thread pools are to start before the clock.
    for search in next(iter(peer.builds.values()))(vectors[:_WARM], k, threads).values():
        search()
    best, cheapest = None, float("inf")
    for name, build in peer.builds.items():
        started = time.perf_counter()
        searches = build(vectors, k, threads)
        built = time.perf_counter() - started
        if built > cheapest:
            continue
        for parameters, seconds, reached in _searched(searches, k, recall_of):
            log.info("%s %s %s seconds=%.2f recall=%.4f", peer.name, name, parameters, built + seconds, reached)
            if built + seconds > cheapest:
                break
            if reached >= recall:
                best, cheapest = Join(peer, name, parameters), built + seconds
                break
    return best


def _searched(
    searches: dict[str, Search], k: int, recall_of: Callable[[Positions], float]
) -> Iterator[tuple[str, float, float]]:
    for name, search in searches.items():
        started = time.perf_counter()
        found = search()
        seconds = time.perf_counter() - started
        yield name, seconds, recall_of(without_self(found, k))


def _flat(vectors: Floats, k: int, threads: int) -> dict[str, Search]:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return {"": lambda: _positions(index.search(vectors, k + 1)[1])}


def _faiss_search(index: Any, vectors: Floats, k: int, set_to: Callable[[int], None], value: int) -> Positions:
    set_to(value)
    return _positions(index.search(vectors, k + 1)[1])


def _ivf(lists: int, vectors: Floats, k: int, threads: int) -> dict[str, Search]:
    import faiss

    if lists * _TRAINED_ON > len(vectors):
        return {}
    faiss.omp_set_num_threads(threads)
    quantizer = faiss.IndexFlatIP(vectors.shape[1])
    index = faiss.IndexIVFFlat(quantizer, vectors.shape[1], lists, faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)
    # The quantizer goes with Python's last name for it: the searches keep it.
    search = partial(_faiss_search, index, vectors, k, partial(_set_probes, index, quantizer))
    probes = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40)
    return {f"nprobe={p}": partial(search, p) for p in probes if p <= lists}


def _set_probes(index: Any, _quantizer: Any, value: int) -> None:
    index.nprobe = value


def _faiss_hnsw(links: int, effort: int, vectors: Floats, k: int, threads: int) -> dict[str, Search]:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexHNSWFlat(vectors.shape[1], links, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = effort
    index.add(vectors)
    search = partial(_faiss_search, index, vectors, k, partial(setattr, index.hnsw, "efSearch"))
    return {f"ef={e}": partial(search, e) for e in (8, 12, 16, 24, 32, 48, 64)}


def _pynndescent(neighbours: int, vectors: Floats, k: int, threads: int) -> dict[str, Search]:
    import pynndescent

    made = pynndescent.NNDescent(vectors, metric="dot", n_neighbors=neighbours, n_jobs=threads, random_state=0)
    # What it builds is the graph itself.
    return {"": lambda: _positions(made.neighbor_graph[0])}


def _positions(found: np.ndarray[Any, np.dtype[Any]]) -> Positions:
    return found.astype(np.int64)


EXACT = Peer("faiss flat", "faiss", "faiss-cpu", {"": _flat})
_LINKS = {f"M={m} efConstruction={effort}": (m, effort) for m, effort in ((12, 60), (8, 40), (12, 40), (16, 60))}
APPROXIMATE = (
    Peer("faiss ivf", "faiss", "faiss-cpu", {f"nlist={n}": partial(_ivf, n) for n in (512, 256, 128, 1024, 32)}),
    Peer("faiss hnsw", "faiss", "faiss-cpu", {name: partial(_faiss_hnsw, *both) for name, both in _LINKS.items()}),
    Peer(
        "pynndescent",
        "pynndescent",
        "pynndescent",
        {f"n_neighbors={n}": partial(_pynndescent, n) for n in (12, 16, 8, 10, 14, 24)},
    ),
)
