"""A batch of answers as one HTML page that needs nothing beside itself: no network, no script, no second file.

All that comes from the corpus is hostile: it is escaped, its control characters are replaced one for one, its
directions are isolated, its addresses become links only where they are http(s), and the page's policy lets only
its own style and script run, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from rich.cells import cell_len, chop_cells

from indexes.files import write_whole
from pipelines.present import one_line, shortened, strongest
from schemas.answers import Answer, Citation, Hit, PathNode

_BLOCK = 1 << 16
_CARRIAGE = re.compile("\r(\n?)")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_NUMBER = re.compile(r"\[(\d{1,6})\]")


def printable(text: str) -> str:
    """`text` as HTML can hold it, of the same length: control characters and lone surrogates become U+FFFD."""
    return _UNPRINTABLE.sub("\ufffd", _CARRIAGE.sub(lambda found: " \n" if found[1] else "\n", text))


def web_address(url: str | None) -> str | None:
    """`url` if a reader may follow it: absolute, http or https."""
    if url is None or not re.match(r"https?://[^\s/]", url, re.IGNORECASE):
        return None
    try:
        return url if urlsplit(url).hostname else None
    except ValueError:
        return None


@dataclass(frozen=True)
class Source:
    """A citation as the page shows it.

    Attributes:
        id: Of its place in the list of sources.
        mark: Id of the first mark of the cited span; None where no hit holds the span.
        position: Counted from 1; tells apart citations that share a number.
    """

    citation: Citation
    id: str
    mark: str | None
    position: int

    @property
    def target(self) -> str:
        """Where its number in the answer leads."""
        return self.mark or self.id

    @property
    def href(self) -> str | None:
        """Its address, if a reader may follow it."""
        return web_address(self.citation.url)


@dataclass(frozen=True)
class Passage:
    """A hit as the page shows it: `text` has the cited spans marked."""

    hit: Hit
    id: str
    text: Markup
    cited: bool

    @property
    def href(self) -> str | None:
        """Its address, if a reader may follow it."""
        return web_address(self.hit.url)


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    source: Source


def _holds(hit: Hit, citation: Citation) -> bool:
    """Whether the citation's quote stands in this hit, where it says it does."""
    start, end = citation.start - hit.start, citation.end - hit.start
    return hit.chunk_id == citation.chunk_id and 0 <= start < end and hit.text[start:end] == citation.quote


def sources_of(answer: Answer, prefix: str) -> list[Source]:
    """The citations, each with the id of its mark if one of the hits holds it."""
    sources = []
    for position, citation in enumerate(answer.citations, 1):
        held = any(_holds(hit, citation) for hit in answer.hits)
        mark = f"{prefix}-m{position}" if held else None
        sources.append(Source(citation, f"{prefix}-s{position}", mark, position))
    return sources


def _mark(span: _Span, at: int) -> Markup:
    """The start of a mark; only the first mark of a span has the id that links lead to."""
    own = Markup(' id="{}" data-number="{}"').format(span.source.mark, span.source.citation.number)
    return Markup('<mark data-cite="{}"{}>').format(span.source.position, own if at == span.start else Markup(""))


def marked(text: str, spans: Sequence[_Span]) -> Markup:
    """`text` with marks around `spans`. Spans may overlap: then the later one is cut in two where the earlier ends."""
    opens = sorted(spans, key=lambda s: (s.start, -s.end))
    places = sorted({0, len(text)}.union(*((s.start, s.end) for s in spans)))
    shown = printable(text)
    parts: list[Markup] = []
    stack: list[_Span] = []
    for place, following in pairwise(places):
        ended = next((i for i, s in enumerate(stack) if s.end <= place), len(stack))
        parts.append(Markup("</mark>") * (len(stack) - ended))
        again = [s for s in stack[ended:] if s.end > place]
        starting = [s for s in opens if s.start == place]
        stack[ended:] = again + starting
        parts += [_mark(s, place) for s in again + starting]
        parts.append(escape(shown[place:following]))
    parts.append(Markup("</mark>") * len(stack))
    return Markup("").join(parts)


def passages_of(answer: Answer, sources: Sequence[Source], prefix: str) -> list[Passage]:
    """The hits with the cited spans marked, each span once and in its own chunk."""
    passages: list[Passage] = []
    placed: set[int] = set()
    for position, hit in enumerate(answer.hits, 1):
        mine = [s for s in sources if s.position not in placed and _holds(hit, s.citation)]
        placed.update(s.position for s in mine)
        spans = [_Span(s.citation.start - hit.start, s.citation.end - hit.start, s) for s in mine]
        passages.append(Passage(hit, f"{prefix}-h{position}", marked(hit.text, spans), bool(spans)))
    return passages


