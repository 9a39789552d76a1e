"""Table `embedded_events`: the events found, with the vectors by which reports of one event are told."""

from __future__ import annotations

from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Computed, View
from quern.jobs.text.search_form import SearchForm
from quern.jobs.vectors.embed import AddVectors
from quern.schemas.contract.table import Table
from quern.schemas.settings import EmbedSettings, NormaliseSettings
from quern.schemas.tables import EVENTS

EMBEDDED_EVENTS: Final = Table("embedded_events", EVENTS.key, EVENTS.without("sources").schema)


def event_texts(events: Stage, form: SearchForm) -> View:
    """`title summary` of each event, as it is searched (Xinyu, section 3.6.2)."""
    return View(events, ("text",), events.rows, {"text": Computed(("title", "summary"), partial(_searched, form=form))})


def title_and_summary(events: pa.RecordBatch) -> pa.Array:
    """The text of each event."""
    return pc.binary_join_element_wise(events.column("title"), events.column("summary"), " ")


def _searched(events: pa.RecordBatch, form: SearchForm) -> pa.Array:
    return form.column(title_and_summary(events))


def embedded_events(settings: EmbedSettings, normalise: NormaliseSettings) -> AddVectors:
    """The events found, each with the vector of its title and summary."""
    return AddVectors(settings, EMBEDDED_EVENTS, event_texts, normalise)
