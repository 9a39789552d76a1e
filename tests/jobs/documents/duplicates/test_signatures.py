from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from quern.jobs.documents.duplicates.shingles import MinHash, jaccard, shingles, tokens
from quern.jobs.documents.duplicates.signatures import Signatures
from quern.schemas.settings import DeduplicateSettings


def signatures(*texts: str, **chosen: int) -> list[dict[str, object]]:
    contents = [str(n).encode() for n in range(len(texts))]
    batch = pa.RecordBatch.from_arrays([pa.array(contents, pa.binary()), pa.array(texts)], names=["content", "text"])
    return Signatures(DeduplicateSettings(**chosen)).apply(batch).rows.to_pylist()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Quay's TIDE-table, 2024!", ["the", "quay", "s", "tide", "table", "2024"]),
        ("Straße", ["strasse"]),
        ("潮汐 at 9 点", ["潮", "汐", "at", "9", "点"]),
        ("ไทย", ["ไ", "ท", "ย"]),
        ("조수 표", ["조", "수", "표"]),
        (" \n—…", []),
    ],
)
def test_tokens_are_folded_words_and_characters_where_no_spaces_are_written(text: str, found: list[str]) -> None:
    assert tokens(text) == found


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


def test_a_short_text_has_no_bands() -> None:
    text = "one two three four five six seven"
    assert signatures(text, min_shingles=4)[0] == {"content": b"0", "shingles": 3, "bands": []}
    assert len(signatures(text, min_shingles=3, bands=4)[0]["bands"]) == 4
    assert signatures("")[0] == {"content": b"0", "shingles": 0, "bands": []}


@pytest.mark.parametrize("similarity", [0.5, 0.7, 0.85])
def test_pairs_share_a_band_as_often_as_the_formula_says(similarity: float) -> None:
    rng = np.random.default_rng(7)
    minhash = MinHash(20, 8)
    common, trials, found = round(2 * 300 * similarity / (1 + similarity)), 400, 0
    for _ in range(trials):
        pool = rng.integers(0, 2**63, 600 - common).astype(np.uint64)
        one, other = pool[:300], pool[300 - common :]
        found += bool((minhash.of(one) == minhash.of(other)).any())
    exact = minhash.odds(common / (600 - common))
    assert found / trials == pytest.approx(exact, abs=4 * (exact * (1 - exact) / trials) ** 0.5 + 0.005)


def test_long_texts_are_hashed_block_by_block_to_the_same_bands() -> None:
    minhash = MinHash(4, 3)
    hashes = np.random.default_rng(1).integers(0, 2**63, 5000).astype(np.uint64)
    assert minhash.of(hashes).tolist() == minhash.of(hashes[::-1]).tolist()
    assert minhash.of(hashes).tolist() != minhash.of(hashes[1000:]).tolist()
