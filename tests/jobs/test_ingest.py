"""Reading files: what becomes a page, what becomes a reject with its place, and how much is held at once."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.ingest import FileReject, IngestError, latest_captures, list_inputs, page_url, read_pages, superseded
from schemas.digests import bytes_digest
from schemas.groups import IngestSettings
from schemas.tables import PAGES, TIMESTAMP
from schemas.validate import validate

HTML = b"<html><body><p>Herring is served at nine.</p></body></html>"
SAMPLES = Path(__file__).parents[2].parent / "shared" / "datasets" / "warc_samples"


def read(root: Path, **settings: int) -> tuple[list[dict], list[FileReject]]:
    rows, rejects = [], []
    for found in read_pages(root, IngestSettings(**settings)):
        if isinstance(found, FileReject):
            rejects.append(found)
        else:
            rows += validate(found, PAGES).to_pylist()
    return rows, rejects


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def reasons(rejects: list[FileReject]) -> dict[str, str]:
    return {r.key: r.reason for r in rejects}


def warc(
    *records: tuple[str, bytes, str], kind: str = "response", content_type: str = "application/http"
) -> list[bytes]:
    return [
        (
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{i}>\r\nWARC-Target-URI: {url}\r\n"
            f"WARC-Date: {date}\r\nContent-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
        ).encode()
        + block
        + b"\r\n\r\n"
        for i, (url, block, date) in enumerate(records)
    ]


def http(body: bytes, *headers: str, status: int = 200, content_type: str = "text/html; charset=utf-8") -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {content_type}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


# ---- what there is to read -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"), [("missing", "does not exist"), ("empty", "holds no files"), ("other", "kinds")]
)
def test_nothing_to_read_is_one_clear_sentence(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "empty").mkdir()
    put(tmp_path / "other" / "picture.png", b"x")
    with pytest.raises(IngestError, match=says) as error:
        list_inputs(tmp_path / name)
    assert "\n" not in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    with pytest.raises(IngestError, match="permission"):
        list_inputs(folder)


def test_files_are_read_in_order_of_their_paths_and_other_kinds_are_skipped(tmp_path: Path) -> None:
    for name in ("b.html", "a/z.htm", "a/c.xhtml", "notes.txt"):
        put(tmp_path / name, HTML)
    rows, rejects = read(tmp_path)
    assert [r["source_file"] for r in rows] == ["a/c.xhtml", "a/z.htm", "b.html"]
    assert rejects == []


def test_one_file_can_be_the_input(tmp_path: Path) -> None:
    rows, _ = read(put(tmp_path / "a.html", HTML))
    assert [(r["url"], r["source_file"], r["digest"]) for r in rows] == [
        ("file:///a.html", "a.html", bytes_digest(HTML))
    ]


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("news.example.org/2024/a b.html", "https://news.example.org/2024/a%20b.html"),
        ("news.example.org/a.html.gz", "https://news.example.org/a.html"),
        ("news.example.org/a.html?id=3#x.html", "https://news.example.org/a.html%3Fid=3%23x.html"),
        ("pages/a.html", "file:///pages/a.html"),
        ("v1.0/a.html", "file:///v1.0/a.html"),
        ("-bad.example/a.html", "file:///-bad.example/a.html"),
        ("page.html", "file:///page.html"),
    ],
)
def test_an_address_is_made_from_a_mirror_path(path: str, url: str) -> None:
    assert page_url(Path(path)) == url


# ---- bad files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.html", b"", "empty"),
        ("blank.html", b" \n", "empty"),
        ("cut.html.gz", gzip.compress(HTML * 50)[:40], "truncated_gzip"),
        ("plain.html.gz", HTML, "not_gzip"),
        ("flipped.html.gz", gzip.compress(HTML * 50)[:-8] + bytes(8), "damaged_gzip"),
        ("trailing.html.gz", gzip.compress(HTML) + b"garbage", "damaged_gzip"),
        ("image.html", b"\x89PNG\r\n\x1a\n" + bytes(50), "not_html"),
        ("paper.html", b"%PDF-1.7 and so on", "not_html"),
        ("zipped.html", gzip.compress(HTML), "not_html"),
        ("sound.html", b"ID3\x04\x00\x00\x00", "not_html"),
        ("feed.html", b"<?xml version='1.0'?><rss></rss>", "not_html"),
    ],
)
def test_a_bad_page_is_rejected_by_name_and_its_neighbours_are_read(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    put(tmp_path / name, content)
    put(tmp_path / "good.html", HTML)
    rows, rejects = read(tmp_path)
    assert reasons(rejects) == {name: reason}
    assert [r["source_file"] for r in rows] == ["good.html"]


def test_a_page_with_stray_control_bytes_is_still_a_page(tmp_path: Path) -> None:
    rows, rejects = read(put(tmp_path / "a.html", b"<p>a\0b</p>"))
    assert (len(rows), rejects) == (1, [])


def test_gzip_members_and_padding_are_one_page(tmp_path: Path) -> None:
    rows, _ = read(put(tmp_path / "a.html.gz", gzip.compress(HTML[:20]) + gzip.compress(HTML[20:]) + bytes(512)))
    assert rows[0]["body"] == HTML


def test_a_page_over_the_limit_is_not_read_past_it(tmp_path: Path) -> None:
    put(tmp_path / "large.html", b"<p>" + b"a" * 2000)
    put(tmp_path / "large.html.gz", gzip.compress(os.urandom(2000).hex().encode()))
    put(tmp_path / "fits.html", HTML)
    rows, rejects = read(tmp_path, max_page_bytes=1000)
    assert reasons(rejects) == {"large.html": "too_large", "large.html.gz": "too_large"}
    assert len(rows) == 1


def test_a_compression_bomb_stops_at_the_ratio(tmp_path: Path) -> None:
    _, rejects = read(put(tmp_path / "bomb.html.gz", gzip.compress(b"<p>" + bytes(9_000_000))))
    assert reasons(rejects) == {"bomb.html.gz": "compression_ratio"}


def test_links_out_of_the_folder_and_broken_links_are_rejected(tmp_path: Path) -> None:
    secret = put(tmp_path / "outside" / "secret.html", HTML)
    inside = put(tmp_path / "in" / "page.html", HTML)
    (tmp_path / "in" / "leak.html").symlink_to(secret)
    (tmp_path / "in" / "broken.html").symlink_to(tmp_path / "nowhere.html")
    (tmp_path / "in" / "copy.html").symlink_to(inside)
    rows, rejects = read(tmp_path / "in")
    assert reasons(rejects) == {"leak.html": "unreadable", "broken.html": "unreadable"}
    assert [r["source_file"] for r in rows] == ["copy.html", "page.html"]


def test_a_linked_folder_is_rejected_by_name(tmp_path: Path) -> None:
    put(tmp_path / "outside" / "secret.html", HTML)
    put(tmp_path / "in" / "deep" / "page.html", HTML)
    (tmp_path / "in" / "deep" / "folder").symlink_to(tmp_path / "outside")
    rows, rejects = read(tmp_path / "in")
    assert reasons(rejects) == {"deep/folder": "linked_folder"}
    assert [r["source_file"] for r in rows] == ["deep/page.html"]


def test_a_folder_of_nothing_but_links_says_that_they_were_not_entered(tmp_path: Path) -> None:
    put(tmp_path / "outside" / "page.html", HTML)
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / "in" / name).symlink_to(tmp_path / "outside")
    with pytest.raises(IngestError, match=r"no files; not entered: a \(a symbolic link.*\) and 1 more"):
        list_inputs(tmp_path / "in")


def test_an_unreadable_subfolder_is_rejected_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "closed" / "page.html", HTML)
    put(tmp_path / "good.html", HTML)
    scan = os.scandir

    def refuse(path: str) -> object:  # what the system does, were the test not run by root
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    rows, rejects = read(tmp_path)
    assert rejects == [FileReject("closed", "unreadable_folder", "Permission denied")]
    assert [r["source_file"] for r in rows] == ["good.html"]


def test_an_input_that_is_a_link_is_read(tmp_path: Path) -> None:
    page = put(tmp_path / "real" / "sub" / "page.html", HTML)
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "links").mkdir()
    named, latest = tmp_path / "links" / "other.html", tmp_path / "links" / "latest"
    named.symlink_to(page)
    latest.symlink_to(page)
    read_as = {root.name: [r["source_file"] for r in read(root)[0]] for root in (tmp_path / "folder", named, latest)}
    assert read_as == {"folder": ["sub/page.html"], "other.html": ["other.html"], "latest": ["page.html"]}


def test_a_named_pipe_does_not_hang_the_build(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    _, rejects = read(tmp_path)
    assert reasons(rejects) == {"pipe.html": "unreadable"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_rejected(tmp_path: Path) -> None:
    put(tmp_path / "closed.html", HTML).chmod(0)
    assert reasons(read(tmp_path)[1]) == {"closed.html": "unreadable"}


def test_a_file_name_that_is_no_utf8_gets_a_readable_key(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.html"))
    try:
        path.write_bytes(HTML)
    except OSError:
        pytest.skip("this file system holds only UTF-8 names")
    rows, _ = read(tmp_path)
    assert (rows[0]["url"], rows[0]["source_file"]) == ("file:///caf%E9.html", "caf\\xe9.html")


# ---- JSONL -----------------------------------------------------------------------------------------------


def test_documents_keep_their_line_and_get_an_address(tmp_path: Path) -> None:
    first = '  {"doc_id": "a", "text": "čaj", "group": 3}  '
    second = '{"doc_id": "b", "text": "", "url": "https://x.example/b", "title": null}'
    rows, rejects = read(put(tmp_path / "d.jsonl", f"\ufeff{first}\n\n{second}".encode()))
    assert rejects == []
    assert [(r["url"], r["warc_offset"], r["content_type"]) for r in rows] == [
        ("doc:a", 1, "application/json"),
        ("doc:b", 3, "application/json"),
    ]
    assert rows[0]["body"] == first.strip().encode()


@pytest.mark.parametrize("doc_id", ["a b", " a", "id/ä?#%20", "全角\u3000空白", "soft\u00adhyphen", "doc:a", "a\tb"])
def test_the_address_of_a_document_is_its_id_as_it_is(tmp_path: Path, doc_id: str) -> None:
    rows, rejects = read(put(tmp_path / "d.jsonl", json.dumps({"doc_id": doc_id, "text": "t"}).encode()))
    assert ([r["url"] for r in rows], rejects) == ([f"doc:{doc_id}"], [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{not json", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b'{"doc_id": "a", "text": "\xff"}', "not_utf8"),
        (b"[1]", "invalid_document"),
        (b'{"doc_id": "a"}', "missing_field"),
        (b'{"text": "a"}', "missing_field"),
        (b'{"doc_id": "a", "text": 3}', "wrong_type"),
        (b'{"doc_id": 7, "text": "a"}', "wrong_type"),
        (b'{"doc_id": "a", "text": "b", "title": ["c"]}', "wrong_type"),
        (b'{"doc_id": " ", "text": "a"}', "bad_doc_id"),
        (b'{"doc_id": "\\ud800", "text": "a"}', "bad_doc_id"),
        (b'{"doc_id": "a\\nb", "text": "a"}', "bad_doc_id"),
        (b'{"doc_id": "a\\u0000b", "text": "a"}', "bad_doc_id"),
        (b'{"doc_id": "a", "text": "' + b"x" * 300_000 + b'"}', "too_large"),
    ],
)
def test_a_bad_line_is_rejected_by_number_and_the_next_is_read(tmp_path: Path, line: bytes, reason: str) -> None:
    good = b'{"doc_id": "good", "text": "t"}'
    rows, rejects = read(put(tmp_path / "d.jsonl", good + b"\n" + line + b"\n" + good), max_page_bytes=200_000)
    assert reasons(rejects) == {"d.jsonl:2": reason}
    assert [r["warc_offset"] for r in rows] == [1, 3]


def test_a_truncated_jsonl_gz_keeps_its_whole_lines(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"doc_id": str(i), "text": os.urandom(50).hex()}) for i in range(200))
    rows, rejects = read(put(tmp_path / "d.jsonl.gz", gzip.compress(lines.encode())[:-2000]))
    assert 100 < len(rows) < 200
    assert [r.reason for r in rejects] == ["truncated_gzip"]
    assert rejects[0].key == f"d.jsonl.gz:{len(rows) + 1}"


# ---- WARC and ARC ----------------------------------------------------------------------------------------


def test_responses_become_pages_with_their_place_and_headers(tmp_path: Path) -> None:
    records = warc(
        (
            "http://x.example/a",
            http(HTML, 'ETag: "7"', "Last-Modified: Fri, 09 Aug 2013 23:54:35 GMT"),
            "2024-05-06T07:08:09Z",
        ),
        ("http://x.example/b", http(HTML, status=404), "2024-05-06T07:08:09Z"),
        ("http://x.example/c", http(b"{}", content_type="application/json"), "2024-05-06T07:08:09Z"),
    )
    packed = [gzip.compress(r) for r in records]
    rows, rejects = read(put(tmp_path / "w.warc.gz", b"".join(packed)))
    (row,) = rows
    assert (row["url"], row["status"], row["charset"], row["etag"]) == ("http://x.example/a", 200, "utf-8", '"7"')
    assert row["fetched_at"] == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert (row["warc_file"], row["warc_offset"], row["body"]) == ("w.warc.gz", 0, HTML)
    second, third = len(packed[0]), len(packed[0]) + len(packed[1])
    assert reasons(rejects) == {f"w.warc.gz@{second}": "http_status", f"w.warc.gz@{third}": "content_type"}


def test_requests_and_metadata_are_skipped_and_resources_read(tmp_path: Path) -> None:
    other = warc(("http://x.example/a", b"GET / HTTP/1.1\r\n\r\n", "2024-05-06"), kind="request")
    page = warc(("http://x.example/r", HTML, "2024-05-06T00:00:00Z"), kind="resource", content_type="text/html")
    rows, rejects = read(put(tmp_path / "w.warc", b"".join(other + page)))
    assert ([r["url"] for r in rows], rejects) == (["http://x.example/r"], [])


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
    ],
)
def test_transfer_and_content_codings_are_undone(tmp_path: Path, headers: list[str], body: bytes) -> None:
    content = warc(("http://x.example/a", http(body, *headers), "2024-05-06T00:00:00Z"))
    rows, rejects = read(put(tmp_path / "w.warc", content[0]))
    assert rejects == []
    assert rows[0]["body"].strip() == HTML


def test_a_content_coding_cannot_pass_the_limit_of_a_page(tmp_path: Path) -> None:
    bomb = http(gzip.compress(b"<p>" + bytes(5_000_000)), "Content-Encoding: gzip")
    odd = http(HTML, "Content-Encoding: x-unheard-of")
    content = warc(("http://x.example/a", bomb, "2024-05-06"), ("http://x.example/b", odd, "2024-05-06"))
    _, rejects = read(put(tmp_path / "w.warc", b"".join(content)), max_page_bytes=1_000_000)
    assert [r.reason for r in rejects] == ["too_large", "content_encoding"]


@pytest.mark.parametrize("name", ["large.warc", "cut.warc", "cut.warc.gz", "large.arc", "cut.arc", "cut.arc.gz"])
def test_a_rejected_capture_names_its_address(tmp_path: Path, name: str) -> None:
    url, block = "http://x.example/ä", http(os.urandom(40_000).hex().encode())
    arc = f"{url} 10.0.0.1 20240506070809 text/html {len(block)}\n".encode() + block + b"\n"
    content = warc((url, block, "2024-05-06"))[0] if ".warc" in name else arc
    packed = gzip.compress(content) if name.endswith(".gz") else content
    large = name.startswith("large")  # by more than the headers of a page may add
    path = put(tmp_path / name, packed if large else packed[:-200])
    rows, rejects = read(path, max_page_bytes=1000 if large else 1_000_000)
    assert rows == []
    assert [r.detail.split(": ")[0] for r in rejects] == ["http://x.example/%C3%A4"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_truncated_archive_keeps_what_came_before(tmp_path: Path, packed: bool) -> None:
    pages = [(f"http://x.example/{i}", http(HTML * 3), "2024-05-06T00:00:00Z") for i in range(3)]
    records = [gzip.compress(r) if packed else r for r in warc(*pages)]
    name = "w.warc.gz" if packed else "w.warc"
    rows, rejects = read(put(tmp_path / name, b"".join(records)[:-60]))
    assert len(rows) == 2
    assert [r.reason for r in rejects] == ["truncated_gzip" if packed else "truncated_warc"]
    assert rejects[0].key.startswith(f"{name}@")


def test_a_file_that_is_no_archive_is_rejected(tmp_path: Path) -> None:
    put(tmp_path / "a.warc", b"this is a letter\r\n" * 9)
    put(tmp_path / "b.arc", b"this is a letter\r\n" * 9)
    put(tmp_path / "c.warc.gz", b"this is a letter\r\n" * 9)
    _, rejects = read(tmp_path)
    assert [r.reason for r in rejects] == ["damaged_warc", "damaged_arc", "not_gzip"]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"{SAMPLES} is not here")
@pytest.mark.parametrize(
    ("name", "pages", "faults"),
    [
        ("resiliparse/warcfile.warc", 16, []),
        ("resiliparse/warcfile.warc.gz", 16, []),
        ("resiliparse/clueweb-quirk.warc.gz", 29, []),
        ("resiliparse/clipped.warc.gz", 0, ["truncated_gzip"]),
        ("resiliparse/block-sized-records.warc.gz", 0, []),
        ("warcio/example.warc", 1, []),
        ("warcio/example.warc.gz", 1, []),
        ("warcio/example-iana.org-chunked.warc", 1, []),
        ("warcio/example-wrong-chunks.warc.gz", 1, []),
        ("warcio/example-resource.warc.gz", 1, []),
        ("warcio/example-trunc.warc", 1, ["damaged_warc"]),
        ("warcio/example-digest.warc", 0, []),
        ("warcio/post-test.warc.gz", 0, ["content_type"] * 3),
        ("warcio/example.arc", 1, []),
        ("warcio/example.arc.gz", 1, []),
        ("warcio/example-space-in-url.arc", 0, ["truncated_arc"]),
        ("warcio/bad.arc", 0, ["damaged_arc", "content_type", "damaged_arc"]),
    ],
)
def test_sample_archives_are_read(name: str, pages: int, faults: list[str]) -> None:
    rows, rejects = read(SAMPLES / name)
    assert (len(rows), [r.reason for r in rejects]) == (pages, faults)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"{SAMPLES} is not here")
def test_every_sample_ends_and_every_key_is_its_own() -> None:
    for path in list_inputs(SAMPLES):
        _, rejects = read(path)
        assert len({r.key for r in rejects}) == len(rejects)


# ---- batches and duplicates ------------------------------------------------------------------------------


def test_batches_are_bounded_in_rows_and_bytes(tmp_path: Path) -> None:
    for i in range(10):
        put(tmp_path / f"{i}.html", HTML)
    batches = [b.num_rows for b in read_pages(tmp_path, IngestSettings(), batch_rows=4)]
    assert batches == [4, 4, 2]
    batches = [b.num_rows for b in read_pages(tmp_path, IngestSettings(), batch_bytes=len(HTML) * 3)]
    assert batches == [3, 3, 3, 1]


def test_the_latest_capture_of_an_address_stays() -> None:
    urls = pa.array(["a", "b", "a", "c", "b", "a"])
    times = pa.array([5, None, 9, None, None, 9], pa.int64()).cast(TIMESTAMP)
    assert np.flatnonzero(~superseded(urls, times)).tolist() == [3, 4, 5]
    assert superseded(pa.array([], pa.string()), pa.array([], TIMESTAMP)).tolist() == []


def latest(root: Path, staged: Path) -> tuple[list[dict], dict[str, str]]:
    """Rows and rejects of what `root` holds, one row per address."""
    pq.write_table(pa.Table.from_batches(list(read_pages(root, IngestSettings()))), staged)
    found = list(latest_captures([staged]))
    rejects = [r for r in found if isinstance(r, FileReject)]
    return [r for b in found if not isinstance(b, FileReject) for r in b.to_pylist()], reasons(rejects)


def test_earlier_captures_become_rejects_with_their_place(tmp_path: Path) -> None:
    records = warc(*(("http://x.example/", http(HTML), f"2024-05-0{day}T00:00:00Z") for day in (2, 3, 1)))
    kept, rejects = latest(put(tmp_path / "w.warc", b"".join(records)), tmp_path / "pages.parquet")
    assert [r["warc_offset"] for r in kept] == [len(records[0])]
    places = (0, len(records[0]) + len(records[1]))
    assert rejects == {f"w.warc@{place}": "duplicate_url" for place in places}


def test_documents_that_share_an_address_stay_and_the_last_of_an_id_replaces_the_others(tmp_path: Path) -> None:
    given = [("a", "https://x.example/"), ("b", "https://x.example/"), ("a", "https://y.example/")]
    lines = "\n".join(json.dumps({"doc_id": doc_id, "text": "t", "url": url}) for doc_id, url in given)
    kept, rejects = latest(put(tmp_path / "d.jsonl", lines.encode()), tmp_path / "pages.parquet")
    assert [(r["url"], r["warc_offset"]) for r in kept] == [("doc:b", 2), ("doc:a", 3)]
    assert rejects == {"d.jsonl:1": "duplicate_doc_id"}
