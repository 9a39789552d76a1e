"""The path of an answer, cut to what can be shown, and the labels of its nodes, cut to the width of a box."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from quern.schemas.answers import Hit, PathNode
from quern.schemas.words.lines import one_line


@dataclass(frozen=True)
class Shown:
    """The nodes of a path that are shown."""

    # By query id: those that led to a hit first, then by similarity; a node comes with those it was reached through.
    nodes: dict[str, PathNode]
    # The others; not those that say what a shown one says: a pair may have several nodes, each found by words of its
    # own.
    hidden: list[PathNode]


def strongest(path: Sequence[PathNode], hits: Iterable[Hit], limit: int = 12) -> Shown:
    """The `limit` nodes that tell most about how the hits were found."""
    nodes: dict[str, PathNode] = {}
    for node in path:
        nodes.setdefault(node.query_id, node)
    chunk_ids = {hit.chunk_id for hit in hits}
    shown: dict[str, PathNode] = {}
    texts: set[tuple[str, str]] = set()
    hidden: list[PathNode] = []
    for node in sorted(nodes.values(), key=lambda n: (n.chunk_id not in chunk_ids, -n.similarity, n.query_id)):
        if node.query_id in shown or (node.chunk_id, node.text) in texts:
            continue
        texts.add((node.chunk_id, node.text))
        # The node and those it was reached through, back to the question; a path may be a circle.
        chain, last = {node.query_id: node}, node
        while last.via in nodes and last.via not in chain:
            last = nodes[last.via]
            chain[last.query_id] = last
        new = chain.keys() - shown.keys()
        if len(shown) + len(new) <= limit:
            shown.update((key, n) for key, n in chain.items() if key in new)
        else:
            hidden.append(node)
    return Shown(shown, [node for node in hidden if node.query_id not in shown])


# The head that `jobs.queries.rules` gives a question so that it says of itself what it is about.
_ABOUT = re.compile(r"About .{1,200}?: (?=[^\W\d_])|关于.{1,80}?，(?:文中怎样说)?")


def label_of(text: str, titles: Collection[str]) -> str:
    """The text of a node without the title of its document, with which the texts of all its neighbours begin.

    Args:
        text: Question and answer of the node.
        titles: Titles of documents that may head it, known because a title may hold the mark that ends a head.
    """
    text = one_line(text)
    heads = [head for title in filter(None, map(one_line, titles)) for head in (f"About {title}: ", f"关于{title}，")]
    head = max(filter(text.startswith, heads), key=len, default="")
    if not head and (match := _ABOUT.match(text)):
        head = match[0]
    label = text.removeprefix(head)
    return label[:1].upper() + label[1:]
