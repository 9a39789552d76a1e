"""The way from a question over nodes and neighbours to chunks: what stands where, for SVG and for the report.

The report draws it when it is opened: it is given the heights of the boxes and what they are joined by, as numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quern.pipelines.answers.views.passages import Passage
from quern.pipelines.answers.views.path import label_of, strongest, width_of, wrapped
from quern.schemas.answers import Answer
from quern.schemas.words.lines import one_line, shortened

# The picture of the path, in SVG units.
_QUESTION, _BOX, _GAP = 140, 210, 46
_ROW, _LANE, _SPACE, _TOP, _LINE, _PADDING = 42, 6, 14, 34, 14, 11
_FONT, _SMALL = 11.5, 10.5
# Characters of the question and of the answer of a node in the report: more than the widest box shows.
_LABEL = 42


@dataclass(frozen=True)
class Box:
    """A box of the picture: the question, a node or a chunk."""

    # `question`, `node`, `way` (a node whose chunk is no hit), `chunk`, or `lane`: no box, but a place that a long edge
    # runs through.
    kind: str
    column: int  # 0 for the question.
    x: float
    y: float
    width: float
    height: float
    value: str  # Similarity, as text; nothing for a chunk.
    label: str  # What it says, as far as there is room in the report: the question of a node, the title of a chunk.
    note: str  # The answer of a node; rank and id of a chunk.
    full: str  # All that it says.

    @property
    def lines(self) -> list[str]:
        """What stands in it, line by line."""
        width = self.width - 2 * _PADDING
        # Width of letters of DejaVu Sans that are not bold, as a share of the bold ones': .93 at most but for / and \\.
        size = _FONT if self.kind in ("question", "chunk") else _FONT * 0.93
        if not self.note:
            return wrapped(self.label, width, 7 if self.kind == "question" else 2, size)
        # Questions of one document begin alike, answers tell them apart: a line each.
        note_size = _SMALL if self.kind == "chunk" else size
        return [*wrapped(self.label, width, 1, size), *wrapped(self.note, width, 1, note_size)]

    @property
    def middle(self) -> float:
        """Height at which edges touch it."""
        return self.y + self.height / 2


@dataclass(frozen=True)
class Edge:
    """A curve from the first of `boxes` through lanes to the last; `strength` in [0, 1]."""

    boxes: Sequence[Box]
    strength: float

    @property
    def d(self) -> str:
        """The curve as SVG has it: from the right of a box to the left of the next."""
        x, y = self.boxes[0].x + self.boxes[0].width, self.boxes[0].middle
        parts = [f"M{x:g} {y:g}"]
        for box in self.boxes[1:]:
            bend = (x + box.x) / 2
            parts.append(f"C{bend:g} {y:g} {bend:g} {box.middle:g} {box.x:g} {box.middle:g}")
            x, y = box.x + box.width, box.middle
            if box is not self.boxes[-1]:
                parts.append(f"H{x:g}")
        return "".join(parts)


@dataclass(frozen=True)
class Column:
    """A column of the picture."""

    name: str
    x: float
    boxes: Sequence[Box]  # From the top; lanes are not among them.
    more: int  # How many it does not show.

    @property
    def bottom(self) -> float:
        """Where its last box ends."""
        return max((box.y + box.height for box in self.boxes), default=_TOP)


@dataclass(frozen=True)
class Picture:
    """The path from the question to its chunks, columns from left to right; `summary` says it in a sentence."""

    width: float
    height: float
    columns: Sequence[Column]
    edges: Sequence[Edge]
    summary: str

    @property
    def boxes(self) -> list[Box]:
        """All boxes, column by column."""
        return [box for column in self.columns for box in column.boxes]

    @property
    def numbers(self) -> str:
        """What the report draws from, as JSON: height, tops of the boxes by column, edges.

        Tops of three and more boxes that follow each other closely are the first and how many there are, negative.
        Boxes are numbered column by column, the question is 0. Each other box that has edges, all but the chunks of a
        path, has a list of them, empty where it has none: the box before it, the chunk behind it (0 for none), the
        strength of both in tenths, and the heights of the lanes to the chunk. -1 is no box.
        """
        number = {id(box): n for n, box in enumerate(self.boxes)}
        ends = len(self.columns[-1].boxes)
        linked = len(number) - 1 - (ends if len(self.columns) > 2 else 0)
        edges: list[list[float]] = [[] for _ in range(linked)]
        for edge in self.edges:
            start, *lanes, end = edge.boxes
            before, behind = number[id(start)], number[id(end)]
            inward = behind <= linked
            own = edges[(behind if inward else before) - 1]
            own[:3] = [*(own[:2] or (-1, 0)), round(10 * edge.strength)]
            own[0 if inward else 1] = before if inward else behind
            own += [_short(lane.middle) for lane in lanes]
        tops = []
        for column in self.columns:
            own = [box.y for box in column.boxes]
            even = all(abs(y - own[0] - n * (_ROW + _SPACE)) < 0.01 for n, y in enumerate(own))
            tops.append([_short(own[0]), -len(own)] if even and len(own) > 2 else [_short(y) for y in own])
        return json.dumps([_short(self.height), tops, edges], separators=(",", ":"))


def _short(number: float) -> float:
    """A number without a fraction that nobody sees."""
    return int(number) if number == int(number) else round(number, 1)


def counted(number: int, noun: str) -> str:
    """`number` with `noun`, in the plural but for one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _box(kind: str = "lane", value: str = "", label: str = "", note: str = "", full: str = "") -> Box:
    """A box that has no place yet; by default a lane, which a long edge runs through."""
    return Box(kind, 0, 0, 0, _BOX, _LANE if kind == "lane" else _ROW, value, label, note, full)


