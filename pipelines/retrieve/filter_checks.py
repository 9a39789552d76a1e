"""What commands ask of filters: whether a snapshot has their columns, and which documents meet them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from quern.indexes.catalog.folder import Snapshot
from quern.pipelines.retrieve.filters import (
    METADATA,
    FilterError,
    UnknownColumnError,
    conditions_in,
    known_columns,
    met_by,
)
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.tables import DOCUMENTS
from quern.schemas.words.meant import meant, no_such


def see_that_columns_are_there(searcher: Searcher, conditions: Sequence[str]) -> None:
    """Refuse conditions on columns that there are not, and on metadata that no document of the snapshot has.

    Raises:
        FilterError: One is; the message names what is most like it, of columns and of metadata that there are.
    """
    for text in conditions:
        try:
            columns = [each.column for each in conditions_in(text)]
        except UnknownColumnError as error:
            raise _unknown(text, error.name, searcher.held(_metadata_names)) from None
        for column in columns:
            name = column.removeprefix(f"{METADATA}.")
            if name != column and name not in (there := searcher.held(_metadata_names)):
                raise FilterError(no_such("metadata", name, there) if there else "no document has metadata")


def _unknown(text: str, name: str, metadata: Sequence[str]) -> FilterError:
    """What is said of a column that there is not, by what the snapshot has."""
    columns = known_columns()
    part = (each for each in metadata if name.casefold() in each.casefold().split())
    near = next(part, None) or meant(name, [*columns, *metadata])
    if near in metadata and near not in columns:
        told = f"there is no column of documents or chunks {name!r}; did you mean {METADATA}.{near}?"
        return FilterError(f"the filter {text!r}: {told}")
    given = [f"{METADATA}.{each}" for each in metadata[:20]]
    return UnknownColumnError(text, name, [*columns, *given])


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
