"""In which order a text writes day and month in digits: by its other dates, its site, its language."""

from __future__ import annotations

from typing import Final

from quern.jobs.text.dates.when import Order
from quern.schemas.words.patterns import lazy_pattern

_WRITTEN: Final = lazy_pattern(r"(?<![\d/.-])(\d\d?)/(\d\d?)/(?:\d{4}|\d\d)(?![\d/])")
# Top-level domains of countries that write the month first (Unicode CLDR 44, short dates: en-US, en-PH and their like).
_MONTH_FIRST: Final = frozenset(("us", "gov", "mil", "edu", "ph", "pr", "gu", "fm", "mh", "pw"))
# Those of countries that write English with the day first, by the same source.
_DAY_FIRST: Final = frozenset("uk ie au nz in sg hk za ng ke gh pk bd lk my mt jm tt ug tz zw eu".split())
_DAY_FIRST_LANGUAGES: Final = frozenset(
    (
        "de fr es it pt nl pl cs sk sl hr sr bs ru uk be bg ro el tr da nb no nn fi et lv ga cy ca gl ar he id ms vi "
        "th hi"
    ).split()
)


def order_of(language: str | None = None, host: str | None = None, text: str = "") -> Order | None:
    """The order of day and month, or null where nothing decides it.

    Args:
        language: ISO 639-1 code of the text, perhaps with a region: `en`, `en-GB`.
        host: Name of the site: `www.example.co.uk`.
        text: The text itself; one date that can be read in a single way decides for all.
    """
    if (told := _told(text)) is not None:
        return told
    code, _, region = (language or "").replace("_", "-").partition("-")
    if region:
        return "month first" if region.lower() in _MONTH_FIRST else "day first"
    if code.lower() in _DAY_FIRST_LANGUAGES:
        return "day first"
    domain = (host or "").lower().rstrip(".").rpartition(".")[2]
    if domain in _MONTH_FIRST:
        return "month first"
    return "day first" if domain in _DAY_FIRST or domain in _DAY_FIRST_LANGUAGES else None


def _told(text: str) -> Order | None:
    """The order of the text's dates, where one has a day above the twelfth and none speaks against it."""
    orders: set[Order] = set()
    for m in _WRITTEN.finditer(text):
        one, other = int(m[1]), int(m[2])
        if 12 < one <= 31 and 1 <= other <= 12:
            orders.add("day first")
        elif 12 < other <= 31 and 1 <= one <= 12:
            orders.add("month first")
    return orders.pop() if len(orders) == 1 else None
