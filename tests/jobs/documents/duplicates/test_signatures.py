"""Shingles, signatures, and the pairs of texts that are compared."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.documents.duplicates.clusters import bucket_pairs
from quern.jobs.documents.duplicates.signatures import Signatures, jaccard, shingles
from quern.schemas.settings import DeduplicateSettings


def signatures(*texts: str, **chosen: int) -> list[dict[str, object]]:
    contents = [str(n).encode() for n in range(len(texts))]
    batch = pa.RecordBatch.from_arrays([pa.array(contents, pa.binary()), pa.array(texts)], names=["content", "text"])
    return Signatures(DeduplicateSettings(**chosen)).apply(batch).rows.to_pylist()


def test_shingles_are_the_sets_of_runs_of_words() -> None:
    rng = random.Random(5)
    texts = [[rng.choice("abcdefgh") for _ in range(rng.randrange(60))] for _ in range(40)]
    runs = [{tuple(t[n : n + 3]) for n in range(len(t) - 2)} for t in texts]
    hashed = [shingles(" ".join(t), 3) for t in texts]
    assert [len(h) for h in hashed] == [len(r) for r in runs]
    for n in range(len(texts) - 1):
        union = runs[n] | runs[n + 1]
        assert jaccard(hashed[n], hashed[n + 1]) == (len(runs[n] & runs[n + 1]) / len(union) if union else 0.0)


def test_signatures_stay_the_same_for_ever() -> None:
    """They are kept from night to night: another value here needs another `version` of the job."""
    text = " ".join(str(n) for n in range(30))
    (row,) = signatures(text, bands=2, rows=3)
    assert shingles(text, 5)[:2].tolist() == [1429983161896388888, 1826230113438073774]
    assert (row["shingles"], row["bands"]) == (26, [-4895642532407057535, 7654058707666930017])


@given(
    st.tuples(st.integers(2, 9), st.integers(1, 6), st.integers(1, 9)),
    st.lists(st.integers(1, 40), max_size=8),
)
def test_pairs_are_those_of_the_rule_each_once(chosen: tuple[int, int, int], buckets: list[int]) -> None:
    whole, near, representatives = chosen
    rule = DeduplicateSettings(bucket=whole, neighbours=near, representatives=representatives)
    near, representatives = min(near, whole - 1), min(representatives, whole)
    expected, start = set(), 0
    for size in buckets:
        for later in range(size):
            partners = set(range(later))
            if later >= whole:
                partners = set(range(later - near, later))
                partners |= {n * whole // representatives for n in range(representatives)}
            expected |= {(start + p, start + later) for p in partners}
        start += size
    pairs = bucket_pairs(np.repeat(np.arange(len(buckets), dtype=np.int64) * 3 - 4, buckets), rule)
    found = list(zip(*(end.tolist() for end in pairs), strict=True))
    assert sorted(found) == sorted(expected)
