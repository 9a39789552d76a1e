from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from quern.indexes.memo import Memo, MemoWriter, commit_part, committed_inputs, nest, unnest
from quern.indexes.memo_uses import mark_used, read_uses
from quern.schemas.digests import Fingerprints
from quern.schemas.row_digests import row_fingerprints

MADE = pa.schema([pa.field("v", pa.list_(pa.float32(), 2), False), pa.field("s", pa.string())])


def prints(texts: list[str]) -> Fingerprints:
    return row_fingerprints(pa.RecordBatch.from_pydict({"t": pa.array(texts, pa.string())}), ["t"])


def part(texts: list[str], each: int = 2, mark: str = "", transient: bool = False) -> pa.RecordBatch:
    """Every text makes `each` rows that repeat it, and one reject where that is 0."""
    parents = np.repeat(np.arange(len(texts)), each)
    names = [f"{mark}{texts[p]}" for p in parents]
    vectors = pa.array([[float(p), 0.0] for p in parents], MADE.field("v").type)
    rows = pa.RecordBatch.from_arrays([vectors, pa.array(names, pa.string())], schema=MADE)
    rejects = [] if each else [(i, "bad", texts[i], transient) for i in range(len(texts))]
    return nest(prints(texts), rows, parents, rejects)


def names(memo: Memo, texts: list[str]) -> list[str]:
    return unnest(memo.lookup(prints(texts)), "rows")[0].column("s").to_pylist()


def test_results_come_back_in_the_order_asked_for_over_many_parts(tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(1500)]
    for start in range(0, 1500, 500):
        commit_part(tmp_path, part(texts[start : start + 500]))
    memo = Memo(tmp_path)
    asked = [texts[i] for i in np.random.default_rng(7).permutation(1500)[:700]]
    rows, parents = unnest(memo.lookup(prints(asked)), "rows")
    assert rows.column("s").to_pylist() == [t for t in asked for _ in range(2)]
    assert parents.tolist() == np.repeat(np.arange(700), 2).tolist()
    assert committed_inputs(tmp_path) == len(memo) == 1500


def test_only_what_is_unknown_is_missing(tmp_path: Path) -> None:
    assert not Memo(tmp_path / "absent").final(prints(["a"])).any()
    commit_part(tmp_path, part(["a", "b"]))
    (tmp_path / ".tmp-yy4fxou3.arrow").write_bytes(b"")  # What a killed writer left.
    memo = Memo(tmp_path)
    assert committed_inputs(tmp_path) == len(memo) == 2
    assert memo.final(prints(["b", "x", "a"])).tolist() == [True, False, True]
    with pytest.raises(KeyError, match="1 of 2 rows"):
        memo.lookup(prints(["a", "x"]))


def test_the_first_committed_of_two_results_is_kept(tmp_path: Path) -> None:
    commit_part(tmp_path, part(["a"], mark="first "))
    commit_part(tmp_path, part(["a"], mark="second "))
    assert names(Memo(tmp_path), ["a"]) == ["first a", "first a"]


def test_a_transient_reject_is_tried_again_and_then_replaced_and_a_lasting_one_is_not(tmp_path: Path) -> None:
    commit_part(tmp_path, part(["b"], each=0))
    assert Memo(tmp_path).final(prints(["b"])).all()
    commit_part(tmp_path, part(["a"], each=0, transient=True))
    memo = Memo(tmp_path)
    assert not memo.final(prints(["a"])).any()
    assert unnest(memo.lookup(prints(["a"])), "rejects")[0].column("detail").to_pylist() == ["a"]
    commit_part(tmp_path, part(["a"], each=1))
    memo = Memo(tmp_path)
    assert memo.final(prints(["a"])).all()
    assert names(memo, ["a"]) == ["a"]


def test_what_a_damaged_block_held_is_as_if_it_were_absent_and_the_rest_of_its_part_stays(tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(600)]
    path = commit_part(tmp_path, part(texts))
    whole, seen = path.read_bytes(), set()
    for at in np.random.default_rng(7).integers(len(whole), size=60).tolist():
        flipped = bytearray(whole)
        flipped[at] ^= 1 << at % 8
        path.write_bytes(flipped)
        memo = Memo(tmp_path)
        known = memo.final(prints(texts))
        seen.add(int(known.sum()))
        there = [text for text, is_known in zip(texts, known, strict=True) if is_known]
        assert names(memo, there) == [text for text in there for _ in range(2)] if there else True
        assert memo.mend()
        mended = Memo(tmp_path)
        assert committed_inputs(tmp_path) == len(mended)
        assert (mended.final(prints(texts)) >= known).all(), "no more is lost than what is damaged"
        for left in tmp_path.iterdir():
            left.unlink()
    assert seen >= {0, 344, 600 - 88}, "the keys or the contents, a full block, the last one"


@pytest.mark.parametrize("kept", [0, 10, -40])
def test_a_damaged_part_is_as_if_it_were_absent(tmp_path: Path, kept: int, caplog: pytest.LogCaptureFixture) -> None:
    whole, cut = commit_part(tmp_path, part(["a"])), commit_part(tmp_path, part(["b"]))
    cut.write_bytes(cut.read_bytes()[:kept])
    memo = Memo(tmp_path)
    assert memo.final(prints(["a", "b"])).tolist() == [True, False]
    assert whole.exists()
    assert "damaged" in caplog.text


def test_a_writer_that_dies_leaves_no_part(tmp_path: Path) -> None:
    class Unwritable:
        num_rows = 1
        schema = MADE

        def select(self, _: list[str]) -> pa.RecordBatch:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        commit_part(tmp_path, Unwritable())  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_what_is_gathered_is_written_in_parts_with_its_rejects(tmp_path: Path) -> None:
    writer = MemoWriter(tmp_path / "new", pa.schema([("v", pa.string())]), most=2)
    keys = prints(["a", "b", "c"])
    rows: list[list[Mapping[str, object]]] = [[{"v": "1"}, {"v": "2"}], [], [{"v": "3"}]]
    for key, made in zip(keys, rows, strict=True):
        writer.add(bytes(key), made, () if made else [("bad", "too short", True)])
        writer.commit_if_due()
    assert len(writer) == 1, "the third waits"
    writer.commit()
    memo = Memo(tmp_path / "new")
    assert memo.final(keys).tolist() == [True, False, True]
    made, parents = unnest(memo.lookup(keys), "rows")
    assert (made.column("v").to_pylist(), parents.tolist()) == (["1", "2", "3"], [0, 0, 2])
    assert unnest(memo.lookup(keys), "rejects")[0].column("reason").to_pylist() == ["bad"]


def test_steps_that_use_one_memo_at_once_lose_no_marks(tmp_path: Path) -> None:
    def mark(number: int) -> None:
        heads = np.array([number], dtype=np.uint64)
        memo: Any = SimpleNamespace(directory=tmp_path, used_since=lambda _: heads)
        mark_used(memo, memo, 20240101)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(mark, range(1, 33)))
    assert read_uses(tmp_path).heads.tolist() == list(range(1, 33))
