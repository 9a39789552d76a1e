"""The character encoding of web pages, which headers and meta tags often state wrongly, and of files of lines.

Order of belief: byte order mark; UTF-8 that is valid; CJK encodings whose characters make sense; what is
declared; what `charset_normalizer` finds. Labels are read as browsers read them (WHATWG Encoding standard:
`iso-8859-1` means windows-1252, `gb2312` means gb18030).

A file of lines, a table or JSON lines, may be put together of several. A line that is valid UTF-8 is read so. Any other
is read in the encoding that such lines of the file tell; where a line has both, as rows of cells from two sources do,
only its bytes that are not UTF-8 are.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Sequence
from typing import Final

from charset_normalizer import from_bytes

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LABELS: Final = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "euc_kr": "cp949", "big5": "big5hkscs", "iso8859-9": "cp1254", "tis-620": "cp874",
}  # fmt: skip
# Encodings that no browser reads, and that turn harmless bytes into markup.
_NEVER: Final = frozenset({"utf-7", "punycode", "idna", "unicode_escape", "raw-unicode-escape", "raw_unicode_escape"})
_META: Final = re.compile(
    rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{2,40})",
    re.I,
)
_MARKUP: Final = re.compile(rb"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.I | re.S)
_HIGH: Final = re.compile(rb"[\x80-\xff]+")
# Encodings of one byte a character, which decode almost anything and so prove nothing.
_SINGLE_BYTE: Final = [
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "iso8859_2", "iso8859_7",
]  # fmt: skip
_HEAD_BYTES: Final = 4096
_SAMPLE_BYTES: Final = 100_000
# Least share of common characters, in the order in which the encodings exclude one another.
_CJK: Final = {"cp932": 0.8, "euc_jp": 0.8, "cp949": 0.95, "gb18030": 0.7, "big5hkscs": 0.7}
_COMMON: Final = {"cp949": ("euc_kr", 0xB0, 0xC8), "gb18030": ("gb2312", 0xB0, 0xD7), "big5hkscs": ("big5", 0xA4, 0xC6)}


def _declared(body: bytes, charset: str | None) -> list[str]:
    """Python's names for the declared encodings, as browsers understand them."""
    head = body[:_HEAD_BYTES].replace(b"\0", b"")
    names: list[str] = []
    for label in (charset or "", *(m.decode("ascii", "replace") for pair in _META.findall(head) for m in pair if m)):
        try:
            name = codecs.lookup(label.strip().strip("\"'")).name
            b"a\x80".decode(name, "replace")  # `codecs` also knows transforms that are no character encodings
        except (LookupError, ValueError, UnicodeError):
            continue
        if name not in _NEVER:
            names.append(_LABELS.get(name, name))
    return list(dict.fromkeys(names))


