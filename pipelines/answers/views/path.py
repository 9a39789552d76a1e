"""The path of an answer, cut to what can be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quern.schemas.answers import Hit, PathNode

NODES_SHOWN = 12


@dataclass(frozen=True)
class Shown:
    """The nodes of a path that are shown.

    Attributes:
        nodes: By query id: those that led to a hit first, then by similarity; a node comes with those it was
            reached through.
        hidden: The others.
    """

    nodes: dict[str, PathNode]
    hidden: list[PathNode]


def _chain(node: PathNode, nodes: dict[str, PathNode]) -> list[PathNode]:
    """The node and those it was reached through, back to the question."""
    chain = {node.query_id: node}
    while node.via in nodes and node.via not in chain:
        node = nodes[node.via]
        chain[node.query_id] = node
    return list(chain.values())


def strongest(path: Sequence[PathNode], hits: Iterable[Hit], limit: int = NODES_SHOWN) -> Shown:
    """The `limit` nodes that tell most about how the hits were found."""
    nodes: dict[str, PathNode] = {}
    for node in path:
        nodes.setdefault(node.query_id, node)
    found = {hit.chunk_id for hit in hits}
    shown: dict[str, PathNode] = {}
    for node in sorted(nodes.values(), key=lambda n: (n.chunk_id not in found, -n.similarity, n.query_id)):
        chain = [n for n in _chain(node, nodes) if n.query_id not in shown]
        if len(shown) + len(chain) <= limit:
            shown.update((n.query_id, n) for n in chain)
    return Shown(shown, [n for key, n in nodes.items() if key not in shown])
