"""Tables and texts as programs of the world write them, and as somebody would write them who means harm."""

from __future__ import annotations

import gzip
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.jobs.pages.inputs import IngestError
from tests.jobs.pages.archived import documents, put, read, reasons

ROW = "a,Grün ist gut\n"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("doc_id;text\na;Grün ist gut\n".encode(), id="semicolons"),
        pytest.param("sep=;\r\ndoc_id;text\r\na;Grün ist gut\r\n".encode(), id="a line that says what sets apart"),
        pytest.param('\ufeff"sep=\t"\ndoc_id\ttext\na\tGrün ist gut\n'.encode("utf-16-le"), id="the same in quotes"),
        pytest.param("doc_id\ttext\ra\tGrün ist gut\r".encode(), id="tabs, lines of an old Macintosh"),
        pytest.param(f"\ufeffdoc_id, text\n{ROW}".encode(), id="a byte order mark, a space"),
        pytest.param(f"doc_id,text\n{ROW}".encode("cp1252"), id="windows-1252"),
        pytest.param(f"doc_id,text\n{ROW}".encode("utf-16"), id="UTF-16"),
        pytest.param("\n\ndoc_id,text,,\na,Grün ist gut,,\n".encode(), id="empty lines and columns"),
        pytest.param("doc_id,text\na,Grün ist gut,,\n".encode(), id="empty cells at the end of a row"),
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, content: bytes) -> None:
    rows, rejects = read(put(tmp_path / "d.csv", content))
    assert [(one["doc_id"], one["text"]) for one in documents(rows)] == [("a", "Grün ist gut")]
    assert rejects == []


def test_a_workbook_that_is_called_csv_is_told_as_what_it_is(tmp_path: Path) -> None:
    _, rejects = read(put(tmp_path / "d.csv", b"PK\x03\x04" + bytes(range(256)) * 9))
    assert (reasons(rejects), rejects[0].detail) == ({"d.csv": "not_text"}, "the content is a zip file")


@pytest.mark.parametrize(("name", "told"), [("a.rtf", ".docx"), ("a.json", ".jsonl"), ("A.XLSX", ".csv")])
def test_what_is_not_read_is_told_with_what_to_do(tmp_path: Path, name: str, told: str) -> None:
    path = put(tmp_path / name, b"[1]")
    for root in (path, tmp_path):
        with pytest.raises(IngestError, match=told):
            read(root)
    put(tmp_path / "b.txt", b"Text.")
    _, rejects = read(tmp_path)
    assert (reasons(rejects), told in rejects[0].detail) == ({name: "unknown_kind"}, True)


def test_a_line_without_end_is_not_held_in_memory_and_the_next_row_is_read(tmp_path: Path) -> None:
    content = b"doc_id,text\na," + b"x" * 3_000_000 + b'\nb,fine\nc,"open\n' + b"x,y\n" * 1000 + b"d,lost or not\n"
    rows, rejects = read(put(tmp_path / "d.csv.gz", gzip.compress(content)), max_page_bytes=2000, max_ratio=10_000)
    assert [row["url"] for row in rows][:2] == ["doc:b", "doc:x"]
    assert (rejects[0].key, rejects[0].reason) == ("d.csv.gz:2", "malformed_row")
    assert "a quote that opens in the row of line 4 is not closed there" in rejects[1].detail


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_keys_and_prices_of_databases_and_texts_as_bytes_are_read(tmp_path: Path) -> None:
    prices = pa.array([Decimal("1.20"), None], pa.decimal128(9, 2))
    keys = pa.array([Decimal(7), Decimal(2**65)], pa.decimal128(38, 0))
    rows, rejects = read(parquet(tmp_path / "d.parquet", doc_id=keys, text=[b"Tea", b"Salt"], price=prices))
    tea, salt = documents(rows)
    assert (tea["doc_id"], tea["text"], tea["metadata"]) == ("7", "Tea", {"price": "1.20"})
    assert (salt["doc_id"], rejects) == (str(2**65), [])


