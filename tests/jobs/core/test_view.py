from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Choice, Computed, View
from quern.schemas.contract.table import Table
from quern.schemas.tables import TABLES

EDGES = TABLES["edges"]


@pytest.fixture
def edges(staged: Callable[[Table, list[dict[str, Any]]], Stage]) -> Stage:
    rows = [
        {"source": f"n{n}", "kind": "neighbour", "rank": n % 3, "target": f"n{n + 1}", "similarity": n / 10}
        for n in range(10)
    ]
    return staged(EDGES, rows)


def view_of(stage: Stage) -> View:
    """Edges of rank 0 to other nodes, with their ends as one text."""
    pair = Computed(("source", "target"), lambda b: pc.binary_join_element_wise(b["source"], b["target"], ">"))
    choice = Choice(("rank",), lambda b, start: pc.and_(pc.equal(b["rank"], 0), pa.array([start < 9] * b.num_rows)))
    return View(stage, ("pair", "similarity"), 3, {"pair": pair}, choice)


@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_a_view_computes_columns_and_leaves_out_rows_whatever_the_batches(edges: Stage, rows: int) -> None:
    view = View(edges, ("pair",), 4, view_of(edges).computed, Choice(("rank",), lambda b, _: pc.equal(b["rank"], 0)))
    batches = list(view.batches(rows=rows))
    assert [p for b in batches for p in b["pair"].to_pylist()] == ["n0>n1", "n3>n4", "n6>n7", "n9>n10"]
    assert all(1 <= b.num_rows <= rows for b in batches)
    assert view.rows == sum(b.num_rows for b in batches)


def test_a_choice_is_told_where_its_batch_begins(edges: Stage) -> None:
    found = [row for b in view_of(edges).batches(["similarity", "pair"], 3) for row in b.to_pylist()]
    assert [row["pair"] for row in found] == ["n0>n1", "n3>n4", "n6>n7"]
    assert list(found[0]) == ["similarity", "pair"]


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_of_gives_what_batches_give(kept: list[bool]) -> None:
    batch = pa.RecordBatch.from_pydict({"a": [str(k) for k in kept]})
    view = View(None, ("b",), len(kept), {"b": Computed(("a",), lambda b: pc.utf8_upper(b["a"]))})  # type: ignore[arg-type]
    assert view.of(batch).to_pydict() == {"b": [str(k).upper() for k in kept]}
