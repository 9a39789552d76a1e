"""The path of an answer, cut to what can be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quern.schemas.answers import Hit, PathNode


@dataclass(frozen=True)
class Shown:
    """The nodes of a path that are shown."""

    # By query id: those that led to a hit first, then by similarity; a node comes with those it was reached through.
    nodes: dict[str, PathNode]
    # The others; not those that say what a shown one says: a pair may have several nodes, each found by words of its
    # own.
    hidden: list[PathNode]


def _chain(node: PathNode, nodes: dict[str, PathNode]) -> list[PathNode]:
    """The node and those it was reached through, back to the question."""
    chain = {node.query_id: node}
    while node.via in nodes and node.via not in chain:
        node = nodes[node.via]
        chain[node.query_id] = node
    return list(chain.values())


def strongest(path: Sequence[PathNode], hits: Iterable[Hit], limit: int = 12) -> Shown:
    """The `limit` nodes that tell most about how the hits were found."""
    nodes: dict[str, PathNode] = {}
    for node in path:
        nodes.setdefault(node.query_id, node)
    found = {hit.chunk_id for hit in hits}
    shown: dict[str, PathNode] = {}
    said: set[tuple[str, str]] = set()
    hidden: list[PathNode] = []
    for node in sorted(nodes.values(), key=lambda n: (n.chunk_id not in found, -n.similarity, n.query_id)):
        if node.query_id in shown or _says(node) in said:
            continue
        said.add(_says(node))
        chain = [n for n in _chain(node, nodes) if n.query_id not in shown]
        if len(shown) + len(chain) <= limit:
            shown.update((n.query_id, n) for n in chain)
        else:
            hidden.append(node)
    return Shown(shown, [node for node in hidden if node.query_id not in shown])


def _says(node: PathNode) -> tuple[str, str]:
    return node.chunk_id, node.text
