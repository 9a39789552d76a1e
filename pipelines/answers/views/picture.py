"""The picture of the way from a question over nodes and neighbours to chunks, laid out for SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

from quern.pipelines.answers.views.passages import Passage
from quern.pipelines.answers.views.path import strongest
from quern.schemas.answers import Answer, PathNode
from quern.schemas.words.lines import one_line, shortened

# The picture of the path, in SVG units.
_QUESTION, _BOX, _GAP = 132, 190, 46
_ROW, _LANE, _SPACE, _TOP, _LINE = 42, 6, 14, 34, 14
_CHUNKS_SHOWN = 12


@dataclass(frozen=True)
class Box:
    """A box of the picture: the question, a node or a chunk.

    Attributes:
        kind: `question`, `node`, `way` (a node whose chunk is no hit) or `chunk`.
        value: Similarity or score, as text.
        full: The whole label.
        href: Id that it leads to.
    """

    kind: str
    x: float
    y: float
    width: float
    height: float
    lines: Sequence[str]
    value: str
    full: str
    href: str | None = None

    @property
    def middle(self) -> float:
        """Height at which edges touch it."""
        return self.y + self.height / 2


@dataclass(frozen=True)
class Edge:
    """A curve between two boxes, `strength` in [0, 1]."""

    d: str
    strength: float


@dataclass(frozen=True)
class Picture:
    """The path from the question to its chunks, columns from left to right.

    Attributes:
        heads: (x, name) of each column.
        more: (x, y, text) below a column that does not show all.
        summary: What it shows, in a sentence.
    """

    width: float
    height: float
    heads: Sequence[tuple[float, str]]
    boxes: Sequence[Box]
    edges: Sequence[Edge]
    more: Sequence[tuple[float, float, str]]
    summary: str


def wrapped(text: str, cells: int, lines: int) -> list[str]:
    """At most `lines` lines of `cells` columns each, a wide character counting two; the last ends in … if cut."""
    out = [""]
    for word in one_line(text).split(" "):
        joined = f"{out[-1]} {word}" if out[-1] else word
        if cell_len(joined) <= cells:
            out[-1] = joined
        else:
            parts = chop_cells(word, cells)
            out += parts if out[-1] else []
            out = out if out[-1] else parts
        if len(out) > lines:
            return [*out[: lines - 1], chop_cells(out[lines - 1], cells - 1)[0].rstrip() + "…"]
    return out


def counted(number: int, noun: str) -> str:
    """`number` with `noun`, in the plural but for one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


@dataclass(frozen=True)
class _Slot:
    """A row of a column: a box, or a lane (no text) that a long edge runs through."""

    key: str
    order: tuple[float, float, str]
    kind: str = "lane"
    text: str = ""
    value: str = ""
    note: str = ""
    href: str | None = None

    @property
    def height(self) -> int:
        return _LANE if self.kind == "lane" else _ROW


