"""Connected components of a graph: in memory by SciPy, on Spark by alternating large-star and small-star steps.

Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii (2014), Connected components in MapReduce and beyond: a large-star
step joins each node's larger neighbours to the least node it knows, a small-star step its smaller ones, until the
graph is a forest of stars around the least node of each component. That takes O(log² n) rounds, of aggregations and
joins alone: no step needs a component, or all neighbours of a node, in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]
_MOST_ROUNDS = 100


class ComponentsError(RuntimeError):
    """Components that did not settle, which no graph should bring about."""


def least_members(nodes: int, a: Positions, b: Positions) -> Positions:
    """The least node of each node's component, shape (nodes,), of the graph with the edges (a, b)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(nodes, nodes))
    count, label = connected_components(graph, directed=False)
    least = np.full(count, nodes, dtype=np.int64)
    np.minimum.at(least, label, np.arange(nodes))
    found: Positions = least[label]
    return found


def spark_components(edges: Any, keep: Callable[[Any, str], Any]) -> Any:
    """The DataFrame (node, root) of all nodes of `edges` (a, b), where root is the least node of the component.

    Args:
        edges: Pairs of unequal nodes of an ordered type.
        keep: Writes a DataFrame under a name and returns it as read from there, so that plans do not grow by round.

    Raises:
        ComponentsError: The rounds do not end.
    """
    from pyspark.sql import functions as f

    stars = keep(edges.select(f.greatest("a", "b").alias("a"), f.least("a", "b").alias("b")).distinct(), "round-0")
    for turn in range(1, _MOST_ROUNDS):
        if _settled(stars):
            roots = stars.select(f.col("b").alias("node"), f.col("b").alias("root")).distinct()
            return stars.select(f.col("a").alias("node"), f.col("b").alias("root")).unionByName(roots)
        stars = keep(_small_star(_large_star(stars)), f"round-{turn}")
    raise ComponentsError(f"the components of duplicates did not settle in {_MOST_ROUNDS} rounds; report this")


def _settled(edges: Any) -> bool:
    """Whether all edges (larger, smaller) are rays of stars: a node has one smaller neighbour, or larger ones alone."""
    from pyspark.sql import functions as f

    out = edges.select(f.col("a").alias("node"), f.lit(1).alias("smaller"), f.lit(0).alias("larger"))
    into = edges.select(f.col("b").alias("node"), f.lit(0).alias("smaller"), f.lit(1).alias("larger"))
    degrees = (
        out.unionByName(into).groupBy("node").agg(f.sum("smaller").alias("smaller"), f.max("larger").alias("larger"))
    )
    return bool(degrees.where("smaller > 1 or (smaller = 1 and larger = 1)").isEmpty())


def _large_star(edges: Any) -> Any:
    """Each node's larger neighbours, joined to the least of the node and its neighbours; edges (larger, smaller)."""
    from pyspark.sql import functions as f

    both = edges.unionByName(edges.select(f.col("b").alias("a"), f.col("a").alias("b")))
    least = both.groupBy("a").agg(f.min("b").alias("least"))
    least = least.select("a", f.least("a", "least").alias("least"))
    larger = both.where(f.col("b") > f.col("a")).join(least, "a")
    return larger.select(f.col("b").alias("a"), f.col("least").alias("b")).distinct()


def _small_star(edges: Any) -> Any:
    """Each node and its smaller neighbours, joined to the least of them; edges (larger, smaller) in and out."""
    from pyspark.sql import functions as f

    least = edges.groupBy("a").agg(f.min("b").alias("least"))
    own = least.select("a", f.col("least").alias("b"))
    others = edges.join(least, "a").where(f.col("b") != f.col("least"))
    return own.unionByName(others.select(f.col("b").alias("a"), f.col("least").alias("b"))).distinct()
