"""Table `timelines`: events of one topic in the order of time."""

from __future__ import annotations

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import Between, Known, OneOf
from quern.schemas.contract.table import Table, column, columns

KINDS = ("entity", "community", "site")
GRANULARITIES = ("day", "week", "month", "quarter", "year")

TIMELINES = Table(
    "timelines",
    ("timeline_id",),
    columns(
        column("timeline_id", pa.string(), "Made from kind and topic; of a community from its events."),
        column("kind", pa.string(), "What the events share: `entity`, a name; `community`; `site` of a report."),
        column("topic", pa.string(), "What the events have in common: the name, the site, or keywords."),
        column("keywords", pa.list_(pa.string()), "What the events name and say most, beside the topic."),
        column("granularity", pa.string(), "Unit that suits the spread of the events, `day` to `year`."),
        column("from_day", TIMESTAMP, "First day of the first event."),
        column("to_day", TIMESTAMP, "Last day of the last to end."),
        column("event_count", pa.int32(), "Number of events."),
        column("event_ids", pa.list_(pa.string()), "Its events, in order of time."),
        column("titles", pa.list_(pa.string()), "Their titles, in the same order."),
        column("digest", pa.string(), "BLAKE2b-128 of its events with their names: what changed shows here."),
    ),
    served=True,
    doc="Events that belong together, in the order of time.",
    row="timeline",
    indexes=("timeline_id", "topic"),
    prose=("topic", "keywords", "titles"),
    expects=(OneOf("kind", KINDS), OneOf("granularity", GRANULARITIES), Known("topic"), Between("event_count", 2)),
    empty=None,
)
