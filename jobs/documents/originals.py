"""The documents that repeat no other: a view of `documents`, those that are cut, embedded and searched."""

from __future__ import annotations

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Choice, View


def originals(documents: Stage) -> View:
    """The documents whose `duplicate_of` is null."""
    rows = sum(b.column(0).null_count for b in documents.batches(["duplicate_of"]))
    choice = Choice(("duplicate_of",), lambda batch, _: batch.column("duplicate_of").is_null())
    return View(documents, tuple(documents.table.schema.names), rows, choice=choice)
