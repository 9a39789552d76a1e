from __future__ import annotations

import io
import struct

import pytest
import zstandard

from quern.jobs.pages.formats.frames import ZSTD_DICTIONARY, ZstdStream
from quern.jobs.pages.formats.packed import DamagedError


def file_of(dictionary: bytes) -> io.BytesIO:
    """A zstd file whose skippable frame holds `dictionary`, compressed, and nothing after it."""
    packed = zstandard.ZstdCompressor(level=1).compress(dictionary)
    return io.BytesIO(ZSTD_DICTIONARY + struct.pack("<I", len(packed)) + packed)


def test_a_compressed_dictionary_is_read() -> None:
    stream = ZstdStream(file_of(b"words of a harbour"), 100)
    assert stream.read(1) == b""
    assert stream.dictionary == b"words of a harbour"


def test_a_dictionary_that_is_a_bomb_is_damage_and_not_memory() -> None:
    with pytest.raises(DamagedError, match="more than 16777216 bytes"):
        ZstdStream(file_of(bytes(20_000_000)), 100).read(1)
