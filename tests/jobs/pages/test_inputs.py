"""What there is to read, and which of it is no page."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from quern.jobs.pages.formats.files import page_url
from quern.jobs.pages.formats.rows import FileReject
from quern.jobs.pages.inputs import IngestError, covers, of_path
from quern.schemas.addresses import page_source
from tests.jobs.pages.archived import HTML, put, read, reasons

# ---- what there is to read -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"), [("missing", "does not exist"), ("empty", "holds no files"), ("other", "kinds")]
)
def test_nothing_to_read_is_one_clear_sentence(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "empty").mkdir()
    put(tmp_path / "other" / "picture.png", b"x")
    with pytest.raises(IngestError, match=says) as error:
        of_path(tmp_path / name)
    assert "\n" not in str(error.value)


def test_files_are_read_in_order_and_what_is_no_input_is_left_out_or_rejected_by_name(tmp_path: Path) -> None:
    for name in ("b.html", "a/z.htm", "a/c.xhtml", "notes.rtf", "robots.txt", "two\nlines.jsonl"):
        put(tmp_path / name, HTML)
    for name in ("_SUCCESS", ".part-0.jsonl.crc", "._part-0.jsonl", ".DS_Store"):  # What systems write beside data.
        put(tmp_path / name, b"x")
    rows, rejects = read(tmp_path)
    assert [r["source_file"] for r in rows] == ["a/c.xhtml", "a/z.htm", "b.html"]
    assert sorted(r.reason for r in rejects) == ["bad_name", "unknown_kind", "unknown_kind"]
    assert not any("\n" in r.key for r in rejects)


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("news.example.org/2024/a b.html", "https://news.example.org/2024/a%20b.html"),
        ("news.example.org/a.html.gz", "https://news.example.org/a.html"),
        ("news.example.org/a.html?id=3#x.html", "https://news.example.org/a.html%3Fid=3%23x.html"),
        ("v1.0/a.html", "file:///v1.0/a.html"),
        ("-bad.example/a.html", "file:///-bad.example/a.html"),
        ("/data/pages/a b.md", "file:///data/pages/a%20b.md"),
    ],
)
def test_an_address_is_made_from_a_mirror_path(path: str, url: str) -> None:
    assert page_url(Path(path)) == url


# ---- bad files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.html", b"", "empty"),
        ("cut.html.gz", gzip.compress(HTML * 50)[:40], "truncated_gzip"),
        ("plain.html.gz", HTML, "not_gzip"),
        ("flipped.html.gz", gzip.compress(HTML * 50)[:-8] + bytes(8), "damaged_gzip"),
        ("trailing.html.gz", gzip.compress(HTML) + b"garbage", "damaged_gzip"),
        ("image.html", b"\x89PNG\r\n\x1a\n" + bytes(50), "not_html"),
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


def test_a_page_with_control_bytes_and_one_of_several_gzip_members_are_pages(tmp_path: Path) -> None:
    put(tmp_path / "a.html", b"<p>a\0b</p>")
    put(tmp_path / "b.html.gz", gzip.compress(HTML[:20]) + gzip.compress(HTML[20:]) + bytes(512))
    rows, rejects = read(tmp_path)
    assert ([row["body"] for row in rows], rejects) == ([b"<p>a\0b</p>", HTML], [])


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
    (tmp_path / "in" / "folder").symlink_to(tmp_path / "outside")
    rows, rejects = read(tmp_path / "in")
    assert reasons(rejects) == {"folder": "linked_folder", "leak.html": "unreadable", "broken.html": "unreadable"}
    assert [r["source_file"] for r in rows] == ["copy.html", "page.html"]


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
    for name, target, file in (
        ("folder", tmp_path / "real", "sub/page.html"),
        ("other.html", page, "other.html"),
        ("latest", page, "page.html"),
    ):
        (tmp_path / name).symlink_to(target)
        assert [r["source_file"] for r in read(tmp_path / name)[0]] == [file]


def test_a_named_pipe_does_not_hang_the_build(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    _, rejects = read(tmp_path)
    assert reasons(rejects) == {"pipe.html": "unreadable"}


@pytest.mark.parametrize(
    ("source", "name", "covered"),
    [
        ("/data/pages", "/data/pages/a.md", True),
        ("/data/pages", "/data/pages.old/a.md", False),
        ("/data/*.jsonl", "/data/old/a.jsonl", False),
        ("/data/**/*.jsonl", "/data/old/a.jsonl", True),
        ("/data/2024-*", "/data/2024-05/x/a.md", True),
        ("/data/[x]", "/data/[x]/a.md", True),
        ("s3://bucket/crawl/*.warc", "s3://bucket/crawl/a.warc", True),
        ("s3://bucket/crawl", "s3://bucket/crawl2/a.warc", False),
    ],
)
def test_a_source_covers_its_files_and_no_others(source: str, name: str, covered: bool) -> None:
    assert covers(page_source(source), name) == covered
