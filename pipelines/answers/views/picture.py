"""The picture of the way from a question to its chunks, which the report draws when it is opened."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from rich.cells import cell_len

from quern.pipelines.answers.views.path import Shown, label_of, strongest
from quern.schemas.answers import Answer
from quern.schemas.words.lines import one_line, shortened

# Heights of the picture, as in `report.js`.
_ROW, _LANE, _SPACE, _TOP, _LINE = 42, 6, 14, 34, 14
_LABEL: Final = 42  # Characters of the question and of the answer of a node: more than the widest box shows.
_CHUNKS: Final = 12  # Most chunks that are drawn.


@dataclass(eq=False)
class Box:
    """The question, a node or a chunk; or a lane, a place that a long edge runs through."""

    kind: str = "lane"  # `question`, `node`, `way` (a node whose chunk is no hit), `chunk` or `lane`.
    value: str = ""  # Similarity of a node, as text.
    label: str = ""  # Question of a node.
    note: str = ""  # Answer of a node.
    height: float = _LANE
    y: float = 0.0


@dataclass(frozen=True)
class Column:
    """The nodes of one hop, from the top; lanes are not among them."""

    name: str
    boxes: Sequence[Box]
    more: int  # How many it does not show.


@dataclass(frozen=True)
class Picture:
    """The columns of nodes, and the numbers that the picture is drawn from.

    `numbers` is JSON: height, tops of the boxes of each column, edges. Tops of three and more boxes that follow each
    other closely are the first and how many there are, negative. Boxes are numbered column by column, the question is
    0. Each node (of an answer without a path each chunk) has a list of its edges, empty where it has none: the box
    before it (-1 for none), the chunk behind it (0 for none), the strength of both in tenths, and the heights of the
    lanes to the chunk.
    """

    columns: Sequence[Column]
    numbers: str


def counted(number: int, noun: str) -> str:
    """`number` with `noun`, in the plural but for one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def picture_of(answer: Answer) -> Picture:
    """The path as a picture: question → matched nodes → neighbours → chunks; question → chunks if it has no path."""
    shown, hits = strongest(answer.path, answer.hits), answer.hits[:_CHUNKS]
    hops = sorted({node.hop for node in shown.nodes.values()})
    # Of several hits with one chunk the first is drawn to.
    place = {hit.chunk_id: n for n, hit in reversed([*enumerate(hits)])}
    lines = min(7, math.ceil(cell_len(one_line(answer.question)) / 14))
    question = Box("question", height=max(_ROW, lines * _LINE + 18))
    columns = [_column(answer, shown, hop, place) for hop in hops]
    chunks = [Box("chunk", height=_ROW) for _ in hits]
    stacks = [[question], *([*column.values()] for column in columns), chunks]
    extents = [sum(box.height + _SPACE for box in stack) - _SPACE for stack in stacks]
    for stack, extent in zip(stacks, extents, strict=True):
        y = _TOP + (max(extents) - extent) / 2
        for box in stack:
            box.y = y
            y += box.height + _SPACE
    drawn = [[box for box in stack if box.kind != "lane"] for stack in stacks]
    number = {box: n for n, box in enumerate(chain(*drawn))}
    edges: list[tuple[int, int, float, list[Box]]] = []
    if not answer.path:
        edges = [(0, 0, _finite(hit.score), []) for hit in hits]
    for at, column in enumerate(columns):
        for query_id in (key for key, box in column.items() if box.kind != "lane"):
            node, before = shown.nodes[query_id], -1 if at else 0
            via = shown.nodes.get(node.via or "")
            if via is not None and via.hop < node.hop:
                before = number[columns[hops.index(via.hop)][via.query_id]]
            behind, lanes = 0, list[Box]()
            if node.chunk_id in place:
                behind = number[chunks[place[node.chunk_id]]]
                lanes = [later[query_id] for later in columns[at + 1 :]]
            edges.append((before, behind, _finite(node.similarity), lanes))
    more = [sum(node.hop == hop for node in shown.hidden) for hop in hops]
    names = ["Matched nodes" if hop == 0 else f"Neighbours, {counted(hop, 'hop')}" for hop in hops]
    bottoms = [boxes[-1].y + _ROW + 26 for boxes, n in zip(drawn[1:], more, strict=False) if n]
    height = max([_TOP + max(extents) + 8, *bottoms])
    numbers = [_short(height), [*map(_tops, drawn)], _numbers(edges)]
    shown_columns = [*map(Column, names, drawn[1:], more)]
    return Picture(shown_columns, json.dumps(numbers, separators=(",", ":")))


def _column(answer: Answer, shown: Shown, hop: int, place: Collection[str]) -> dict[str, Box]:
    """The nodes of a hop, the nearest to the question first, with the lanes of those before them, by query id."""
    titles = {hit.title for hit in answer.hits if hit.title}
    column: dict[str, Box] = {}
    for node in sorted(shown.nodes.values(), key=lambda n: (-_finite(n.similarity), n.hop, n.query_id)):
        if node.hop == hop:
            # Questions of one document begin alike, answers tell them apart: a line each.
            question, mark, rest = label_of(node.text, titles).partition("? ")
            label = shortened(question + mark.strip(), _LABEL if mark else 2 * _LABEL)
            kind, value = "node" if node.chunk_id in place else "way", f"{node.similarity:.2f}"
            column[node.query_id] = Box(kind, value, label, shortened(rest, _LABEL), _ROW)
        elif node.hop < hop and node.chunk_id in place:
            column[node.query_id] = Box()
    return column


def _tops(boxes: Sequence[Box]) -> list[float]:
    even = all(abs(box.y - boxes[0].y - n * (_ROW + _SPACE)) < 0.01 for n, box in enumerate(boxes))
    return [_short(boxes[0].y), -len(boxes)] if even and len(boxes) > 2 else [_short(box.y) for box in boxes]


def _numbers(edges: Sequence[tuple[int, int, float, Sequence[Box]]]) -> list[list[float]]:
    """The edges with their strength in tenths, from the weakest of all to the strongest, and the heights of lanes."""
    values = [value for before, behind, value, _ in edges if (before, behind) != (-1, 0)]
    low, high = min(values, default=0), max(values, default=0)
    numbers: list[list[float]] = []
    for before, behind, value, lanes in edges:
        tenths = round(10 * (value - low) / (high - low)) if high > low else 6
        heights = [_short(lane.y + lane.height / 2) for lane in lanes]
        numbers.append([before, behind, tenths, *heights] if (before, behind) != (-1, 0) else [])
    return numbers


def _short(number: float) -> float:
    """A number without a fraction that nobody sees."""
    return int(number) if number == int(number) else round(number, 1)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0
