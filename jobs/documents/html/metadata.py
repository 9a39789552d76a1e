"""Metadata of a page, each field from the first source that states it well, and which source that was.

Sources: `json-ld` (linked data of schema.org), `open-graph` (meta properties `og:` and `article:`), `microdata`
(itemprop), `meta` (other meta elements), `link` (canonical link), `html` (headings, title, time and byline elements,
lang attributes), `url` (the address), `text` (the main text), `given` (a field of a JSONL document).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cached_property
from html import unescape
from itertools import chain, islice
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from lxml.etree import XPath
from lxml.html import HtmlElement

from quern.jobs.documents.html.dates import LONGEST_LINE, parts_of, stated_time, url_date, written_date
from quern.jobs.documents.html.markup import HEADINGS
from quern.jobs.documents.html.stated import Stated, is_of_kind, read_stated
from quern.jobs.documents.html.texts import absolute, is_prose, is_sentence, letters, line_of, text_of
from quern.jobs.text.plain_text import one_line

SOURCES: Final = ("json-ld", "open-graph", "microdata", "meta", "link", "html", "url", "text", "given")
Found = dict[str, Any]
Candidates = Iterator[tuple[str, Any]]
T = TypeVar("T")

_LONGEST_TITLE: Final = 500
# Least share of the title of a heading that stands at its end, where a section or the site is named as often.
_TITLE_SHARE: Final = 0.3
_LONGEST_NAME: Final = 120
_MOST_NAMES: Final = 20
# Accounts that name no author.
_NOBODY: Final = frozenset({"", "admin", "administrator", "webmaster", "editor", "staff", "redaction", "redazione"})
_OUTSIDE: Final = frozenset({"nav", "footer", "aside", "form"})
_META_TITLES: Final = tuple("citation_title dc.title dcterms.title parsely-title sailthru.title twitter:title".split())
_META_AUTHORS: Final = tuple(
    "author citation_author dc.creator dcterms.creator parsely-author sailthru.author byl".split()
)
_META_SITES: Final = ("application-name", "citation_journal_title", "dc.publisher", "dcterms.publisher", "publisher")
_OG_PUBLISHED: Final = ("article:published_time", "og:article:published_time", "og:published_time")
_META_PUBLISHED: Final = tuple(
    "datepublished parsely-pub-date sailthru.date dc.date.issued dcterms.issued dc.date "
    "dcterms.created citation_publication_date citation_date pubdate publishdate date".split()
)
_OG_MODIFIED: Final = ("article:modified_time", "og:article:modified_time", "og:updated_time")
_META_MODIFIED: Final = ("datemodified", "dcterms.modified", "last-modified")
_DATED: Final = XPath(
    "descendant::*[contains(@class, 'date') or contains(@class, 'publish')"
    " or (contains(@class, 'time') and not(contains(@class, 'timeline')))]"
)
_STATING: Final = XPath("descendant::*[@datetime]")
_MOST_LOOKED_AT: Final = 50
_YEARS: Final = XPath(
    "descendant::text()[string-length(.) < 300 and (contains(., '19') or contains(., '20'))]"
    "[not(parent::script or parent::style or parent::a or parent::td or parent::th or parent::title)]"
)
_NO_PROSE: Final = ("script", "style", "title", "noscript", "template")
_UPDATED: Final = re.compile(r"updat|modif|edited|revis|aktualis|mis à jour|actualiz|更新|修改|수정", re.I)
_SIGNED: Final = XPath("descendant::*[@rel = 'author' or contains(@class, 'uthor') or contains(@class, 'yline')]")
_SIGNING: Final = frozenset({"a", "span", "div", "p", "address", "li", "strong"})
_BYLINE_CLASS: Final = re.compile(r"(?:^|[\s_-])(?:author|byline)(?:[\s_-]*name)?(?=$|\s)", re.I)
_BY: Final = re.compile(
    r"^\s*(?:(?:written |posted |words |story |analysis )?by|von|par|por|di|door)\s*:?\s+"
    r"|^\s*(?:author|autor|auteur|автор|text|текст|作者|文|记者|記者)\s*[:：/]\s*",
    re.I,
)
_BYLINE: Final = re.compile(r"^(?:By|Von|Par|Por) ((?:[A-Z][\w.'’-]*)(?: [\w.'’-]+){0,4} [A-Z][\w'’-]+)$")
_AFTER_NAME: Final = re.compile(
    r"\s*(?:[|•·–—(,]|\s-\s|\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b).*$", re.S | re.I
)
_SEPARATOR: Final = re.compile(r"\s+(?:[-–—|·•:»«]|::)\s+")


def read_metadata(tree: HtmlElement, url: str) -> Found:
    """What the tree and the address say of a page: all fields but those that the main text decides.

    A page that names only the day of its last change was published by then, and gets that day. Null is what nothing
    states; `metadata_from` is a list of {field, by}.
    """
    mark_times(tree)
    stated = read_stated(tree)
    fields: Found = {"metadata_from": []}
    websites = [t["name"] for t in stated.things if is_of_kind(t, "website") and isinstance(t.get("name"), str)]
    sites = chain(
        _by("open-graph", stated.meta("og:site_name")),
        _by("json-ld", map(unescape, websites)),
        _by("json-ld", (name for value in stated.linked("publisher") for name in stated.people(value))),
        _by("microdata", stated.microdata.get("publisher", ())),
        _by("meta", stated.meta(*_META_SITES)),
    )
    site = _settle(fields, "site_name", sites, lambda name: _within(one_line(name), _LONGEST_NAME))
    # The part of the host's name that names the site: `news` of www.news.example.
    label = max(_host(url).split(".")[:-1], key=len, default="")
    site_names = {letters(name) for name in (site, label)} - {""}
    _settle(fields, "title", _titles(tree, stated, site_names), lambda title: _without_site(title, site_names))
    authors = chain(_stated_authors(stated), _by("html", ([name] for name in _bylines(tree))))
    if not _settle(fields, "author", authors, lambda names: _names(names, site_names)):
        _settle(fields, "author", _stated_authors(stated), lambda names: _names(names, set()))
    lines = _YearLines(tree)
    _settle(fields, "modified_at", _modified(tree, stated, lines), _as_time)
    _settle(fields, "published_at", _published(tree, stated, url, lines), _as_time)
    if fields["published_at"] is None and fields["modified_at"] is not None:
        by = fields["metadata_from"][-1]["by"]
        _settle(fields, "published_at", iter([(by, fields["modified_at"])]), _as_time)
    links = (link for link in tree.iter("link") if "canonical" in (link.get("rel") or "").lower().split())
    addresses = chain(
        _by("link", (link.get("href") for link in links if link.get("href"))), _by("open-graph", stated.meta("og:url"))
    )
    _settle(fields, "url", addresses, lambda link: _canonical(url, link))
    fields["canonical"] = fields.pop("url")
    if fields["canonical"] is None:
        fields["metadata_from"].append({"field": "url", "by": "url"})
    return fields


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _canonical(url: str, link: str) -> str | None:
    """A stated address as an absolute one that is on the page's own host, or on any for a file; else null.

    Sites that name their home page on every page are not believed.
    """
    address = absolute(url, link)
    if address is None or url.startswith("file:"):
        return address
    host = _host(address)
    if not host or host != _host(url):
        return None
    home, page = ((parts.path in ("", "/") and not parts.query) for parts in map(urlsplit, (address, url)))
    return address if page or not home else None


def add_from_text(found: Found, text: str) -> None:
    """Fill in the author from the first lines of the main text where nothing else states one."""
    if found["author"] is None:
        lines = text.split("\n", 3)[:3]
        bylines = (m[1] for line in lines if len(line) <= LONGEST_LINE and (m := _BYLINE.match(line)))
        _settle(found, "author", (("text", name) for name in bylines), one_line)


def _settle(fields: Found, field: str, candidates: Candidates, parse: Callable[[Any], T | None]) -> T | None:
    """The first candidate that can be read becomes the field's value."""
    fields[field] = None
    for by, candidate in candidates:
        value = parse(candidate)
        if value is not None:
            fields[field] = value
            fields["metadata_from"].append({"field": field, "by": by})
            return value
    return None


