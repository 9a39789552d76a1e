from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.documents.duplicates.buckets import PairRule

rules = st.builds(
    lambda whole, near, representatives: PairRule(whole, min(near, whole - 1), min(representatives, whole)),
    st.integers(2, 9),
    st.integers(1, 6),
    st.integers(1, 9),
)
sizes = st.lists(st.integers(1, 40), max_size=8)


def keys_of(buckets: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.repeat(np.arange(len(buckets), dtype=np.int64) * 3 - 4, buckets)


def expected(rule: PairRule, buckets: list[int]) -> set[tuple[int, int]]:
    """The rule as the module states it, member by member."""
    found, start = set(), 0
    for size in buckets:
        for later in range(size):
            if later < rule.whole:
                partners = set(range(later))
            else:
                partners = set(range(later - rule.near, later)) | set(rule.ranks())
            found |= {(start + p, start + later) for p in partners}
        start += size
    return found


@given(rules, sizes)
def test_pairs_are_those_of_the_rule_each_once(rule: PairRule, buckets: list[int]) -> None:
    earlier, later = rule.pairs(keys_of(buckets))
    found = list(zip(earlier.tolist(), later.tolist(), strict=True))
    assert set(found) == expected(rule, buckets)
    assert len(found) == len(set(found))


def test_a_small_bucket_gives_all_pairs_and_a_huge_one_a_few_per_member() -> None:
    rule = PairRule(16, 3, 3)
    assert len(rule.pairs(np.zeros(16, dtype=np.int64))[0]) == len(list(combinations(range(16), 2)))
    assert len(rule.pairs(np.zeros(100_000, dtype=np.int64))[0]) == 16 * 15 // 2 + (100_000 - 16) * 6
