"""What a page links to and names, as places where what it does not say may be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from lxml.html import HtmlElement

from quern.jobs.crawl.links import page_links
from quern.jobs.crawl.urls import has_public_suffix
from quern.jobs.documents.html.parse import PageError, parse_page
from quern.schemas.words.sentences import sentence_spans
from quern.schemas.words.terms import search_terms

_BLOCKS: Final = frozenset("p li td th dd dt h1 h2 h3 h4 h5 h6 blockquote figcaption".split())
_AROUND: Final = 300  # Characters of the block that a link stands in.
_MOST: Final = 1_000  # Of a page: more are a menu, or made to cost time.
# What stands before an @ is someone's mailbox; it has at most 64 characters (RFC 5321, section 4.5.3.1.1).
_HOST: Final = re.compile(r"(?<![\w@/.-])(?:https?://)?((?:[a-z0-9-]{1,63}\.)+[a-z]{2,24})\b(?![\w.-]{0,64}@)", re.I)


@dataclass(frozen=True)
class Link:
    """A link of a page."""

    url: str  # Where it leads.
    text: str  # Its words.
    around: str  # The words of the paragraph that it stands in.

    @property
    def said(self) -> str:
        """All that tells what it leads to: its words, those around it, those of its path."""
        path = unquote(urlsplit(self.url).path).rsplit(".", 1)[0]
        return f"{self.text}. {self.around} {' '.join(search_terms(path).split())}".strip()


def links_of(body: bytes, url: str, charset: str | None) -> list[Link]:
    """The first links of a page that may be followed, each once, with the most telling of their words."""
    allowed = page_links(body, url, charset)
    if "nofollow" in allowed.directives:
        return []
    try:
        tree = parse_page(body, charset)
    except PageError:
        return []
    open_, links, blocks = set(allowed.links), dict[str, Link](), dict[HtmlElement, str]()
    for element in tree.iter("a"):
        try:
            target = urljoin(url, (element.get("href") or "").strip())
        except ValueError:
            continue
        if target not in open_:
            continue
        link = Link(target.partition("#")[0], _words(element)[:200], _block(element, blocks))
        earlier = links.get(link.url)
        if (earlier is None and len(links) < _MOST) or (earlier is not None and len(link.said) > len(earlier.said)):
            links[link.url] = link
    return list(links.values())


def _block(element: HtmlElement, texts: dict[HtmlElement, str]) -> str:
    """The words of the block that an element stands in; those of a block of many links are read once."""
    for _, above in zip(range(6), element.iterancestors(), strict=False):
        if above.tag in _BLOCKS:
            if above not in texts:
                texts[above] = _words(above)[:_AROUND]
            return texts[above]
    return ""


def _words(element: HtmlElement) -> str:
    return " ".join(" ".join(element.itertext()).split())


def mentions_in(text: str) -> list[Link]:
    """The first sites that a text names by their hosts, such as `ferries.example.org`, as links to their home pages."""
    links: dict[str, Link] = {}
    for start, end in sentence_spans(text):
        sentence = " ".join(text[start:end].split())
        for match in _HOST.finditer(sentence):
            if len(links) == _MOST:
                return list(links.values())
            host = match[1].lower().removeprefix("www.")
            if has_public_suffix(host):
                links.setdefault(host, Link(f"https://{host}/", host, sentence[:_AROUND]))
    return list(links.values())
