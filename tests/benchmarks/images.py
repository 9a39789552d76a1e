"""How well images are placed: the figures of real pages are taken out, and placed again.

Pages are those of the article extraction benchmark, or a folder of its form. What is known when a figure is placed is
its caption and alternative text, the page's title and its text without figures and captions: nothing of where it
stood, nor of the order of figures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lxml import etree

from quern.jobs.documents.html.extract import extract_page
from quern.jobs.documents.html.parse import PageError, parse_page
from quern.jobs.images.build import Lines
from quern.jobs.images.place import Described, Remembered, likeness, placed, running
from quern.jobs.images.rules import Picture, description, out_by
from quern.jobs.vectors.embedder import Embedder
from quern.pipelines.evaluation.extraction import gold_pages, page_body
from quern.schemas.settings import EmbedSettings, ImageRuleSettings


@dataclass(frozen=True)
class Figure:
    """A figure that was taken out."""

    said: Described  # What is said of it, with its page.
    gap: int  # Paragraphs of the text that stood before it.
    captioned: bool  # Whether it has a caption.

    def stood_by(self, paragraph: int) -> bool:
        """Whether it stood after this paragraph, counted from 0, or within one paragraph of there."""
        return abs(paragraph + 1 - self.gap) <= 1


@dataclass(frozen=True)
class Page:
    """A page without its figures, and they."""

    title: str  # Its title.
    paragraphs: tuple[str, ...]  # Its main text.
    figures: tuple[Figure, ...]  # Those that the rules keep, that somebody described, and whose place is known.


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
    several = [page for page in every if len(page.figures) > 1]
    with_captions = [replace(page, figures=tuple(f for f in page.figures if f.captioned)) for page in every]
    captioned = [page for page in with_captions if len(page.figures) > 1]
    share, chance = _replaced(several, encode)
    return {
        "pages": float(len(every)),
        "figures": float(sum(len(page.figures) for page in every)),
        "pages_with_two": float(len(several)),
        "placed": share,
        "placed_captioned": _replaced(captioned, encode)[0],
        "chance": chance,
        "seconds": time.monotonic() - started,
    }


def _pages(folder: Path) -> Iterator[Page]:
    """The pages of the benchmark that have figures."""
    for key, gold in gold_pages(folder).items():
        body, url = page_body(folder, key), gold["url"]
        try:
            whole = extract_page(body, url, None)
            bare = extract_page(_without_figures(body), url, "utf-8")
        except PageError:
            continue
        figures = tuple(_figures(whole["images"], bare["title"] or "", bare["text"]))
        if figures:
            yield Page(bare["title"] or "", tuple(bare["text"].split("\n")), figures)


def _without_figures(body: bytes) -> bytes:
    """The page without images, figures and captions."""
    tree = parse_page(body, None)
    captions = tree.xpath("descendant::*[contains(@class, 'caption')][not(descendant::p[2])]")
    for element in [*tree.iter("figure", "figcaption", "img"), *captions]:
        if element.getparent() is not None:
            element.drop_tree()
    return bytes(etree.tostring(tree, encoding="utf-8", method="html"))


def _figures(images: Sequence[dict[str, Any]], title: str, text: str) -> Iterator[Figure]:
    lines, rules = Lines(text), ImageRuleSettings()
    for image in images:
        picture = Picture(*(image[name] for name in ("url", "alt", "caption", "width", "height", "link")))
        said = description(picture.alt, picture.caption)
        kept = out_by(picture, rules.least_side, repeated=False) is None and said
        before, after = lines.span(image["before"]), lines.span(image["after"])
        if kept and (before or after) and picture.described:
            gap = text.count("\n", 0, before[0]) + 1 if before else text.count("\n", 0, after[0]) if after else 0
            yield Figure(Described(said, title, text), gap, bool(picture.caption))


def _replaced(pages: Sequence[Page], encode: Remembered) -> tuple[float, float]:
    """Share of figures that come to stand where they stood, and what share would by chance."""
    right = figures = 0
    chance = 0.0
    for page in pages:
        alike = likeness(page.paragraphs, [figure.said for figure in page.figures], encode)
        right += sum(page.figures[place.image].stood_by(place.paragraph) for place in placed(running(alike), 0.0))
        near = sum(figure.stood_by(n) for figure in page.figures for n in range(len(page.paragraphs)))
        chance += near / len(page.paragraphs)
        figures += len(page.figures)
    return right / max(1, figures), chance / max(1, figures)