def pieces_of(text: str, sources: Sequence[Source]) -> list[tuple[str, Source | None]]:
    """The answer cut at its citations: text with None, `[n]` with its source and on a line with the word before.

    A `[n]` inside a quote was written by the corpus and is text.
    """
    quoted: list[tuple[int, int]] = []
    for quote in {q for s in sources for q in (s.citation.quote, " ".join(s.citation.quote.split()))}:
        at = text.find(quote)
        if at >= 0:
            quoted.append((at, at + len(quote)))
    by_number = {s.citation.number: s for s in reversed(sources)}
    pieces: list[tuple[str, Source | None]] = []
    last = 0
    for found in _NUMBER.finditer(text):
        linked = by_number.get(int(found[1]))
        if linked is None or any(start <= found.start() and found.end() <= end for start, end in quoted):
            continue
        before = text[last : found.start()]
        pieces += [(before[:-1] + "\u00a0" if before.endswith(" ") else before, None), (found[0], linked)]
        last = found.end()
    return [piece for piece in [*pieces, (text[last:], None)] if piece[0]]


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


def _count(number: int, noun: str) -> str:
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
            lines = wrapped(slot.text, 27, 1 if slot.note else 2) + ([shortened(slot.note, 28)] if slot.note else [])
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
        names += ["Matched nodes" if hop == 0 else f"Neighbours, {_count(hop, 'hop')}" for hop in self.hops]
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
    through = f"through {_count(nodes, 'node')} " if nodes else ""
    return Picture(
        width=layout.heads()[-1][0] + _BOX + 1,
        height=max([_TOP + height + 8, *(y + 8 for _, y, _ in more)]),
        heads=layout.heads(),
        boxes=[b for b in layout.boxes.values() if b.kind != "lane"],
        edges=layout.edges(),
        more=more,
        summary=f"From the question {through}to {_count(len(answer.hits), 'chunk')}",
    )


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    id: str
    question: str
    found: bool


def _value(value: object) -> str:
    """A value of the header as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return value.strftime("%Y-%m-%d %H:%M") if isinstance(value, datetime) else str(value)


def _finalize(value: object) -> object:
    return printable(value) if type(value) is str else value


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["count"] = _count
    environment.filters["shown"] = _value
    return environment


def _digest(text: str) -> str:
    """What a Content-Security-Policy calls an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _write_sections(answers: Iterable[Answer], environment: Environment, out: IO[str]) -> list[Entry]:
    """Write a section per answer as they come; what the table of contents needs of them."""
    template = environment.get_template("answer.html.j2")
    contents: list[Entry] = []
    for number, answer in enumerate(answers, 1):
        prefix = f"q{number}"
        sources = sources_of(answer, prefix)
        passages = passages_of(answer, sources, prefix)
        section = template.render(
            id=prefix,
            number=number,
            answer=answer,
            pieces=pieces_of(answer.answer, sources),
            sources=sources,
            passages=passages,
            picture=picture_of(answer, passages) if passages else None,
        )
        out.write(section)
        contents.append(Entry(prefix, shortened(printable(answer.question), 160), answer.found))
    return contents


def _write(answers: Iterable[Answer], title: str, snapshot: Mapping[str, object], path: Path) -> None:
    """Write the sections beside `path`, then the page around them: its head counts what they hold."""
    environment = _environment()
    script = environment.get_template("report.js").render()
    style = environment.get_template("report.css.j2").render()
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="", dir=path.parent) as body:
        contents = _write_sections(answers, environment, body)
        body.seek(0)
        page = environment.get_template("report.html.j2").generate(
            title=title,
            snapshot=snapshot,
            contents=contents,
            answered=sum(entry.found for entry in contents),
            style=Markup(style),  # noqa: S704 - our own file.
            script=Markup(script),  # noqa: S704 - our own file.
            style_digest=_digest(style),
            script_digest=_digest(script),
            body=map(Markup, iter(partial(body.read, _BLOCK), "")),
        )
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(page)


def write_report(answers: Iterable[Answer], path: Path, *, title: str, snapshot: Mapping[str, object]) -> None:
    """Write the report of `answers` to `path`, whole or not at all; answers are taken and let go one by one.

    Args:
        answers: In the order of the report.
        path: File to write; `.html`.
        title: Heading of the page.
        snapshot: What the answers were made from: label → value, in the order of the page.
    """
    write_whole(path, partial(_write, answers, title, snapshot))
