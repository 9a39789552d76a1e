"""WARC files: what becomes a page, and how much of a damaged file is read."""

from __future__ import annotations

import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard

from quern.jobs.pages.formats.rows import FileReject
from quern.jobs.pages.ingest import Reading, Span
from quern.jobs.pages.inputs import of_path
from quern.schemas.settings import IngestSettings
from tests.jobs.pages.archived import HTML, SAMPLES, http, put, read, reasons, warc


def test_responses_become_pages_with_their_place_and_headers(tmp_path: Path) -> None:
    blocks = (http(HTML, 'ETag: "7"'), http(HTML, status=404), http(b"{}", content_type="application/json"))
    records = warc(*((f"http://x.example/{n}", block, "2024-05-06T07:08:09Z") for n, block in enumerate(blocks)))
    packed = [gzip.compress(r) for r in records]
    rows, rejects = read(put(tmp_path / "w.warc.gz", b"".join(packed)))
    (row,) = rows
    assert (row["url"], row["status"], row["charset"], row["etag"]) == ("http://x.example/0", 200, "utf-8", '"7"')
    assert row["fetched_at"] == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert (row["warc_file"], row["warc_offset"], row["body"]) == ("w.warc.gz", 0, HTML)
    second, third = len(packed[0]), len(packed[0]) + len(packed[1])
    assert reasons(rejects) == {f"w.warc.gz@{second}": "http_status", f"w.warc.gz@{third}": "content_type"}


def test_a_type_that_nobody_knows_is_counted_as_unknown_whatever_it_says(tmp_path: Path) -> None:
    records = warc(("http://x.example/a", b"x", "2024-05-06"), kind="\x1b[31mresponse\tpages=9")
    reading = Reading(Span(of_path(put(tmp_path / "w.warc", b"".join(records)))[0], 0, 1 << 20), IngestSettings())
    (found,) = reading
    assert isinstance(found, FileReject)
    assert (found.reason, reading.records) == ("unknown_record", {"unknown": 1})
    assert found.detail.isprintable()


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (
            ["Transfer-Encoding: chunked"],
            b"5\r\n" + HTML[:5] + b"\r\n%x\r\n" % (len(HTML) - 5) + HTML[5:] + b"\r\n0\r\n\r\n",
        ),
        (["Transfer-Encoding: chunked"], HTML),
        (["Content-Encoding: gzip"], gzip.compress(HTML)),
        (["Content-Encoding: gzip"], HTML),
        (["Content-Encoding: zstd"], zstandard.compress(HTML)),
    ],
)
def test_transfer_and_content_codings_are_undone(tmp_path: Path, headers: list[str], body: bytes) -> None:
    content = warc(("http://x.example/a", http(body, *headers), "2024-05-06T00:00:00Z"))
    rows, rejects = read(put(tmp_path / "w.warc", content[0]))
    assert rejects == []
    assert rows[0]["body"].strip() == HTML


def test_a_content_coding_cannot_pass_the_limit_of_a_page(tmp_path: Path) -> None:
    large = b"<p>" + bytes(9_000_000)
    blocks = [
        http(gzip.compress(large), "Content-Encoding: gzip"),
        http(zstandard.compress(large), "Content-Encoding: zstd"),
        http(HTML, "Content-Encoding: x-unheard-of"),
    ]
    content = warc(*((f"http://x.example/{n}", block, "2024-05-06") for n, block in enumerate(blocks)))
    _, rejects = read(put(tmp_path / "w.warc", b"".join(content)), max_page_bytes=1_000_000)
    assert [r.reason for r in rejects] == ["too_large", "too_large", "content_encoding"]


@pytest.mark.parametrize("name", ["large.warc", "cut.warc", "cut.warc.gz"])
def test_a_rejected_capture_names_its_address(tmp_path: Path, name: str) -> None:
    url, block = "http://x.example/ä", http(os.urandom(40_000).hex().encode())
    content = warc((url, block, "2024-05-06"))[0]
    packed = gzip.compress(content) if name.endswith(".gz") else content
    large = name.startswith("large")  # by more than the headers of a page may add
    path = put(tmp_path / name, packed if large else packed[:-200])
    rows, rejects = read(path, max_page_bytes=1000 if large else 1_000_000)
    assert rows == []
    assert [r.detail.split(": ")[0] for r in rejects] == ["http://x.example/%C3%A4"]


