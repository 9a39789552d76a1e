"""Shingles of texts, and the LSH bands of their MinHash signatures.

A text's shingles are the hashes of its runs of `size` tokens. Tokens are runs of word characters in folded case, so
that punctuation, case and white space make no difference; in scripts that write no spaces between words (Chinese,
Japanese, Korean, Thai, Lao, Burmese, Khmer) each character is a token, and its shingles are runs of characters.

The share of positions at which the MinHash signatures of two sets agree is an estimate of their Jaccard similarity s
(Broder 1997, On the resemblance and containment of documents). A signature of b bands of r values makes two sets a
candidate pair when a whole band agrees, which happens with probability

    1 - (1 - s^r)^b

(Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, section 3.4.2). With b = 20 and r = 8 that is .9996 at
s = .9, .998 at .85, .975 at .8, .69 at .7 and .08 at .5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN

Hashes = npt.NDArray[np.uint64]
Bands = npt.NDArray[np.int64]

_SPACELESS = CJK + SOUTH_EAST_ASIAN
_WORD = re.compile(r"\w+")
TOKEN = re.compile(f"[{_SPACELESS}]|[^\\W{_SPACELESS}]+")
_MOST_WORDS = 1 << 20
_BLOCK = 1024
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


class _WordHashes(dict[str, int]):
    """64-bit BLAKE2b of words; forgets all of them when it holds a million, about 150 MB."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST_WORDS:
            self.clear()
        found = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
        self[word] = found
        return found


_HASHES = _WordHashes()


def tokens(text: str) -> list[str]:
    """Words of `text` in folded case; single characters of scripts without spaces."""
    folded = text.casefold()
    return (_WORD if folded.isascii() else TOKEN).findall(folded)


def shingles(text: str, size: int) -> Hashes:
    """Distinct 64-bit hashes of the runs of `size` tokens, ascending, shape (shingles,); none for fewer tokens.

    A run's hash is a polynomial in the hashes of its words, mixed. Of the 10,000 shingles of a pair of long texts two
    different ones collide with odds of 3 in 10^12 (n² / 2^65), so that Jaccard similarities are exact in practice.
    """
    found = tokens(text)
    runs = len(found) - size + 1
    if runs < 1:
        return np.empty(0, dtype=np.uint64)
    words = np.fromiter(map(_HASHES.__getitem__, found), np.uint64, len(found))
    hashes = words[:runs].copy()
    for nth in range(1, size):
        hashes *= np.uint64(_GOLDEN)
        hashes += words[nth : nth + runs]
    hashes = _mix(hashes)
    hashes.sort()
    first = np.ones(len(hashes), dtype=np.bool_)
    first[1:] = hashes[1:] != hashes[:-1]
    return hashes[first]


def jaccard(a: npt.NDArray[np.generic], b: npt.NDArray[np.generic]) -> float:
    """|a ∩ b| / |a ∪ b| of two sets given as ascending distinct values; 0 where both are empty."""
    both = np.concatenate([a, b])
    both.sort()
    common = int(np.count_nonzero(both[1:] == both[:-1]))
    return common / (len(both) - common) if len(both) else 0.0


def _mix(values: Hashes) -> Hashes:
    """The finaliser of splitmix64 (Steele, Lea, Flood 2014): every bit of a value depends on every bit of it."""
    values = values ^ (values >> np.uint64(30))
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def _constants(count: int, stream: int) -> Hashes:
    """Splitmix64's sequence: the same constants with every version of every library."""
    steps = [((stream << 32) + (n + 1) * _GOLDEN) & _MASK for n in range(count)]
    return _mix(np.array(steps, dtype=np.uint64))


@dataclass(frozen=True)
class MinHash:
    """MinHash over `bands` · `rows` permutations of the 32-bit numbers.

    A permutation is x -> a·x + c modulo 2^32 with odd a (multiply-shift, Dietzfelbinger et al. 1997), of the upper
    halves of the shingles' hashes. Two bands of 64 bits agree by chance about never, and what they propose is verified.
    """

    bands: int
    rows: int

    def of(self, hashes: Hashes) -> Bands:
        """The band hashes of a set of shingles, shape (bands,); the empty set has none that mean anything."""
        factors, terms, weights = _permutations(self.bands, self.rows)
        values = (hashes >> np.uint64(32)).astype(np.uint32)
        least = np.full(len(factors), 0xFFFFFFFF, dtype=np.uint32)
        # In blocks that stay in the processor's cache.
        for start in range(0, len(values), _BLOCK):
            permuted = values[start : start + _BLOCK, None] * factors
            permuted += terms
            np.minimum(least, permuted.min(axis=0), out=least)
        keys = (least.astype(np.uint64).reshape(self.bands, self.rows) * weights).sum(axis=1, dtype=np.uint64)
        return _mix(keys + np.arange(self.bands, dtype=np.uint64) * np.uint64(_GOLDEN)).view(np.int64)

    def odds(self, similarity: float) -> float:
        """The probability that two sets of this Jaccard similarity share a band."""
        return float(1 - (1 - similarity**self.rows) ** self.bands)


@lru_cache(maxsize=4)
def _permutations(bands: int, rows: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], Hashes]:
    """Factors and terms of the permutations, shape (bands · rows,), and weights of band hashes, (bands, rows)."""
    count = bands * rows
    factors = (_constants(count, 1) >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
    terms = (_constants(count, 2) >> np.uint64(32)).astype(np.uint32)
    return factors, terms, (_constants(count, 3) | np.uint64(1)).reshape(bands, rows)
