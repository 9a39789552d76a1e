"""What a page of Next.js carries in `self.__next_f.push([1, "..."])`: the stream of React that its scripts show.

The stream is rows `ID:VALUE`, each JSON on a line or `T` with a length in bytes and a text (react-server,
`ReactFlightServer`). An element is `["$", tag, key, properties]`; `"$ID"` and `"$LID"` stand for another row. Nothing
is run: elements are written as markup, which is read as any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import escape
from typing import Any, Final

_PUSH: Final = re.compile(r"\s*(?:\(?self\.__next_f\b[^\[]{0,40}(?:\[\]\))?)\.push\(\s*(?=\[)")
_ROW: Final = re.compile(rb"([0-9a-f]{1,8}):(?:T([0-9a-f]{1,8}),)?")
_TAG: Final = re.compile(r"[a-z][a-z0-9]{0,20}")
_NOT_SHOWN: Final = frozenset({"script", "style", "head", "meta", "link", "title"})
_DECODER: Final = json.JSONDecoder(strict=False)
# Most bytes of a stream, elements that are written, and levels of them.
_LONGEST: Final = 5_000_000
_MOST_VALUES: Final = 100_000
_DEEPEST: Final = 200


def is_flight(script: str) -> bool:
    """Whether a script pushes a piece of the stream."""
    return "__next_f" in script[:100] and _PUSH.match(script) is not None


def flight_values(scripts: Sequence[str]) -> tuple[str, list[Any]]:
    """The stream that scripts push, as markup, and the values of its rows; those of a broken row are left out."""
    stream = "".join(_pushed(scripts)).encode("utf-8", "replace")
    rows = dict(_rows(stream)) if len(stream) <= _LONGEST else {}
    values = list(rows.values())
    writer = _Writer(rows)
    markup = "".join(part for name in list(rows) if not isinstance(rows.get(name), str) for part in writer.row(name))
    return markup, values


def _pushed(scripts: Sequence[str]) -> Iterator[str]:
    for script in scripts:
        start = _PUSH.match(script)
        try:
            value, _ = _DECODER.raw_decode(script, start.end() if start else 0)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and len(value) == 2 and isinstance(value[1], str):
            yield value[1]


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
        if self._left < 0 or depth > _DEEPEST:
            return
        if isinstance(value, str):
            yield from self._text(value, depth)
        elif isinstance(value, list) and len(value) >= 4 and value[0] == "$":
            yield from self._element(value, depth)
        elif isinstance(value, list):
            for part in value:
                yield from self._parts(part, depth + 1)
        elif isinstance(value, dict):  # Of properties and states only elements are shown.
            for part in value.values():
                if isinstance(part, list | dict):
                    yield from self._parts(part, depth + 1)

    def _text(self, value: str, depth: int) -> Iterator[str]:
        if not value.startswith("$"):
            yield escape(value)
        elif value.startswith("$$"):
            yield escape(value[1:])
        else:
            name = value[1:].removeprefix("L")
            yield from self._parts(self._rows.pop(name, None), depth + 1)

    def _element(self, element: list[Any], depth: int) -> Iterator[str]:
        tag, properties = element[1], element[3]
        if tag in _NOT_SHOWN or not isinstance(properties, dict):
            return
        tag = tag if isinstance(tag, str) and _TAG.fullmatch(tag) else "div"
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