def _within(text: str | None, most: int) -> str | None:
    return text if text and len(text) <= most else None


def _by(source: str, values: Iterable[T]) -> Iterator[tuple[str, T]]:
    return ((source, value) for value in values)


# ---- site and title --------------------------------------------------------------------------------------


def _titles(tree: HtmlElement, stated: Stated, site_names: set[str]) -> Candidates:
    articles = (t for t in stated.things if is_of_kind(t, "article", "posting", "report"))
    headlines = (t["headline"] for t in articles if isinstance(t.get("headline"), str))
    yield from _by("json-ld", map(unescape, headlines))
    yield from _by("open-graph", stated.meta("og:title"))
    yield from _by("microdata", stated.microdata.get("headline", ()))
    yield from _by("meta", stated.meta(*_META_TITLES))
    # The heading of the page is the one that its title begins or ends with; the first if it has no title.
    title = next((one_line(text_of(title)) or "" for title in tree.iter("title")), None)
    texts = (one_line(text_of(heading)) or "" for heading in islice(tree.iter("h1", "h2"), _MOST_LOOKED_AT))
    headings = [h for h in texts if letters(h) not in site_names and letters(h)]
    whole = letters(title)
    least = _TITLE_SHARE * len(whole)
    matches = [h for h in headings if whole.startswith(h_ := letters(h)) or (whole.endswith(h_) and len(h_) > least)]
    yield from _by("html", [max(matches, key=len)] if matches else headings[: int(not title)])
    if title is not None:
        yield "html", title


