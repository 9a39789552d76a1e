"""Persons by their roles: which nouns name one, which of them mean the same, and who is a child by the age told."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from quern.jobs.reasoning.answering.sentences import content_words
from quern.schemas.words.patterns import lazy_pattern

_PERSONS: Final = lazy_pattern(
    r"(?:person|people|child|kid|lad|lass|boy|girl|vet|president|king|queen|chief|mate|architect|nurse|guide|cook|head|chair|judge|"
    r"pupil|student|fellow|guy|bloke|expert|official|pilot|coach|mother|father|brother|sister|daughter|son|uncle|aunt|"
    r"friend|guest|wife|husband|clerk|poet|captain|priest|bishop|monk|nun|surgeon|medic|deputy|colleague|neighbour|"
    r"relative|hero|\w*(?:man|woman|boy|girl|child|keeper|wright|smith)|\w{2,}(?:er|or|ist|ian|eer|ess|ant)|"
    r"(?:employ|refer|train|trust|refug|nomin|absent|licens)ee)",
)
# Things whose names end as those of persons do.
_NO_PERSONS: Final = frozenset(
    "answer banner border centre center chapter character color colour committee computer corner cover dinner "
    "employer error factor fever flavor flavour flower harbor layer letter liquor manner matter meter "
    "mirror monitor motor newspaper number order paper plant poster power printer quarter restaurant river "
    "sector sensor shelter soccer suffer summer sweater theater timer tower tractor trailer transmitter tree water "
    "weather "
    "taller longer older bigger higher wider deeper heavier faster larger smaller shorter newer younger earlier later "
    "greater cheaper closer nearer further lower fewer other another former latter major minor rather either neither "
    "cluster ladder timber chamber cylinder container filter heater boiler reactor generator conveyor transponder "
    "receiver elevator outer inner upper finger shoulder powder gutter butter spider oyster lobster otter "
    "rudder anchor armor interior exterior vapour labour "
    "winter coffee fee reminder offer business address process success access dress press illness element".split()
)
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


def is_person(noun: str) -> bool:
    """Whether a noun in the singular and in lower case names a person by its role, as far as its form tells."""
    return noun not in _NO_PERSONS and _PERSONS.fullmatch(noun) is not None


def told_by_age(sentence: str) -> frozenset[str]:
    """Stems of the words for a child, where a sentence tells of a person that it is one by the age."""
    return _ROLES[0] if _YOUNG.search(sentence) else frozenset()


@lru_cache(maxsize=1024)
def same_roles(noun: frozenset[str]) -> frozenset[str]:
    """Stems of the words for a role, and of those that mean the same."""
    return noun.union(*(group for group in _ROLES if group & noun))
