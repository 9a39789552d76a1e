"""How well images are placed: the figures of real pages are taken out, and placed again.

Pages are those of the article extraction benchmark, or a folder of its form. What is known when a figure is placed is
its caption and alternative text, the page's title and its text without figures and captions: nothing of where it
stood, nor of the order of figures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.documents.html.parse import PageError, parse_page
from quern.jobs.images.build import Lines
from quern.jobs.images.place import Described, Remembered, likeness, placed, running
from quern.jobs.images.rules import Picture, description, out_by
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings, ImageRuleSettings
from tests.benchmarks.extraction import gold_pages, page_body


@dataclass(frozen=True)
class Figure:
    """A figure that was taken out."""

    said: Described  # What is said of it, with its page.
    gap: int  # Paragraphs of the text that stood before it.
    captioned: bool  # Whether it has a caption.

    def stood_by(self, paragraph: int) -> bool:
        """Whether it stood after this paragraph, counted from 0, or within one paragraph of there."""
        return abs(paragraph + 1 - self.gap) <= 1


# The paragraphs of a page without its figures, and those figures that the rules keep, that somebody described, and
# whose place is known.
Page = tuple[Sequence[str], Sequence[Figure]]


def benchmark_images(folder: Path) -> dict[str, float]:
    """Figures of the placing of images on the pages of `folder`, and its `seconds`.

    Returns:
        `placed`: of pages with two figures or more, the share of figures that come to stand within one paragraph of
        where they stood, when each is placed. `placed_captioned`: the same of figures with captions alone. `chance`:
        that share if paragraphs were drawn.

    Raises:
        ExtractionError: The folder does not hold the benchmark.
    """
    started = time.monotonic()
    every, encode = list(_pages(folder)), Remembered(Embedder.load(EmbedSettings()))
    several = [page for page in every if len(page[1]) > 1]
    captioned = [(paragraphs, [f for f in figures if f.captioned]) for paragraphs, figures in every]
    share, chance = _replaced(several, encode)
    return {
        "pages": float(len(every)),
        "figures": float(sum(len(figures) for _, figures in every)),
        "pages_with_two": float(len(several)),
        "placed": share,
        "placed_captioned": _replaced([page for page in captioned if len(page[1]) > 1], encode)[0],
        "chance": chance,
        "seconds": time.monotonic() - started,
    }


def _pages(folder: Path) -> Iterator[Page]:
    """The pages of the benchmark that have figures."""
    for key, gold in gold_pages(folder).items():
        body, url = page_body(folder, key), gold["url"]
        try:
            whole, tree = extract_page(body, url, None), parse_page(body, None)
            captions = tree.xpath("descendant::*[contains(@class, 'caption')][not(descendant::p[2])]")
            for element in [*tree.iter("figure", "figcaption", "img"), *captions]:
                if element.getparent() is not None:
                    element.drop_tree()
            bare = extract_page(bytes(etree.tostring(tree, encoding="utf-8", method="html")), url, "utf-8")
        except PageError:
            continue
        title, text = bare["title"] or "", bare["text"]
        lines, figures = Lines(text), list[Figure]()
        for image in whole["images"]:
            picture = Picture(*(image[name] for name in ("url", "alt", "caption", "width", "height", "link")))
            said = description(picture.alt, picture.caption)
            kept = out_by(picture, ImageRuleSettings().least_side, repeated=False) is None and said
            before, after = lines.span(image["before"]), lines.span(image["after"])
            if kept and (before or after) and picture.described:
                gap = text.count("\n", 0, before[0]) + 1 if before else text.count("\n", 0, after[0]) if after else 0
                figures.append(Figure(Described(said, title, text), gap, bool(picture.caption)))
        if figures:
            yield text.split("\n"), figures


def _replaced(pages: Sequence[Page], encode: Remembered) -> tuple[float, float]:
    """Share of figures that come to stand where they stood, and what share would by chance."""
    right = count = 0
    chance = 0.0
    for paragraphs, figures in pages:
        alike = likeness(paragraphs, [figure.said for figure in figures], encode)
        right += sum(figures[place.image].stood_by(place.paragraph) for place in placed(running(alike), 0.0))
        near = sum(figure.stood_by(n) for figure in figures for n in range(len(paragraphs)))
        chance += near / len(paragraphs)
        count += len(figures)
    return right / max(1, count), chance / max(1, count)
