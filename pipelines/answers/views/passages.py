"""What an answer cites, made ready to be shown: sources, passages of evidence with their marked spans.

A span is given in characters of its document; it is marked in the passage of its own chunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from quern.schemas.answers import Answer, Citation, Hit
from quern.schemas.words.lines import printable


def web_address(url: str | None) -> str | None:
    """`url` if a reader may follow it: absolute, http or https."""
    if url is None or not re.match(r"https?://[^\s/]", url, re.IGNORECASE):
        return None
    try:
        return url if urlsplit(url).hostname else None
    except ValueError:
        return None


@dataclass(frozen=True)
class Quote:
    """A citation as the page shows it."""

    citation: Citation
    id: str  # Of its place in the list of sources.
    mark: str | None  # Id of the first mark of the cited span; None where no hit holds the span.
    position: int  # Counted from 1; tells apart citations that share a number.

    @property
    def target(self) -> str:
        """Where its number in the answer leads."""
        return self.mark or self.id


@dataclass(frozen=True)
class Source:
    """A document that an answer cites: one entry, whatever is quoted of it."""

    quotes: Sequence[Quote]

    @property
    def of(self) -> Citation:
        """The first of its citations, which says what document it is."""
        return self.quotes[0].citation

    @property
    def href(self) -> str | None:
        """Its address, if a reader may follow it."""
        return web_address(self.of.url)


# Characters shown before and after a quote of a text that stands whole elsewhere.
_CONTEXT = 100


@dataclass(frozen=True)
class Span:
    """Characters of a passage that a citation quotes."""

    start: int
    end: int
    quote: Quote


@dataclass(frozen=True)
class Passage:
    """A hit as the page shows it: the cited spans are marked, and its tables are tables."""

    hit: Hit
    id: str
    spans: Sequence[Span] = ()

    @property
    def href(self) -> str | None:
        """Its address, if a reader may follow it."""
        return web_address(self.hit.url)

    @property
    def text(self) -> Markup:
        """All of its text."""
        return marked(self.hit.text, self.spans)

    @property
    def excerpt(self) -> Markup:
        """What is quoted, in its lines, of a text that can be read whole elsewhere in the page."""
        text = self.hit.text
        pieces: list[tuple[int, int]] = []
        for span in sorted(self.spans, key=lambda s: s.start):
            start = max(text.rfind("\n", 0, span.start) + 1, _word_start(text, span.start - _CONTEXT))
            end = min(_line_end(text, span.end), _word_end(text, span.end + _CONTEXT))
            if pieces and start <= pieces[-1][1] + 1:
                pieces[-1] = (pieces[-1][0], max(end, pieces[-1][1]))
            else:
                pieces.append((start, end))
        parts = []
        for start, end in pieces:
            cut = "" if start == 0 or text[start - 1] == "\n" else "… ", "" if end == _line_end(text, end) else " …"
            parts.append(Markup("{}{}{}").format(cut[0], marked(text, self.spans, start, end), cut[1]))
        return Markup("\n").join(parts)


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", max(at - 1, 0))
    return len(text) if found < 0 else max(found, at)


def _word_start(text: str, at: int) -> int:
    """The start of the first word from `at` on, if it starts soon."""
    found = text.find(" ", max(at, 0), max(at, 0) + 30)
    return 0 if at <= 0 else found + 1 if found >= 0 else at


def _word_end(text: str, at: int) -> int:
    found = text.rfind(" ", max(at - 30, 0), at)
    return len(text) if at >= len(text) else found if found >= 0 else at


def _holds(hit: Hit, citation: Citation) -> bool:
    """Whether the citation's quote stands in this hit, where it says it does."""
    start, end = citation.start - hit.start, citation.end - hit.start
    return hit.chunk_id == citation.chunk_id and 0 <= start < end and hit.text[start:end] == citation.quote


def quotes_of(answer: Answer, prefix: str) -> list[Quote]:
    """The citations, each with the id of its mark if one of the hits holds it."""
    quotes = []
    for position, citation in enumerate(answer.citations, 1):
        held = any(_holds(hit, citation) for hit in answer.hits)
        mark = f"{prefix}-m{position}" if held else None
        quotes.append(Quote(citation, f"{prefix}-s{position}", mark, position))
    return quotes


def sources_of(quotes: Iterable[Quote]) -> list[Source]:
    """The documents that are cited, in the order of their first citation."""
    by_document: dict[str, list[Quote]] = {}
    for quote in quotes:
        by_document.setdefault(quote.citation.doc_id, []).append(quote)
    return list(map(Source, by_document.values()))


def _mark(span: Span, at: int) -> Markup:
    """The start of a mark; only the first mark of a span has the id that links lead to."""
    own = Markup(" id={} data-number={}").format(span.quote.mark, span.quote.citation.number)
    return Markup("<mark data-cite={}{}>").format(span.quote.position, own if at == span.start else Markup(""))


