"""Text as a screen may show it: what comes from a page can neither drive a terminal nor break a line or a document."""

from __future__ import annotations

import re

# C0, DEL, C1, surrogates and what is no character, but for tab and line feed; then what turns directions.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TERMINAL_LINE = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CARRIAGE = re.compile("\r(\n?)")


def squeeze(text: str) -> str:
    """The text with each run of white space as one space, and none at its ends."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """`text` as a terminal may show it: no control characters but line feeds, nothing that turns directions."""
    lines = _TERMINAL_LINE.sub("\n", text).replace("\t", " ")
    return _DIRECTION.sub("", _CONTROL.sub("", lines))


def one_line(text: str) -> str:
    """`text` as a terminal may show it, on one line."""
    return " ".join(plain(text).split())


def shortened(text: str, characters: int) -> str:
    """`text` on one line, cut to `characters` with an ellipsis."""
    line = one_line(text)
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


def shortened_where_they_differ(one: str, other: str, characters: int) -> tuple[str, str]:
    """Two texts, each on one line of `characters` at most, which show where the first differs from the second.

    What both begin with is left out up to a quarter of a line before that, where it would take the line.
    """
    lines = one_line(one), one_line(other)
    same = next((n for n, (a, b) in enumerate(zip(*lines, strict=False)) if a != b), min(map(len, lines)))
    cut = max(0, same - characters // 4) if max(map(len, lines)) > characters else 0
    first, second = (f"…{line[cut:].lstrip()}" if cut else line for line in lines)
    return shortened(first, characters), shortened(second, characters)


def printable(text: str) -> str:
    """`text` as HTML can hold it, of the same length: control characters and lone surrogates become U+FFFD."""
    return _CONTROL.sub("\ufffd", _CARRIAGE.sub(lambda found: " \n" if found[1] else "\n", text))
