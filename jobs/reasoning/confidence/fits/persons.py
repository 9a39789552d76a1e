"""Who is asked for must be told as the one who did it: not as who speaks of it, nor as whom the question names."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.ranked import reading
from quern.jobs.reasoning.answering.typed.value import Value
from quern.jobs.reasoning.confidence.features import asked
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.fits.things import akin
from quern.jobs.reasoning.confidence.reasons import Reason
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_SAID_BY: Final = lazy_pattern(
    r"\b(?:said|says|told|added|wrote|writes|explained|explains)\s+(?:(?:the|an?|its|our)\s+(?:[a-z-]+\s+){0,3})?"
    r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof(?:essor)?|Councillor|Captain|Sir)\.?\s+)?$"
)
_SAYS: Final = lazy_pattern(
    r",?\s*(?:,[^,.]{0,60},\s*)?(?:said|says|told|added|explained|explains)\b(?!\s+(?:the|an?|its|his|her|their|[A-Z]))"
)
_OF_HIMSELF: Final = lazy_pattern(r"\b(?:I|[Ww]e|[Mm]y|[Mm]e|[Mm]ine)\b")
# Who asks for one that speaks, judges or thinks is told by what he says.
_ASKS_SPEAKER: Final = lazy_pattern(
    r"\b(?:said|say|says|tell|tells|told|think|thinks|thought|call(?:s|ed)?|quoted|according|announce\w*|explain\w*|"
    r"claim\w*|complain\w*|argu\w*|warn\w*|admit\w*|confirm\w*|report\w*|comment\w*|describ\w*|speak\w*|spoke|deni\w*|"
    r"deny|believ\w*|doubt\w*|prais\w*|blam\w*|suggest\w*|propos\w*|promis\w*|criticis\w*|mention\w*|remember\w*|joke\w*)\b",
    re.IGNORECASE,
)
_ROLE: Final = 70  # Characters before and behind a name in which its role stands.
_OFFERS: Final = lazy_pattern(r"\b(?:or|between|against|versus|vs|both|either)\b", re.IGNORECASE)
_IN_BRACKETS: Final = lazy_pattern(r"\([^()]*\)")
_OWNER: Final = lazy_pattern(r"[\w-]+(?:['’]s\b|s['’])")  # Whose head somebody is says nothing of what he did.
_MOST_OF_NAME: Final = 6  # Words of a short answer that is a name.
_DOUBT: Final = 0.0  # The reader's log odds that nothing answers, from which a sentence without a person is none.


def speaks_of_it(chosen: Chosen) -> Reason | None:
    """Why not, where the one told only speaks of what somebody did: `said Farida Holm` for who put the goat there.

    Not where a word of the question stands beside the name, which tells the role, nor where he speaks of himself. On
    nine visible sets over the sample corpus 3 that have no answer and 1 wrong answer are refused for it, and no right
    one; of 1,500 questions of other pages 6 wrong answers and no right one.
    """
    if not _is_told(chosen) or _ASKS_SPEAKER.search(chosen.question):
        return None
    text, value = chosen.line.text, chosen.told[0]
    if _OF_HIMSELF.search(text):
        return None
    if _SAID_BY.search(text, 0, value.start) is None and _SAYS.match(text, value.end) is None:
        return None
    points = asked(chosen.question)
    if akin(points.words - points.names, _beside(text, value)):
        return None
    return Reason("only_related", f"{value.text} only speaks of it.")


def named_already(chosen: Chosen) -> Reason | None:
    """Why not, where the answer is somebody whom the question names: `Who was master before Edda Marsh?`.

    On nine visible sets 2 that have no answer are refused for it, and no right answer.
    """
    if chosen.kind.name != "who" or chosen.given.before or not chosen.english or _OFFERS.search(chosen.question):
        return None
    name = _IN_BRACKETS.sub(" ", chosen.draft.short)
    words = content_words(name)
    if not words or len(name.split()) > _MOST_OF_NAME or not words <= content_words(chosen.question):
        return None
    if name.strip().endswith("."):
        return None  # A sentence.
    return Reason("other_entity", f"What was found names only {name.strip()}, whom the question names.")


def names_nobody(chosen: Chosen) -> Reason | None:
    """Why not, where a sentence that the reader doubts has nobody in it: `1822: the brig is lost with 19 men`.

    On nine visible sets 1 that has no answer is refused for it, and no right answer; of other pages 4 and none.
    """
    if chosen.kind.name != "who" or chosen.given.before or not chosen.english or chosen.converses:
        return None
    none = reading(chosen.given, chosen.kind).none
    if none is None or none <= _DOUBT or any(line.values for line in chosen.said):
        return None
    return Reason("only_related", "What was found names nobody.")


def _is_told(chosen: Chosen) -> bool:
    """Whether a person is told in a sentence of a page."""
    return bool(
        chosen.kind.name == "who"
        and chosen.told
        and chosen.english
        and not chosen.given.before
        and not chosen.converses
        and chosen.line.row is None
    )


def _beside(text: str, value: Value) -> frozenset[str]:
    """Stems of the words on both sides of a name, as far as a role is told there and no quotation ends."""
    before = text[max(0, value.start - _ROLE) : value.start]
    before = re.split(r"[\"”»]", before)[-1]
    return content_words(_OWNER.sub(" ", f"{before} {text[value.end : value.end + _ROLE]}"))
