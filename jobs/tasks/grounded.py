"""Groundedness: whether an answer stands in a passage, word for word or nearly so."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import islice

from jobs.tasks.doc2query_units import WORD

# An answer of so many words may have a third more words of the passage between them: what a writer leaves out.
_SLACK = 4 / 3
_MARKS = re.compile("[\u0300-\u036f]+")
_POSSESSIVE = re.compile(r"['’]s?$")
# The two ways of writing a number that differ in nothing else: 1,892 and 1892.
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def groundedness(answer: str, passage: str) -> float:
    """Share of the answer's words that stand together in the passage, in [0, 1]; 0 for an answer without words.

    Words are compared in lower case, in compatibility form and without diacritics; of Chinese, Japanese and Korean
    the characters. They stand together where a stretch of the passage that is at most a third longer than the answer
    holds them, each as often as the answer does. A word with a digit in it must be there: an answer with a number or a
    date that the stretch has not is grounded by nothing, and scores 0. (QCG-RAG, prompt C.1, asks that the answer be
    taken nearly verbatim; how that is measured is ours.)

    Time: linear in the length of the passage.
    """
    wanted = _words(answer)
    if not wanted:
        return 0.0
    said = _words(passage)
    need = Counter(wanted)
    numbers = {word for word in need if any(c.isdigit() for c in word)}
    width = min(len(said), int(len(wanted) * _SLACK))
    have = Counter(word for word in said[:width] if word in need)
    shared = sum(min(n, have[word]) for word, n in need.items())
    best = shared if _covers(have, need, numbers) else 0
    for leaving, entering in zip(said, islice(said, width, None), strict=False):
        if leaving in need:
            shared -= have[leaving] <= need[leaving]
            have[leaving] -= 1
        if entering in need:
            have[entering] += 1
            shared += have[entering] <= need[entering]
        if shared > best and _covers(have, need, numbers):
            best = shared
    return best / len(wanted)


def _covers(have: Counter[str], need: Counter[str], numbers: set[str]) -> bool:
    return all(have[word] >= need[word] for word in numbers)


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", _MARKS.sub("", unicodedata.normalize("NFKD", text))).casefold()
    return [_POSSESSIVE.sub("", word) for word in WORD.findall(_THOUSANDS.sub("", folded))]
