"""A synthetic corpus with planted near duplicates, and how well they are found.

Documents are sentences of Zipf-distributed words around paragraphs that many of them share. Some have an edited copy
whose true Jaccard similarity, from .65 to 1, is worked out on the shingles themselves; a crowd of documents are one
template with a few words changed. The same seed gives the same corpus on every machine.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

_SIZE = 5
_THRESHOLD = 0.8
_CROWD_EDITS = 2
BANDS = (0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)

Pair = tuple[int, int]


@dataclass(frozen=True)
class Planted:
    """The corpus."""

    texts: list[str]  # Its documents.
    pairs: dict[Pair, float]  # Planted pairs of documents, with their Jaccard similarities.
    crowd: list[int]  # The documents made of one template.


def plant(documents: int, seed: int = 1997) -> Planted:
    """A corpus of so many documents: a fifth of them are edited copies, a fiftieth the crowd."""
    rng = random.Random(seed)
    writer = _Writer(rng)
    crowd, copies = documents // 50, documents // 5
    originals = [writer.article() for _ in range(documents - crowd - copies)]
    chosen = rng.sample(range(len(originals)), copies)
    texts = [*originals, *(writer.copy(originals[n], rng.uniform(0.68, 0.99)) for n in chosen)]
    pairs = {(n, len(originals) + m): similarity(texts[n], texts[len(originals) + m]) for m, n in enumerate(chosen)}
    template = writer.words(240)
    texts += [" ".join(writer.replaced(template, _CROWD_EDITS)) for _ in range(crowd)]
    return Planted(texts, pairs, list(range(documents - crowd, documents)))


class _Writer:
    """Writes articles from words, with paragraphs that it uses again and again."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        syllables = [c + v + e for c in "bcdfghlmnprstvw" for v in "aeiou" for e in ("", "n", "r", "st")]
        self._words = sorted({"".join(rng.choices(syllables, k=rng.choice((1, 2, 2, 3, 4)))) for _ in range(20_000)})
        rng.shuffle(self._words)
        self._weights = list(accumulate(1 / rank for rank in range(2, len(self._words) + 2)))
        self._templates = [self.words(rng.randint(20, 80)) for _ in range(150)]

    def words(self, count: int) -> list[str]:
        """Words with Zipf's frequencies."""
        return self._rng.choices(self._words, cum_weights=self._weights, k=count)

    def article(self) -> str:
        """An article of 100 to 700 words, a third of them in shared paragraphs."""
        parts = [self.words(self._rng.randint(20, 110)) for _ in range(self._rng.randint(4, 6))]
        parts[1:1] = self._rng.sample(self._templates, self._rng.randint(1, 3))
        return "\n".join(" ".join(p).capitalize() + "." for p in parts)

    def copy(self, text: str, wanted: float) -> str:
        """A copy of about that similarity: words replaced, or a run of words left out, or both."""
        words = text.split()
        changed = len(words) * (1 - wanted) / (1 + wanted)
        kind = self._rng.randrange(3)
        if kind:
            dropped = int(len(words) * (1 - wanted) / kind)
            start = self._rng.randrange(len(words) - dropped)
            del words[start : start + dropped]
            changed *= kind - 1
            changed /= 2
        return " ".join(self.replaced(words, round(changed / _SIZE)))

    def replaced(self, words: Sequence[str], count: int) -> list[str]:
        """The words, `count` of them replaced."""
        found = list(words)
        for at in self._rng.sample(range(len(found)), min(count, len(found))):
            found[at] = self._rng.choice(self._words) + "x"
        return found


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[n : n + _SIZE]) for n in range(len(words) - _SIZE + 1)}


def similarity(one: str, other: str) -> float:
    """Jaccard similarity of two texts' runs of five words, on the words themselves: no hash takes part."""
    a, b = _runs(one), _runs(other)
    return len(a & b) / max(1, len(a | b))


def judge(planted: Planted, cluster: Mapping[int, int]) -> dict[str, float]:
    """Recall of planted pairs per band of similarity and from .85, precision, and the share of the crowd joined.

    Args:
        planted: The corpus.
        cluster: The cluster of each document that is in one with others. Precision is over all pairs of a cluster
            outside the crowd: the share whose true similarity is .8 or more.
    """
    joined = {p: cluster.get(p[0], -1) == cluster.get(p[1], -2) for p in planted.pairs}
    figures = {}
    for low, high in pairwise(BANDS):
        inside = [p for p, s in planted.pairs.items() if low <= s < high]
        figures[f"found {low:.2f}-{high:.2f}"] = sum(joined[p] for p in inside) / max(1, len(inside))
    close = [p for p, s in planted.pairs.items() if s >= BANDS[4]]
    figures["recall .85"] = sum(joined[p] for p in close) / max(1, len(close))
    wanted = [p for p, s in planted.pairs.items() if s >= _THRESHOLD]
    figures["recall .80"] = sum(joined[p] for p in wanted) / max(1, len(wanted))
    true, found = _precision(planted, cluster)
    figures["precision"] = true / max(1, found)
    figures["pairs found"] = float(found)
    largest = Counter(cluster[n] for n in planted.crowd if n in cluster).most_common(1)
    figures["crowd joined"] = largest[0][1] / len(planted.crowd) if largest else 0.0
    return figures


def _precision(planted: Planted, cluster: Mapping[int, int]) -> tuple[int, int]:
    """(true pairs, pairs) of the clusters outside the crowd."""
    crowd = set(planted.crowd)
    members: dict[int, list[int]] = {}
    for document, root in cluster.items():
        if document not in crowd:
            members.setdefault(root, []).append(document)
    pairs = [(a, b) for m in members.values() for n, a in enumerate(m) for b in m[n + 1 :]]
    return sum(similarity(planted.texts[a], planted.texts[b]) >= _THRESHOLD for a, b in pairs), len(pairs)
