"""Names with a number behind them: `the Nokta 3` is another thing than the Nokta 5, and its 3 counts nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from quern.schemas.words.calendar import MONTH, MONTH_START
from quern.schemas.words.patterns import lazy_pattern

YEAR: Final = lazy_pattern(r"(?:1\d|20)\d\d")
# Months, and words that only begin a sentence, have days and years behind them.
_NAME_NUMBERED: Final = lazy_pattern(
    rf"\b(?!(?:{MONTH}|{MONTH_START}|In|On|At|By|Of|From|Since|Until|After|Before|During|For|About|Over|The|And|To|No|"
    r"Some|Only|Another|All|Its|Their|Our)\b)(?P<name>[A-Z][\w’'-]*)\s(?P<number>\d{1,4}(?:\.\d+)*)(?!\w|[,.]\d)"
)
_LONGEST: Final = 60  # Characters of a name.
_NAME_BEFORE: Final = lazy_pattern(r"\b([A-Z][\w’'-]*)\s$")


@lru_cache(maxsize=4096)
def names_numbered(text: str, *, years: bool = False) -> frozenset[tuple[str, str]]:
    """The names of a text that have a number behind them, each with it; those of a year only where `years` count."""
    found = ((m["name"], m["number"]) for m in _NAME_NUMBERED.finditer(text))
    return frozenset((name, number) for name, number in found if years or not YEAR.fullmatch(number))


def counts_nothing(question: str, text: str, start: int) -> bool:
    """Whether the number at `start` of a text belongs to a name that the question has with a number too."""
    asked = names_numbered(question)
    before = _NAME_BEFORE.search(text, max(0, start - _LONGEST), start) if asked else None
    return before is not None and any(before[1] == name for name, _ in asked)
