"""The words of a chunk with their places, once for all questions that it is aligned with."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from quern.jobs.text.stems import word_stems
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK
from quern.schemas.words.sentences import sentence_spans

_WORD: Final = lazy_pattern(rf"(?P<cjk>[{CJK}]+)|[^\W_{CJK}](?:[^\W_{CJK}]|[\u0300-\u036f])*(?:['’][^\W_{CJK}]+)*")


@dataclass(frozen=True)
class Words:
    """The words of a text.

    Attributes:
        text: Its characters.
        spans: First character and the one after the last of each word, in order; of Chinese, of each pair.
        places: Of each stem the numbers of the words that have it.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    places: Mapping[str, tuple[int, ...]]

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """The spans of its sentences."""
        return sentence_spans(self.text)

    def sentence_at(self, character: int) -> tuple[int, int]:
        """The span of the sentence that holds a character, or of the last before it."""
        at = bisect_right(self.sentences, (character, len(self.text)))
        return self.sentences[max(0, at - 1)]


@lru_cache(maxsize=4096)  # Questions of a batch share chunks.
def words_of(text: str) -> Words:
    """The words of a chunk that carry content."""
    spans: list[tuple[int, int]] = []
    places: dict[str, list[int]] = {}
    for m in _WORD.finditer(text):
        if m["cjk"]:
            run = m[0]
            pairs = [(i, run[i : i + 2]) for i in range(max(1, len(run) - 1))]
            for i, pair in pairs:
                for stem in word_stems(pair):
                    places.setdefault(stem, []).append(len(spans))
                spans.append((m.start() + i, m.start() + i + len(pair)))
            continue
        for stem in word_stems(m[0]):
            places.setdefault(stem, []).append(len(spans))
        spans.append((m.start(), m.end()))
    return Words(text, tuple(spans), {stem: tuple(at) for stem, at in places.items()})