def test_one_cell_that_cannot_be_read_costs_itself_and_not_its_row(tmp_path: Path) -> None:
    nowhere = pa.array([0, None], pa.timestamp("s", "Nowhere/Land"))
    far = pa.array([10**15, 0], pa.timestamp("s"))
    rows, rejects = read(parquet(tmp_path / "d.parquet", doc_id=[1, 2], text=["a", "b"], far=far, nowhere=nowhere))
    assert [row["url"] for row in rows] == ["doc:1", "doc:2"]
    assert [(one.key, one.reason) for one in rejects] == [("d.parquet:1", "bad_value")] * 2


def test_a_parquet_that_would_fill_memory_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    table = pa.table({"doc_id": [1], "text": pa.array(["a" * 70_000_000])})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    rows, rejects = read(path)
    assert (rows, reasons(rejects)) == ([], {"d.parquet": "compression_ratio"})


def test_a_parquet_whose_names_are_damaged_is_told(tmp_path: Path) -> None:
    path = parquet(tmp_path / "d.parquet", doc_id=["a"], text=["b"], note=["c"])
    path.write_bytes(path.read_bytes().replace(b"note", b"no\xe4e"))
    rows, rejects = read(path)
    assert (rows, reasons(rejects)) == ([], {"d.parquet": "damaged_parquet"})


def test_metadata_nested_as_deep_as_json_can_be_ends_nothing(tmp_path: Path) -> None:
    lines = [b'{"doc_id": "d%d", "text": "t", "m": ' % n + b"[" * n + b"]" * n + b"}" for n in range(880, 1000)]
    rows, rejects = read(put(tmp_path / "d.jsonl", b"\n".join(lines)))
    assert len(rows) + sum(reject.reason == "invalid_json" for reject in rejects) == len(lines)


def test_half_of_a_surrogate_pair_in_a_mapped_text_is_left_out(tmp_path: Path) -> None:
    path = put(tmp_path / "d.jsonl", rb'{"doc_id": "a", "body": "Tea \ud800", "k": "v\udfff"}')
    rows, rejects = read(path, map=("text=body",))
    assert ([(one["text"], one["metadata"]) for one in documents(rows)], rejects) == ([("Tea ", {"k": "v"})], [])


def markdown(tmp_path: Path, content: str) -> dict[str, Any]:
    rows, _ = read(put(tmp_path / "d.md", content.encode()))
    (document,) = documents(rows)
    return document


def test_front_matter_is_read_as_it_is_written(tmp_path: Path) -> None:
    matter = "title: No\nlang: no\nversion: 1.10\ndate: 2024-05-01 10:00:00 +0200\nupdated: 2024-13-45\ndoc_id: [1]"
    matter += "\nat: !!timestamp noon\nempty: !!int"
    read_as = markdown(tmp_path, f"---\n{matter}\n---\nEnkel tekst.\n")
    assert (read_as["title"], read_as["language"], read_as["metadata"]) == (
        "No",
        "no",
        {"at": "noon", "modified_at": "2024-13-45", "version": "1.10"},
    )
    assert (read_as["published_at"].hour, read_as["modified_at"], len(read_as["doc_id"])) == (8, None, 20)


@pytest.mark.parametrize(
    "matter",
    [
        "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]),
        "a: &a [*a]",
        "a: !!python/object/apply:os.system [true]",
    ],
)
def test_front_matter_that_means_harm_is_read_as_it_stands(tmp_path: Path, matter: str) -> None:
    read_as = markdown(tmp_path, f"---\n{matter}\n---\nText.\n")
    said = dict(line.split(": ", 1) for line in matter.split("\n"))
    assert (read_as["text"], read_as["metadata"] | {"a0": ""}) == ("Text.\n", said | {"a0": ""})


def test_a_heading_of_spaces_takes_no_time(tmp_path: Path) -> None:
    began = time.process_time()
    assert markdown(tmp_path, f"#{' ' * 1_000_000}{'x' * 600}\n")["title"] is None
    assert time.process_time() - began < 5
