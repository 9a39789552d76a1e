"""What an answer cites, made ready to be shown: sources, passages of evidence with marked spans, sub-questions, images.

A span is given in characters of its document; it is marked in the passage of its own chunk. No image is loaded from
where it is: a picture is shown where it was fetched before (`images.fetch`); else its words lead to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from quern.jobs.images.pictures import Jpeg
from quern.schemas.answers import Answer, AnswerImage, Citation, Hit
from quern.schemas.words.lines import one_line, printable, shortened


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


@dataclass(frozen=True)
class Span:
    """Characters of a passage that a citation quotes."""

    start: int
    end: int
    quote: Quote


@dataclass(frozen=True)
class Passage:
    """A hit as the page shows it: the cited spans are marked."""

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
        return _marked(printable(self.hit.text), self.spans)


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


def _marked(shown: str, spans: Sequence[Span]) -> Markup:
    """The text with marks. Spans may overlap: then the later one is cut in two where the earlier ends."""
    ordered = sorted(spans, key=lambda s: (s.start, -s.end))
    places = sorted({0, len(shown)}.union(*((s.start, s.end) for s in ordered)))
    parts: list[Markup] = []
    stack: list[Span] = []
    for place, following in pairwise(places):
        ended = next((i for i, s in enumerate(stack) if s.end <= place), len(stack))
        parts.append(Markup("</mark>") * (len(stack) - ended))
        again = [s for s in stack[ended:] if s.end > place]
        stack[ended:] = again + [s for s in ordered if s.start == place]
        for span in stack[ended:]:
            # Only the first mark of a span has the id that links lead to.
            own = Markup(" id={} data-number={}").format(span.quote.mark, span.quote.citation.number)
            mark = Markup("<mark data-cite={}{}>")
            parts.append(mark.format(span.quote.position, own if place == span.start else ""))
        # Between tags quotation marks stand for themselves.
        text = str(escape(shown[place:following])).replace("&#39;", "'").replace("&#34;", '"')
        parts.append(Markup(text))  # noqa: S704 - escaped before.
    parts.append(Markup("</mark>") * len(stack))
    return Markup("").join(parts)


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


@dataclass(frozen=True)
class Part:
    """A sub-question as it is shown."""

    number: int
    parents: list[int]  # Numbers of the sub-questions shown before it whose answers it needed.
    depth: int  # 0 where it needed none, else one more than the deepest of its parents.
    question: str
    statement: Statement | None  # Its answer; None where the evidence had none.


def parts_of(answer: Answer, quotes: Sequence[Quote]) -> list[Part]:
    """The sub-questions in the order of the answer, parents first."""
    parts: list[Part] = []
    depths: dict[int, int] = {}
    for sub in answer.sub_questions:
        parents = [n for n in sub.parents if n in depths]
        depths[sub.number] = 1 + max((depths[n] for n in parents), default=-1)
        statement = Statement(sub.answer, cited_quotes(sub.citations, quotes)) if sub.answer else None
        parts.append(Part(sub.number, parents, depths[sub.number], sub.question, statement))
    return parts


class Pictures(Protocol):
    """Pictures that were fetched."""

    def get(self, url: str) -> Jpeg | None:
        """The picture of this address; None where it was not fetched, or is none."""


@dataclass(frozen=True)
class ShownImage:
    """An image of an answer as the page shows it."""

    of: AnswerImage  # The image.
    sentence: str  # The beginning of the sentence that it stands beside.
    picture: Jpeg | None  # The picture, where it was fetched.

    @property
    def words(self) -> str:
        """What is said of it."""
        return one_line(self.of.caption or self.of.alt or "") or "Image without a caption"

    @property
    def read(self) -> str:
        """What is read aloud in its stead."""
        return shortened(self.of.alt or self.words, 250)

    @property
    def href(self) -> str | None:
        """Its address, if a reader may follow it."""
        return web_address(self.of.image_url)

    @property
    def page(self) -> str | None:
        """The address of its page, if a reader may follow it."""
        return web_address(self.of.url)


def images_of(answer: Answer, pictures: Pictures | None = None) -> list[ShownImage]:
    """The images, each with the sentence that it stands beside, by as much of it as a reader knows it by."""
    sentences = {n: shortened(sentence.text, 60) for n, sentence in enumerate(answer.sentences, 1)}
    return [
        ShownImage(image, sentences[image.sentence], pictures.get(image.image_url) if pictures else None)
        for image in answer.images
        if image.sentence in sentences
    ]
