"""Staged tables that are folders of files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.indexes.stage_writers import FolderWriter, remove
from quern.indexes.stages import Stage, columns_in, read_parquet
from quern.schemas.tables import DOCUMENTS, PAGES
from tests.tables import Row, batch_of, stage_of


def pages(*urls: str) -> pa.RecordBatch:
    return batch_of(PAGES, rows(*urls))


def rows(*urls: str) -> list[Row]:
    return [{"url": url, "source_file": "f", "digest": url} for url in urls]


def one_file(path: Path, *urls: str) -> Stage:
    return stage_of(path, PAGES, rows(*urls))


def test_maps_that_an_earlier_version_wrote_as_lists_of_pairs_are_read_as_maps(tmp_path: Path) -> None:
    pairs = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
    said = [[{"name": "tier", "value": "gold"}], [], [{"name": "tier", "value": "tin"}, {"name": "zip", "value": "0"}]]
    pq.write_table(pa.table({"doc_id": ["a", "b", "c"], "metadata": pa.array(said, pairs)}), tmp_path / "d.parquet")
    whole = pa.Table.from_batches(read_parquet(tmp_path / "d.parquet", DOCUMENTS, ["doc_id", "metadata"], rows=2))
    known = whole.slice(1).to_pylist(maps_as_pydicts="strict")
    assert known == [{"doc_id": "b", "metadata": {}}, {"doc_id": "c", "metadata": {"tier": "tin", "zip": "0"}}]
    (column,) = columns_in(pq.read_table(tmp_path / "d.parquet").slice(2), DOCUMENTS.fields(["metadata"]))
    assert column.to_pylist() == [[("tier", "tin"), ("zip", "0")]]


def folder(root: Path) -> Stage:
    """Rows a to e: a linked file of two rows, a written one, another linked one."""
    first, last = one_file(root / "first.parquet", "a", "b"), one_file(root / "last.parquet", "d", "e")
    with FolderWriter(root / "pages.parquet", PAGES) as writer:
        writer.link(first.path, first.checksum, first.batches(writer.digest_columns))
        writer.write_all([pages("c")])
        writer.link(last.path, last.checksum, last.batches(writer.digest_columns))
    for linked in (first, last):
        linked.path.unlink()
    return writer.stage()


def test_a_folder_holds_what_one_file_would(tmp_path: Path) -> None:
    made, whole = folder(tmp_path), one_file(tmp_path / "whole.parquet", *"abcde")
    assert (made.rows, made.digest) == (5, whole.digest)
    assert [u for b in made.batches(["url"]) for u in b.column(0).to_pylist()] == list("abcde")
    assert made.lookup("url", ["c", "e"], ["url"])["url"].to_pylist() == ["c", "e"]
    assert pq.read_table(made.path).num_rows == 5
    one_file(made.path / "stray.parquet", "c")
    assert made.lookup("url", ["c", "e"], ["url"])["url"].to_pylist() == ["c", "e"], (
        "what it does not list is none of it"
    )


def test_a_folder_that_is_not_finished_leaves_nothing_and_an_empty_one_has_a_schema(tmp_path: Path) -> None:
    def fail() -> None:
        with FolderWriter(tmp_path / "pages.parquet", PAGES) as writer:
            writer.write_all([pages("a")])
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with FolderWriter(tmp_path / "pages.parquet", PAGES) as writer:
        pass
    assert writer.stage().rows == 0
    assert [b.num_rows for b in writer.stage().batches()] == []
    remove(writer.stage().path)
    assert list(tmp_path.iterdir()) == []