@pytest.mark.parametrize("packed", [False, True])
def test_of_a_cut_archive_everything_there_is_is_read(tmp_path: Path, packed: bool) -> None:
    body = HTML + os.urandom(500).hex().encode()
    pages = [(f"http://x.example/{i}", http(body), "2024-05-06T00:00:00Z") for i in range(3)]
    records = [gzip.compress(r) if packed else r for r in warc(*pages)]
    name = "w.warc.gz" if packed else "w.warc"
    rows, rejects = read(put(tmp_path / name, b"".join(records)[:-60]))
    assert [r["url"] for r in rows] == [url for url, _, _ in pages]
    assert rows[1]["body"].startswith(rows[2]["body"])
    assert [r.reason for r in rejects] == ["truncated_gzip" if packed else "truncated_warc"]
    assert rejects[0].key == f"{name}@{sum(map(len, records[:2]))}"


def test_a_file_that_is_no_archive_is_rejected(tmp_path: Path) -> None:
    put(tmp_path / "a.warc", b"this is a letter\r\n" * 9)
    put(tmp_path / "c.warc.gz", b"this is a letter\r\n" * 9)
    _, rejects = read(tmp_path)
    assert [r.reason for r in rejects] == ["damaged_warc", "not_gzip"]


# Records by type, pages, and rejects of every file of the samples; the counts are those of their README.
EXAMPLE = {"warcinfo": 2, "request": 2, "response": 1, "revisit": 1}
WARCFILE = {"warcinfo": 1, "request": 17, "response": 16, "metadata": 16}
SAMPLED: dict[str, tuple[dict[str, int], int, list[str]]] = {
    "resiliparse/warcfile.warc": (WARCFILE, 16, []),
    "resiliparse/warcfile.warc.gz": (WARCFILE, 16, []),
    # Its digests are of pages that its writer changed afterwards.
    "resiliparse/clueweb-quirk.warc.gz": ({"warcinfo": 1, "response": 29}, 29, ["digest_mismatch"] * 29),
    "resiliparse/clipped.warc.gz": ({"response": 1}, 1, ["truncated_gzip@0"]),
    "resiliparse/block-sized-records.warc": ({"unknown": 3}, 0, ["unknown_record"] * 3),
    "resiliparse/block-sized-records.warc.gz": ({"unknown": 3}, 0, ["unknown_record"] * 3),
    "warcio/example.warc": (EXAMPLE, 1, []),
    "warcio/example.warc.gz": (EXAMPLE, 1, []),
    "warcio/example-bad-non-chunked.warc.gz": (EXAMPLE, 1, []),
    "warcio/example-iana.org-chunked.warc": ({"warcinfo": 1, "request": 1, "response": 1}, 1, []),
    "warcio/post-test.warc.gz": ({"request": 3, "response": 3}, 0, ["content_type"] * 3),
    "warcio/example-resource.warc.gz": ({"warcinfo": 2, "resource": 1}, 1, []),
    "warcio/example-space-in-target-uri.warc.gz": ({"warcinfo": 1, "resource": 1}, 0, ["content_type"]),
    "warcio/example-wget-bad-target-uri.warc.gz": (
        {"warcinfo": 1, "request": 1, "response": 1, "metadata": 1, "resource": 2},
        1,
        ["content_type"] * 2,
    ),
    "warcio/example-trunc.warc": ({"warcinfo": 2, "response": 1, "request": 1}, 1, ["wrong_length@1197"]),
    "warcio/example-digest.warc": ({"request": 4}, 0, []),
    "warcio/example-wrong-chunks.warc.gz": ({"request": 1, "response": 1}, 1, ["digest_mismatch"]),
    "warcio/example-bad.warc.gz.bad": ({"warcinfo": 1, "request": 2, "response": 2, "revisit": 1}, 1, ["http_status"]),
}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"{SAMPLES} is not here")
@pytest.mark.parametrize("name", SAMPLED)
def test_every_sample_is_read_to_its_record_counts(name: str) -> None:
    records, pages, faults = SAMPLED[name]
    (given,) = of_path(SAMPLES / name)
    reading = Reading(Span(given, 0, given.size), IngestSettings())
    found = list(reading)
    rejects = [r for r in found if isinstance(r, FileReject)]
    assert (reading.records, sum(isinstance(f, dict) for f in found)) == (records, pages)
    told = [f"{r.reason}@{r.key.partition('@')[2]}" for r in rejects]
    assert len(told) == len(faults)
    assert all(was.startswith(expected) for was, expected in zip(told, faults, strict=True)), told
    assert len({r.key for r in rejects}) == len(rejects)
