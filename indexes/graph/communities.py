"""Communities of chunks: groups that the graph joins more among themselves than with others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

Counts = npt.NDArray[np.int64]
LOUVAIN_PAIRS = 200_000  # networkx takes some 20 s for so many.
_ROUNDS = 30


@dataclass(frozen=True)
class Communities:
    """A division of the chunks.

    Attributes:
        of: Community of each chunk, the largest is 0, shape (chunks,).
        modularity: Of the division (Newman and Girvan 2004): 0 as by chance, above .3 a clear structure.
        method: `louvain` (Blondel et al. 2008), or `label_propagation` (Raghavan et al. 2007) for large graphs.
    """

    of: Counts
    modularity: float
    method: str

    @property
    def sizes(self) -> Counts:
        """Chunks of each community, largest first."""
        return np.bincount(self.of) if len(self.of) else np.zeros(0, dtype=np.int64)


def communities(projection: sparse.csr_array, seed: int = 0, most_pairs: int = LOUVAIN_PAIRS) -> Communities:
    """The communities of a symmetric matrix of weights: by Louvain up to `most_pairs` pairs, else by sparse products.

    Equal input gives equal communities.
    """
    if projection.nnz // 2 <= most_pairs:
        found, method = _louvain(projection, seed), "louvain"
    else:
        found, method = propagate_labels(projection, seed), "label_propagation"
    order = np.argsort(-np.bincount(found), kind="stable") if len(found) else np.zeros(0, dtype=np.int64)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    of = rank[found]
    return Communities(of, round(modularity(projection, of), 4), method)


def _louvain(projection: sparse.csr_array, seed: int) -> Counts:
    import networkx as nx

    graph = nx.from_scipy_sparse_array(projection)
    found = np.zeros(projection.shape[0], dtype=np.int64)
    for number, members in enumerate(nx.community.louvain_communities(graph, weight="weight", seed=seed)):
        found[list(members)] = number
    return found


def propagate_labels(projection: sparse.csr_array, seed: int) -> Counts:
    """The label that weighs most among each vertex's neighbours, taken over until under 1 in 1,000 would change.

    In each round a seeded half of the vertices chooses, since all at once would swap labels for ever. Of labels of
    one weight the vertex's own stays, else the least wins. A round takes some 60 bytes of memory a stored weight.
    """
    size = projection.shape[0]
    random = np.random.default_rng(seed)
    labels = np.arange(size, dtype=np.int64)
    rows = np.repeat(np.arange(size, dtype=np.int64), np.diff(projection.indptr))
    weights = projection.data.astype(np.float64)
    for _ in range(_ROUNDS):
        best = _heaviest(rows, labels[projection.indices], weights, labels)
        unlike = best != labels
        if unlike.sum() * 1000 <= size:
            break
        labels = np.where(unlike & (random.random(size) < 0.5), best, labels)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _heaviest(rows: Counts, names: Counts, weights: npt.NDArray[np.float64], own: Counts) -> Counts:
    """The heaviest of the labels beside each vertex, its own where there is none, shape (vertices,)."""
    size = len(own)
    pairs, inverse = np.unique(rows * size + names, return_inverse=True)
    total = np.bincount(inverse, weights=weights, minlength=len(pairs))
    row, name = pairs // size, pairs % size
    order = np.lexsort((name, name != own[row], -total, row))
    first = np.unique(row[order], return_index=True)
    best = own.copy()
    best[first[0]] = name[order][first[1]]
    return best


def modularity(projection: sparse.csr_array, of: Counts) -> float:
    """Share of weight inside communities, less what chance would put there (Newman and Girvan 2004, equation 5)."""
    weights = projection.data.astype(np.float64)
    total = weights.sum()
    if total == 0:
        return 0.0
    rows = np.repeat(np.arange(projection.shape[0]), np.diff(projection.indptr))
    inside = weights[of[rows] == of[projection.indices]].sum()
    degrees = np.bincount(of[rows], weights=weights)
    return float(inside / total - np.square(degrees / total).sum())
