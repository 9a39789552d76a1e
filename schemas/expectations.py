"""What every snapshot must satisfy before it is published, declared per table.

`jobs.audit` checks them between write and publish. A critical expectation blocks publication; the others are
reported in the manifest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Expectation:
    """One expectation of one table.

    Attributes:
        table: Table it speaks of.
        kind: `unique_keys`; `not_empty`; `references` (every value of `column` is a key of `target`);
            `unit_vectors` (L2 norm 1 within 1e-3); `spans` (`column` is the length of the text it was cut from).
        column: Column it speaks of, where it is one.
        target: Table referred to.
        severity: `critical` blocks publication.
    """

    table: str
    kind: Literal["unique_keys", "not_empty", "references", "unit_vectors", "spans"]
    column: str = ""
    target: str = ""
    severity: Literal["critical", "warning"] = "critical"

    @property
    def name(self) -> str:
        """Name in manifests and messages, such as `chunks.doc_id references documents`."""
        subject = f"{self.table}.{self.column}" if self.column else self.table
        return f"{subject} {self.kind} {self.target}".strip()


# Rejects of these reasons are no lost pages: captures of what is no page, and second copies of one.
NO_LOSS: frozenset[str] = frozenset(
    {"duplicate_url", "duplicate_doc_id", "duplicate_key", "http_status", "content_type"} | {"gone", "revisit", "unknown_kind", "digest_mismatch", "bad_date"}
)

EXPECTATIONS: tuple[Expectation, ...] = (
    Expectation("pages", "unique_keys"),
    Expectation("documents", "unique_keys"),
    Expectation("documents", "not_empty"),
    Expectation("documents", "references", "page_url", "pages"),
    Expectation("chunks", "unique_keys"),
    Expectation("chunks", "not_empty"),
    Expectation("chunks", "references", "doc_id", "documents"),
    Expectation("chunks", "spans"),
    Expectation("chunks", "unit_vectors", "vector"),
    Expectation("queries", "unique_keys"),
    Expectation("queries", "references", "chunk_id", "chunks"),
    Expectation("nodes", "unique_keys"),
    Expectation("nodes", "not_empty", severity="warning"),
    Expectation("nodes", "references", "chunk_id", "chunks"),
    Expectation("nodes", "unit_vectors", "vector"),
    Expectation("edges", "unique_keys"),
    Expectation("edges", "references", "source", "nodes"),
    Expectation("edges", "references", "target", "nodes"),
)
