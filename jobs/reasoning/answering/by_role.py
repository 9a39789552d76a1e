"""The number to ring of somebody by the office held: `Mrs Groat` is the registrar, whose row has the number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import PHONE, Kind
from quern.jobs.reasoning.answering.names import names
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.typed.value import Value
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

_BEFORE: Final = lazy_pattern(
    r"(?:^|[\s(])(?:(?P<was>former|deputy|acting|vice|assistant|ex)[\s-])?(?P<role>[A-Za-z]+),?\s+$", re.IGNORECASE
)
_BEHIND: Final = lazy_pattern(
    r",\s+(?:the|an?|its|our)\s+(?P<was>(?:[a-z-]+\s+){0,2}?)(?P<role>[a-z]+)(?=\s*[,.;]|\s+(?:of|for|at|who)\b)"
)
_NOT_HE: Final = lazy_pattern(r"former|deputy|acting|vice|assistant|\bex\b", re.IGNORECASE)
_TITLE: Final = lazy_pattern(r"(?:Mrs?|Ms|Miss|Dr|Prof|Sir|Lady)\.?")
_NUMBER: Final = lazy_pattern(r"[+(]?\d[\d ()/-]{4,}\d")


def number_by_role(question: str, kind: Kind, best: Sequence[Line]) -> tuple[Value, Line, Line] | None:
    """The number in the row of an office, with its row and the sentence that says who holds it; None without one.

    Only where no row is labelled by the name itself.
    """
    if kind.verb != PHONE:
        return None
    asked = [_name(n.text) for n in names(question.partition(" ")[2]) if n.role != "place"]
    rows = [o for o in best if o.row is not None and any(_NUMBER.fullmatch(v.text) for v in o.values)]
    named = content_words(" ".join(word for name in asked for word in name))
    if not asked or any(content_words(o.row.cells[0]) & named for o in rows if o.row):
        return None
    for line in best:
        for role in _roles(line.text, asked) if line.row is None else ():
            held = next((o for o in rows if o.row and _is_of(role, o.row.cells[0])), None)
            if held is not None:
                return next(v for v in held.values if _NUMBER.fullmatch(v.text)), held, line
    return None


def _is_of(role: str, label: str) -> bool:
    """Whether a row is that of an office: `Warden of the fen`, not `Deputy warden`."""
    return label.lower().split()[:1] == [role]


def _name(text: str) -> tuple[str, ...]:
    """The words of a name without its title."""
    return tuple(w for w in text.split() if not _TITLE.fullmatch(w))


def _roles(text: str, asked: Sequence[tuple[str, ...]]) -> list[str]:
    """The offices that a sentence gives to one of the names; a surname alone may be another's where both have more."""
    found: list[str] = []
    for name in names(text):
        own = _name(name.text)
        if not any(own == other or (1 in (len(own), len(other)) and own[-1:] == other[-1:]) for other in asked):
            continue
        beside = (_BEFORE.search(text, max(0, name.start - 40), name.start), _BEHIND.match(text, name.end))
        held = [m for m in beside if m is not None and is_person(m["role"].lower())]
        found += [m["role"].lower() for m in held if not _NOT_HE.search(m["was"] or "")]
    return found
