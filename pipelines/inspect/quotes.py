"""Where on its page a quote stands: characters of the page's body as it was decoded, markup and all.

What a page says is its markup without tags and with its character references read; a JSONL line says its text with
escapes read. White space, the bars between table cells and the marks before list items come and go when text is
extracted, so they do not count.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from quern.jobs.pages.formats.documents import JSON_TYPE
from quern.jobs.pages.formats.files import MARKDOWN_TYPE, MDX_TYPE, TEXT_TYPE
from quern.jobs.text.markdown import silent_spans
from quern.jobs.text.personal_data import TYPES

_SAYS_NOTHING: Final = re.compile(
    r"<!--.*?-->|<(?P<tag>script|style|noscript|template)\b.*?</(?P=tag)\s*>|</?[A-Za-z!?][^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_ESCAPE: Final = re.compile(r'(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]')
_LIST_MARK: Final = re.compile(r"^- ", re.MULTILINE)
_APART: Final = re.compile(r"[\s|]+")
_MARK: Final = re.compile(rf"\[(?:{'|'.join(TYPES)})\]")


@dataclass(frozen=True)
class _Said:
    """Characters that a page says, and the characters of its body from `start` to `end` that say them."""

    text: str
    start: int
    end: int


def place_on_page(quote: str, body: str, content_type: str | None, occurrence: int = 0) -> tuple[int, int] | None:
    """First character of `quote` in `body` and the one behind its last; None where it cannot be found again.

    Args:
        quote: Words of a document.
        body: The body of its page, decoded.
        content_type: Media type of the page.
        occurrence: How often the document has the same words before these.
    """
    characters, starts, ends = [], [], []
    for said in _said(body, content_type):
        whole = len(said.text) == said.end - said.start
        for n, character in enumerate(said.text):
            if not _APART.match(character):
                characters.append(character)
                starts.append(said.start + n if whole else said.start)
                ends.append(said.start + n + 1 if whole else said.end)
    wanted = [re.escape(_APART.sub("", part)) for part in _MARK.split(_LIST_MARK.sub("", quote))]
    if not any(wanted):
        return None
    # A mark stands for at most 120 characters of the page.
    found = list(re.finditer(".{1,120}?".join(wanted), "".join(characters), re.DOTALL))
    if not found:
        return None
    match = found[min(occurrence, len(found) - 1)]
    return starts[match.start()], ends[match.end() - 1]


def _said(body: str, content_type: str | None) -> Iterator[_Said]:
    if content_type in (TEXT_TYPE, MARKDOWN_TYPE):
        yield _Said(body, 0, len(body))
    elif content_type == MDX_TYPE:
        at = 0
        for start, end in silent_spans(body):
            yield _Said(body[at:start], at, start)
            at = end
        yield _Said(body[at:], at, len(body))
    elif content_type == JSON_TYPE:
        yield from _read(body, 0, len(body), _ESCAPE, lambda escape: str(json.loads(f'"{escape}"')))
    else:
        at = 0
        for silent in _SAYS_NOTHING.finditer(body):
            yield from _read(body, at, silent.start(), _REFERENCE, html.unescape)
            at = silent.end()
        yield from _read(body, at, len(body), _REFERENCE, html.unescape)


def _read(body: str, start: int, end: int, coded: re.Pattern[str], decode: Callable[[str], str]) -> Iterator[_Said]:
    """What `body[start:end]` says, where `coded` characters stand for others."""
    for code in coded.finditer(body, start, end):
        yield _Said(body[start : code.start()], start, code.start())
        yield _Said(decode(code[0]), *code.span())
        start = code.end()
    yield _Said(body[start:end], start, end)