def _text(text: str) -> Markup:
    """Text between tags, where quotation marks stand for themselves."""
    return Markup(str(escape(text)).replace("&#39;", "'").replace("&#34;", '"'))  # noqa: S704 - escaped before.


def _marked(shown: str, spans: Sequence[Span], start: int, end: int) -> Markup:
    """`shown[start:end]` with marks. Spans may overlap: then the later one is cut in two where the earlier ends."""
    inside = sorted((s for s in spans if s.start < end and s.end > start), key=lambda s: (s.start, -s.end))
    places = sorted({start, end}.union(*((max(s.start, start), min(s.end, end)) for s in inside)))
    parts: list[Markup] = []
    stack: list[Span] = []
    for place, following in pairwise(places):
        ended = next((i for i, s in enumerate(stack) if s.end <= place), len(stack))
        parts.append(Markup("</mark>") * (len(stack) - ended))
        again = [s for s in stack[ended:] if s.end > place]
        starting = [s for s in inside if max(s.start, start) == place]
        stack[ended:] = again + starting
        parts += [_mark(s, place) for s in again + starting]
        parts.append(_text(shown[place:following]))
    parts.append(Markup("</mark>") * len(stack))
    return Markup("").join(parts)


# A row of a table as `clean` writes it: its cells are joined by bars between spaces.
_CELLS = re.compile(r" \| ")
_TABLE = re.compile(r"(?:^[^\n]* \| [^\n]*(?:\n|\Z)){2,}", re.MULTILINE)


def marked(text: str, spans: Sequence[Span], start: int = 0, end: int | None = None) -> Markup:
    """`text` with marks around `spans`; two or more lines of cells are a table, whose bars are there but not seen."""
    shown, at, end = printable(text), start, len(text) if end is None else end
    parts: list[Markup] = []
    for table in _TABLE.finditer(shown, start, end):
        parts += [_prose(shown, spans, at, table.start()), _table(shown, spans, *table.span())]
        at = table.end()
    return Markup("").join([*parts, _prose(shown, spans, at, end)])


def _prose(shown: str, spans: Sequence[Span], start: int, end: int) -> Markup:
    """Lines of text, each of which begins with what the style makes the distance of paragraphs of."""
    return _marked(shown, spans, start, end).replace("\n", Markup("\n<i></i>"))


def _table(shown: str, spans: Sequence[Span], start: int, end: int) -> Markup:
    """Lines of cells as rows; a first row without digits, of three cells or more, holds the heads of the columns."""
    rows: list[Markup] = []
    at = start
    for line in re.findall("[^\n]+\n?", shown[start:end]):
        body = line.rstrip("\n")
        head = not rows and body.count(" | ") > 1 and not any(c.isdigit() for c in body)
        cells, cell_start = [], at
        for bar in _CELLS.finditer(body):
            cells.append(_cell(shown, spans, (cell_start, at + bar.start()), at + bar.end(), head))
            cell_start = at + bar.end()
        cells.append(_cell(shown, spans, (cell_start, at + len(body)), at + len(line), head))
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
        at += len(line)
    return Markup("<table>{}</table>").format(Markup("").join(rows))


def _cell(shown: str, spans: Sequence[Span], text: tuple[int, int], end: int, head: bool) -> Markup:
    """A cell; what stands between it and the next, up to `end`, is kept unseen: the style shows no `s`."""
    tag = Markup("th") if head else Markup("td")
    after = Markup("<s>{}</s>").format(_marked(shown, spans, text[1], end)) if end > text[1] else Markup("")
    return Markup("<{}>{}{}</{}>").format(tag, _marked(shown, spans, *text), after, tag)


def passages_of(answer: Answer, quotes: Sequence[Quote], prefix: str) -> list[Passage]:
    """The hits with the cited spans marked, each span once and in its own chunk."""
    passages: list[Passage] = []
    placed: set[int] = set()
    for position, hit in enumerate(answer.hits, 1):
        mine = [q for q in quotes if q.position not in placed and _holds(hit, q.citation)]
        placed.update(q.position for q in mine)
        spans = [Span(q.citation.start - hit.start, q.citation.end - hit.start, q) for q in mine]
        passages.append(Passage(hit, f"{prefix}-h{position}", spans))
    return passages


@dataclass(frozen=True)
class Statement:
    """A sentence of the answer, or a part of it, as the page shows it: its text, and the quotes that it rests on."""

    text: str
    quotes: list[Quote]
    topic: str | None = None  # What of the corpus it is about, in an overview of it.


def statements_of(answer: Answer, quotes: Sequence[Quote]) -> list[Statement]:
    """The sentences of the answer, each with its quotes; the first is the short answer."""
    return [Statement(s.text, cited_quotes(s.citations, quotes), s.topic) for s in answer.sentences]


def cited_quotes(numbers: Iterable[int], quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes that have these numbers."""
    by_number = {q.citation.number: q for q in reversed(quotes)}
    return [by_number[n] for n in numbers if n in by_number]
