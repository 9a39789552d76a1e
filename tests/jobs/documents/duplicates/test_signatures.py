"""Shingles, signatures, and the pairs of texts that are compared."""

from __future__ import annotations

import pyarrow as pa

from quern.jobs.documents.duplicates.signatures import Signatures, shingles
from quern.schemas.settings import DeduplicateSettings


def signatures(*texts: str, **chosen: int) -> list[dict[str, object]]:
    contents = [str(n).encode() for n in range(len(texts))]
    batch = pa.RecordBatch.from_arrays([pa.array(contents, pa.binary()), pa.array(texts)], names=["content", "text"])
    return Signatures(DeduplicateSettings(**chosen)).apply(batch).rows.to_pylist()


def test_signatures_stay_the_same_for_ever() -> None:
    """They are kept from night to night: another value here needs another `version` of the job."""
    text = " ".join(str(n) for n in range(30))
    (row,) = signatures(text, bands=2, rows=3)
    assert shingles(text, 5)[:2].tolist() == [1429983161896388888, 1826230113438073774]
    assert (row["shingles"], row["bands"]) == (26, [-4895642532407057535, 7654058707666930017])
