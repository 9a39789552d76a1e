"""The number to ring of somebody by the office held: `Mrs Groat` is the registrar, whose row has the number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import PHONE, Kind
from quern.jobs.reasoning.answering.names import names
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.sentences import content_words
from quern.jobs.reasoning.answering.typed.value import Value
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

_BEFORE: Final = lazy_pattern(r"(?P<role>[A-Za-z][\w’'-]*),?\s+$")
_BEHIND: Final = lazy_pattern(r",\s+(?:the|an?|its|our)\s+(?:[a-z-]+\s+){0,2}?(?P<role>[a-z][\w’'-]*)")
_NUMBER: Final = lazy_pattern(r"[+(]?\d[\d ()/-]{4,}\d")


def number_by_role(question: str, kind: Kind, best: Sequence[Line]) -> tuple[Value, Line, Line] | None:
    """The number in the row of an office, with its row and the sentence that says who holds it; None without one.

    Only where no row is labelled by the name itself.
    """
    if kind.verb != PHONE:
        return None
    asked = {n.text.split()[-1] for n in names(question.partition(" ")[2]) if n.role != "place"}
    rows = [o for o in best if o.row is not None and any(_NUMBER.fullmatch(v.text) for v in o.values)]
    if not asked or any(content_words(o.row.cells[0]) & content_words(" ".join(asked)) for o in rows if o.row):
        return None
    for line in best:
        for role in _roles(line.text, asked) if line.row is None else ():
            held = next((o for o in rows if o.row and role in re.findall(r"[a-z]+", o.row.cells[0].lower())), None)
            if held is not None:
                return next(v for v in held.values if _NUMBER.fullmatch(v.text)), held, line
    return None


def _roles(text: str, asked: set[str]) -> list[str]:
    """The offices that a sentence gives to one of the names."""
    found: list[str] = []
    for name in names(text):
        if name.text.split()[-1] in asked:
            beside = (_BEFORE.search(text, max(0, name.start - 30), name.start), _BEHIND.match(text, name.end))
            found += [m["role"].lower() for m in beside if m is not None and is_person(m["role"].lower())]
    return found
