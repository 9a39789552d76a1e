"""A small corpus to which random things happen: pages come, change, move and go, are copied and told apart again.

It has what the tables of a build depend on: sites with lines on every page, names that pages share, aliases, days,
images with captions and an emblem on all pages of a site, pages in HTML and documents in JSONL.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tests.benchmarks.night_pages import Article, World

_SITES: Final = ("harbour.example", "valley.example", "mill.example")
_WORLD: Final = World(24)
_PAGE: Final = """<html lang="en"><head><title>{title}</title>
<meta property="article:published_time" content="2024-03-{day:02d}T08:00:00Z">{canonical}</head>
<body><header><a href="/">Home</a><img src="/emblem.png" width="400" height="300" alt="Emblem of the site"></header>
<article><h1>{title}</h1>{paragraphs}
<figure><img src="{image}.jpg" width="640" height="480"><figcaption>{caption}</figcaption></figure></article>
<p>All pages of {site} are kept by the county archive for those who come after us.</p></body></html>"""


@dataclass(frozen=True)
class Page:
    """A page: its path under the folder, its title and sentences, and the address that it names as its own."""

    path: str
    title: str
    sentences: tuple[str, ...]
    canonical: str = ""

    @property
    def site(self) -> str:
        return self.path.partition("/")[0]

    def html(self) -> str:
        half = len(self.sentences) // 2
        parts = (" ".join(self.sentences[:half]), " ".join(self.sentences[half:]))
        return _PAGE.format(
            title=self.title,
            day=1 + len(self.title) % 28,
            canonical=f'<link rel="canonical" href="{self.canonical}">' if self.canonical else "",
            paragraphs="".join(f"<p>{part}</p>" for part in parts),
            image=self.title[:6].strip().replace(" ", "-"),
            caption=self.sentences[0],
            site=self.site,
        )


@dataclass
class Corpus:
    """Pages by their paths, documents by their keys, and what happens to them, drawn from `random`."""

    random: random.Random
    pages: dict[str, Page] = field(default_factory=dict)
    documents: dict[str, Page] = field(default_factory=dict)
    _numbers: int = 0

    @classmethod
    def begin(cls, seed: int, pages: int = 8, documents: int = 3) -> Corpus:
        corpus = cls(random.Random(f"corpus {seed}"))
        for _ in range(pages):
            corpus.add()
        for _ in range(documents):
            corpus.add_document()
        return corpus

    def happen(self, events: int) -> list[str]:
        kinds: list[Callable[[], str]] = [
            self.add,
            self.add_document,
            self.edit,
            self.retitle,
            self.remove,
            self.move,
            self.duplicate,
            self.duplicate_nearly,
            self.tell_apart,
            self.claim_address,
        ]
        return [self.random.choice(kinds)() for _ in range(events)]

    def _drawn(self) -> Page:
        self._numbers += 1
        number = self.random.randrange(1 << 30)
        title, text = _WORLD.written(Article(number, 0, 0))
        sentences = tuple(text.replace("\n\n", " ").replace(". ", ".\0").split("\0"))
        if self.random.random() < 0.3:
            sentences = (f"{title.partition(' and ')[0]} is also known as {title.split()[0]} the Elder.", *sentences)
        return Page(f"{self.random.choice(_SITES)}/p{self._numbers}.html", title, sentences)

    def _any(self) -> Page:
        """A page; there is one always, as the last is never removed."""
        return self.random.choice([*self.pages.values()])

    def add(self) -> str:
        page = self._drawn()
        self.pages[page.path] = page
        return f"add {page.path}"

    def add_document(self) -> str:
        page = self._drawn()
        self.documents[f"d{self._numbers}"] = page
        return f"add d{self._numbers}"

    def edit(self) -> str:
        """A sentence of a page or document becomes another."""
        where = self.random.choice((self.pages, self.documents))
        key = self.random.choice([*where])
        sentences = list(where[key].sentences)
        sentences[self.random.randrange(len(sentences))] = self._drawn().sentences[-1]
        where[key] = replace(where[key], sentences=tuple(sentences))
        return f"edit {key}"

    def retitle(self) -> str:
        """A page gets another title, sometimes that of another page."""
        page, other = self._any(), self._any()
        title = other.title if self.random.random() < 0.5 else self._drawn().title
        self.pages[page.path] = replace(page, title=title)
        return f"retitle {page.path}"

    def remove(self) -> str:
        """A page or document goes, unless few are left."""
        where = self.random.choice((self.pages, self.documents))
        if len(where) < 2:
            return self.add()
        key = self.random.choice([*where])
        del where[key]
        return f"remove {key}"

    def move(self) -> str:
        """A page's file, and so its address, gets another name, on the same site or another."""
        said = self.duplicate()
        del self.pages[said.split()[1]]
        return f"move, {said}"

    def duplicate(self, first: str = "") -> str:
        """A page is copied to another address, `first` before its text."""
        page = self._any()
        path, sentences = self._drawn().path, (f"{first}{page.sentences[0]}", *page.sentences[1:])
        self.pages[path] = replace(page, path=path, sentences=sentences)
        return f"duplicate {page.path} as {path}"

    def duplicate_nearly(self) -> str:
        return self.duplicate("Yesterday ")

    def tell_apart(self) -> str:
        """A page that has copies, if there is one, gets a text of its own."""
        titles = [page.title for page in self.pages.values()]
        copies = [page for page in self.pages.values() if titles.count(page.title) > 1]
        page = self.random.choice(copies) if copies else self._any()
        drawn = self._drawn()
        self.pages[page.path] = replace(page, title=drawn.title, sentences=drawn.sentences)
        return f"tell apart {page.path}"

    def claim_address(self) -> str:
        """A page says that its address is another's, or no longer says so."""
        page, other = self._any(), self._any()
        claimed = "" if page.canonical else f"https://{other.path}"
        self.pages[page.path] = replace(page, canonical=claimed)
        return f"claim {page.path} {claimed}"

    def write(self, folder: Path) -> Path:
        for path, page in self.pages.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(page.html(), "utf-8")
        rows = [
            {"doc_id": key, "title": page.title, "text": " ".join(page.sentences), "site": page.site}
            for key, page in self.documents.items()
        ]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return folder
