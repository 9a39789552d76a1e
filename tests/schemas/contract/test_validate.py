from __future__ import annotations

import pyarrow as pa
import pytest

from quern.schemas.contract.validate import SchemaError, validate
from quern.schemas.tables import NODES, QUERIES

TABLE = NODES.with_dimension(2)


def nodes(**changes: object) -> pa.RecordBatch:
    rows = {"query_id": ["a", "b"], "chunk_id": ["c", "c"], "text": ["t", "u"], "vector": [[1.0, 0.0], [0.0, 1.0]]}
    fields = {f.name: f.type for f in TABLE.schema}
    return pa.RecordBatch.from_arrays(
        [pa.array({**rows, **changes}[n], fields[n]) for n in fields],  # type: ignore[index]
        schema=pa.schema(list(fields.items())),
    )


def test_a_fitting_batch_is_returned_in_the_tables_order() -> None:
    batch = nodes().select(["vector", "text", "chunk_id", "query_id"])
    assert validate(batch, TABLE).schema.names == TABLE.schema.names


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chunk_id": ["c", None]}, "table nodes, field chunk_id, row 1 (query_id='b'): null"),
        ({"vector": [[1.0, 0.0], [0.0, float("nan")]]}, "field vector, row 1 (query_id='b'): not a finite number"),
    ],
)
def test_an_error_names_table_field_row_and_key(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError) as error:
        validate(nodes(**changes), TABLE)
    assert message in str(error.value)


def test_missing_unknown_and_ill_typed_fields_are_errors() -> None:
    with pytest.raises(SchemaError, match="missing fields"):
        validate(nodes(), QUERIES)
    with pytest.raises(SchemaError, match="field vector: is"):
        validate(nodes(), NODES.with_dimension(3))