def _wide(body: bytes) -> str | None:
    """UTF-16 without a byte order mark, recognised by the NUL bytes of its ASCII markup."""
    head = body[: _HEAD_BYTES // 2 * 2]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) * 4 < len(head):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _share(text: str, codec: str) -> float:
    """Share of the characters above ASCII that ordinary text in `codec` is made of; 0 for too few to tell.

    The CJK encodings share their bytes, so valid text proves little. Japanese is recognised by its kana. Each other
    standard has its common characters in one block of lead bytes, that of Korean being the narrowest.
    """
    foreign = [c for c in text if c > "\x7f" and not ("\u3000" <= c <= "\u303f" or "\uff01" <= c <= "\uff5e")]
    if len(foreign) < 4:  # Too few to tell by.
        return 0.0
    if codec in ("cp932", "euc_jp"):
        kana = sum("\u3041" <= c <= "\u30fe" for c in foreign)
        kanji = sum("\u4e00" <= c <= "\u9fff" for c in foreign)
        return (kana + kanji) / len(foreign) if 5 * kana > len(foreign) else 0.0
    standard, first, last = _COMMON[codec]
    # What the standard lacks becomes a question mark, which is in no block.
    return sum(first <= c.encode(standard, "replace")[0] <= last for c in foreign) / len(foreign)


def _cjk(sample: bytes, declared: list[str]) -> str | None:
    """The CJK encoding in which `sample` is valid and reads as ordinary text; what is declared is tried first."""
    for codec in [*(c for c in declared if c in _CJK), *_CJK]:
        text = sample.decode(codec, "replace")
        # One character may be cut off at the end of the sample, and a large page may hold a few bad ones.
        if text.count("\ufffd") <= max(1, len(text) // 2000) and _share(text[:20_000], codec) >= _CJK[codec]:
            return codec
    return None


def _stray_share(body: bytes) -> float:
    """Share of the bytes above ASCII that are not part of valid UTF-8."""
    high = sum(len(run) for run in _HIGH.findall(body))
    valid = len(_HIGH.sub(b"", body.decode("utf-8", "ignore").encode()))
    valid_high = len(body.decode("utf-8", "ignore").encode()) - valid
    return 1.0 - valid_high / high if high else 0.0


def _windows_bytes(error: UnicodeError) -> tuple[str, int]:
    """Error handler: a byte that is no UTF-8 is taken for windows-1252."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("quern_windows_bytes", _windows_bytes)


def _as_utf8(body: bytes, charset: str | None) -> str | None:
    """The text of a body without a byte order mark that is valid UTF-8, as most are; null for any other."""
    if body.startswith(tuple(mark for mark, _ in _BOMS)) or _wide(body):
        return None
    if body.isascii() and any(codec.startswith("iso2022") for codec in _declared(body, charset)):
        return None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _guessed_encoding(body: bytes, charset: str | None) -> str:
    """The codec of a body that is not UTF-8 throughout, or that begins with a byte order mark."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return codec
    if wide := _wide(body):
        return wide
    declared = _declared(body, charset)
    if body.isascii():
        return next(c for c in declared if c.startswith("iso2022"))
    if _stray_share(body) <= 0.2:
        return "utf-8"
    sample = _MARKUP.sub(b" ", body)[:_SAMPLE_BYTES]
    if len(_HIGH.findall(sample)) == 0:
        sample = body[:_SAMPLE_BYTES]
    if cjk := _cjk(sample, declared):
        return cjk
    # An encoding of one byte a character; declared Latin is doubted where most letters are not ASCII.
    candidate = next((c for c in declared if not c.startswith("utf")), "")
    letters = sum(map(len, re.findall(rb"[A-Za-z\x80-\xff]+", sample)))
    dense = sum(map(len, _HIGH.findall(sample))) > 0.25 * max(letters, 1)
    if not dense or (candidate and candidate != "cp1252"):
        return candidate or "cp1252"
    best = from_bytes(sample[:20_000], cp_isolation=_SINGLE_BYTE).best()
    return best.encoding if best is not None else "cp1252"


def _errors_of(codec: str) -> str:
    """The name of the error handler for bytes that are none of `codec`, by which no text fails."""
    return "quern_windows_bytes" if codec == "utf-8" else "replace"


def decode_page(body: bytes, charset: str | None) -> str:
    """`body` as text, without its byte order mark; never fails."""
    text = _as_utf8(body, charset)
    if text is not None:
        return text
    codec = _guessed_encoding(body, charset)
    return body.decode(codec, _errors_of(codec)).removeprefix("\ufeff")


def as_utf8(body: bytes, charset: str | None, replaced: Sequence[str]) -> bytes:
    """`body` in UTF-8 without its byte order mark and lone surrogates, with line breaks for the characters `replaced`.

    A body that is UTF-8 and has none of these is not written anew.
    """
    text = _as_utf8(body, charset)
    valid = text is not None
    text = decode_page(body, charset) if text is None else text
    characters = [character for character in replaced if character in text]
    if valid and not characters:
        return body
    for character in characters:
        text = text.replace(character, "\n")
    return text.encode("utf-8", "ignore")


_BLOCK: Final = 1 << 16
# A line of more is read in pieces, which end where no character of several bytes does.
_LONGEST: Final = 1 << 20


class Utf8Lines(io.RawIOBase):
    """The lines of a file as UTF-8; wrap it in `io.BufferedReader`. What was read before a fault is handed out.

    `other` is the codec of the lines that are not UTF-8; empty while there is none.
    """

    def __init__(self, source: io.BufferedReader) -> None:
        """Args: `source`, of which nothing was read yet."""
        self._source = source
        head = source.peek(_BLOCK)
        wide = next((codec for mark, codec in _BOMS if head.startswith(mark)), None) or _wide(head)
        self._wide = codecs.getincrementaldecoder(wide)("replace") if wide and wide != "utf-8" else None
        self._pending = self._ready = b""
        self._ended = False
        self._fault: OSError | ValueError | None = None
        self._some_utf8 = False
        self.other = ""

    @property
    def mixed(self) -> bool:
        """Whether some lines with characters beyond ASCII are UTF-8, and others are not."""
        return self._some_utf8 and bool(self.other)

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer`; 0 at the end. What the source raises is raised after all before it was handed out."""
        while len(self._ready) < len(buffer) and not self._ended and self._fault is None:
            try:
                piece = self._source.read1(_BLOCK)
            except (OSError, ValueError) as error:
                self._fault = error
                break
            self._ended = not piece
            if self._wide:
                self._ready += self._wide.decode(piece, self._ended).encode()
                continue
            self._pending += piece
            cut = max(self._pending.rfind(b"\n"), self._pending.rfind(b"\r")) + 1
            if not cut and len(self._pending) > _LONGEST:
                cut = self._pending.rfind(b" ") + 1 or len(self._pending)
            cut = len(self._pending) if self._ended else cut
            whole, self._pending = self._pending[:cut], self._pending[cut:]
            self._ready += self._as_utf8(whole)
        if not self._ready and self._fault:
            raise self._fault
        piece, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def _as_utf8(self, whole: bytes) -> bytes:
        """Lines in UTF-8."""
        if _is_utf8(whole):
            self._some_utf8 |= not whole.isascii()
            return whole
        lines = [(line, _is_utf8(line)) for line in whole.splitlines(keepends=True)]
        self._some_utf8 |= any(valid and not line.isascii() for line, valid in lines)
        if not self.other:
            others = b"".join(line for line, valid in lines if line.isascii() or not valid)
            self.other = "utf-8" if _as_utf8(others, None) is not None else _guessed_encoding(others, None)
        return b"".join(line if valid else self._decoded(line).encode("utf-8", "ignore") for line, valid in lines)

    def _decoded(self, line: bytes) -> str:
        """A line that is not UTF-8; one that mostly is, beside windows-1252, byte by byte."""
        codec = "utf-8" if self.other == "cp1252" and _stray_share(line) < 0.5 else self.other
        return line.decode(codec, _errors_of(codec))


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