class _Layout:
    """Puts the question, the shown nodes column by column, and the chunks; then draws edges between them."""

    def __init__(self, answer: Answer, passages: Sequence[Passage]) -> None:
        self.answer = answer
        self.shown = strongest(answer.path, answer.hits)
        self.passages = passages[:12]
        self.rank = {p.hit.chunk_id: i for i, p in reversed(list(enumerate(self.passages)))}
        self.hops = sorted({n.hop for n in self.shown.nodes.values()})
        self.titles = {hit.title for hit in answer.hits if hit.title}
        self.boxes: dict[tuple[int, str], Box] = {}

    def place(self) -> float:
        """Place every box; the height they take."""
        asked = one_line(self.answer.question)
        tall = max(_ROW, min(7, math.ceil(width_of(asked, _FONT) / (_QUESTION - 30))) * _LINE + 18)
        # The boxes of each column right of the question by their keys, nodes with the nearest to the question first.
        columns: list[dict[str, Box]] = []
        for hop in self.hops:
            column: dict[str, Box] = {}
            for node in sorted(self.shown.nodes.values(), key=lambda n: (-_finite(n.similarity), n.hop, n.query_id)):
                if node.hop == hop:
                    question, mark, answer = label_of(node.text, self.titles).partition("? ")
                    label = shortened(question + mark.strip(), _LABEL if mark else 2 * _LABEL)
                    # By what other edge than that of a neighbour it was reached.
                    edge = node.edge if node.edge and node.edge != "neighbour" else ""
                    full = one_line(node.text) + (f", by a {edge.replace('_', ' ')}" if edge else "")
                    kind, value = "node" if node.chunk_id in self.rank else "way", f"{node.similarity:.2f}"
                    column[node.query_id] = _box(kind, value, label, shortened(answer, _LABEL), full)
                elif node.hop < hop and node.chunk_id in self.rank:
                    column[node.query_id] = _box()
            columns.append(column)
        chunks: dict[str, Box] = {}
        for passage in self.passages:
            title = one_line(passage.hit.title or passage.hit.text)
            note = f"{passage.hit.rank} · {passage.hit.chunk_id}"
            chunks[passage.id] = _box("chunk", "", shortened(title, 2 * _LABEL), note, title)
        columns.append(chunks)
        extents = [sum(box.height + _SPACE for box in own.values()) - _SPACE if own else 0 for own in columns]
        height = max(tall, *extents)
        top = _TOP + (height - tall) / 2
        self.boxes[0, ""] = Box("question", 0, 1, top, _QUESTION - 1, tall, "", asked, "", asked)
        for n, (own, extent) in enumerate(zip(columns, extents, strict=True), 1):
            y = _TOP + (height - extent) / 2
            for key, box in own.items():
                self.boxes[n, key] = replace(box, column=n, x=_x(n), y=y)
                y += box.height + _SPACE
        return height

    def edges(self) -> list[Edge]:
        """The edges through lanes between their ends, weakest first so that the strong ones lie on top."""
        links: list[tuple[list[Box], float]] = []
        question, last = self.boxes[0, ""], len(self.hops) + 1
        column = {hop: i for i, hop in enumerate(self.hops, 1)}
        if not self.answer.path:
            links += [([question, self.boxes[1, p.id]], _finite(p.hit.score)) for p in self.passages]
        for node in self.shown.nodes.values():
            at, value = column[node.hop], _finite(node.similarity)
            box = self.boxes[at, node.query_id]
            before = self.shown.nodes.get(node.via or "")
            if before is not None and before.hop < node.hop:
                links.append(([self.boxes[column[before.hop], before.query_id], box], value))
            elif node.hop == self.hops[0]:
                links.append(([question, box], value))
            if node.chunk_id in self.rank:
                lanes = [self.boxes[i, node.query_id] for i in range(at + 1, last)]
                chunk = self.boxes[last, self.passages[self.rank[node.chunk_id]].id]
                links.append(([box, *lanes, chunk], value))
        low, high = min((v for _, v in links), default=0), max((v for _, v in links), default=0)
        scaled = [Edge(b, (v - low) / (high - low) if high > low else 0.6) for b, v in links]
        return sorted(scaled, key=lambda e: e.strength)

    def columns(self) -> list[Column]:
        """The columns with their boxes, and how many each does not show."""
        names = ["Matched nodes" if hop == 0 else f"Neighbours, {counted(hop, 'hop')}" for hop in self.hops]
        hidden = [sum(n.hop == hop for n in self.shown.hidden) for hop in self.hops]
        hidden.append(len(self.answer.hits) - len(self.passages))
        by_column: dict[int, list[Box]] = {}
        for box in self.boxes.values():
            if box.kind != "lane":
                by_column.setdefault(box.column, []).append(box)
        heads = zip(["Question", *names, "Chunks"], [0, *hidden], strict=True)
        return [Column(name, _x(i), by_column.get(i, []), more) for i, (name, more) in enumerate(heads)]


def _x(column: int) -> float:
    return 1 if column == 0 else _QUESTION + _GAP + (column - 1) * (_BOX + _GAP)


def picture_of(answer: Answer, passages: Sequence[Passage]) -> Picture:
    """The path as a picture: question → matched nodes → neighbours → chunks; question → chunks if it has no path."""
    layout = _Layout(answer, passages)
    height = layout.place()
    columns = layout.columns()
    nodes = len(layout.shown.nodes) + len(layout.shown.hidden)
    through = f"through {counted(nodes, 'node')} " if nodes else ""
    return Picture(
        width=columns[-1].x + _BOX + 1,
        height=max([_TOP + height + 8, *(c.bottom + 26 for c in columns if c.more)]),
        columns=columns,
        edges=layout.edges(),
        summary=f"From the question {through}to {counted(len(answer.hits), 'chunk')}",
    )
