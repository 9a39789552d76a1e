"""Hostile variants of pages and archives, made from seeds: the same number gives the same bytes."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Sequence

MOST_BYTES = 4 << 20

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]

_TAGS = (b"div", b"table", b"td", b"p", b"a", b"article", b"svg", b"math", b"noscript", b"template", b"select", b"li")
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "cp1252", "gb18030", "shift_jis", "utf-7", "cp037")
_DATES = (
    b"0000-00-00",
    b"0001-01-01T00:00:00+23:59",
    b"9999-12-31T23:59:59-23:59",
    b"-1",
    b"2024-02-30",
    b"99999-01-01",
)
_NUMBERS = (b"-1", b"0", b"1", b"4294967296", b"99999999999999999999", b"1e9", b"0x10", b"", b"12 34", b"NaN")
_LENGTH = re.compile(rb"(?i)(content-length:\s*)(\d+)")


def _span(rng: random.Random, seed: bytes, most: int) -> tuple[int, int]:
    start = rng.randrange(len(seed) + 1)
    return start, min(len(seed), start + rng.randint(1, most))


def flip_bytes(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Some bytes replaced by any others."""
    out = bytearray(seed)
    for _ in range(rng.randint(1, 64) if out else 0):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def cut_off(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """The end is missing."""
    return seed[: rng.randrange(len(seed) + 1)]


def drop_span(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """A part in the middle is missing."""
    start, end = _span(rng, seed, 4096)
    return seed[:start] + seed[end:]


def repeat_span(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """A part stands there many times."""
    start, end = _span(rng, seed, 512)
    return seed[:end] + seed[start:end] * rng.choice((1, 10, 1000)) + seed[end:]


def splice(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """The beginning of one and the end of another."""
    other = rng.choice(others)
    return seed[: rng.randrange(len(seed) + 1)] + other[rng.randrange(len(other) + 1) :]


def insert_noise(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """NUL bytes, half characters or any bytes in the middle."""
    at = rng.randrange(len(seed) + 1)
    noise = rng.choice((b"\0" * rng.randint(1, 999), b"\xed\xa0\x80", b"\xf0\x9f", b"\xff\xfe", rng.randbytes(256)))
    return seed[:at] + noise + seed[at:]


def nest(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Elements nested in one another, or never closed, up to a hundred thousand deep."""
    tag, depth = rng.choice(_TAGS), rng.choice((10, 300, 5_000, 100_000))
    at = rng.randrange(len(seed) + 1)
    return seed[:at] + b"<" + (tag + b"><") * depth + tag + b">" + seed[at:]


def flood_attributes(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """An element with up to a hundred thousand attributes."""
    many = b" ".join(b"a%d=%d" % (i, i) for i in range(rng.choice((100, 10_000, 100_000))))
    at = rng.randrange(len(seed) + 1)
    return seed[:at] + b"<p " + many + b">" + seed[at:]


def flood_entities(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Character references, right and wrong ones, and entities that name one another."""
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
    many = rng.choice((b"&c;", b"&#0;", b"&#x110000;", b"&#xD800;", b"&notanentity", b"&amp;")) * rng.randint(1, 5000)
    return bomb + seed + many


def recode(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """The bytes of another encoding than the declared one, or of two."""
    text = seed.decode("utf-8", "replace")
    other = text.encode(rng.choice(_ENCODINGS), "ignore")
    return other if rng.random() < 0.5 else seed[: len(seed) // 2] + other[len(other) // 2 :]


def odd_dates(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Years become dates that no calendar has."""
    return re.sub(rb"\b20\d\d(-\d\d-\d\d)?", lambda _: rng.choice(_DATES), seed)


def odd_lengths(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Lengths that headers declare become wrong."""
    return _LENGTH.sub(lambda m: m[1] + rng.choice((*_NUMBERS, m[2] + b"0", m[2][:-1])), seed)


def odd_headers(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Header lines that are doubled, lack their colon, or grow to a megabyte."""
    lines = seed.split(b"\r\n")
    at = rng.randrange(min(len(lines), 60))
    line = rng.choice((lines[at].replace(b":", b""), lines[at] * 2, lines[at] + b"x" * rng.choice((9, 1 << 20)), b"\0"))
    return b"\r\n".join([*lines[:at], line, *lines[at + 1 :]])


def gzip_whole(rng: random.Random, seed: bytes, others: Sequence[bytes]) -> bytes:
    """Compressed as a whole, sometimes with a damaged byte or a missing end."""
    packed = zlib.compressobj(wbits=31)
    out = packed.compress(seed) + packed.flush()
    return rng.choice((out, flip_bytes(rng, out, others), cut_off(rng, out, others), out + b"rubbish"))


ANY: tuple[Mutation, ...] = (flip_bytes, cut_off, drop_span, repeat_span, splice, insert_noise)
PAGE: tuple[Mutation, ...] = (*ANY, nest, flood_attributes, flood_entities, recode, odd_dates)
ARCHIVE: tuple[Mutation, ...] = (*ANY, odd_lengths, odd_headers, gzip_whole)


def mutated(number: int, seeds: Sequence[bytes], mutations: Sequence[Mutation]) -> tuple[str, bytes]:
    """Variant `number`: one of `seeds` after one to three mutations, and their names; at most `MOST_BYTES` long."""
    rng = random.Random(number)
    out = rng.choice(seeds)
    chosen = rng.choices(mutations, k=rng.choice((1, 1, 2, 3)))
    for mutation in chosen:
        out = mutation(rng, out, seeds)[:MOST_BYTES]
    return "+".join(m.__name__ for m in chosen), out
