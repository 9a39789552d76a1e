"""What a page states of itself for machines: linked data (JSON-LD), meta elements and microdata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

from lxml.etree import XPath
from lxml.html import HtmlElement

from quern.jobs.documents.html.texts import text_of
from quern.jobs.text.plain_text import paragraphs

Thing = dict[str, Any]

# Kinds of schema.org whose dates, authors and names are not the page's, and properties that lead to other pages.
_NOT_THE_ARTICLE: Final = frozenset(
    {"comment", "review", "userreview", "videoobject", "imageobject", "audioobject", "person", "rating", "answer"}
)
_ELSEWHERE: Final = frozenset(
    {"itemListElement", "mentions", "citation", "hasPart", "relatedLink", "comment", "review", "significantLink"}
)
_MOST_THINGS: Final = 5_000
_MOST_PROPERTIES: Final = 2_000
_MOST_OF_A_NAME: Final = 20
_LONGEST: Final = 500
_PROPERTIES: Final = frozenset({"headline", "author", "publisher", "datePublished", "dateCreated", "dateModified"})
_ITEMPROPS: Final = XPath("descendant::*[@itemprop]")
_JSON: Final = json.JSONDecoder(strict=False)
_SPACE: Final = re.compile(r"[\s\ufeff]*")
_BODY: Final = "articleBody"
_MOST_BODIES: Final = 50
# Elements that a text of linked data may be marked up with; `x <y and z> 3` has none.
_TAG: Final = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|center|cite|code|dd|del|div|dl|dt|em|fig\w+|font|h[1-6r]|i|iframe|img|ins|li|mark"
    r"|ol|p|pre|q|s|script|section|small|source|span|strike|strong|style|sub|sup|t\w{1,4}|u|ul|video)\b[^<>]{0,1000}>",
    re.I,
)
_BREAKING: Final = re.compile(r"</?(?:p|br|div|li|ul|ol|h[1-6]|blockquote|tr)\b", re.I)
_BEFORE_JSON: Final = re.compile(r"\s*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[)\s*(?:\*/)?")


@dataclass(frozen=True)
class Stated:
    """Statements in reading order."""

    things: list[Thing]  # JSON-LD objects that may speak of the page.
    names: Mapping[str, str]  # Names of JSON-LD objects by their `@id`.
    metas: Mapping[str, list[str]]  # Contents of `meta` elements by property or name, in lower case.
    microdata: Mapping[str, list[str]]  # Values of `itemprop` elements by property.

    def meta(self, *names: str) -> Iterator[str]:
        """Contents of the named meta elements, in the order of `names`."""
        for name in names:
            yield from self.metas.get(name, ())

    def linked(self, *names: str) -> Iterator[Any]:
        """Values of the named properties of linked data, in the order of `names`."""
        for name in names:
            yield from (thing[name] for thing in self.things if thing.get(name))

    def people(self, value: object) -> list[str]:
        """Names of the persons or organisations that a property of linked data gives."""
        values = value if isinstance(value, list) else [value]
        names = (v.get("name") or self.names.get(str(v.get("@id"))) if isinstance(v, dict) else v for v in values)
        flat = (part for name in names for part in (name if isinstance(name, list) else [name]))
        return [unescape(name) for name in flat if isinstance(name, str)]


def read_stated(tree: HtmlElement) -> Stated:
    """All statements of a page."""
    # Every JSON-LD object of the page, in reading order, each before those inside it.
    things = list(_things(list(tree.iter("script"))))
    names = {str(t["@id"]): t["name"] for t in things if isinstance(t.get("name"), str) and "@id" in t}
    metas: dict[str, list[str]] = {}
    for element in tree.iter("meta"):
        if value := (element.get("content") or "").strip():
            for attribute in ("property", "name", "http-equiv"):
                name = element.get(attribute)
                if name and len(values := metas.setdefault(name.strip().lower(), [])) < _MOST_OF_A_NAME:
                    values.append(value)
    microdata: dict[str, list[str]] = {}
    for element in _ITEMPROPS(tree)[:_MOST_PROPERTIES]:
        for name in _PROPERTIES.intersection(element.get("itemprop").split()):
            if value := _value(element):
                microdata.setdefault(name, []).append(value)
    return Stated([t for t in things if not _is_other(_kinds(t))], names, metas, microdata)


def _value(element: HtmlElement) -> str | None:
    """What a microdata element says: an attribute, the name inside it, or its text; null for one of another thing."""
    item = next((above for above in element.iterancestors() if above.get("itemscope") is not None), None)
    if item is not None and _is_other([str(item.get("itemtype") or "").rsplit("/", 1)[-1].lower()]):
        return None
    if attribute := element.get("content") or element.get("datetime"):
        return str(attribute)
    inner = next((e for e in element.iterdescendants() if "name" in (e.get("itemprop") or "").split()), element)
    text = " ".join((inner.get("content") or text_of(inner)).split())
    return text if len(text) <= _LONGEST else None


def body_scripts(tree: HtmlElement) -> list[HtmlElement]:
    """The scripts of linked data that hold an article's text."""
    return [script for script in tree.iter("script") if _is_linked_data(script) and _BODY in (script.text or "")]


@dataclass(frozen=True)
class StatedBody:
    """The text that linked data give as an article's own, one paragraph a line, and its headline."""

    headline: str
    text: str


def stated_bodies(scripts: Sequence[HtmlElement]) -> list[StatedBody]:
    """The texts of articles, the longest first."""
    items = (thing for thing in _things(scripts) if not _is_other(_kinds(thing)) and isinstance(thing.get(_BODY), str))
    bodies: list[StatedBody] = []
    for thing in sorted(items, key=lambda thing: -len(thing[_BODY]))[:_MOST_BODIES]:
        text = _TAG.sub(lambda tag: "\n" if _BREAKING.match(tag[0]) else "", unescape(thing[_BODY]))
        bodies.append(StatedBody(unescape(str(thing.get("headline") or "")), paragraphs(unescape(text))))
    return bodies


def is_of_kind(thing: Thing, *endings: str) -> bool:
    """Whether a JSON-LD object's type ends so, such as `article` for NewsArticle; in lower case."""
    return any(kind.endswith(endings) for kind in _kinds(thing))


def _kinds(thing: Thing) -> list[str]:
    kinds = thing.get("@type")
    return [k.lower() for k in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(k, str)]


def _is_other(kinds: list[str]) -> bool:
    return not _NOT_THE_ARTICLE.isdisjoint(kinds)


def _things(scripts: Sequence[HtmlElement]) -> Iterator[Thing]:
    pending = [value for script in reversed(scripts) if (value := _parsed(script)) is not None]
    for _ in range(_MOST_THINGS):
        if not pending:
            return
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            inner = [v for k, v in value.items() if k not in _ELSEWHERE and isinstance(v, dict | list)]
            pending.extend(reversed(inner))
        elif isinstance(value, list):
            pending.extend(reversed(value[:_MOST_THINGS]))


def _is_linked_data(script: HtmlElement) -> bool:
    return (script.get("type") or "").strip().lower() == "application/ld+json"


def _parsed(script: HtmlElement) -> object:
    """The value of a JSON-LD script, maybe inside a comment or CDATA section; None where it is none or broken."""
    text = script.text if _is_linked_data(script) else None
    if not text:
        return None
    prefix = _BEFORE_JSON.match(text)
    start = _SPACE.match(text, prefix.end() if prefix else 0)
    try:
        value, _ = _JSON.raw_decode(text, start.end() if start else 0)
    except (ValueError, RecursionError):
        return None
    return value
