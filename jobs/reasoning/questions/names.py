"""Names of a corpus: words in capitals that stand together, and the titles of its documents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from quern.schemas.words.calendar import MONTHS, WEEKDAYS

_WORD: Final = r"[A-Z][\w'’&-]*[\w]"
# Names of one capital word are counted too: who is mostly named so needs no other name.
_RUN: Final = re.compile(rf"{_WORD}(?: (?:(?:of|de|van|von|der|al|bin|la|du) (?:the )?)?{_WORD})*")
_GENITIVE: Final = re.compile(r"['’]s?$")
# Words in capitals at the start of a sentence that are no part of a name.
_NO_NAME: Final = frozenset(
    "The A An In On At By For From With To Of And But Or If When While After Before Since Until As It Its He She "
    "They We You I His Her Their Our My This That These Those There Here What Who Where Why How Which Did Was "
    "Were Is Are Has Have Had Do Does Not No Yes All Some Many Most Both Each One Two Three Four Five Six Seven "
    "Eight Nine Ten About Under Over According Also Then Now However Although Because So During Between Every "
    "Another Other First Last Hey Hi Hello Dear Thanks Thank Sure Great Oh "
    "Well Please Just Let Good Hope".split()
).union(MONTHS, WEEKDAYS)


@dataclass(frozen=True)
class Form:
    """A name in full, and how often it stands in the corpus."""

    name: str
    count: int


class Names:
    """The names that titles and texts have, found by any of their words."""

    def __init__(self, texts: Iterable[tuple[str | None, str]]) -> None:
        """Args: `texts` as pairs of a title and a text."""
        counts: Counter[str] = Counter()
        for title, text in texts:
            counts.update(_RUN.findall(text))
            if title:
                counts.update(_RUN.findall(title))
        self._said: Counter[str] = Counter()
        self._forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for run, count in counts.items():
            self._take(run, count)

    def _take(self, run: str, count: int) -> None:
        words = [_GENITIVE.sub("", word) for word in run.split()]
        while words and words[0] in _NO_NAME:
            words.pop(0)
        while words and words[-1] in _NO_NAME:
            words.pop()
        name = " ".join(words)
        for word in set(words):
            self._said[word] += count
            if len(words) > 1:
                self._forms[word][name] += count

    def __contains__(self, word: str) -> bool:
        """Whether a word stands in a name."""
        return word in self._said

    def said(self, word: str) -> int:
        """How often the word stands in the corpus with a capital."""
        return self._said[word]

    def together(self, one: str, other: str) -> bool:
        """Whether two words, in any case, stand one behind the other in a name."""
        if not one or not other:
            return False
        first, second = one.title(), other.title()
        return any(f" {first} {second} " in f" {name} " for name in self._forms.get(first, ()))

    def forms(self, word: str) -> list[Form]:
        """The names of several words that have the word, each counted with the longer ones that it is a part of."""
        found = self._forms.get(word, Counter())
        whole = {name: sum(count for other, count in found.items() if f" {name} " in f" {other} ") for name in found}
        return [Form(name, count) for name, count in sorted(whole.items(), key=lambda form: (-form[1], form[0]))]
