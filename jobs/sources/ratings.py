"""Ratings of domains from a file: a prior of how far a source can be trusted, never alone a ground to leave it out.

The file has a header and two columns, the domain and its rating from 0 to 1 (Lin and others 2023, PNAS Nexus 2(9),
publish 11,520 of them in this form).
"""

from __future__ import annotations

import csv
from pathlib import Path

from quern.schemas.digests import text_digest
from quern.schemas.errors import QuernError


class RatingsError(QuernError):
    """A file of ratings that cannot be read; the message says where and what to do."""


def ratings_digest(path: str) -> str:
    """Digest of the file's content; empty where there is none."""
    return text_digest(_text(path)) if path else ""


def read_ratings(path: str) -> dict[str, float]:
    """Domain to rating.

    Raises:
        RatingsError: The file cannot be read, or a line is not a domain and a number from 0 to 1.
    """
    if not path:
        return {}
    found: dict[str, float] = {}
    try:
        rows = list(csv.reader(_text(path).splitlines()))
    except csv.Error as error:
        raise RatingsError(f"sources.ratings: {path} is no CSV file: {error}") from None
    for number, row in enumerate(rows, 1):
        if number == 1 or not row:
            continue
        try:
            rating = float(row[1])
        except (IndexError, ValueError):
            rating = -1.0
        if not 0.0 <= rating <= 1.0:
            raise RatingsError(f"sources.ratings: {path}:{number}: write a domain and a number from 0 to 1")
        found[row[0].strip().lower().removeprefix("www.")] = rating
    return found


def rating_of(site: str, ratings: dict[str, float]) -> float | None:
    """The rating of a site, else of the domain that it was registered under."""
    if not ratings or site in ratings:
        return ratings.get(site)
    from quern.jobs.crawl.urls import registered_domain  # Half a second that only rated builds need.

    return ratings.get(registered_domain(site))


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise RatingsError(f"sources.ratings: {path} cannot be read: {why}; name a CSV file, or set it to ''") from None
