"""Main text and metadata of one HTML page; run as a child process by `jobs.clean`.

trafilatura finds the main text. Around it: the encoding, repairs of the markup, a second look where the precise
reading found little, dates as the page states them, canonical address and images.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from lxml.html import HtmlElement, fromstring
from trafilatura import bare_extraction
from trafilatura.metadata import extract_metadata
from trafilatura.utils import HTML_PARSER, repair_faulty_html

from jobs.charsets import decode_page
from jobs.child import serve
from jobs.language import identify
from jobs.markup import is_menu, link_texts, repair
from jobs.plain import one_line, paragraphs, parse_time, plain

Header = dict[str, Any]

# A precise reading shorter than this is compared with a balanced one, which is taken if it is this much longer.
_SHORT: Final = 1000
_LONGER: Final = 2.0
_MOST_IMAGES: Final = 50
# htmldate would take today: a page's date must not depend on the day of the build.
_DATES: Final = {"original_date": True, "extensive_search": True, "max_date": "2099-12-31"}
_MAIN: Final = "//article | //main | //*[@role='main'] | //*[@itemprop='articleBody']"
_OUTSIDE: Final = frozenset({"nav", "header", "footer", "aside", "form"})
_LAZY: Final = ("data-src", "data-original", "data-lazy-src", "src")
_NOT_THE_ARTICLE: Final = frozenset(
    {"comment", "review", "userreview", "videoobject", "imageobject", "audioobject", "person"}
)
_DATED: Final = "//*[contains(@class, 'date') or contains(@class, 'time') or contains(@class, 'publish')]"
_FIRST_PAGE: Final = b"<html><body><article><p>A first page, published on 2 May 2024.</p></article></body></html>"
_CJK_DATE: Final = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号號일]")
_BYLINE: Final = 60
_PUBLISHED: Final = (
    "article:published_time",
    "og:article:published_time",
    "og:published_time",
    "datepublished",
    "parsely-pub-date",
    "sailthru.date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dcterms.created",
    "citation_publication_date",
    "citation_date",
    "pubdate",
    "publishdate",
    "date",
)
_MODIFIED: Final = (
    "article:modified_time",
    "og:article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "last-modified",
)


class PageError(ValueError):
    """A page that cannot be read as HTML."""


# ---- text ------------------------------------------------------------------------------------------------


def _tree(text: str) -> HtmlElement:
    """The parsed page. Parsed here, not by trafilatura, which hides a MemoryError behind an empty result."""
    text = plain(text)
    if "<" not in text:
        raise PageError("no markup: this is not an HTML page")
    markup = repair_faulty_html(text, text[:50].lower()).encode()
    tree = fromstring(markup, parser=HTML_PARSER)
    if tree.tag != "html":
        tree = fromstring(b"<html><body>" + markup + b"</body></html>", parser=HTML_PARSER)
    return tree


def _protect_ampersands(tree: HtmlElement) -> None:
    """Escape the tree's ampersands once, because trafilatura's text output resolves character references again.

    Without this a page that shows `&lt;` to its readers would be recorded as showing `<`.
    """
    for element in tree.iter():
        if element.text and "&" in element.text and element.tag not in ("script", "style"):
            element.text = element.text.replace("&", "&amp;")
        if element.tail and "&" in element.tail:
            element.tail = element.tail.replace("&", "&amp;")


def _main_text(tree: HtmlElement, url: str) -> str:
    """The main text: read precisely, or in trafilatura's balanced way where that left out most of it."""

    def read(*, precise: bool) -> str:
        found = bare_extraction(tree, url=url, favor_precision=precise, include_comments=False)
        return paragraphs(found.text or "") if found is not None else ""

    text = read(precise=True)
    if len(text) >= _SHORT:
        return text
    balanced = read(precise=False)
    return balanced if len(balanced) > _LONGER * len(text) else text


# ---- dates -----------------------------------------------------------------------------------------------


def _linked_data(tree: HtmlElement) -> Iterator[Header]:
    """Every JSON-LD object of the page, in reading order."""
    for script in tree.iterfind(".//script[@type='application/ld+json']"):
        try:
            pending = [json.loads(script.text or "", strict=False)]
        except (ValueError, RecursionError):
            continue
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                yield value
                pending.extend(reversed(list(value.values())))
            elif isinstance(value, list):
                pending.extend(reversed(value))


def _is_article(thing: Header) -> bool:
    kinds = thing.get("@type")
    named = kinds if isinstance(kinds, list) else [kinds]
    return not any(isinstance(k, str) and k.lower() in _NOT_THE_ARTICLE for k in named)


def _metas(tree: HtmlElement) -> dict[str, str]:
    """Contents of `meta` and dated elements by their lower-case name; the first of a name counts."""
    found: dict[str, str] = {}
    for element in tree.iter("meta", "time"):
        value = element.get("content") or element.get("datetime")
        for attribute in ("property", "name", "itemprop"):
            name = element.get(attribute)
            if name and value:
                found.setdefault(name.strip().lower(), value)
    return found


def _stated_time(things: list[Header], key: str, metas: dict[str, str], names: tuple[str, ...]) -> datetime | None:
    stated = [thing[key] for thing in things if key in thing] + [metas[name] for name in names if name in metas]
    return next((time for value in stated if (time := parse_time(value))), None)


