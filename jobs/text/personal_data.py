"""Personal data of known forms in a text: found, counted by type, and replaced by a typed mark such as [EMAIL].

Types: EMAIL, PHONE, CREDIT_CARD, IBAN, SSN, NATIONAL_ID, IP and HANDLE (names and ids on platforms). Names of
persons and postal addresses have no form that an expression could tell; they stay.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Final

from quern.jobs.text.accounts import cards, ibans, national_ids, social_security_numbers
from quern.jobs.text.contacts import emails, handles, ip_addresses, urls
from quern.jobs.text.phones import phones
from quern.jobs.text.spans import Span, disjoint

# In order of proof: of two findings that overlap the first stays.
_BY_DIGITS: Final[dict[str, Callable[[str], Iterator[Span]]]] = {
    "IBAN": ibans,
    "NATIONAL_ID": national_ids,
    "CREDIT_CARD": cards,
    "SSN": social_security_numbers,
    "IP": ip_addresses,
}
TYPES: Final = ("EMAIL", "PHONE", *_BY_DIGITS, "HANDLE")
# Whether a text has digits enough for any of these: most lines of prose have not.
_DIGITS: Final = re.compile(r"\d(?:\D{0,3}\d){5}|:[0-9A-Fa-f:]*:")


def find(text: str, language: str | None, types: Collection[str] = TYPES) -> list[Span]:
    """Spans of personal data of the wanted `types`, in order, disjoint."""
    found: list[Span] = []
    if "EMAIL" in types:
        found += emails(text)
    if "HANDLE" in types:
        found += handles(text)
    if _DIGITS.search(text):
        outside = _outside(text, urls(text))
        found += outside(span for name, finder in _BY_DIGITS.items() if name in types for span in finder(text))
        if "PHONE" in types:
            # Digits of a card are no telephone, whether or not cards are wanted.
            found += outside(span for span in phones(text, language))
    return disjoint(found)


def _outside(text: str, addresses: list[tuple[int, int]]) -> Callable[[Iterator[Span]], list[Span]]:
    """Leaves out what lies in the path of a web address; an IP address there is its host."""
    starts = [start for start, _ in addresses]

    def is_outside(span: Span) -> bool:
        at = bisect(starts, span.start)
        return span.type == "IP" or at == 0 or addresses[at - 1][1] <= span.start

    def kept(spans: Iterator[Span]) -> list[Span]:
        return [span for span in spans if is_outside(span)]

    return kept


def replace(text: str, spans: list[Span], *, mark: bool) -> str:
    """`text` with a mark for each of the spans, or without them and the space they leave."""
    if not spans:
        return text
    gaps = [0, *(edge for span in spans for edge in (span.start, span.end)), len(text)]
    pieces = [text[start:end] for start, end in zip(gaps[::2], gaps[1::2], strict=True)]
    if mark:
        return pieces[0] + "".join(f"[{span.type}]{piece}" for span, piece in zip(spans, pieces[1:], strict=True))
    return "".join(_joinable(pieces))


def _joinable(pieces: list[str]) -> Iterator[str]:
    """The pieces without the space that would stand double, or before punctuation, when they are joined."""
    for piece, following in zip(pieces, [*pieces[1:], "end"], strict=True):
        doubled = piece.endswith(" ") and (not following or following[0] in " ,.;:!?)\n")
        yield piece[:-1] if doubled else piece


def counts(spans: list[Span]) -> list[dict[str, object]]:
    """How many of each type, in order of type."""
    found = Counter(span.type for span in spans)
    return [{"type": name, "count": found[name]} for name in sorted(found)]
