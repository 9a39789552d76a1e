"""The audit between write and publish: every expectation, checked by streaming over the staged tables.

Memory: 16 bytes per key of the tables that are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from indexes.stages import Stage
from indexes.vectors import vector_matrix
from schemas.digests import row_fingerprints
from schemas.expectations import EXPECTATIONS, Expectation

Pairs = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Check:
    """The outcome of one expectation."""

    expectation: str
    severity: str
    passed: bool
    observed: str

    def as_row(self) -> dict[str, object]:
        """The check for the manifest."""
        return asdict(self)


def audit(stages: Mapping[str, Stage], pages: int, rejected_pages: int, max_reject_share: float) -> list[Check]:
    """Check every expectation of the tables in `stages`, and the share of pages that was rejected.

    An expectation is checked where all of its tables are there.
    """
    checks = [_check(e, stages) for e in EXPECTATIONS if {e.table, e.target or e.table} <= stages.keys()]
    return [*checks, share_check("pages rejected share", rejected_pages, pages, max_reject_share)]


def share_check(name: str, lost: int, of: int, allowed: float) -> Check:
    """A critical check that at most the share `allowed` is lost; of nothing, everything is lost."""
    share = lost / of if of else 1.0
    return Check(name, "critical", share <= allowed, f"{lost} of {of} ({share:.1%}), allowed {allowed:.1%}")


def failures(checks: list[Check]) -> list[Check]:
    """The critical checks that did not pass."""
    return [c for c in checks if not c.passed and c.severity == "critical"]


def _check(expectation: Expectation, stages: Mapping[str, Stage]) -> Check:
    wrong, observed = _KINDS[expectation.kind](expectation, stages)
    return Check(expectation.name, expectation.severity, not wrong, observed)


def _keys(stage: Stage, columns: tuple[str, ...]) -> Pairs:
    parts = [row_fingerprints(_renamed(b), [str(i) for i in range(len(columns))]) for b in stage.batches(columns)]
    flat = np.concatenate(parts) if parts else np.empty(0, dtype=np.dtype((np.void, 16)))
    pairs = np.ascontiguousarray(flat).view(np.uint64).reshape(-1, 2)
    ordered: Pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return ordered


def _renamed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Columns by number: a key and a reference to it have different names and must have one fingerprint."""
    return pa.RecordBatch.from_arrays(batch.columns, [str(i) for i in range(batch.num_columns)])


def _distinct(pairs: Pairs) -> Pairs:
    if len(pairs) == 0:
        return pairs
    distinct: Pairs = pairs[np.concatenate([[True], (pairs[1:] != pairs[:-1]).any(axis=1)])]
    return distinct


def _unique_keys(e: Expectation, stages: Mapping[str, Stage]) -> tuple[int, str]:
    pairs = _keys(stages[e.table], stages[e.table].table.key)
    repeated = len(pairs) - len(_distinct(pairs))
    return repeated, f"{repeated} of {len(pairs)} keys repeat another"


def _not_empty(e: Expectation, stages: Mapping[str, Stage]) -> tuple[int, str]:
    rows = stages[e.table].rows
    return int(rows == 0), f"{rows} rows"


def _references(e: Expectation, stages: Mapping[str, Stage]) -> tuple[int, str]:
    target = stages[e.target]
    keys = _distinct(_keys(target, target.table.key))
    wanted = _distinct(_keys(stages[e.table], (e.column,)))
    both = np.concatenate([keys, wanted])
    order = np.lexsort((both[:, 1], both[:, 0]))
    resolved = len(both) - len(_distinct(both[order]))
    dangling = len(wanted) - resolved
    return dangling, f"{dangling} of {len(wanted)} distinct values are no key of {e.target}"


def _unit_vectors(e: Expectation, stages: Mapping[str, Stage]) -> tuple[int, str]:
    wrong = 0
    for batch in stages[e.table].batches([e.column]):
        vectors = vector_matrix(batch.column(0))
        wrong += int((np.abs(np.linalg.norm(vectors, axis=1) - 1.0) > 1e-3).sum())
    return wrong, f"{wrong} of {stages[e.table].rows} vectors are not of length 1"


def _spans(e: Expectation, stages: Mapping[str, Stage]) -> tuple[int, str]:
    wrong = 0
    for batch in stages[e.table].batches(["text", "start", "end"]):
        length = pc.subtract(batch.column("end"), batch.column("start"))
        fits = pc.equal(pc.utf8_length(batch.column("text")).cast(pa.int64()), length)
        wrong += batch.num_rows - int(pc.sum(fits).as_py() or 0)
    return wrong, f"{wrong} of {stages[e.table].rows} chunks are not as long as their span"


_KINDS: dict[str, Callable[[Expectation, Mapping[str, Stage]], tuple[int, str]]] = {
    "unique_keys": _unique_keys,
    "not_empty": _not_empty,
    "references": _references,
    "unit_vectors": _unit_vectors,
    "spans": _spans,
}
