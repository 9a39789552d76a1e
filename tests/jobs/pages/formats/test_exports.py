"""Tables and records as programs export them: each is read as it was meant."""

from __future__ import annotations

import gzip
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.jobs.pages.originals import original
from tests.jobs.pages.archived import HTML, http, put, read, warc
from tests.jobs.pages.formats.test_tables_and_texts import documents


def texts(path: Path, **settings: Any) -> list[str]:
    rows, rejects = read(path, **settings)
    assert rejects == []
    return [one["text"] for one in documents(rows)]


def test_rows_of_two_encodings_are_each_read_in_their_own(tmp_path: Path) -> None:
    content = "doc_id,text\na,Zoë bought crème brûlée in Genève.\n".encode()
    content += "b,Chloé sold the café in Zürich.\n".encode("cp1252") * 1
    content += "c,Mañana llega el señor Núñez.\n".encode()
    rows, rejects = read(put(tmp_path / "d.csv", content))
    assert [reject.reason for reject in rejects] == ["mixed_encoding"]
    assert [one["text"] for one in documents(rows)] == [
        "Zoë bought crème brûlée in Genève.",
        "Chloé sold the café in Zürich.",
        "Mañana llega el señor Núñez.",
    ]
    russian = "doc_id,text\na,Мост через реку закрыт до весны.\nb,Паром ходит каждый час.\n".encode("cp1251")
    assert texts(put(tmp_path / "r.csv", russian)) == ["Мост через реку закрыт до весны.", "Паром ходит каждый час."]


def test_a_column_that_stands_several_times_has_all_its_values(tmp_path: Path) -> None:
    content = b"Key,Body,Tag,Tag,Tag\nA-1,The lamp flickers.,lamp,night,\nA-2,The door jams.,,,door\n"
    rows, rejects = read(put(tmp_path / "d.csv", content), map=("doc_id=Key", "text=Body"))
    assert rejects == []
    assert [one["metadata"] for one in documents(rows)] == [{"Tag": '["lamp", "night"]'}, {"Tag": "door"}]


def test_quotes_behind_a_backslash_are_read_where_the_table_is_written_so_or_it_is_said(tmp_path: Path) -> None:
    spark = b'doc_id,text\na,"She said \\"wait\\", then left."\nb,"A plain cell."\n'
    assert texts(put(tmp_path / "d.csv", spark)) == ['She said "wait", then left.', "A plain cell."]
    # A backslash is a character where quotes are doubled.
    path = put(tmp_path / "e.csv", b'doc_id,text\na,"The folder C:\\new ""and"" old"\n')
    assert texts(path) == ['The folder C:\\new "and" old']
    assert texts(put(tmp_path / "f.csv", b'doc_id,text\na,"An ^"odd^" mark"\n'), csv_escape="^") == ['An "odd" mark']


def test_lines_before_the_header_are_passed_over(tmp_path: Path) -> None:
    content = b"Export of the ticket system\nCreated 2024-05-01; 2 rows\n\nid;body;owner\n1;The pump leaks.;Ida\n"
    rows, rejects = read(put(tmp_path / "d.csv", content), map=("doc_id=id", "text=body"))
    assert [reject.reason for reject in rejects] == ["preamble"]
    assert [(one["doc_id"], one["text"], one["metadata"]) for one in documents(rows)] == [
        ("1", "The pump leaks.", {"owner": "Ida"})
    ]


@pytest.mark.parametrize("pairs", [('doc_id="no, old"', "text=body"), ("doc_id=no, old", "text=body")])
def test_a_column_whose_name_has_a_comma_can_be_named(tmp_path: Path, pairs: tuple[str, ...]) -> None:
    rows, rejects = read(put(tmp_path / "d.csv", b'"no, old",body\n7,The gate is shut.\n'), map=pairs)
    assert ([one["doc_id"] for one in documents(rows)], rejects) == (["7"], [])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_lines_of_json_in_wide_characters_are_read(tmp_path: Path, encoding: str) -> None:
    lines = '{"doc_id": "a", "text": "Grüße aus Köln"}\n{"doc_id": "b", "text": "Noch eine Zeile"}\n'
    assert texts(put(tmp_path / "d.jsonl", lines.encode(encoding))) == ["Grüße aus Köln", "Noch eine Zeile"]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_is_read_and_said_to_be_one(tmp_path: Path, indent: int | None) -> None:
    many = [{"doc_id": str(n), "text": f"Line {n} [with] {{marks}}.", "n": n} for n in range(3000)]
    rows, rejects = read(put(tmp_path / "d.jsonl", json.dumps(many, indent=indent).encode()))
    assert [one["text"] for one in documents(rows)] == [one["text"] for one in many]
    assert [(reject.key, reject.reason) for reject in rejects] == [("d.jsonl", "json_array")]
    cut = put(tmp_path / "cut.jsonl", json.dumps(many, indent=indent).encode()[:-40])
    rows, rejects = read(cut)
    assert len(rows) in (2998, 2999)
    assert [reject.reason for reject in rejects] == ["json_array", "invalid_json"]
    assert "the rest is not read" in rejects[1].detail


def test_a_field_within_a_field_and_a_list_of_texts(tmp_path: Path) -> None:
    line = {"meta": {"key": "k1", "team": "night"}, "document": {"body": ["One.", "Two."], "pages": 2}}
    rows, rejects = read(
        put(tmp_path / "d.jsonl", json.dumps(line).encode()), map=("doc_id=meta.key", "text=document.body")
    )
    (one,) = documents(rows)
    assert (one["doc_id"], one["text"], rejects) == ("k1", "One.\n\nTwo.", [])
    assert {name: json.loads(value) for name, value in one["metadata"].items()} == {
        "meta": {"team": "night"},
        "document": {"pages": 2},
    }


def test_ids_of_databases_and_times_of_nanoseconds(tmp_path: Path) -> None:
    key = UUID("12345678-1234-5678-1234-567812345678")
    table = pa.table(
        {
            "doc_id": pa.array([key.bytes], pa.uuid()),
            "text": ["A row."],
            "published_at": pa.array([1_709_335_800_123_456_789], pa.timestamp("ns", "UTC")),
        }
    )
    pq.write_table(table, tmp_path / "d.parquet")
    rows, rejects = read(tmp_path / "d.parquet")
    (one,) = documents(rows)
    assert (one["doc_id"], rejects) == (str(key), [])
    assert one["published_at"] == datetime(2024, 3, 1, 23, 30, 0, 123456, tzinfo=UTC)


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
