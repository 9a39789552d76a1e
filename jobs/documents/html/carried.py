"""Texts that a page carries for scripts to show, or for readers without scripts: in templates, `noscript` and JSON.

What holds them is taken as it came; it is read only where the page itself shows little text.

A page of Next.js carries the stream of React that its scripts show in `self.__next_f.push([1, "..."])`. The stream is
rows `ID:VALUE`, each JSON on a line or `T` with a length in bytes and a text (react-server, `ReactFlightServer`). An
element is `["$", tag, key, properties]`; `"$ID"` and `"$LID"` stand for another row. Nothing is run: elements are
written as markup, which is read as any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from html import escape
from typing import Any, Final

from lxml.etree import tostring
from lxml.html import HtmlElement

from quern.jobs.documents.html.stated import StatedBody
from quern.jobs.documents.html.texts import is_prose
from quern.jobs.text.plain_text import paragraphs

_TEMPLATES: Final = frozenset({"text/template", "text/x-template", "text/html", "text/x-handlebars-template"})
_JSON_TYPES: Final = frozenset({"application/json", "", "text/javascript", "application/javascript"})
# A script that only sets a variable: `window.state = {...}`.
_SETS: Final = re.compile(r"\s*(?:[\w.$\[\]\"' ]{1,80}=\s*)?(?=[{\[])")
_DECODER: Final = json.JSONDecoder(strict=False)
# A template that is not filled in, and what a page says to browsers without scripts.
_PLACEHOLDER: Final = re.compile(r"\{\{|\$\{|<%")
_NAMES_SCRIPTS: Final = re.compile(r"java\s*script", re.I)
_MARKUP: Final = re.compile(r"<(?:p|br|div|h[1-6]|ul|ol|table|blockquote)\b", re.I)
_TITLES: Final = ("title", "headline", "name")
# How editors name the kind of a block, and what it holds.
_KINDS: Final = ("type", "_type", "nodeType", "kind")
_TEXTS: Final = ("text", "value", "html", "rendered")
_PARTS: Final = ("content", "children", "data", "blocks", "items", "paragraphs")
# Most characters of a script, values of its JSON that are looked at, levels of its blocks, and texts that are read.
_LONGEST: Final = 5_000_000
_MOST_VALUES: Final = 100_000
_DEEPEST: Final = 30
_MOST_TEXTS: Final = 30
# Least characters of a text.
_LEAST: Final = 80

_PUSH: Final = re.compile(r"\s*(?:\(?self\.__next_f\b[^\[]{0,40}(?:\[\]\))?)\.push\(\s*(?=\[)")
_ROW: Final = re.compile(rb"([0-9a-f]{1,8}):(?:T([0-9a-f]{1,8}),)?")
_ELEMENT: Final = re.compile(r"[a-z][a-z0-9]{0,20}")
_NOT_SHOWN: Final = frozenset({"script", "style", "head", "meta", "link", "title"})
_MOST_LEVELS: Final = 200  # Of elements in a stream.

Read = Callable[[str], str]


def carriers(tree: HtmlElement) -> list[HtmlElement]:
    """The scripts, templates and `noscript` elements of a page that may hold its text."""
    found = tree.iter("script", "template", "noscript")
    return [e for e in found if e.tag != "script" or len(e.text or "") >= _LEAST or _is_flight(e.text or "")]


def carried_bodies(elements: Sequence[HtmlElement], read: Read) -> list[StatedBody]:
    """The texts of the longest of what elements hold, the longest first; `read` gives the text of markup."""
    found: list[StatedBody] = []
    for element in elements:
        kind = (element.get("type") or "").strip().lower()
        if element.tag != "script" or kind in _TEMPLATES:
            parts = (tostring(e, encoding="unicode", with_tail=True) for e in element)
            markup = "".join([element.text or "", *parts])
            if len(markup) <= _LONGEST and not _PLACEHOLDER.search(markup):
                is_shown = element.tag != "noscript"
                lines = (line for line in markup.split("\n") if is_shown or not _NAMES_SCRIPTS.search(line))
                found.append(StatedBody("", "\n".join(lines)))
        elif kind in _JSON_TYPES and len(script := element.text or "") <= _LONGEST and (start := _SETS.match(script)):
            with suppress(ValueError, RecursionError):
                found += _named(_DECODER.raw_decode(script, start.end())[0])
    if flight := [script for element in elements if _is_flight(script := element.text or "")]:
        markup, values = _flight_values(flight)
        texts = (StatedBody("", text) for text in map(_whole, values) if text)
        found += [StatedBody("", markup), *texts, *_named(values)]
    found.sort(key=lambda body: -len(body.text))
    longest = [
        StatedBody(b.headline, read(b.text) if _MARKUP.search(b.text) else paragraphs(b.text))
        for b in found[:_MOST_TEXTS]
    ]
    return sorted(longest, key=lambda body: -len(body.text))


def _named(value: Any) -> Iterator[StatedBody]:
    """The texts in a value of JSON that something names."""
    pending = [(value, "")]
    for _ in range(_MOST_VALUES):
        if not pending:
            return
        value, title = pending.pop()
        inner: Iterable[Any] = value if isinstance(value, list) else ()
        if isinstance(value, dict):
            inner = value.values()
            title = next((name for n in _TITLES if (name := _joined(value.get(n)))), title)
            # A text that nothing names may be a message of the page's scripts.
            yield from (StatedBody(title, text) for part in inner if title and (text := _whole(part)))
        pending += ((part, title) for part in inner if isinstance(part, dict | list))


def _whole(value: Any) -> str:
    """The text of a value that is one: a string of prose or markup, or a list of an editor's blocks."""
    if isinstance(value, list) and any(isinstance(b, dict) and any(k in b for k in _KINDS) for b in value):
        value = _joined(value)
    if not isinstance(value, str) or len(value) < _LEAST:
        return ""
    return value if _MARKUP.search(value) or any(map(is_prose, value.split("\n"))) else ""


