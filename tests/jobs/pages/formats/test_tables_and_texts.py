"""Documents from CSV, TSV, Parquet, plain text and Markdown, and what fields of documents may be."""

from __future__ import annotations

import csv
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from quern.jobs.text.given_documents import MOST_METADATA
from quern.schemas.settings import IngestSettings
from tests.jobs.pages.archived import documents, put, read, reasons


def test_a_csv_with_its_own_names_makes_documents_and_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    content = """id,body,when,grade,note\r
7,"Tea, and
toast",1719792000,3,\r
8,Salt,soon,,warm\r
"""
    rows, rejects = read(put(tmp_path / "d.csv", content.encode()), map=("doc_id=id", "text=body", "published_at=when"))
    tea, salt = documents(rows)
    assert (tea["doc_id"], tea["text"], tea["metadata"]) == ("7", "Tea, and\ntoast", {"grade": "3"})
    assert tea["published_at"] == datetime(2024, 7, 1, tzinfo=UTC)
    assert (salt["text"], salt["published_at"], salt["metadata"]) == ("Salt", None, {"note": "warm", "when": "soon"})
    assert reasons(rejects) == {"d.csv:4": "bad_date"}
    assert [row["warc_offset"] for row in rows] == [2, 4]


@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.parquet"])
def test_a_table_without_the_columns_says_once_what_it_has_and_how_to_name_them(tmp_path: Path, name: str) -> None:
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"id": [1, 2], "body": ["a", "b"]}), tmp_path / name)
    else:
        content = b"id;body\n1;a\n2;b\n"
        put(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    _, rejects = read(tmp_path / name)
    assert reasons(rejects) == {name: "missing_field"}
    assert 'its columns are "id", "body": name what holds it, like --map text=NAME,doc_id=NAME' in rejects[0].detail
    rows, rejects = read(tmp_path / name, map=("text=body", "doc_id=id"))
    assert ([row["url"] for row in rows], rejects) == (["doc:1", "doc:2"], [])


def test_a_parquet_keeps_times_whole_numbers_and_nested_columns(tmp_path: Path) -> None:
    when = datetime(2024, 5, 1, 8, tzinfo=UTC)
    table = pa.table(
        {
            "doc_id": pa.array([4.0, 5.0, None]),
            "text": ["Four.", "Five.", "Six."],
            "url": [None, None, "https://x.example/six"],
            "published_at": pa.array([when, None, when], pa.timestamp("ns", "UTC")),
            "place": [{"name": "Tollen", "at": [1, 2]}, None, None],
            "data": [b"\x00", None, None],
        }
    )
    pq.write_table(table, tmp_path / "d.parquet")
    rows, rejects = read(tmp_path / "d.parquet")
    four, five, six = documents(rows)
    assert rejects == []
    assert (four["doc_id"], five["doc_id"], len(six["doc_id"])) == ("4", "5", 20)
    assert (four["published_at"], five["published_at"]) == (when, None)
    assert (json.loads(four["metadata"]["place"]), five["metadata"]) == ({"name": "Tollen", "at": [1, 2]}, {})


def test_metadata_is_bounded_and_the_document_stays(tmp_path: Path) -> None:
    bomb = {"doc_id": "a", "text": "t", **{f"f{n:05}": "x" for n in range(10_000)}, "long": "y" * 5_000}
    rows, rejects = read(put(tmp_path / "d.jsonl", json.dumps(bomb).encode()))
    assert [reject.reason for reject in rejects] == ["cut_metadata"]
    assert len(documents(rows)[0]["metadata"]) == MOST_METADATA


@pytest.mark.parametrize(
    ("stated", "read_as"),
    [
        (1719792000, "2024-07-01T00:00:00+00:00"),
        (1719792000000, "2024-07-01T00:00:00+00:00"),
        ("2024-07-01", "2024-07-01T00:00:00+00:00"),
        (20240701, "2024-07-01T00:00:00+00:00"),
        (202405, None),
        (-86400, "1969-12-31T00:00:00+00:00"),
        (float("inf"), None),
        (10**400, None),
        (True, None),
    ],
)
def test_times_may_be_numbers_and_what_is_none_is_left_out_and_told(
    tmp_path: Path, stated: object, read_as: str | None
) -> None:
    line = json.dumps({"doc_id": "a", "text": "t", "published_at": stated}).encode()
    rows, rejects = read(put(tmp_path / "d.jsonl", line))
    found = documents(rows)[0]["published_at"]
    assert (found.isoformat() if found else None) == read_as
    assert [reject.reason for reject in rejects] == ([] if read_as else ["bad_date"])


def test_a_day_in_digits_is_read_in_the_order_that_is_told_and_kept_as_it_stands_where_none_is(tmp_path: Path) -> None:
    notes = put(tmp_path / "notes.md", b'---\r\ntitle: Tea\r\ndate: "03/05/2024"  # fair\r\n---\r\nText.\r\n')
    path = put(tmp_path / "d.csv", b"doc_id,text,published_at\na,t,03/05/2024\nb,t,25/05/2024\n")
    rows, (reject,) = read(path)
    unsure, certain = documents(rows)
    assert (reject.reason, unsure["published_at"]) == ("ambiguous_date", None)
    assert "--day-first or --month-first (ingest.day_first)" in reject.detail
    assert unsure["metadata"] == {"published_at": "03/05/2024"}
    assert certain["published_at"] == datetime(2024, 5, 25, tzinfo=UTC)
    for day_first, month in ((True, 5), (False, 3)):
        rows, rejects = read(path, day_first=day_first)
        assert ([one["published_at"].month for one in documents(rows)], rejects) == ([month, 5], [])
        (note,) = documents(read(notes, day_first=day_first)[0])
        assert (note["published_at"].month, note["text"]) == (month, "Text.\n")


def test_a_text_is_joined_of_two_columns_and_an_empty_one_is_its_title(tmp_path: Path) -> None:
    path = put(tmp_path / "d.csv", b"doc_id,What,Body,Day,Time\na,Tea,At four.,3.5.2024,14:05\nb,Toast,,,\nc,,,,\n")
    for names in (("text=What+Body",), ("text=Body", "title=What")):
        rows, rejects = read(path, map=(*names, "published_at=Day+Time"))
        tea, toast = documents(rows)
        assert tea["text"] == ("Tea\n\nAt four." if "+" in names[0] else "At four.")
        assert (tea["published_at"], tea["metadata"]) == (datetime(2024, 5, 3, 14, 5, tzinfo=UTC), {})
        assert (toast["text"], toast["published_at"]) == ("Toast", None)
        assert reasons(rejects) == {"d.csv:4": "missing_field"}
        assert "is empty, and it has no title" in rejects[0].detail


def test_texts_are_documents_as_they_stand_and_markdown_states_its_title_and_date(tmp_path: Path) -> None:
    put(tmp_path / "plain.txt", "Tea at four.\n\nToast at five.".encode("utf-16"))
    matter = b"---\ntitle: Tides\ndate: 2024-05-01\ntags: [sea, moon]\n---\n\n"
    put(tmp_path / "notes" / "a.md", matter + b"# High water\n\nAt *nine*.\n")
    put(tmp_path / "b.md", b"Low water\n=========\n\nAt three.\n")
    put(tmp_path / "picture.txt", b"\x89PNG\r\n\x1a\n" + bytes(100))
    rows, rejects = read(tmp_path)
    low, tides, plain = documents(rows)
    assert reasons(rejects) == {"picture.txt": "not_text"}
    assert (tides["title"], tides["text"]) == ("Tides", "# High water\n\nAt *nine*.\n")
    assert (tides["published_at"], tides["metadata"]) == (datetime(2024, 5, 1, tzinfo=UTC), {"tags": '["sea", "moon"]'})
    assert (low["title"], low["url"]) == ("Low water", "file:///b.md")
    assert (plain["text"], plain["title"]) == ("Tea at four.\n\nToast at five.", None)


def test_a_markdown_file_of_a_hundred_megabytes_is_rejected_unread(tmp_path: Path) -> None:
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(100_000_000)
    rows, rejects = read(tmp_path / "huge.md")
    assert (rows, reasons(rejects)) == ([], {"huge.md": "too_large"})


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (("txt=body",), "did you mean text?"),
        (("text",), "like text=NAME"),
        (("text=body", "title=body"), "the column body stands there twice, for text and for title"),
        (("text=a", "text=b"), "the field text stands there twice, for a and for b"),
    ],
)
def test_names_of_fields_are_checked(pairs: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValidationError, match=message.replace("?", r"\?")):
        IngestSettings(map=pairs)


def test_long_cells_of_documents_change_no_limit_of_other_tables(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    rows, rejects = read(put(tmp_path / "d.csv", b"doc_id,text\na," + b"x" * (before + 10) + b"\n"))
    assert (len(rows), rejects, csv.field_size_limit()) == (1, [], before)
