"""Archives that are damaged, split into ranges, or compressed in each of their ways."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from quern.jobs.pages.formats.packed import ZSTD_DICTIONARY, DamagedError, ZstdStream
from quern.jobs.pages.formats.rows import FileReject, Sighting
from quern.jobs.pages.ingest import Reading, Span, spans_of
from quern.jobs.pages.inputs import Input, of_path
from quern.jobs.pages.reading import broken_seams, mended, read_task
from quern.schemas.settings import IngestSettings
from tests.jobs.pages.archived import HTML, http, put, read, reasons, warc

URL = "http://x.example/{}"
WHEN = "2024-05-06T00:00:00Z"


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda record: zstandard.ZstdCompressor().compress(record),
}


def records(count: int) -> list[bytes]:
    return warc(*((URL.format(n), http(HTML + b"<p>%d</p>" % n * (n % 7)), WHEN) for n in range(count)))


def spans_read(path: Path, spans: list[Span]) -> tuple[list[tuple[str, int]], list[str]]:
    pages, faults = [], []
    for span in spans:
        for found in Reading(span, IngestSettings()):
            if isinstance(found, dict):
                pages.append((found["url"], found["warc_offset"]))
            elif isinstance(found, FileReject):
                faults.append(f"{found.reason}@{found.key.partition('@')[2]}")
    return pages, faults


@pytest.mark.parametrize("ending", PACKINGS)
def test_every_compression_gives_the_same_pages_at_the_members_offsets(tmp_path: Path, ending: str) -> None:
    packed = [PACKINGS[ending](r) for r in records(5)]
    rows, rejects = read(put(tmp_path / f"w.warc{ending}", b"".join(packed)))
    assert rejects == []
    assert [r["warc_offset"] for r in rows] == [sum(map(len, packed[:n])) for n in range(5)]
    assert [r["body"] for r in rows] == [HTML + b"<p>%d</p>" % n * n for n in range(5)]


def test_a_zstd_archive_brings_its_own_dictionary(tmp_path: Path) -> None:
    plain = records(200)
    dictionary = zstandard.train_dictionary(4096, plain)
    held = dictionary.as_bytes()
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    head = ZSTD_DICTIONARY + struct.pack("<I", len(held)) + held
    content = head + b"".join(packer.compress(r) for r in plain)
    path = put(tmp_path / "w.warc.zst", content)
    (whole,) = of_path(path)
    assert len(spans_read(path, spans_of(whole, len(content)))[0]) == 200
    assert spans_read(path, spans_of(whole, 900)) == spans_read(path, spans_of(whole, len(content)))


def dictionary_alone(dictionary: bytes) -> ZstdStream:
    """A zstd file whose skippable frame holds `dictionary`, compressed, and nothing after it."""
    packed = zstandard.ZstdCompressor(level=1).compress(dictionary)
    return ZstdStream(io.BytesIO(ZSTD_DICTIONARY + struct.pack("<I", len(packed)) + packed), 100)


def test_a_compressed_dictionary_is_read_unless_it_is_a_bomb() -> None:
    stream = dictionary_alone(b"words of a harbour")
    assert (stream.read(1), stream.dictionary) == (b"", b"words of a harbour")
    with pytest.raises(DamagedError, match="more than 16777216 bytes"):
        dictionary_alone(bytes(20_000_000)).read(1)


@settings(max_examples=10)
@given(size=st.integers(400, 4000), ending=st.sampled_from(list(PACKINGS)), cut=st.integers(0, 3000))
def test_however_an_archive_is_split_each_record_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, size: int, ending: str, cut: int
) -> None:
    whole = [PACKINGS[ending](r) for r in records(20)]
    content = bytearray(b"".join(whole))
    if cut:  # damage in the middle of the file
        content[cut % len(content)] ^= 0xFF
    path = put(tmp_path_factory.mktemp("split") / f"w.warc{ending}", bytes(content))
    (entry,) = of_path(path)
    ranges = spans_of(entry, size)
    parts = [read_task((span,), IngestSettings(), path.parent / "parts") for span in ranges]
    if broken_seams(parts):  # the damage looks like a record from where a range begins: the file is read again whole
        parts = mended(parts, [entry], IngestSettings(), path.parent / "parts")
    found = [row for part in parts for b in part.batches("pages", ["url", "warc_offset"]) for row in b.to_pylist()]
    assert [(r["url"], r["warc_offset"]) for r in found] == spans_read(path, [Span(entry, 0, entry.size)])[0]


def test_a_range_that_begins_in_an_archived_archive_is_noticed(tmp_path: Path) -> None:
    inner = b"".join(records(30))
    outer = warc((URL.format("archive"), http(inner, content_type="application/warc"), WHEN))[0] + records(1)[0]
    path = put(tmp_path / "w.warc", outer)
    (entry,) = of_path(path)
    parts = [read_task((span,), IngestSettings(), tmp_path / "parts") for span in spans_of(entry, 4000)]
    assert broken_seams(parts) == ["w.warc"]
    parts = mended(parts, [entry], IngestSettings(), tmp_path / "parts")
    found = [url for part in parts for b in part.batches("pages", ["url"]) for url in b.column("url").to_pylist()]
    assert found == [URL.format(0)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("change", [-40, 25, 400, 5_000_000])
def test_a_wrong_content_length_costs_one_reject_and_no_page(tmp_path: Path, change: int, packed: bool) -> None:
    whole = records(4)
    length = int(whole[1].split(b"Content-Length: ")[1].split(b"\r\n")[0])
    whole[1] = whole[1].replace(b"Content-Length: %d" % length, b"Content-Length: %d" % (length + change), 1)
    made = [gzip.compress(r) if packed else r for r in whole]
    name = "w.warc.gz" if packed else "w.warc"
    rows, rejects = read(put(tmp_path / name, b"".join(made)))
    assert [r["url"] for r in rows] == [URL.format(n) for n in range(4)]
    assert rows[1]["body"] == HTML + b"<p>1</p>"
    assert reasons(rejects) == {f"{name}@{len(made[0])}": "wrong_length"}


@pytest.mark.parametrize("ending", PACKINGS)
def test_what_comes_after_damage_is_read(tmp_path: Path, ending: str) -> None:
    made = [PACKINGS[ending](r) for r in records(6)]
    made[2] = made[2][:30] + b"\x00" * 40 + made[2][70:]
    rows, rejects = read(put(tmp_path / f"w.warc{ending}", b"".join(made)))
    assert {URL.format(n) for n in (0, 1, 3, 4, 5)} <= {r["url"] for r in rows}
    assert [int(r.key.partition("@")[2].partition("#")[0]) for r in rejects] == [len(made[0]) + len(made[1])]


def test_lines_without_carriage_returns_are_read(tmp_path: Path) -> None:
    head, block = records(1)[0].split(b"\r\n\r\n", 1)
    rows, rejects = read(put(tmp_path / "w.warc", head.replace(b"\r\n", b"\n") + b"\n\n" + block))
    assert ([r["body"] for r in rows], rejects) == ([HTML], [])


def with_header(record: bytes, *lines: str) -> bytes:
    return record.replace(b"\r\n", b"\r\n" + "".join(f"{line}\r\n" for line in lines).encode(), 1)


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("notation", ["sha1:base32", "sha1:hex", "md5:hex", "sha256:hex"])
def test_a_page_whose_digest_does_not_match_is_kept_and_told(tmp_path: Path, notation: str, wrong: bool) -> None:
    algorithm, _, form = notation.partition(":")
    digest = hashlib.new(algorithm, HTML + b"x" * wrong).digest()
    value = base64.b32encode(digest).decode() if form == "base32" else digest.hex()
    record = with_header(records(1)[0], f"WARC-Payload-Digest: {algorithm}:{value}")
    rows, rejects = read(put(tmp_path / "w.warc", record))
    assert [r["body"] for r in rows] == [HTML]
    assert reasons(rejects) == ({"w.warc@0": "digest_mismatch"} if wrong else {})


def test_a_conversion_is_a_page_of_plain_text(tmp_path: Path) -> None:
    text = "High water is at nine. Čaj.".encode()
    content = warc((URL.format(1), text, WHEN), kind="conversion", content_type="text/plain")[0]
    rows, rejects = read(put(tmp_path / "w.warc.wet.gz", gzip.compress(content)))
    assert rejects == []
    assert [(r["url"], r["content_type"], r["body"]) for r in rows] == [(URL.format(1), "text/plain", text)]


def test_a_revisit_is_no_loss_and_a_page_elsewhere_is_named(tmp_path: Path) -> None:
    same, other = warc((URL.format(1), http(b"", status=304), WHEN), (URL.format(2), http(b""), WHEN), kind="revisit")
    other = with_header(other, f"WARC-Refers-To-Target-URI: {URL.format(9)}")
    path = put(tmp_path / "w.warc", same + other)
    (entry,) = of_path(path)
    found = list(Reading(Span(entry, 0, entry.size), IngestSettings()))
    assert [(s.url, s.gone) for s in found if isinstance(s, Sighting)] == [(URL.format(n), False) for n in (1, 2)]
    (told,) = (r for r in found if isinstance(r, FileReject))
    assert (told.reason, URL.format(9) in told.detail) == ("revisit", True)


def test_a_response_without_a_media_type_is_http_if_it_looks_like_it(tmp_path: Path) -> None:
    record = records(1)[0].replace(b"Content-Type: application/http\r\n", b"", 1)
    rows, _ = read(put(tmp_path / "w.warc", record))
    assert [(r["status"], r["body"]) for r in rows] == [(200, HTML)]


def test_content_tells_the_kind_of_a_named_file_whose_ending_does_not(tmp_path: Path) -> None:
    made = {
        "a.bad": gzip.compress(records(1)[0]),
        "c.txt": b'{"doc_id": "a", "text": "t"}',
        "d.aspx": b"<!DOCTYPE html>" + HTML,
    }
    kinds = [of_path(put(tmp_path / name, content))[0].kind for name, content in made.items()]
    assert kinds == [".warc", ".jsonl", ".html"]


def test_so_many_faults_that_reading_again_would_never_end_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quern.jobs.pages.formats.segments._REREAD_FLOOR", 0)
    monkeypatch.setattr("quern.jobs.pages.formats.segments._REREADS", 1)
    lying = [r.replace(b"Content-Length: ", b"Content-Length: 9") for r in records(200)]
    _, rejects = read(put(tmp_path / "w.warc", b"".join(lying)))
    assert rejects[-1].reason == "too_damaged"


def test_a_fault_of_the_machine_is_not_blamed_on_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "w.warc", b"".join(records(3)))

    def fail(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("quern.jobs.pages.formats.segments.Segment.readinto", fail)
    given_: Input = of_path(path)[0]
    with pytest.raises(OSError, match="Input/output"):
        list(Reading(Span(given_, 0, given_.size), IngestSettings()))