def _guessed_time(tree: HtmlElement, date: str | None) -> datetime | None:
    """A date in Chinese, Japanese or Korean beside the title, else `date`, htmldate's find in address or text.

    Of the latter the first of January is left out: it stands for a year, often that of the copyright.
    """
    for element in tree.xpath(_DATED):
        text = element.text_content().strip()
        match = _CJK_DATE.search(text) if len(text) <= _BYLINE else None
        if match and (time := parse_time("-".join(match.groups()))):
            return time
    return None if date is None or date.endswith("-01-01") else parse_time(date)


# ---- addresses and images --------------------------------------------------------------------------------


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _join(base: str, link: str) -> str | None:
    """`link` as an absolute http(s) address."""
    try:
        url = urljoin(base, link.strip())
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def _canonical(tree: HtmlElement, url: str, metas: dict[str, str]) -> str | None:
    """The address that the page gives itself, if it is on the page's own host.

    Sites that name their home page on every page are not believed.
    """
    links = tree.iterfind(".//link[@href]")
    canonical = [link.get("href") for link in links if "canonical" in (link.get("rel") or "").lower().split()]
    for link in [*canonical, metas.get("og:url")]:
        found = _join(url, link) if link else None
        if found is None:
            continue
        if url.startswith("file:"):
            return found
        home = urlsplit(found).path in ("", "/") and not urlsplit(found).query
        if _host(found) == _host(url) and not (home and urlsplit(url).path not in ("", "/")):
            return found
    return None


def _source(image: HtmlElement, base: str) -> str | None:
    """Address of an image, also of one that a script would load later."""
    sources = [image.get(name) for name in _LAZY]
    sources += [(image.get(name) or "").strip().split(" ")[0].rstrip(",") for name in ("data-srcset", "srcset")]
    return next((url for s in sources if s and not s.startswith("data:") and (url := _join(base, s))), None)


def _is_pixel(image: HtmlElement) -> bool:
    return any((image.get(side) or "").removesuffix("px") in ("0", "1", "2") for side in ("width", "height"))


def _images(tree: HtmlElement, base: str) -> list[Header]:
    """Images of the article, each address once, with the caption of the figure they stand in."""
    mains = tree.xpath(_MAIN)
    main = max(mains, key=lambda e: len(e.text_content()), default=tree)
    found: dict[str, Header] = {}
    for image in main.iter("img"):
        around = []
        for ancestor in image.iterancestors():
            if ancestor is main:
                break
            around.append(ancestor)
        url = _source(image, base)
        if url is None or _is_pixel(image) or any(a.tag in _OUTSIDE for a in around):
            continue
        figure = next((a for a in around if a.tag == "figure"), None)
        caption = figure.find(".//figcaption") if figure is not None else None
        text = one_line(caption.text_content()) if caption is not None else None
        found.setdefault(
            url, {"url": url, "alt": one_line(image.get("alt")), "caption": text, "width": None, "height": None}
        )
        if len(found) == _MOST_IMAGES:
            break
    return list(found.values())


# ---- the page --------------------------------------------------------------------------------------------


def _title(title: str | None, site_name: str | None) -> str | None:
    """The title without the site's name at its end."""
    title, site_name = one_line(title), one_line(site_name)
    if title and site_name:
        pattern = rf"\s+(?:[-–—|·•:»]|::)\s+{re.escape(site_name)}$"
        return re.sub(pattern, "", title, flags=re.I) or title
    return title


def _untitled(text: str, title: str | None) -> str:
    """The text without a first line that repeats the title, which the document states on its own."""
    first, _, rest = text.partition("\n")
    return rest if rest and _letters(first) == _letters(title or "") != "" else text


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _author(things: list[Header]) -> str | None:
    """Names of the first author stated in linked data."""
    stated = next((thing["author"] for thing in things if thing.get("author")), None)
    names = [a.get("name") if isinstance(a, dict) else a for a in (stated if isinstance(stated, list) else [stated])]
    return one_line("; ".join(name for name in names if isinstance(name, str) and not name.startswith("http")))


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def extract_page(body: bytes, url: str, charset: str | None) -> Header:
    """Main text and metadata of a page; times as ISO 8601 in UTC.

    Raises:
        PageError: The body is no HTML.
    """
    tree = _tree(decode_page(body, charset))
    base_element = tree.find(".//base[@href]")
    base = urljoin(url, base_element.get("href")) if base_element is not None else url
    metas, things = _metas(tree), [thing for thing in _linked_data(tree) if _is_article(thing)]
    found: Header = {
        "canonical": _canonical(tree, url, metas),
        "images": _images(tree, base),
        "modified_at": _iso(_stated_time(things, "dateModified", metas, _MODIFIED)),
    }
    metadata = extract_metadata(tree, default_url=url, date_config=dict(_DATES))
    published = _stated_time(things, "datePublished", metas, _PUBLISHED) or _guessed_time(tree, metadata.date)
    declared = tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or tree.get("xml:lang")
    repair(tree)
    links = link_texts(tree)
    _protect_ampersands(tree)
    text = _main_text(tree, url)
    title = _title(metadata.title, metas.get("og:site_name"))
    text = "" if is_menu(text, links) else _untitled(text, title)
    return found | {
        "text": text,
        "title": title,
        "author": one_line(metadata.author) or _author(things),
        "published_at": _iso(published),
        "language": identify(text, declared) if text else None,
    }


def _answer(header: Header, body: bytes) -> Header:
    return extract_page(body, header["url"], header["charset"])


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    # What is loaded on first use counts as an import, not as the first page's time and memory.
    extract_page(_FIRST_PAGE, "https://localhost/", None)
    serve(_answer)
