"""The character encoding of a web page, which headers and meta tags often state wrongly.

Order of belief: byte order mark; UTF-8 that is valid; CJK encodings whose characters make sense; what is
declared; what `charset_normalizer` finds. Labels are read as browsers read them (WHATWG Encoding standard:
`iso-8859-1` means windows-1252, `gb2312` means gb18030).
"""

from __future__ import annotations

import codecs
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


def _codec(label: str | None) -> str | None:
    """Python's name for a declared encoding, as browsers understand it; None if there is none."""
    try:
        name = codecs.lookup(label.strip().strip("\"'")).name if label else None
        if name is not None:
            b"a\x80".decode(name, "replace")  # `codecs` also knows transforms that are no character encodings
    except (LookupError, ValueError, UnicodeError):
        return None
    return _LABELS.get(name, name) if name and name not in _NEVER else None


def _declared(body: bytes, charset: str | None) -> list[str]:
    head = body[:_HEAD_BYTES].replace(b"\0", b"")
    labels = [charset, *(m.decode("ascii", "replace") for pair in _META.findall(head) for m in pair if m)]
    return list(dict.fromkeys(c for label in labels if (c := _codec(label))))


def _wide(body: bytes) -> str | None:
    """UTF-16 without a byte order mark, told by the NUL bytes of its ASCII markup."""
    head = body[: _HEAD_BYTES // 2 * 2]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) * 4 < len(head):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _lead(char: str, codec: str, first: int, last: int) -> bool:
    try:
        return first <= char.encode(codec)[0] <= last
    except UnicodeEncodeError:
        return False


def _share(text: str, codec: str) -> float:
    """Share of the characters above ASCII that ordinary text in `codec` is made of; 0 for too few to tell.

    The CJK encodings share their bytes, so valid text proves little. Japanese is told by its kana. Each other
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
    return sum(_lead(c, standard, first, last) for c in foreign) / len(foreign)


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
    kept = len(body.decode("utf-8", "ignore").encode()) - valid
    return 1.0 - kept / high if high else 0.0


def _windows_bytes(error: UnicodeError) -> tuple[str, int]:
    """Error handler: a byte that is no UTF-8 is taken for windows-1252."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("quern_windows_bytes", _windows_bytes)


def _single_byte(sample: bytes, declared: list[str]) -> str:
    """Which encoding of one byte a character; declared Latin is doubted where most letters are not ASCII."""
    stated = [c for c in declared if not c.startswith("utf")]
    letters = sum(len(run) for run in re.findall(rb"[A-Za-z\x80-\xff]+", sample))
    dense = sum(len(run) for run in _HIGH.findall(sample)) > 0.25 * max(letters, 1)
    if stated and not (stated[0] == "cp1252" and dense):
        return stated[0]
    if not dense and not stated:
        return "cp1252"
    best = from_bytes(sample[:20_000], cp_isolation=_SINGLE_BYTE).best()
    return best.encoding if best is not None else "cp1252"


def page_encoding(body: bytes, charset: str | None) -> str:
    """The codec that `body` is written in; `charset` is what its HTTP header declares."""
    return "utf-8" if _as_utf8(body, charset) is not None else _told_encoding(body, charset)


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


def _told_encoding(body: bytes, charset: str | None) -> str:
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
    return _cjk(sample, declared) or _single_byte(sample, declared)


def wide_encoding(body: bytes) -> str | None:
    """UTF-16 or UTF-32, told by a byte order mark or by NUL bytes; null for anything else."""
    marked = next((codec for mark, codec in _BOMS if body.startswith(mark)), None)
    return _wide(body) if marked is None else marked if marked != "utf-8" else None


def decode_mixed(line: bytes, codec: str) -> str:
    """A line that is not UTF-8, in `codec`; one that mostly is, beside windows-1252, byte by byte."""
    codec = "utf-8" if codec == "cp1252" and _stray_share(line) < 0.5 else codec
    return line.decode(codec, errors_of(codec))


def errors_of(codec: str) -> str:
    """The name of the error handler for bytes that are none of `codec`, by which no text fails."""
    return "quern_windows_bytes" if codec == "utf-8" else "replace"


def decode_page(body: bytes, charset: str | None) -> str:
    """`body` as text, without its byte order mark; never fails."""
    text = _as_utf8(body, charset)
    if text is not None:
        return text
    codec = _told_encoding(body, charset)
    return body.decode(codec, errors_of(codec)).removeprefix("\ufeff")


def as_utf8(body: bytes, charset: str | None, replaced: Sequence[str]) -> bytes:
    """`body` in UTF-8 without its byte order mark and lone surrogates, with line breaks for the characters `replaced`.

    A body that is UTF-8 and has none of these is not written anew.
    """
    text = _as_utf8(body, charset)
    valid = text is not None
    text = decode_page(body, charset) if text is None else text
    found = [character for character in replaced if character in text]
    if valid and not found:
        return body
    for character in found:
        text = text.replace(character, "\n")
    return text.encode("utf-8", "ignore")
