"""The form in which texts are searched: numerals as Arabic digits, half-width forms, no emoji (Xinyu, suppl. C).

`documents.text` and all that quotes it stay as the page has them; words for full-text search and inputs of the
embedding model, of chunks, pairs and questions alike, are made from this form: a question for 第3次 finds 第三次. It
depends on nothing but the text: a question states no language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from quern.jobs.text.chinese_numerals import arabic
from quern.jobs.text.noise import without_emoji
from quern.jobs.text.numbers import with_digits
from quern.schemas.settings import NormaliseSettings
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK, CJK_CHARACTER, KANA_OR_HANGUL

Punctuation = Literal["outside_cjk", "all"]

_SPACE: Final = "\u3000"
_FULL: Final = lazy_pattern("[\uff01-\uff5e\u3000]")
# The scripts with the punctuation that stands among them.
_CJK: Final = f"{CJK}\u3001-\u303f“”‘’—…"
_OWN: Final = "，！？：；"
# What is not the script's own punctuation, and that where no character of the script is on either side.
_FOREIGN: Final = lazy_pattern(f"[\uff01-\uff5e\u3000](?<![{_OWN}])|(?<![{_CJK}{_OWN}])[{_OWN}](?![{_CJK}{_OWN}])")
# A half-width mark ends a sentence or clause only before a space.
_CROWDED: Final = lazy_pattern(f"(?:[{_OWN}](?!\\d)|(?<!\\d)[{_OWN}])(?=[^\\s{_OWN}”’」』】》\"')）])")


def _half(match: re.Match[str]) -> str:
    return " " if match[0] == _SPACE else chr(ord(match[0]) - ord("！") + ord("!"))


def half_width(text: str, punctuation: Punctuation = "outside_cjk") -> str:
    """`text` with full-width letters, digits and marks (U+FF01 to U+FF5E) in their half-width form.

    Between Chinese, Japanese or Korean characters `，！？：；` stay, but by `all` (Xinyu's supplement C).
    """
    if text.isascii() or _FULL.search(text) is None:
        return text
    if punctuation == "all":
        return _FULL.sub(_half, _CROWDED.sub(lambda match: match[0] + " ", text))
    return _FOREIGN.sub(_half, text)


# Raised when the same text gets another form: part of the fingerprint of what is made of it.
VERSION: Final = 1
# The settings of `normalise` that the form depends on.
_SETTINGS: Final = {"noise", "punctuation", "chinese_numerals"}


@dataclass(frozen=True)
class SearchForm:
    """Gives a text the form in which it is searched."""

    settings: NormaliseSettings = field(default_factory=NormaliseSettings)  # What is unified.

    def __call__(self, text: str) -> str:
        """`text` as it is searched."""
        if text.isascii():
            return text
        if self.settings.noise:
            text = without_emoji(text)
        # Numerals first: what stands beside a full-width mark decides about it.
        text = with_digits(text)
        if self.settings.chinese_numerals and is_chinese(text):
            text = arabic(text)
        return half_width(text, self.settings.punctuation)

    def column(self, texts: pa.Array) -> pa.Array:
        """Each of the `texts` as it is searched; nulls stay."""
        if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
            return texts
        return pa.array([None if text is None else self(text) for text in texts.to_pylist()], texts.type)

    def configuration(self) -> Mapping[str, object]:
        """What the form depends on."""
        return {"version": VERSION, **self.settings.model_dump(include=_SETTINGS)}


def is_chinese(text: str) -> bool:
    """Whether the ideographs of `text`, if it has any, are Chinese: hardly any kana or Hangul is among them."""
    ideographs = len(CJK_CHARACTER.findall(text))
    # Of Japanese about half of the characters are kana, of Korean nearly all Hangul; Chinese text at most names a
    # foreign work. Between the two nothing is tuned.
    return ideographs > 0 and len(KANA_OR_HANGUL.findall(text)) <= 0.3 * ideographs


def plain_characters(text: str) -> str:
    """`text` with ASCII digits and half-width forms, and without emoji: what patterns are sought in.

    A character for a character but for those left out (`places`), unlike the form in which it is searched.
    """
    if text.isascii():
        return text
    return half_width(with_digits(without_emoji(text)))


def places(text: str, plain: str) -> Sequence[int]:
    """Where in `text` each of its `plain_characters` stands, with the end of `text` after the last."""
    if len(text) == len(plain):
        return range(len(text) + 1)
    at, offsets = -1, []
    for character in without_emoji(text):
        at = text.index(character, at + 1)
        offsets.append(at)
    return [*offsets, len(text)]
