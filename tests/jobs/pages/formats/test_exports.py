"""Tables and records as programs export them: each is read as it was meant."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

from quern.jobs.pages.originals import original
from tests.jobs.pages.archived import HTML, http, put, read, warc
from tests.jobs.pages.formats.test_tables_and_texts import documents


def test_what_systems_write_beside_data_is_no_input_and_an_odd_name_one_reject(tmp_path: Path) -> None:
    put(tmp_path / "part-0.jsonl", b'{"doc_id": "a", "text": "t"}\n')
    for name in ("_SUCCESS", ".part-0.jsonl.crc", "._part-0.jsonl", ".DS_Store"):
        put(tmp_path / name, b"x")
    put(tmp_path / "two\nlines.jsonl", b'{"doc_id": "b", "text": "t"}\n')
    rows, rejects = read(tmp_path)
    assert [one["doc_id"] for one in documents(rows)] == ["a"]
    assert [reject.reason for reject in rejects] == ["bad_name"]
    assert "\n" not in rejects[0].key


def test_a_collection_is_read_as_the_archives_that_it_holds_and_leads_back_to_their_bytes(tmp_path: Path) -> None:
    days = ["2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z"]
    records = warc(*((f"https://x.example/{n}", http(HTML + b"%d" % n), day) for n, day in enumerate(days)))
    packed = b"".join(map(gzip.compress, records))
    path = tmp_path / "pages.wacz"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("datapackage.json", "{}", zipfile.ZIP_DEFLATED)
        out.writestr("archive/data.warc.gz", packed)
    rows, rejects = read(path)
    assert ([row["url"] for row in rows], rejects) == (["https://x.example/0", "https://x.example/1"], [])
    for row in rows:
        assert row["warc_file"] == "pages.wacz"
        assert original(str(path), row["warc_offset"], row["url"]).block.endswith(row["body"])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("archive/data.warc.gz", b"0" * 10_000_000)
    _, (reject,) = read(path)
    assert (reject.reason, "is compressed" in reject.detail) == ("damaged_wacz", True)
    _, (reject,) = read(put(tmp_path / "no.wacz", b"PK\x03\x04 nothing"))
    assert reject.reason == "damaged_wacz"
