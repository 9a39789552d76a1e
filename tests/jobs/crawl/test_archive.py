from __future__ import annotations

from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from quern.jobs.crawl.archive import Archive, Exchange


def exchange(n: int) -> Exchange:
    headers = [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked"), ("X-Odd", "caf\xe9")]
    url = f"http://a.example/{n}"
    return Exchange(url, f"GET /{n} HTTP/1.1", [("Host", "a.example")], 200, "HTTP/1.1", headers, b"<p>%d" % n * 50)


def urls(directory: Path) -> list[str]:
    found = []
    for path in sorted(directory.glob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    found.append(record.rec_headers.get_header("WARC-Target-URI"))
    return found


@pytest.mark.parametrize("tail", [b"", b"\x1f\x8b\x08\x00half a record"])
def test_an_archive_goes_on_after_what_was_committed(tmp_path: Path, tail: bytes) -> None:
    first = Archive(tmp_path, "w", 10_000, {"software": "Quern"})
    first.write(exchange(1))
    first.flush()
    file, size = first.file, first.size
    first.write(exchange(2))
    first.close()  # written, but the frontier was never told
    (tmp_path / "w-00002.warc.gz").write_bytes(b"begun, and never told either")
    with (tmp_path / file).open("ab") as stream:
        stream.write(tail)
    again = Archive(tmp_path, "w", 10_000, {"software": "Quern"})
    again.resume(file, size)
    again.write(exchange(3))
    again.close()
    assert urls(tmp_path) == ["http://a.example/1", "http://a.example/3"]
    assert (tmp_path / file).stat().st_size == again.size


def test_an_archive_that_lost_bytes_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "w-00001.warc.gz").write_bytes(b"short")
    with pytest.raises(OSError, match="lost bytes"):
        Archive(tmp_path, "w", 1, {}).resume("w-00001.warc.gz", 100)