def _without_site(title: str, site_names: set[str]) -> str | None:
    """A title without the site's name at its end or its beginning."""
    text = _within(one_line(title), _LONGEST_TITLE)
    while text and (cuts := list(_SEPARATOR.finditer(text))):
        if letters(text[cuts[-1].end() :]) in site_names:
            text = text[: cuts[-1].start()]
        elif letters(text[: cuts[0].start()]) in site_names:
            text = text[cuts[0].end() :]
        else:
            break
    return text or None


# ---- author ----------------------------------------------------------------------------------------------


def _stated_authors(stated: Stated) -> Candidates:
    yield from _by("json-ld", (stated.people(value) for value in stated.linked("author", "creator")))
    yield from _by("open-graph", (list(stated.meta("article:author", "og:article:author", "og:author")),))
    yield from _by("microdata", (stated.microdata.get("author", []),))
    # A single word is an account's name, such as `admin`, save where names have no spaces.
    authors = [name for name in stated.meta(*_META_AUTHORS) if " " in name.strip() or not name.isascii()]
    yield "meta", authors


def _names(candidates: list[str], site_names: set[str]) -> str | None:
    """Names, each once, joined by semicolons, without the `site_names`; null where none is left."""
    names: dict[str, str] = {}
    for name in candidates[:_MOST_NAMES]:
        text = _BY.sub("", one_line(name) or "").strip(" ,;")
        if text and len(text) <= _LONGEST_NAME and "@" not in text and "://" not in text:
            names.setdefault(letters(text), text)
    for nobody in site_names | _NOBODY:
        names.pop(nobody, None)
    return "; ".join(names.values()) or None


def _bylines(tree: HtmlElement) -> Iterator[str]:
    """Names in elements that are called author or byline, outside of navigation and comments."""
    for element in [element for element in _SIGNED(tree) if element.tag in _SIGNING][:_MOST_LOOKED_AT]:
        if element.get("rel") != "author" and not _BYLINE_CLASS.search(element.get("class", "")):
            continue
        text = one_line(text_of(element)) or ""
        name = _AFTER_NAME.sub("", _BY.sub("", text))
        if 2 < len(name) <= LONGEST_LINE and len(text) <= _LONGEST_NAME and not _is_aside(element):
            yield name


def _is_aside(element: HtmlElement) -> bool:
    above = list(element.iterancestors())
    return any(a.tag in _OUTSIDE or "omment" in a.get("class", "") or "omment" in a.get("id", "") for a in above)


# ---- times -----------------------------------------------------------------------------------------------


