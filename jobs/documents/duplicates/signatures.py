"""The job `signatures`: a text's number of shingles and its LSH bands, memoised under the text.

A text's shingles are the hashes of its runs of `size` tokens. Tokens are runs of word characters in folded case, so
that punctuation, case and white space make no difference; in scripts that write no spaces between words (Chinese,
Japanese, Korean, Thai, Lao, Burmese, Khmer) each character is a token, and its shingles are runs of characters.

The share of positions at which the MinHash signatures of two sets agree is an estimate of their Jaccard similarity s
(Broder 1997, On the resemblance and containment of documents). A signature of b bands of r values makes two sets a
candidate pair when a whole band agrees, which happens with probability

    1 - (1 - s^r)^b

(Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, section 3.4.2). With b = 20 and r = 8 that is .9996 at
s = .9, .998 at .85, .975 at .8, .69 at .7 and .08 at .5.

A row takes 8 bytes a band. Shingles themselves are not kept: they would take as much room as the text, and only those
of candidate pairs are needed again (`jobs.documents.duplicates.clusters`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quern.jobs.core.contract import Job, Outcome
from quern.schemas.settings import DeduplicateSettings
from quern.schemas.tables import Table
from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN

Hashes = npt.NDArray[np.uint64]
Bands = npt.NDArray[np.int64]

_SPACELESS = CJK + SOUTH_EAST_ASIAN
_WORD = re.compile(r"\w+")
TOKEN = re.compile(f"[{_SPACELESS}]|[^\\W{_SPACELESS}]+")
_BLOCK = 1024
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


SIGNATURES = Table(
    "signatures",
    ("content",),
    pa.schema(
        [
            pa.field("content", pa.binary(), False, {"doc": "BLAKE2b-128 of the text."}),
            pa.field("shingles", pa.int64(), False, {"doc": "Distinct shingles of the text."}),
            pa.field("bands", pa.list_(pa.int64()), False, {"doc": "Hash of each band; empty: exact duplicates only."}),
        ]
    ),
    served=False,
)


@lru_cache(maxsize=1 << 19)  # About 100 MB.
def _word_hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def tokens(text: str) -> list[str]:
    """Words of `text` in folded case; single characters of scripts without spaces."""
    folded = text.casefold()
    return (_WORD if folded.isascii() else TOKEN).findall(folded)


def shingles(text: str, size: int) -> Hashes:
    """Distinct 64-bit hashes of the runs of `size` tokens, ascending, shape (shingles,); none for fewer tokens.

    A run's hash is a polynomial in the hashes of its words, mixed. Of the 10,000 shingles of a pair of long texts two
    different ones collide with odds of 3 in 10^12 (n² / 2^65), so that Jaccard similarities are exact in practice.
    """
    sequence = tokens(text)
    runs = len(sequence) - size + 1
    if runs < 1:
        return np.empty(0, dtype=np.uint64)
    words = np.fromiter(map(_word_hash, sequence), np.uint64, len(sequence))
    hashes = words[:runs].copy()
    for nth in range(1, size):
        hashes *= np.uint64(_GOLDEN)
        hashes += words[nth : nth + runs]
    return np.unique(_mix(hashes))


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


def band_hashes(hashes: Hashes, bands: int, rows: int) -> Bands:
    """The LSH bands of a set of shingles, shape (bands,); the empty set has none that mean anything.

    MinHash over `bands` · `rows` permutations of the 32-bit numbers: x -> a·x + c modulo 2^32 with odd a
    (multiply-shift, Dietzfelbinger et al. 1997), of the upper halves of the shingles' hashes. Two bands of 64 bits
    agree by chance about never, and what they propose is verified.
    """
    factors, terms, weights = _permutations(bands, rows)
    values = (hashes >> np.uint64(32)).astype(np.uint32)
    least = np.full(len(factors), 0xFFFFFFFF, dtype=np.uint32)
    # In blocks that stay in the processor's cache.
    for start in range(0, len(values), _BLOCK):
        permuted = values[start : start + _BLOCK, None] * factors
        permuted += terms
        np.minimum(least, permuted.min(axis=0), out=least)
    keys = (least.astype(np.uint64).reshape(bands, rows) * weights).sum(axis=1, dtype=np.uint64)
    return _mix(keys + np.arange(bands, dtype=np.uint64) * np.uint64(_GOLDEN)).view(np.int64)


@lru_cache(maxsize=4)
def _permutations(bands: int, rows: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], Hashes]:
    """Factors and terms of the permutations, shape (bands · rows,), and weights of band hashes, (bands, rows)."""
    count = bands * rows
    factors = (_constants(count, 1) >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
    terms = (_constants(count, 2) >> np.uint64(32)).astype(np.uint32)
    return factors, terms, (_constants(count, 3) | np.uint64(1)).reshape(bands, rows)


@dataclass(frozen=True)
class Signatures(Job):
    """Shingles and bands of texts."""

    settings: DeduplicateSettings = field(default_factory=DeduplicateSettings)

    name: ClassVar[str] = "signatures"
    version: ClassVar[int] = 1
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("content", "text")
    key: ClassVar[str] = "content"

    @property
    def makes(self) -> Table:
        """The signatures."""
        return SIGNATURES

    def configuration(self) -> Mapping[str, object]:
        """Size of shingles, bands and rows, and what is too short."""
        return self.settings.model_dump(include={"shingle", "bands", "rows", "min_shingles"})

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """One signature per text."""
        config, none = self.settings, np.empty(0, np.int64)
        sets = [shingles(text, config.shingle) for text in batch.column("text").to_pylist()]
        bands = [band_hashes(s, config.bands, config.rows) if len(s) >= config.min_shingles else none for s in sets]
        offsets = np.concatenate([[0], np.cumsum([len(b) for b in bands])]).astype(np.int32)
        flat = np.concatenate([none, *bands])
        columns = [
            batch.column("content"),
            pa.array([len(s) for s in sets], pa.int64()),
            pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat)),
        ]
        return Outcome(pa.RecordBatch.from_arrays(columns, schema=SIGNATURES.schema), np.arange(len(sets)))
