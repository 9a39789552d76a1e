"""Rules that the text of a web page must pass: Gopher's and C4's, each with a reason code.

Sources: Rae et al. 2021 (Gopher), appendix A.1.1; Raffel et al. 2020 (C4), section 2.2. Thresholds are settings. The
rules on words and stop words hold for English and, with characters in place of words, for Chinese; those on symbols,
lines and repetition for every language (with characters for Japanese and Thai too, which do not part words).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from quern.schemas.settings import QualitySettings
from quern.schemas.words.scripts import HAN, KANA, SOUTH_EAST_ASIAN

_UNSPACED: Final = frozenset({"zh", "ja", "th", "lo", "km", "my"})
_CHARACTERS_OF_A_WORD: Final = 2
# Gopher names these eight; the Chinese ones are the commonest function words of any corpus.
_STOP_WORDS: Final = frozenset("the be to of and that have with".split())
_CHINESE_STOP_WORDS: Final = frozenset("的了是在和有不这我也就都而及与")
_PUNCTUATION: Final = ".,;:!?\"'()[]{}“”‘’«»…-–—*|#/"
_UNSPACED_LETTER: Final = re.compile(f"[{HAN}{KANA}{SOUTH_EAST_ASIAN}]")
# What Markdown writes that is no symbol of the text: code between fences, and the marks of headings.
_MARKUP: Final = re.compile(r"^[ \t]*(```|~~~).{0,20000}?^[ \t]*\1|^[ \t]*#{1,6}(?=\s)", re.MULTILINE | re.DOTALL)

Array = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Text:
    """A text and what the rules look at; each part is made when a rule first asks for it."""

    text: str
    language: str | None

    @cached_property
    def unspaced(self) -> bool:
        """Whether its words are not parted, as its language or most of its letters say."""
        if self.language in _UNSPACED or self.text.isascii():
            return self.language in _UNSPACED
        return 2 * len(_UNSPACED_LETTER.findall(self.text)) > sum(map(str.isalnum, self.text))

    @cached_property
    def words(self) -> list[str]:
        """Words without punctuation around them; letters and digits one by one in scripts that do not part words."""
        if self.unspaced:
            return [*filter(str.isalnum, self.text)]
        return [word for token in self.text.split() if (word := token.strip(_PUNCTUATION))]

    @cached_property
    def size(self) -> float:
        """Words, or what they come to."""
        return max(1.0, len(self.words) / (_CHARACTERS_OF_A_WORD if self.unspaced else 1))

    @cached_property
    def lines(self) -> list[str]:
        return [line for each in self.text.split("\n") if (line := each.strip())] or [""]

    @cached_property
    def lengths(self) -> Array:
        """Characters of each word."""
        return np.fromiter(map(len, self.words), np.int64, len(self.words))


def verdict(text: str, language: str | None, settings: QualitySettings) -> tuple[str, str] | None:
    """The reason code of the first rule that `text` fails, and what was found; null where it passes all."""
    if not settings.enabled:
        return None
    looked_at = _Text(text, language)
    rules = chain(_rules(looked_at, settings), _repetition(looked_at, settings))
    return next(((reason, detail) for fails, reason, detail in rules if fails), None)


def _rules(text: _Text, settings: QualitySettings) -> Iterator[tuple[bool, str, str]]:
    """The rules on words, symbols and lines: whether the text fails each, its reason, and what was found."""
    # How many words, how long, and whether they are words of a language.
    count = len(text.words) / (_CHARACTERS_OF_A_WORD if text.unspaced else 1)
    yield count < settings.min_words, "quality_few_words", f"{count:.0f} words"
    if not text.unspaced:
        letters = sum(1 for word in text.words if any(map(str.isalpha, word))) / text.size
        yield letters < settings.letters, "quality_letters", f"{letters:.0%} of the words have a letter"
    if text.language == "en":
        mean = float(text.lengths.mean()) if len(text.lengths) else 0.0
        detail = f"words of {mean:.1f} characters on average"
        yield mean < settings.short_words, "quality_short_words", detail
        yield mean > settings.long_words, "quality_long_words", detail
    if text.size >= settings.stop_words_from and text.language in ("en", "zh"):
        stop_words = _CHINESE_STOP_WORDS if text.language == "zh" else _STOP_WORDS
        hits = sum(1 for word in text.words if word.lower() in stop_words)
        yield hits < settings.stop_words, "quality_stop_words", f"{hits} stop words in {text.size:.0f} words"
    # Symbols, braces, and the printer's dummy text.
    plain = _MARKUP.sub("", text.text)
    for name, count in (("#", plain.count("#")), ("ellipsis", plain.count("…") + plain.count("..."))):
        share = count / text.size
        yield share > settings.symbols, "quality_symbols", f"{share:.2f} {name} a word"
    braces = (plain.count("{") + plain.count("}")) / max(1, len(text.text))
    yield braces > settings.curly, "quality_curly", f"{braces:.1%} of the characters are braces"
    lorem = text.text.lower().count("lorem ipsum")
    yield lorem * settings.lorem_ipsum > len(text.text), "quality_lorem_ipsum", f"{lorem} times lorem ipsum"
    # Whether lines end with an ellipsis, and whether they repeat.
    lines, count = text.lines, len(text.lines)
    cut = sum(1 for line in lines if line.endswith(("…", "...")))
    yield cut / count > settings.ellipsis, "quality_ellipsis", f"{cut} of {count} lines"
    if text.size >= settings.repetition_from:
        again = sum(map(len, lines)) - sum(map(len, set(lines)))
        share = (count - len(set(lines))) / count
        detail = f"{share:.0%} of the lines, {again} characters, repeat"
        too_many = share > settings.duplicate_lines or again > settings.duplicate_line_characters * len(text.text)
        yield too_many, "quality_repetition_lines", detail


def _repetition(text: _Text, settings: QualitySettings) -> Iterator[tuple[bool, str, str]]:
    """Gopher's n-grams: characters in the commonest short one, and in all long ones that repeat."""
    if text.size < settings.repetition_from or not len(text.words):
        return
    grams = _Grams.of_words(text.words)
    # A Chinese word has two characters, so that its n-grams have twice as many.
    step = _CHARACTERS_OF_A_WORD if text.unspaced else 1
    top = {2 + n: limit for n, limit in enumerate(settings.top_ngrams)}
    repeated = {5 + n: limit for n, limit in enumerate(settings.duplicate_ngrams)}
    for n in range(2, 1 + max([*top, *repeated, 1])):
        while grams.length < n * step:
            if len(grams.numbers) < 2:
                return
            grams = grams.longer()
        if n in top:
            share = grams.top_share(text.lengths)
            yield share > top[n], "quality_top_ngram", f"{share:.0%} of the characters are one {n}-gram"
        if n in repeated:
            share = grams.repeated_share(text.lengths)
            yield share > repeated[n], "quality_duplicate_ngrams", f"{share:.0%} are in repeated {n}-grams"


