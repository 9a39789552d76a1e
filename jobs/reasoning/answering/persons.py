"""Persons by their roles: which words for them mean the same, and who is a child by the age told."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_YOUNG: Final = lazy_pattern(
    r"\b(?:aged|age) (?:\d|1[0-7]|six|seven|eight|nine|ten|eleven|twelve|\w+teen)\b|[A-Z][\w’'-]+, (?:\d|1[0-7]),|"
    r"\b(?:\d|1[0-7]|six|seven|eight|nine|ten|eleven|twelve|\w+teen)-year-old\b"
)
# Words for one role that questions and pages exchange.
_ROLES: Final = tuple(
    content_words(group)
    for group in (
        "child kid boy girl pupil schoolboy schoolgirl student teenager youngster lad lass",
        "scientist researcher academic scholar professor expert",
        "boss chief head leader director manager chair chairman chairwoman",
        "captain skipper master commander",
        "doctor physician surgeon medic",
        "writer author novelist",
        "reporter journalist correspondent",
        "owner proprietor landlord",
        "designer architect",
    )
)


def told_by_age(sentence: str) -> frozenset[str]:
    """Stems of the words for a child, where a sentence tells of a person that it is one by the age."""
    return _ROLES[0] if _YOUNG.search(sentence) else frozenset()


@lru_cache(maxsize=1024)
def same_roles(noun: frozenset[str]) -> frozenset[str]:
    """Stems of the words for a role, and of those that mean the same."""
    return noun.union(*(group for group in _ROLES if group & noun))