def _as_time(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else stated_time(value)


def mark_times(tree: HtmlElement) -> None:
    """Make `time` elements of others that state one: by `datetime`, or by `title` where the class speaks of a date."""
    for element in _STATING(tree):
        if element.tag not in ("time", "ins", "del"):
            element.tag = "time"
    for element in [e for e in _DATED(tree) if e.get("title") and e.tag != "time"]:
        if len(text_of(element)) <= LONGEST_LINE and stated_time(element.get("title")) is not None:
            element.tag = "time"
            element.set("datetime", element.get("title"))


class _YearLines:
    """Short texts of a page that name a year; sought once, where nothing states a date."""

    def __init__(self, tree: HtmlElement) -> None:
        self._tree = tree

    @cached_property
    def texts(self) -> list[Any]:
        """The first of them, each with its element."""
        lines: list[Any] = _YEARS(self._tree)
        return lines[:_MOST_LOOKED_AT]

    @cached_property
    def around(self) -> list[Any]:
        """Those above and below the page's prose, its first and last line among them, each with its element."""
        elements = {element: n for n, element in enumerate(self._tree.iter())}
        texts = ((n, text) for e, n in elements.items() if e.tag not in _NO_PROSE for text in (e.text, e.tail))
        prose = [n for n, text in texts if text and is_prose(one_line(text) or "")]
        first, last = (prose[0], prose[-1]) if prose else (len(elements), 0)
        return [text for text in self.texts if not first < elements[text.getparent()] < last]


def _published(tree: HtmlElement, stated: Stated, url: str, lines: _YearLines) -> Candidates:
    yield from _by("json-ld", stated.linked("datePublished"))
    yield from _by("open-graph", stated.meta(*_OG_PUBLISHED))
    yield from _by("microdata", stated.microdata.get("datePublished", ()))
    yield from _by("meta", stated.meta(*_META_PUBLISHED))
    yield from _by("json-ld", stated.linked("dateCreated", "uploadDate"))
    yield from _by("microdata", stated.microdata.get("dateCreated", ()))
    yield from _by("html", _times(tree, updated=False))
    yield from _by("url", (url_date(url),))
    yield from _by("html", _dated(tree))
    yield from _by("text", _shown(lines, updated=False))


def _modified(tree: HtmlElement, stated: Stated, lines: _YearLines) -> Candidates:
    yield from _by("json-ld", stated.linked("dateModified"))
    yield from _by("open-graph", stated.meta(*_OG_MODIFIED))
    yield from _by("microdata", stated.microdata.get("dateModified", ()))
    yield from _by("meta", stated.meta(*_META_MODIFIED))
    yield from _by("html", _times(tree, updated=True))
    yield from _by("text", _shown(lines, updated=True))


def _times(tree: HtmlElement, *, updated: bool) -> Iterator[str]:
    """Dates of `time` elements of the article, those of its last change if `updated`.

    A time in a sentence, or in a table of data, is part of what the text tells, unless it is named as the page's.
    """
    for time in islice(tree.iter("time"), _MOST_LOOKED_AT):
        value, kind = time.get("datetime"), time.get("class", "")
        if not value or (_UPDATED.search(kind) is not None) != updated or _is_aside(time):
            continue
        named = time.get("pubdate") is not None or "publish" in f"{kind} {time.get('itemprop', '')}".lower()
        line = None if named else next(time.iterancestors("p", "li", "td", "dd", "blockquote"), None)
        if line is None or (line.tag != "td" and not is_sentence(line_of(line))):
            yield value


def _dated(tree: HtmlElement) -> Iterator[datetime]:
    """Days in short elements whose class speaks of a date."""
    for element in _DATED(tree)[:_MOST_LOOKED_AT]:
        text = text_of(element).strip()
        time = written_date(text) if len(text) <= LONGEST_LINE and not _UPDATED.search(text) else None
        if time is not None and not _is_aside(element):
            yield time


def _shown(lines: _YearLines, *, updated: bool) -> Iterator[datetime]:
    """Days in short lines around the page's prose, such as `Issued 18 July 2024`, or of its last change if `updated`.

    A sentence with a date in it tells of something else, save where it says that it tells of a change; so does a
    heading or an entry of a list.
    """
    outside = (*HEADINGS, "li")
    for text in lines.texts if updated else lines.around:
        if (_UPDATED.search(text) is not None) != updated:
            continue
        around, parts = text.getparent(), [text]
        if not updated:
            is_line = len(text.strip()) <= LONGEST_LINE and around.tag not in outside
            if not is_line or next(around.iterancestors(*outside), None) is not None:
                continue
            parts = [part for part in (text, *parts_of(text)) if not is_sentence(one_line(part) or "")]
        time = next((day for part in parts if (day := written_date(part)) is not None), None)
        if time is not None and not _is_aside(around):
            yield time
