"""A pydantic model's Arrow schema: exact types, in the order of the fields, and rows come back as they were."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
from pydantic import BaseModel, computed_field

from quern.schemas.answers import ANSWERS, Answer, Citation, Hit, PathNode, Sentence
from quern.schemas.arrow_models import TIMESTAMP, Int32, arrow_schema


class Inner(BaseModel):
    number: Int32
    at: datetime | None


class Outer(BaseModel):
    name: str | None
    count: int
    share: float
    small: list[Int32]
    inner: list[Inner]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def many(self) -> bool:
        return self.count > 1


def test_types_are_exact_and_computed_fields_come_last() -> None:
    inner = pa.struct([("number", pa.int32()), ("at", TIMESTAMP)])
    assert arrow_schema(Outer) == pa.schema(
        [
            ("name", pa.string()),
            ("count", pa.int64()),
            ("share", pa.float64()),
            ("small", pa.list_(pa.int32())),
            ("inner", pa.list_(inner)),
            ("many", pa.bool_()),
        ]
    )


def test_an_answer_comes_back_from_a_row_as_it_was() -> None:
    source = {
        "doc_id": "d",
        "chunk_id": "d-0",
        "url": None,
        "title": "T",
        "published_at": datetime(2031, 3, 2, tzinfo=UTC),
    }
    answer = Answer(
        query_id="q",
        question="When?",
        sentences=[Sentence(text="At nine.", citations=[1])],
        probability=0.5,
        by="rules",
        recipe="bridge",
        citations=[Citation(number=1, start=3, end=11, quote="At nine.", **source)],
        hits=[Hit(rank=1, score=0.7, start=3, end=11, text="At nine.", **source)],
        path=[PathNode(query_id="n", chunk_id="d-0", text="When? At nine.", similarity=0.9, hop=0, via=None)],
    )
    (row,) = pa.Table.from_pylist([answer.model_dump()], schema=ANSWERS).to_pylist()
    assert (row["answer"], row["found"]) == ("At nine. [1]", True)
    assert Answer.model_validate(row) == answer
