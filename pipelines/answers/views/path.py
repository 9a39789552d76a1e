"""The path of an answer, cut to what can be shown, and the labels of its nodes, cut to the width of a box."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

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
    found = {hit.chunk_id for hit in hits}
    shown: dict[str, PathNode] = {}
    said: set[tuple[str, str]] = set()
    hidden: list[PathNode] = []
    for node in sorted(nodes.values(), key=lambda n: (n.chunk_id not in found, -n.similarity, n.query_id)):
        if node.query_id in shown or (node.chunk_id, node.text) in said:
            continue
        said.add((node.chunk_id, node.text))
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


# The heads that `jobs.queries.rules` gives a question so that it says of itself what it is about.
_ABOUT = re.compile(r"About .{1,200}?: (?=[^\W\d_])|关于.{1,80}?，(?:文中怎样说)?")
_SAID = re.compile(r"What is (?:said about|there to know about) ")


def label_of(text: str, titles: Collection[str]) -> str:
    """The text of a node without the title of its document, with which the texts of all its neighbours begin.

    Args:
        text: Question and answer of the node.
        titles: Titles of documents that may head it, known because a title may hold the mark that ends a head.
    """
    text = one_line(text)
    said = _SAID.match(text)
    for title in sorted(map(one_line, filter(None, titles)), key=len, reverse=True):
        for head in (f"About {title}: ", f"关于{title}，"):
            if text.startswith(head):
                return _sentence(text[len(head) :])
        if said and text.startswith((f"{title} and ", f"{title}: ", f"{title}? "), said.end()):
            return _sentence(re.sub(r"^(?: and |: |\? )", "", text[said.end() + len(title) :]))
    found = _ABOUT.match(text)
    return _sentence(text[found.end() :] if found else text)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# Widths of DejaVu Sans in hundredths of its size, bold: no wider font is the default of a system that we know of, so
# that a text that fits by this table fits anywhere. Wide characters of East Asia are as wide as they are high.
_WIDTHS = {
    char: width
    for width, chars in {
        30: "'",
        35: " /IJ\\ijl|",
        40: ",-.:;",
        45: "!()[]f",
        50: '"*_`rt',
        60: "?csz",
        65: "Lakvxy",
        70: "$0123456789EFSTYbdeghnopqu{}",
        75: "ABCKPRVXZ",
        80: "GU",
        85: "#&+<=>DHNOQ^~",
        90: "w",
        110: "%@MWm…",
    }.items()
    for char in chars
}


def width_of(text: str, size: float) -> float:
    """How wide `text` is at most, in the unit of `size`, the height of the font."""
    return sum(_WIDTHS.get(char) or (75 if cell_len(char) < 2 else 105) for char in text) * size / 100


def wrapped(text: str, width: float, lines: int, size: float) -> list[str]:
    """At most `lines` lines of `width`; the last ends in … where something was cut."""
    out = [""]
    for word in one_line(text).split(" "):
        joined = f"{out[-1]} {word}" if out[-1] else word
        if width_of(joined, size) <= width:
            out[-1] = joined
            continue
        parts = [""]  # A word that is wider than a line is broken; a part has one character at least.
        for char in word:
            if parts[-1] and width_of(parts[-1] + char, size) > width:
                parts.append("")
            parts[-1] += char
        out = [*out, *parts] if out[-1] else parts
        if len(out) > lines:
            last = out[lines - 1]
            while last and width_of(last + "…", size) > width:
                last = last[:-1].rstrip()
            return [*out[: lines - 1], last + "…"]
    return out
