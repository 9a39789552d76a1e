"""Table `rejects`: what was left out, and why."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.table import Table, column, columns

REJECTS = Table(
    "rejects",
    ("job", "key", "reason"),
    columns(
        column("job", pa.string(), "Job that left the row out."),
        column("key", pa.string(), "Key of the row that was left out, or file and position."),
        column("reason", pa.string(), "Reason code."),
        column("detail", pa.string(), "What exactly was wrong, for a person."),
        column("build_id", pa.string(), "Build that left it out; an unchanged table keeps the first."),
    ),
    doc="A row that a job left out, with the reason.",
    provenance=("build_id",),
    empty=None,
    # Several captures of one address may be left out for one reason.
    repeats=True,
)
