"""What is asked of filters: whether a snapshot has their columns, which documents meet them, and why none does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from quern.indexes.catalog.folder import Snapshot
from quern.pipelines.retrieve.filters import METADATA, FilterError, allowed, conditions_in, met_by
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.tables import DOCUMENTS
from quern.schemas.words.lines import shortened
from quern.schemas.words.meant import no_such

_LONGEST: Final = 80  # Characters of a condition in a message.


def check_columns(searcher: Searcher, conditions: Sequence[str]) -> None:
    """Refuse conditions on columns that do not exist, and on metadata that no document of the snapshot has.

    Raises:
        FilterError: One is; the message names what is most like it, or all that there are.
    """
    for text in conditions:
        for column in (each.column for each in conditions_in(text)):
            name = column.removeprefix(f"{METADATA}.")
            if name != column and name not in (there := searcher.held(_metadata_names)):
                raise FilterError(no_such("metadata", name, there) if there else "no document has metadata")


def _metadata_names(searcher: Searcher) -> list[str]:
    """Names of the metadata that documents have."""
    column = searcher.snapshot.table(DOCUMENTS.name).batches([METADATA])
    return sorted(set[str]().union(*(batch.column(0).keys.unique().to_pylist() for batch in column)))


def documents_that_meet(snapshot: Snapshot, conditions: Sequence[str]) -> list[str]:
    """Ids of the documents, duplicates among them, that meet all conditions.

    Raises:
        FilterError: A condition cannot be read, or is about chunks.
    """
    met: set[str] | None = None
    for each in (each for text in conditions for each in conditions_in(text)):
        if each.table != DOCUMENTS.name:
            raise FilterError(
                f"the filter on {each.column} is about chunks; documents are chosen by columns of documents"
            )
        ids = {i for keys, holds in met_by(snapshot, each) for i in keys.filter(pa.array(holds)).to_pylist()}
        met = ids if met is None else met & ids
    return sorted(met or ())


def nothing_passes(searcher: Searcher, conditions: Sequence[str]) -> str | None:
    """Why nothing was found where no document passes the conditions, as a sentence; None where one does."""
    if not conditions or (together := allowed(searcher, [conditions])) is None or together.masks.any():
        return None
    alone = allowed(searcher, [[one] for one in conditions])
    unmet = [c for c, n in zip(conditions, alone.of_question, strict=True) if not alone.masks[n].any()] if alone else []
    if not unmet:
        return f"No document passes all filters together: {', '.join(shortened(c, _LONGEST) for c in conditions)}."
    return f"No document passes the filter {shortened(unmet[0], _LONGEST)}."