def _joined(value: Any, depth: int = 0) -> str:
    """The text of blocks, a block a line, and of runs of text within one, joined."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        inner = [value[name] for name in (*_TEXTS, *_PARTS) if isinstance(value.get(name), str | list | dict)]
        return _joined(inner[0], depth + 1) if inner and depth < _DEEPEST else ""
    if not isinstance(value, list):
        return ""
    runs = any(isinstance(part, dict) and isinstance(part.get(name), str) for part in value for name in _TEXTS[:2])
    is_line = runs and depth > 0
    return ("" if is_line else "\n").join(_joined(part, depth + 1) for part in value)


def _is_flight(script: str) -> bool:
    """Whether a script pushes a piece of the stream."""
    return "__next_f" in script[:100] and _PUSH.match(script) is not None


def _flight_values(scripts: Sequence[str]) -> tuple[str, list[Any]]:
    """The stream that scripts push, as markup, and the values of its rows; those of a broken row are left out."""
    pushed: list[str] = []
    for script in scripts:
        start = _PUSH.match(script)
        with suppress(ValueError, RecursionError):
            value, _ = _DECODER.raw_decode(script, start.end() if start else 0)
            if isinstance(value, list) and len(value) == 2 and isinstance(value[1], str):
                pushed.append(value[1])
    stream = "".join(pushed).encode("utf-8", "replace")
    rows = dict(_rows(stream)) if len(stream) <= _LONGEST else {}
    values = list(rows.values())
    writer = _Writer(rows)
    markup = "".join(part for name in list(rows) if not isinstance(rows.get(name), str) for part in writer.row(name))
    return markup, values


def _rows(stream: bytes) -> Iterator[tuple[str, Any]]:
    at = 0
    while head := _ROW.match(stream, at):
        at = head.end()
        if head[2] is not None:
            end = at + int(head[2], 16)
            yield head[1].decode(), stream[at:end].decode("utf-8", "replace")
            at = end
            continue
        end = stream.find(b"\n", at)
        end = len(stream) if end < 0 else end
        if stream[at : at + 1] in (b"[", b"{"):
            with suppress(ValueError, RecursionError):  # A row that is not whole shows nothing.
                yield head[1].decode(), json.loads(stream[at:end])
        at = end + 1


class _Writer:
    """Writes rows as markup, each once."""

    def __init__(self, rows: dict[str, Any]) -> None:
        self._rows = rows
        self._left = _MOST_VALUES

    def row(self, name: str) -> Iterator[str]:
        """A row, unless it was written."""
        return self._parts(self._rows.pop(name, None), 0)

    def _parts(self, value: Any, depth: int) -> Iterator[str]:
        self._left -= 1
        if self._left < 0 or depth > _MOST_LEVELS:
            return
        if isinstance(value, str):
            if not value.startswith("$"):
                yield escape(value)
            elif value.startswith("$$"):
                yield escape(value[1:])
            else:
                yield from self._parts(self._rows.pop(value[1:].removeprefix("L"), None), depth + 1)
        elif isinstance(value, list) and len(value) >= 4 and value[0] == "$":
            yield from self._element(value[1], value[3], depth)
        elif isinstance(value, list):
            for part in value:
                yield from self._parts(part, depth + 1)
        elif isinstance(value, dict):  # Of properties and states only elements are shown.
            for part in value.values():
                if isinstance(part, list | dict):
                    yield from self._parts(part, depth + 1)

    def _element(self, tag: Any, properties: Any, depth: int) -> Iterator[str]:
        if tag in _NOT_SHOWN or not isinstance(properties, dict):
            return
        tag = tag if isinstance(tag, str) and _ELEMENT.fullmatch(tag) else "div"
        href = properties.get("href")
        yield f'<{tag} href="{escape(href)}">' if isinstance(href, str) else f"<{tag}>"
        html = properties.get("dangerouslySetInnerHTML")
        html = html.get("__html") if isinstance(html, dict) else None
        if isinstance(html, str):
            whole = self._rows.pop(html[1:], "") if html.startswith("$") else html
            yield whole if isinstance(whole, str) else ""
        for name, value in properties.items():
            if name == "children" or isinstance(value, list | dict):
                yield from self._parts(value, depth + 1)
        yield f"</{tag}>"
