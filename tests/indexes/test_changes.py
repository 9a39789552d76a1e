"""Which rows differ between two versions of a table, against a comparison of all values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quern.indexes.changes import changed_rows, rows_at
from quern.indexes.stages import Stage
from quern.schemas.differences import RowChanges
from quern.schemas.tables import EDGES, REJECTS
from tests.conftest import Staged

Keys = dict[tuple[str, int], str]
keys = st.dictionaries(
    st.tuples(st.sampled_from(["", "a", "ab", "b", "\0"]), st.integers(0, 3)), st.sampled_from(["", "x", "y", "xy"])
)


def edges(told: Keys) -> list[dict[str, Any]]:
    return [
        {"source": source, "kind": "neighbour", "rank": rank, "target": target, "similarity": 0.5}
        for (source, rank), target in told.items()
    ]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys, keys, st.sampled_from([1, 2, 1000]))
def test_rows_are_added_changed_and_removed_by_their_keys(
    staged: Staged, before: Keys, after: Keys, bucket_rows: int
) -> None:
    earlier, later = staged(EDGES, edges(before)), staged(EDGES, edges(dict(reversed(after.items()))))
    found = changed_rows(earlier, later, 100, bucket_rows)

    def told(stage: Stage, numbers: Any) -> set[tuple[str, int]]:
        rows = rows_at(stage, numbers, ["source", "rank"])
        return set(zip(rows["source"].to_pylist(), rows["rank"].to_pylist(), strict=True))

    both = before.keys() & after.keys()
    assert told(later, found.added) == after.keys() - before.keys()
    assert told(earlier, found.removed) == before.keys() - after.keys()
    assert told(later, found.changed[:, 1]) == {key for key in both if before[key] != after[key]}
    lengths = (len(found.added), len(found.changed), len(found.removed))
    assert lengths == (found.counts.added, found.counts.changed, found.counts.removed)


def test_rows_whose_keys_repeat_are_counted_one_by_one(staged: Staged) -> None:
    def rejects(*reasons: str) -> Stage:
        row = {"job": "clean", "key": "k", "detail": "", "build_id": ""}
        return staged(REJECTS, [{**row, "reason": reason} for reason in reasons])

    one, other = ["a", "a", "a", "b"], ["a", "b", "b", "c"]
    gone, new = Counter(one) - Counter(other), Counter(other) - Counter(one)
    assert changed_rows(rejects(*one), rejects(*other)).counts == RowChanges(added=new.total(), removed=gone.total())


def test_a_table_that_one_snapshot_lacks_is_added_or_removed_whole(staged: Staged) -> None:
    stage = staged(EDGES, edges({("a", 0): "x", ("a", 1): "y"}))
    assert str(changed_rows(None, stage).counts) == "added=2 changed=0 removed=0"
    assert str(changed_rows(stage, None).counts) == "added=0 changed=0 removed=2"


def test_rows_that_an_earlier_version_wrote_without_a_column_are_changed(staged: Staged) -> None:
    told = {("a", 0): "x", ("b", 1): "y"}
    older = replace(EDGES, schema=pa.schema([field for field in EDGES.schema if field.name != "similarity"]))
    earlier = staged(older, [{k: v for k, v in row.items() if k != "similarity"} for row in edges(told)])
    earlier, later = replace(earlier, table=EDGES), staged(EDGES, edges({**told, ("c", 2): "z"}))
    found = changed_rows(earlier, later, 10)
    assert str(found.counts) == "added=1 changed=2 removed=0"
    assert rows_at(earlier, found.changed[:, 0], ["source", "similarity"]).to_pylist() == [
        {"source": source, "similarity": None} for source, _ in told
    ]
    assert str(changed_rows(later, earlier).counts) == "added=0 changed=2 removed=1"
