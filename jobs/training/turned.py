"""Questions of yes or no that are made of the sentences of a page, by turning them round: literal ones.

People who write questions of yes or no take other words than the page; what is asked in its own is all the commoner.
`It was sold in 1931.` gives `Was it sold in 1931?`, which it answers by yes, and with another year, month, day of the
week, name or an opposite one that it answers by no; so does one whose denial is left out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from quern.schemas.words.calendar import MONTHS, WEEKDAYS

_AUXILIARY: Final = "was|were|is|are|has|have|had|can|will|may|must|could|would|should"
_SENTENCE: Final = re.compile(
    r"(?P<subject>[A-Z][\w’'-]+(?: (?!(?:and|who|which|that|but|when|if|where|while|because)\b)[\w’'-]+){0,7}?) "
    rf"(?P<verb>{_AUXILIARY}) (?P<rest>[^;:|]+?)\.?"
)
_LATER: Final = re.compile(
    r",(?!\d)| (?:but|because|although|though|which|who|when|while|after|before|and|since|so) "
)  # What begins a further clause.
_DENIAL: Final = re.compile(r"(?:not|never|no longer) ")
_YEAR: Final = re.compile(r"(?:1[6-9]|20)\d\d")
_WHOLE: Final = re.compile(r"(?<![\d.,])\d+(?![\d.,]*\d)")
_NAME: Final = re.compile(r"(?<=[a-z] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_LOWERED: Final = frozenset(
    "The A An Each Every Its Their His Her It He She They We This These Those Some Many Most All Both Two Three "
    "Four".split()
)
# Words that begin no subject, and `that`, which is said of the sentence before.
_NO_SUBJECT: Final = frozenset(
    "In On At During After Before By For From With Under Since There If When While As To Of Here Where Then Only Not "
    "What Who How Why Because Until Behind Over Between Among Though Although That".split()
)
_OPPOSITES: Final = (
    "open closed,higher lower,more fewer,first last,before after,free paid,north south,east west,allowed forbidden,"
    "accepted refused,bought sold,old new,larger smaller,early late,morning afternoon,summer winter,approved rejected,"
    "won lost,longer shorter,daily weekly,inside outside,above below,rose fell,cheaper dearer,private public,"
    "temporary permanent,wooden stone,indoor outdoor"
)
_OPPOSITE: Final = {
    a: b for pair in _OPPOSITES.split(",") for one in [pair.split()] for a, b in (one, one[::-1])
}  # fmt: skip
_LATER_LEFT_OUT: Final = 0.6
_WORDS: Final = (2, 16)  # Of what stands behind the verb.
_YEARS_OFF: Final = (-30, -12, -7, -3, -1, 1, 2, 5, 11)
_TIMES_OFF: Final = (0.4, 0.5, 0.7, 1.4, 2, 3)


def turned(line: str, names: Sequence[str], chance: random.Random) -> Iterator[tuple[str, bool]]:
    """Questions that a line answers, and whether by yes; none of a line that has no auxiliary verb behind its subject.

    Args:
        line: A sentence.
        names: Of its page, to take one for another.
        chance: What is left to chance.
    """
    found = _SENTENCE.fullmatch(line.strip())
    if found is None or found["subject"].split()[0] in _NO_SUBJECT:
        return
    subject, rest = found["subject"], found["rest"].strip()
    first = _LATER.split(rest)[0]
    if chance.random() < _LATER_LEFT_OUT and len(first.split()) >= _WORDS[0]:
        rest = first
    if not _WORDS[0] <= len(rest.split()) <= _WORDS[1]:
        return
    begins = subject[0].lower() + subject[1:] if subject.split()[0] in _LOWERED else subject
    asked = found["verb"].capitalize()
    if subject.startswith("No "):
        yield f"{asked} {chance.choice(['a', 'any'])} {subject[3:]} {rest}?", False
    elif _DENIAL.match(rest):
        yield f"{asked} {begins} {_DENIAL.sub('', rest, count=1)}?", False
    else:
        yield f"{asked} {begins} {rest}?", True
        if other := [*_otherwise(rest, [name for name in names if name not in line], chance)]:
            yield f"{asked} {begins} {chance.choice(other)}?", False


def names_of(lines: Sequence[str]) -> list[str]:
    """The names in some lines, in order; no months and no days of the week."""
    return sorted({name for line in lines for name in _NAME.findall(line)} - {*MONTHS, *WEEKDAYS})


def _otherwise(text: str, names: Sequence[str], chance: random.Random) -> Iterator[str]:
    """A text with one thing changed that makes it untrue."""
    for found in _WHOLE.finditer(text):
        value = int(found[0])
        off = chance.choice(_YEARS_OFF), chance.choice(_TIMES_OFF)
        other = value + off[0] if _YEAR.fullmatch(found[0]) else max(1, int(value * off[1]))
        if other != value:
            yield f"{text[: found.start()]}{other}{text[found.end() :]}"
    for series in (MONTHS, WEEKDAYS):
        for word in series:
            if re.search(rf"\b{word}\b", text):
                yield re.sub(rf"\b{word}\b", chance.choice([w for w in series if w != word]), text)
    for word in text.split():
        if word in _OPPOSITE:
            yield re.sub(rf"\b{word}\b", _OPPOSITE[word], text)
    for name in _NAME.findall(text):
        if names and name not in MONTHS and name not in WEEKDAYS:
            yield text.replace(name, chance.choice(names))