class _Layout:
    """Puts the question, the shown nodes column by column, and the chunks; then draws edges between them."""

    def __init__(self, answer: Answer, passages: Sequence[Passage]) -> None:
        self.answer = answer
        self.shown = strongest(answer.path, answer.hits)
        self.passages = passages[:_CHUNKS_SHOWN]
        self.rank = {p.hit.chunk_id: i for i, p in reversed(list(enumerate(self.passages)))}
        self.hops = sorted({n.hop for n in self.shown.nodes.values()})
        self.boxes: dict[tuple[int, str], Box] = {}

    def _order(self, node: PathNode) -> tuple[float, float, str]:
        """Nodes stand beside the best chunk that they or those reached through them lead to."""
        ranks = [self.rank.get(n.chunk_id, math.inf) for n in self.shown.nodes.values() if n.via == node.query_id]
        return min([self.rank.get(node.chunk_id, math.inf), *ranks]), -_finite(node.similarity), node.query_id

    def _node(self, node: PathNode) -> _Slot:
        kind = "node" if node.chunk_id in self.rank else "way"
        return _Slot(node.query_id, self._order(node), kind, node.text, f"{node.similarity:.2f}")

    def columns(self) -> list[list[_Slot]]:
        """Slots of each column right of the question."""
        columns = []
        for hop in self.hops:
            nodes = self.shown.nodes.values()
            own = [self._node(n) for n in nodes if n.hop == hop]
            lanes = [_Slot(n.query_id, self._order(n)) for n in nodes if n.hop < hop and n.chunk_id in self.rank]
            columns.append(sorted(own + lanes, key=lambda s: s.order))
        distinct = [(i, p) for i, p in enumerate(self.passages) if self.rank[p.hit.chunk_id] == i]
        return [*columns, [_chunk(i, p) for i, p in distinct]]

    def _place(self, column: int, slots: list[_Slot], height: float) -> None:
        x = _QUESTION + _GAP + (column - 1) * (_BOX + _GAP)
        y = _TOP + (height - _extent(slots)) / 2
        for slot in slots:
            lines = [*wrapped(slot.text, 27, 1), shortened(slot.note, 28)] if slot.note else _lines(slot.text)
            box = Box(slot.kind, x, y, _BOX, slot.height, lines, slot.value, one_line(slot.text), slot.href)
            self.boxes[column, slot.key] = box
            y += slot.height + _SPACE

    def place(self) -> float:
        """Place every box; the height they take."""
        lines = wrapped(self.answer.question, 16, 7)
        tall = max(_ROW, len(lines) * _LINE + 18)
        columns = self.columns()
        height = max(tall, *(_extent(slots) for slots in columns))
        question = one_line(self.answer.question)
        self.boxes[0, ""] = Box("question", 1, _TOP + (height - tall) / 2, _QUESTION - 1, tall, lines, "", question)
        for column, slots in enumerate(columns, 1):
            self._place(column, slots, height)
        return height

    def _links(self) -> Iterator[tuple[list[Box], float]]:
        """The boxes that each edge runs through, lanes between its ends, and its value."""
        question, last = self.boxes[0, ""], len(self.hops) + 1
        column = {hop: i for i, hop in enumerate(self.hops, 1)}
        if not self.answer.path:
            boxes = [(self.rank[key], box) for (at, key), box in self.boxes.items() if at]
            yield from (([question, box], self.passages[i].hit.score) for i, box in boxes)
        for node in self.shown.nodes.values():
            at, value = column[node.hop], node.similarity
            box = self.boxes[at, node.query_id]
            before = self.shown.nodes.get(node.via or "")
            if before is not None and before.hop < node.hop:
                yield [self.boxes[column[before.hop], before.query_id], box], value
            elif node.hop == self.hops[0]:
                yield [question, box], value
            if node.chunk_id in self.rank:
                lanes = [self.boxes[i, node.query_id] for i in range(at + 1, last)]
                yield [box, *lanes, self.boxes[last, node.chunk_id]], value

    def edges(self) -> list[Edge]:
        """The edges, weakest first so that the strong ones lie on top."""
        links = [(boxes, _finite(value)) for boxes, value in self._links()]
        low, high = min((v for _, v in links), default=0), max((v for _, v in links), default=0)
        scaled = [Edge(_curve(b), (v - low) / (high - low) if high > low else 0.6) for b, v in links]
        return sorted(scaled, key=lambda e: e.strength)

    def heads(self) -> list[tuple[float, str]]:
        """Name of each column."""
        names = ["Question"]
        names += ["Matched nodes" if hop == 0 else f"Neighbours, {counted(hop, 'hop')}" for hop in self.hops]
        return [(self._x(i), name) for i, name in enumerate([*names, "Chunks"])]

    def _x(self, column: int) -> float:
        return 1 if column == 0 else _QUESTION + _GAP + (column - 1) * (_BOX + _GAP)

    def more(self) -> list[tuple[float, float, str]]:
        """Below each column how many it does not show."""
        hidden = [sum(n.hop == hop for n in self.shown.hidden) for hop in self.hops]
        hidden.append(len(self.answer.hits) - len(self.passages))
        notes = []
        for column, number in enumerate(hidden, 1):
            if number > 0:
                bottom = max((b.y + b.height for (i, _), b in self.boxes.items() if i == column), default=_TOP)
                notes.append((self._x(column), bottom + 18, f"and {number:,} more"))
        return notes


def _lines(text: str) -> list[str]:
    """A node's question and answer on a line each: questions of one document begin alike, answers tell them apart."""
    question, _, answer = one_line(text).partition("? ")
    return [*wrapped(f"{question}?", 27, 1), *wrapped(answer, 27, 1)] if answer else wrapped(text, 27, 2)


def _chunk(order: int, passage: Passage) -> _Slot:
    hit = passage.hit
    label = hit.title or hit.text
    return _Slot(hit.chunk_id, (order, 0, ""), "chunk", label, f"{hit.score:.3g}", hit.chunk_id, passage.id)


def _extent(slots: Sequence[_Slot]) -> float:
    return sum(s.height for s in slots) + _SPACE * max(0, len(slots) - 1)


def _curve(boxes: Sequence[Box]) -> str:
    """A curve from the right of the first box through the lanes to the left of the last."""
    x, y = boxes[0].x + boxes[0].width, boxes[0].middle
    parts = [f"M{x:g} {y:g}"]
    for box in boxes[1:]:
        bend = (x + box.x) / 2
        parts.append(f"C{bend:g} {y:g} {bend:g} {box.middle:g} {box.x:g} {box.middle:g}")
        x, y = box.x + box.width, box.middle
        if box is not boxes[-1]:
            parts.append(f"H{x:g}")
    return "".join(parts)


def picture_of(answer: Answer, passages: Sequence[Passage]) -> Picture:
    """The path as a picture: question → matched nodes → neighbours → chunks; question → chunks if it has no path."""
    layout = _Layout(answer, passages)
    height = layout.place()
    more = layout.more()
    nodes = len(layout.shown.nodes) + len(layout.shown.hidden)
    through = f"through {counted(nodes, 'node')} " if nodes else ""
    return Picture(
        width=layout.heads()[-1][0] + _BOX + 1,
        height=max([_TOP + height + 8, *(y + 8 for _, y, _ in more)]),
        heads=layout.heads(),
        boxes=[b for b in layout.boxes.values() if b.kind != "lane"],
        edges=layout.edges(),
        more=more,
        summary=f"From the question {through}to {counted(len(answer.hits), 'chunk')}",
    )