@dataclass(frozen=True)
class _Grams:
    """The n-grams of a text."""

    length: int  # n.
    words: Array  # A number for each word; equal numbers, equal words, shape (words,).
    numbers: Array  # The same for each n-gram, shape (words - n + 1,).
    first: Array  # For each number where it occurs first.
    counts: Array  # For each number how often it occurs.

    @classmethod
    def of_words(cls, words: list[str]) -> _Grams:
        vocabulary: dict[str, int] = {}
        ids = np.array([vocabulary.setdefault(word, len(vocabulary)) for word in words], dtype=np.int64)
        _, first, counts = np.unique(ids, return_index=True, return_counts=True)
        return cls(1, ids, ids, first, counts)

    def longer(self) -> _Grams:
        """The n-grams of one word more."""
        codes = self.numbers[:-1] * (int(self.words.max()) + 1) + self.words[self.length :]
        _, first, numbers, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return _Grams(self.length + 1, self.words, numbers, first, counts)

    def top_share(self, lengths: Array) -> float:
        """Share of the words' characters in the commonest n-gram, where it occurs twice or more."""
        most = int(self.counts.max())
        if most < 2:
            return 0.0
        starts = self.first[self.counts == most]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return float((ends[starts + self.length] - ends[starts]).max() * most / ends[-1])

    def repeated_share(self, lengths: Array) -> float:
        """Share of the words' characters that lie in an n-gram seen before, each word counted once."""
        if len(self.first) == len(self.numbers):
            return 0.0
        again = np.ones(len(self.numbers), dtype=np.int64)
        again[self.first] = 0
        edges = np.zeros(len(lengths) + 1, dtype=np.int64)
        edges[: len(again)] += again
        edges[self.length : self.length + len(again)] -= again
        return float(lengths[np.cumsum(edges[:-1]) > 0].sum() / lengths.sum())
