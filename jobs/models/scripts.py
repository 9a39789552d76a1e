"""Which scripts a model reads: those that its tokenizer has many words of."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

# MiniLM's vocabulary has 27,763 entries of Latin script, 488 of Han, for which it is blind, and under 100 of any other;
# one that was made for a script has thousands.
_ENTRIES: Final = 1000


def known_scripts(tokenizer: Tokenizer) -> frozenset[str]:
    """The scripts of which at least 1,000 entries of the vocabulary have a letter."""
    numbers = sorted(tokenizer.get_vocab(with_added_tokens=False).values())
    entries = tokenizer.decode_batch([[n] for n in numbers], skip_special_tokens=False)
    counted = Counter(script for entry in entries for script in _scripts(entry))
    return frozenset(script for script, count in counted.items() if script and count >= _ENTRIES)


def readable(texts: Sequence[str], known: frozenset[str]) -> npt.NDArray[np.float64]:
    """Share of each text's letters that are of `known` scripts, shape (texts,); 1 for a text without letters."""
    scripts = [[script for script in map(_script, text) if script] for text in texts]
    return np.array([sum(s in known for s in of) / len(of) if of else 1.0 for of in scripts], dtype=np.float64)


def _scripts(entry: str) -> set[str]:
    """The scripts of an entry's letters; those of plain words, most of them, are not looked at one by one."""
    return {"LATIN"} if entry.isascii() and entry.isalpha() else set(map(_script, entry))


@lru_cache(maxsize=1 << 16)
def _script(character: str) -> str:
    """The first word of a letter's name (LATIN, CYRILLIC, CJK); empty for what is no letter."""
    if not character.isalpha():
        return ""
    return unicodedata.name(unicodedata.normalize("NFKC", character)[0], "").partition(" ")[0]
