"""What an answer cites, made ready to be shown: sources, passages of evidence with their marked spans.

A span is given in characters of its document; it is marked in the passage of its own chunk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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


@dataclass(frozen=True)
class Statement:
    """A sentence of the answer as the page shows it: its text, and the sources that it rests on."""

    text: str
    sources: list[Source]


def statements_of(answer: Answer, sources: Sequence[Source]) -> list[Statement]:
    """The sentences of the answer, each with its sources."""
    by_number = {s.citation.number: s for s in reversed(sources)}
    return [Statement(s.text, [by_number[n] for n in s.citations]) for s in answer.sentences]
