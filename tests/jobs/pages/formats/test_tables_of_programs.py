"""Tables and records as trackers, engines and databases export them."""

from __future__ import annotations

import gzip
import io
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.jobs.pages.formats.jsonl import json_pages
from quern.jobs.pages.formats.tables import delimited_pages
from quern.schemas.settings import IngestSettings
from quern.schemas.words.fields import pairs_of
from tests.jobs.pages.archived import documents, put, read, reasons


def texts(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {one["doc_id"]: one["text"] for one in documents(rows)}


# ---- CSV -------------------------------------------------------------------------------------------------


def test_columns_of_one_name_are_lists_paragraphs_and_one_id(tmp_path: Path) -> None:
    content = b"id,Note,Tag,Note,Tag,By,By,id\n7,Tea at four.,sea,Toast at five.,moon,Ines,Oskar,7\n8,Salt.,,,,,,8\n"
    rows, rejects = read(put(tmp_path / "d.csv", content), map=("doc_id=id", "text=Note", "author=By"))
    tea, salt = documents(rows)
    assert (tea["doc_id"], tea["text"], tea["author"]) == ("7", "Tea at four.\n\nToast at five.", "Ines, Oskar")
    assert (tea["metadata"], salt["text"], salt["metadata"], rejects) == ({"Tag": '["sea", "moon"]'}, "Salt.", {}, [])


@pytest.mark.parametrize(
    ("codec", "word"),
    [("cp1252", "Brücke in Orléans"), ("cp1251", "Мост через реку Нева"), ("cp932", "橋のなまえはひかり")],
)
def test_each_row_is_read_in_its_own_encoding_and_the_file_is_told(tmp_path: Path, codec: str, word: str) -> None:
    said = {str(n): f"The bridge {word} number {n}." for n in range(6)}
    as_csv = ["doc_id,text", *(f"{n},{text}" for n, text in said.items())]
    as_json = [json.dumps({"doc_id": n, "text": text}, ensure_ascii=False) for n, text in said.items()]
    for name, lines in {"d.csv": as_csv, "d.jsonl": as_json}.items():
        content = b"\n".join(line.encode(codec if n % 2 else "utf-8") for n, line in enumerate(lines))
        rows, rejects = read(put(tmp_path / name, content))
        assert (texts(rows), reasons(rejects)) == (said, {name: "mixed_encoding"})


def test_quotes_that_a_backslash_escapes_are_read_and_other_backslashes_stay(tmp_path: Path) -> None:
    content = rb"""doc_id,text,path
a,"Ida wrote \"no\", and left.",C:\temp\new
b,"Doubled "" too: \\ one.",\\host\share\
c,"Plain.",x
"""
    rows, rejects = read(put(tmp_path / "d.csv", content))
    one, two, _ = documents(rows)
    assert (one["text"], one["metadata"]["path"]) == ('Ida wrote "no", and left.', r"C:\temp\new")
    assert two["text"] == 'Doubled " too: \\ one.'
    assert two["metadata"]["path"].endswith("host\\share\\")
    assert rejects == []
    rows, rejects = read(put(tmp_path / "e.csv", b'doc_id,text\na,"Ida wrote ^"no^", C^D."\n'), csv_escape="^")
    assert (texts(rows), rejects) == ({"a": 'Ida wrote "no", C^D.'}, [])


def test_backslashes_before_quotes_that_are_doubled_escape_nothing(tmp_path: Path) -> None:
    content = b'doc_id,text\na,"The folder ""C:\\data\\"" is full."\nb,"C:\\data\\"\n'
    rows, rejects = read(put(tmp_path / "d.csv", content))
    assert (texts(rows), rejects) == ({"a": 'The folder "C:\\data\\" is full.', "b": "C:\\data\\"}, [])


def test_a_late_escape_is_a_reject_that_names_the_option(tmp_path: Path) -> None:
    rows_before = "".join(f'{n},"plain"\n' for n in range(10_000))
    path = put(tmp_path / "d.csv", f'doc_id,text\n{rows_before}x,"he said \\"no\\" twice"\n'.encode())
    _, (reject,) = read(path)
    assert "ingest.csv_escape" in reject.detail


def test_lines_before_the_header_are_skipped_and_told(tmp_path: Path) -> None:
    content = b'Report of the depot\nMade, 2024-05-01\n\ndoc_id;text\na;"Tea, at four."\nb;one;two\n'
    rows, rejects = read(put(tmp_path / "d.csv", content))
    assert texts(rows) == {"a": "Tea, at four."}
    assert reasons(rejects) == {"d.csv": "preamble", "d.csv:6": "malformed_row"}
    assert "the header is line 4" in rejects[0].detail
    rows, rejects = read(tmp_path / "d.csv", skip_lines=3)
    assert (texts(rows), reasons(rejects)) == ({"a": "Tea, at four."}, {"d.csv:6": "malformed_row"})
    _, rejects = read(tmp_path / "d.csv", skip_lines=1)
    assert reasons(rejects) == {"d.csv": "missing_field"}


def test_a_column_with_a_comma_is_named_in_quotes_as_messages_show_it(tmp_path: Path) -> None:
    path = put(tmp_path / "d.csv", b'"key, old","say ""hi""",more\na,Tea.,Milk.\n')
    _, (reject,) = read(path)
    assert 'its columns are "key, old", "say ""hi""", "more"' in reject.detail
    pairs = pairs_of('doc_id="key, old", text="say ""hi"""+more')
    rows, rejects = read(path, map=tuple(pairs))
    assert (texts(rows), rejects) == ({"a": "Tea.\n\nMilk."}, [])
    assert IngestSettings(map=tuple(pairs_of("doc_id=key, old,text=more"))).names["doc_id"] == "key, old"


class Endless(io.RawIOBase):
    """A table of one cell without an end: so many bytes that are made when they are read."""

    def __init__(self, head: bytes, size: int) -> None:
        self._head, self._left = head, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        piece = piece or b"x" * min(self._left, len(buffer))
        self._left -= len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


@pytest.mark.parametrize("head", [b'doc_id,text\na,"', b'{"doc_id": "a", "text": "', b'[\n{"doc_id": "a", "text": "'])
def test_a_cell_of_a_hundred_megabytes_is_refused_in_little_memory(head: bytes) -> None:
    stream, settings = io.BufferedReader(Endless(head, 100 << 20)), IngestSettings(max_page_bytes=1 << 20)
    tracemalloc.start()
    if head.startswith(b"doc"):
        (found,) = delimited_pages(stream, "d.csv", ".csv", settings)
    else:
        *_, found = json_pages(stream, "d.jsonl", settings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not isinstance(found, dict)
    assert found.reason in ("malformed_row", "too_large")
    assert peak < 40 << 20


# ---- JSON ------------------------------------------------------------------------------------------------

ROWS = [{"doc_id": f"k{n}", "text": f"Kiln {n} is “hot” in May."} for n in range(3)]


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
def test_lines_and_arrays_of_json_are_read_in_every_unicode_encoding(tmp_path: Path, codec: str) -> None:
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)
    for content in (lines, json.dumps(ROWS, ensure_ascii=False), json.dumps(ROWS, indent=2, ensure_ascii=False)):
        rows, rejects = read(put(tmp_path / "d.jsonl.gz", gzip.compress(content.encode(codec))))
        assert texts(rows) == {row["doc_id"]: row["text"] for row in ROWS}
        assert [reject.reason for reject in rejects] == ["json_array"] * content.startswith("[")


@pytest.mark.parametrize("doc_id", ["a b", " a", "id/ä?#%20", "全角\u3000空白", "soft\u00adhyphen", "doc:a", "a\tb"])
def test_the_address_of_a_document_is_its_id_as_it_is(tmp_path: Path, doc_id: str) -> None:
    rows, rejects = read(put(tmp_path / "d.jsonl", json.dumps({"doc_id": doc_id, "text": "t"}).encode()))
    assert ([r["url"] for r in rows], rejects) == ([f"doc:{doc_id}"], [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{not json", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"[1]", "invalid_document"),
        (b'{"doc_id": "a"}', "missing_field"),
        (b'{"doc_id": "a", "text": 3}', "wrong_type"),
        (b'{"doc_id": true, "text": "a"}', "wrong_type"),
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


def test_objects_over_several_lines_and_arrays_one_after_the_other_are_read_by_their_lines(tmp_path: Path) -> None:
    apart = "\n".join(json.dumps(row, indent=1) for row in ROWS)
    rows, rejects = read(put(tmp_path / "d.jsonl", apart.encode()))
    assert ([row["warc_offset"] for row in rows], rejects) == ([1, 5, 9], [])
    pages = json.dumps(ROWS[:2]) + "\n" + json.dumps([*ROWS[2:], 7])
    rows, rejects = read(put(tmp_path / "d.jsonl", pages.encode()))
    assert ([row["warc_offset"] for row in rows], reasons(rejects)) == (
        [1, 1, 2],
        {"d.jsonl": "json_array", "d.jsonl:2": "invalid_document"},
    )


@pytest.mark.parametrize(
    ("content", "count", "reason"),
    [
        (json.dumps(ROWS, indent=2)[:-1], 3, "invalid_json"),
        (json.dumps(ROWS, indent=2)[:-40], 2, "invalid_json"),
        ("[]", 0, "empty"),
        ('[{"doc_id": "a", "text": "b"}, {oops}, {"doc_id": "c", "text": "d"}]', 1, "invalid_json"),
        ('[{"doc_id": "a", "m": ' + "[" * 100_000, 0, "invalid_json"),
    ],
)
def test_of_an_array_that_is_cut_or_damaged_what_is_before_is_kept(
    tmp_path: Path, content: str, count: int, reason: str
) -> None:
    rows, (told, reject) = read(put(tmp_path / "d.jsonl", content.encode()))
    assert (len(rows), told.reason, reject.reason) == (count, "json_array", reason)


def test_fields_are_named_by_paths_and_lists_of_texts_are_paragraphs(tmp_path: Path) -> None:
    line = {
        "id": 1,
        "document": {"body": ["Tea at four.", "", "Toast at five."], "by": ["Ines", "Oskar"], "day": "2024-05-01"},
        "parts": [{"says": "Salt.", "n": 1}, {"says": "Pepper."}],
        "document.note": "as it is called",
    }
    mapped = ("doc_id=id", "text=document.body+parts.says", "author=document.by", "title=document.note")
    rows, rejects = read(put(tmp_path / "d.jsonl", json.dumps(line).encode()), map=mapped)
    (one,) = documents(rows)
    assert one["text"] == "Tea at four.\n\nToast at five.\n\nSalt.\n\nPepper."
    assert (one["author"], one["title"], rejects) == ("Ines, Oskar", "as it is called", [])
    assert one["metadata"] == {"document": '{"day": "2024-05-01"}', "parts": '[{"n": 1}]'}
    table = pa.Table.from_pylist([{"id": 1, "document": {"body": "Tea."}}, {"id": 2, "document": None}])
    pq.write_table(table, tmp_path / "d.parquet")
    rows, rejects = read(tmp_path / "d.parquet", map=("doc_id=id", "text=document.body"))
    assert (texts(rows), reasons(rejects)) == ({"1": "Tea."}, {"d.parquet:2": "missing_field"})


# ---- Parquet ---------------------------------------------------------------------------------------------
