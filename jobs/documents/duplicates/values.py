"""Whether a value differs between two texts that are otherwise alike: a number, a name, or what a field holds.

Certificates, tickets, invoices and product pages repeat a template: what differs between two of them is what they say,
however long the rest is. The texts are aligned word by word (Levenshtein 1966). A run of words in the place of another
one is another value if at least half of the words that differ are values: written with a digit, not in lower case, or
in a cell or after the colon of a short line. So words of prose that are edited, paragraphs that are left out and
advertisements that are put in make no difference. Scripts without lower case do not set names apart: there a run of
up to a dozen words or characters is a value. One letter more, less or other in a longer name is a typo.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from rapidfuzz.distance import OSA, Levenshtein

from quern.schemas.words.scripts import CJK, SOUTH_EAST_ASIAN

_SPACELESS: Final = CJK + SOUTH_EAST_ASIAN
_CHARACTER: Final = re.compile(f"[{_SPACELESS}]")
# From the first letter or digit between white space to the last, with the sign of a number.
_WORD: Final = re.compile(
    rf"[{_SPACELESS}]|(?:[-+−](?=\d))?[^\W_{_SPACELESS}](?:[^\s{_SPACELESS}]*[^\W_{_SPACELESS}])?"
)
_FIELD: Final = 80  # Characters that are searched for the ends of a field.
_FIELD_BEFORE: Final = re.compile(r"(?:[|\t：]|:(?=\s))[^\n|\t]*\Z")
_FIELD_AFTER: Final = re.compile(r"[^\n|\t]*+(?P<end>[\n|\t]|\Z)")
_SENTENCE_END: Final = re.compile(r"[.!?…\n]")


def differ_in_value(one: str, other: str) -> bool:
    """Whether a value of `one` is another value in `other`; beyond 100,000 words wherever it stands."""
    a, b = _words(one), _words(other)
    # Words; two texts of so many with 100 edits take a second.
    if max(len(a.keys), len(b.keys)) > 100_000:
        return _differ(a, range(len(a.keys)), b, range(len(b.keys)))
    runs: list[tuple[range, range]] = []
    for step in Levenshtein.opcodes(a.keys, b.keys):
        if step.tag != "equal":
            start_a, start_b = step.src_start, step.dest_start
            if runs and (runs[-1][0].stop, runs[-1][1].stop) == (start_a, start_b):
                start_a, start_b = (run.start for run in runs.pop())
            runs.append((range(start_a, step.src_end), range(start_b, step.dest_end)))
    return any(_differ(a, of_a, b, of_b) for of_a, of_b in runs)


class _Words:
    """The words of a text: where they are, and the forms that are compared."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans = [m.span() for m in _WORD.finditer(text)]
        self.keys = [text[start:end].casefold().replace("’", "'") for start, end in self.spans]

    def __getitem__(self, n: int) -> str:
        start, end = self.spans[n]
        return self.text[start:end]

    def gap(self, n: int) -> str:
        """What stands before a word, after the one before it; a line break before the first."""
        return self.text[self.spans[n - 1][1] : self.spans[n][0]] if n else "\n"

    def is_number(self, n: int) -> bool:
        """Whether a word has a digit or is a numeral, as 三 is."""
        return any(map(str.isnumeric, self[n]))

    def is_capital(self, n: int) -> bool:
        """Whether a word has a capital for another reason than that it begins a sentence."""
        word = self[n]
        if word == word.lower():
            return False
        goes_on = n + 1 < len(self.spans) and self.gap(n + 1) in (" ", ", ") and self[n + 1].islower()
        return not (goes_on and _SENTENCE_END.search(self.gap(n)))

    def is_caseless(self, n: int) -> bool:
        """Whether a word is of a script without capitals."""
        return self[n].lower() == self[n].upper()

    def in_field(self, n: int) -> bool:
        """Whether a word is in a cell of a table, or in the rest of a line after a colon."""
        start, end = self.spans[n]
        after = self.text[end : end + _FIELD]
        match = _FIELD_AFTER.match(after)
        if match is None or (not match["end"] and len(after) == _FIELD):
            return False
        return match["end"] in ("|", "\t") or bool(_FIELD_BEFORE.search(self.text[max(0, start - _FIELD) : start]))


@lru_cache(maxsize=8)  # Pairs come in the order of their first text.
def _words(text: str) -> _Words:
    return _Words(text)


def _differ(a: _Words, of_a: range, b: _Words, of_b: range) -> bool:
    """Whether two runs of words in the same place are two values; one of them may be empty."""
    if not of_a or not of_b:
        # A field that one text leaves empty; what it lacks elsewhere was edited, as the first name of somebody known.
        words, run = (a, of_a) if of_a else (b, of_b)
        is_value = any((words.is_number(n) or words.is_capital(n)) and words.in_field(n) for n in run)
        return is_value and "\n" not in words.gap(run.start)
    known_a, known_b = ({w.keys[n] for n in run} for w, run in ((a, of_a), (b, of_b)))
    differing = [[(a, n) for n in of_a if a.keys[n] not in known_b], [(b, n) for n in of_b if b.keys[n] not in known_a]]
    # Words of a run without digits and capitals that is a value.
    few = max(len(of_a), len(of_b)) <= 12
    values = [
        [w.is_number(n) or w.is_capital(n) or w.in_field(n) or (few and w.is_caseless(n)) for w, n in side]
        for side in differing
    ]
    if not all(map(any, values)) or 2 * sum(map(sum, values)) < sum(map(len, values)):
        return False
    return not _is_typo(a, of_a, b, of_b)


def _is_typo(a: _Words, of_a: range, b: _Words, of_b: range) -> bool:
    """Whether two runs are one, but for one letter or for where words are parted; a code or a number is no other."""
    words = [(w, n) for w, run in ((a, of_a), (b, of_b)) for n in run]
    if any(w.is_number(n) or (w[n].isupper() and len(w[n]) > 1) for w, n in words):
        return False
    one, other = ("".join(w.keys[n] for n in run) for w, run in ((a, of_a), (b, of_b)))
    if len(one) == len(other) == 1:
        return all(_CHARACTER.match(w[n]) and not w.in_field(n) for w, n in words)
    # Letters of a name in which another one is a typo; `Anna` and `Anne` are two.
    return min(len(one), len(other)) >= 5 and OSA.distance(one, other, score_cutoff=1) <= 1
