"""Table `timelines`: events of one topic in the order of time. No job makes it yet."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.contract.table import Table, column

TIMELINES = Table(
    "timelines",
    ("timeline_id",),
    pa.schema(
        [
            column("timeline_id", pa.string(), "Made from its events."),
            column("topic", pa.string(), "What the events have in common."),
            column("keywords", pa.list_(pa.string()), "Keywords of the events."),
            column("event_ids", pa.list_(pa.string()), "Its events, in order of time."),
        ]
    ),
    served=True,
    doc="Events that belong together, in the order of time.",
    row="timeline",
    empty=None,
)
