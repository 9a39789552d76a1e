"""Texts that a page carries for scripts to show, or for readers without scripts: in templates, `noscript` and JSON.

They are read only where the page itself shows little text. No script is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
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
# Most characters of a script, values of its JSON that are looked at, and texts that are read.
_LONGEST: Final = 5_000_000
_MOST_VALUES: Final = 100_000
_MOST_TEXTS: Final = 30
# Least characters of a text.
_LEAST: Final = 80

Read = Callable[[str], str]


def carriers(tree: HtmlElement) -> list[HtmlElement]:
    """The scripts, templates and `noscript` elements of a page that may hold its text."""
    elements = tree.iter("script", "template", "noscript")
    return [e for e in elements if e.tag != "script" or len(e.text or "") >= _LEAST]


def carried_bodies(elements: Sequence[HtmlElement], read: Read) -> list[StatedBody]:
    """The texts of the longest of what elements hold, the longest first; `read` gives the text of markup."""
    bodies: list[StatedBody] = []
    for element in elements:
        kind = (element.get("type") or "").strip().lower()
        if element.tag != "script" or kind in _TEMPLATES:
            parts = (tostring(e, encoding="unicode", with_tail=True) for e in element)
            markup = "".join([element.text or "", *parts])
            if len(markup) <= _LONGEST and not _PLACEHOLDER.search(markup):
                is_shown = element.tag != "noscript"
                lines = (line for line in markup.split("\n") if is_shown or not _NAMES_SCRIPTS.search(line))
                bodies.append(StatedBody("", "\n".join(lines)))
        elif kind in _JSON_TYPES and len(script := element.text or "") <= _LONGEST and (start := _SETS.match(script)):
            with suppress(ValueError, RecursionError):
                bodies += _named(_DECODER.raw_decode(script, start.end())[0])
    bodies.sort(key=lambda body: -len(body.text))
    longest = [
        StatedBody(b.headline, read(b.text) if _MARKUP.search(b.text) else paragraphs(b.text))
        for b in bodies[:_MOST_TEXTS]
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
            title = next((name for n in _TITLES if isinstance(name := value.get(n), str) and name), title)
            # A text that nothing names may be a message of the page's scripts.
            yield from (StatedBody(title, part) for part in inner if title and _is_text(part))
        pending += ((part, title) for part in inner if isinstance(part, dict | list))


def _is_text(value: Any) -> bool:
    """Whether a value is a string of prose or markup."""
    if not isinstance(value, str) or len(value) < _LEAST:
        return False
    return _MARKUP.search(value) is not None or any(map(is_prose, value.split("\n")))
