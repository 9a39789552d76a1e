"""Files of lines as UTF-8, whatever they are written in: tables and JSON lines, which may be put together of several.

A line that is valid UTF-8 is read so. Any other is read in the encoding that such lines of the file tell; where a line
has both, as rows of cells from two sources do, only its bytes that are not UTF-8 are.
"""

from __future__ import annotations

import codecs
import io
from typing import Final

from quern.jobs.text.charsets import decode_mixed, page_encoding, wide_encoding

_BLOCK: Final = 1 << 16
# A line of more is read in pieces, which end where no character of several bytes does.
_LONGEST: Final = 1 << 20


class Utf8Lines(io.RawIOBase):
    """The lines of a file as UTF-8; wrap it in `io.BufferedReader`. What was read before a fault is handed out.

    Attributes:
        mixed: Whether lines of other characters than ASCII are UTF-8, and others are not.
        other: The codec of the lines that are not UTF-8; empty while there is none.
    """

    def __init__(self, source: io.BufferedReader) -> None:
        """Args: `source`, of which nothing was read yet."""
        self._source = source
        wide = wide_encoding(source.peek(_BLOCK))
        self._wide = codecs.getincrementaldecoder(wide)("replace") if wide else None
        self._pending = self._ready = b""
        self._ended = False
        self._fault: OSError | ValueError | None = None
        self._some_utf8 = False
        self.other = ""

    @property
    def mixed(self) -> bool:
        """See the class."""
        return self._some_utf8 and bool(self.other)

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer`; 0 at the end of the file.

        Raises:
            OSError, ValueError: What the source raises, after all before it was handed out.
        """
        while len(self._ready) < len(buffer) and not self._ended and self._fault is None:
            try:
                piece = self._source.read1(_BLOCK)
            except (OSError, ValueError) as error:
                self._fault = error
                break
            self._ended = not piece
            self._ready += self._decoded(piece)
        if not self._ready and self._fault:
            raise self._fault
        piece, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def _decoded(self, piece: bytes) -> bytes:
        """The next lines that are whole."""
        if self._wide:
            return self._wide.decode(piece, self._ended).encode()
        self._pending += piece
        cut = max(self._pending.rfind(b"\n"), self._pending.rfind(b"\r")) + 1
        if not cut and len(self._pending) > _LONGEST:
            cut = self._pending.rfind(b" ") + 1 or len(self._pending)
        cut = len(self._pending) if self._ended else cut
        whole, self._pending = self._pending[:cut], self._pending[cut:]
        if _is_utf8(whole):
            self._some_utf8 |= not whole.isascii()
            return whole
        lines = whole.splitlines(keepends=True)
        utf8 = list(map(_is_utf8, lines))
        self._some_utf8 |= any(valid and not line.isascii() for line, valid in zip(lines, utf8, strict=True))
        if not self.other:
            told = (line for line, valid in zip(lines, utf8, strict=True) if line.isascii() or not valid)
            self.other = page_encoding(b"".join(told), None)
        return b"".join(
            line if valid else decode_mixed(line, self.other).encode("utf-8", "ignore")
            for line, valid in zip(lines, utf8, strict=True)
        )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
