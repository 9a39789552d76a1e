from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexes.stages import Stage
from jobs.audit import Check, audit, failures
from schemas.tables import EDGES, NODES, Table

Staged = Callable[[Table, list[dict[str, Any]]], Stage]
TABLE = NODES.with_dimension(2)


def node(key: str, vector: tuple[float, float] = (1.0, 0.0)) -> dict[str, Any]:
    return {"query_id": key, "chunk_id": "c", "text": key, "vector": list(vector)}


def edge(source: str, target: str, rank: int = 0) -> dict[str, Any]:
    return {"source": source, "kind": "neighbour", "rank": rank, "target": target, "similarity": 0.5}


def run_audit(
    staged: Staged, nodes: list[dict[str, Any]], edges: list[dict[str, Any]], **counts: int
) -> dict[str, str]:
    tables = {"nodes": staged(TABLE, nodes), "edges": staged(EDGES, edges)}
    return {c.expectation: c.observed for c in failures(audit_of(tables, **counts))}


def audit_of(tables: dict[str, Stage], pages: int = 10, rejected: int = 0) -> list[Check]:
    """The audit of a few tables; expectations that refer to others are left out."""
    return audit(tables, pages, rejected, 0.5)


def test_sound_tables_pass(staged: Staged) -> None:
    assert run_audit(staged, [node("a"), node("b")], [edge("a", "b"), edge("b", "a")]) == {}


def test_a_repeated_key_fails(staged: Staged) -> None:
    assert run_audit(staged, [node("a"), node("a")], []) == {"nodes unique_keys": "1 of 2 keys repeat another"}


def test_the_whole_key_counts(staged: Staged) -> None:
    assert run_audit(staged, [node("a"), node("b")], [edge("a", "b", 0), edge("a", "b", 1)]) == {}


def test_a_dangling_reference_fails(staged: Staged) -> None:
    wrong = run_audit(staged, [node("a")], [edge("a", "gone"), edge("a", "gone", 1)])
    assert wrong == {"edges.target references nodes": "1 of 1 distinct values are no key of nodes"}


def test_a_vector_that_is_not_of_length_one_fails(staged: Staged) -> None:
    assert list(run_audit(staged, [node("a", (0.5, 0.5))], [])) == ["nodes.vector unit_vectors"]


def test_too_many_rejects_fail(staged: Staged) -> None:
    assert run_audit(staged, [node("a")], [], pages=10, rejected=5) == {}
    wrong = run_audit(staged, [node("a")], [], pages=10, rejected=6)
    assert wrong == {"pages rejected share": "6 of 10 (60.0%), allowed 50.0%"}
    assert list(run_audit(staged, [node("a")], [], pages=0)) == ["pages rejected share"]


def test_a_warning_does_not_block(staged: Staged) -> None:
    checks = audit_of({"nodes": staged(TABLE, [])})
    assert [c.expectation for c in checks if not c.passed] == ["nodes not_empty"]
    assert failures(checks) == []
