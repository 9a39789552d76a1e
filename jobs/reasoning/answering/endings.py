"""What a clause says to have ended, or to be missing: `stopped selling them`, `was withdrawn`, `free of mould`.

Such words deny what they govern and nothing else: a mill that stopped grinding rye may grind wheat, and a boat that
sails without a mate sails. What has ended was so once, so that only what is asked of today is denied by it.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

from quern.jobs.reasoning.answering.wording import said_by_others
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

# Of what stops at midnight every day nothing is over.
_ENDED: Final = (
    r"(?:stopped|ceased|quit|(?:gave|given)\s+up|discontinued|suspended|halted|ended|withdrew|withdrawn|phased\s+out|"
    r"done\s+away\s+with)"
)
_ENDS: Final = r"(?:(?:stop|cease|quit|end|halt|suspend|discontinue|withdraw)s?|gives?\s+up)"
_PREPOSITION: Final = (
    r"(?:at|in|on|by|for|from|near|off|until|till|since|after|before|during|over|with|within|when|as|to|last|this)\b"
)
# `stopped selling them`, `suspended its service`, `ceased to run`; what stops at a pier or to buy ice ends nothing.
_NO_PASSIVE: Final = r"(?<!\bbe )(?<!\bbeen )(?<!\bwas )(?<!\bwere )(?<!\bis )(?<!\bare )"
_GOVERNED: Final = rf"\s+(?!{_PREPOSITION})(?P<what>(?:[\w’'-]+\s*){{1,6}})"
# `did not stop selling them`: what is not ended is denied twice.
_GOVERNING: Final = lazy_pattern(
    rf"(?:{_NO_PASSIVE}\b{_ENDED}|(?:\b(?:not|never)|n['’]t)\s+{_ENDS}){_GOVERNED}", re.IGNORECASE
)
_WILL_GOVERN: Final = lazy_pattern(rf"\b{_ENDS}{_GOVERNED}", re.IGNORECASE)
_TO_DO: Final = lazy_pattern(r"\bceased\s+to\s+(?P<what>(?:[\w’'-]+\s*){1,6})", re.IGNORECASE)
# `the strips were withdrawn`, `the sale of strips ended in May`.
_PASSIVE: Final = lazy_pattern(
    rf"^(?P<what>.*?)\b(?:(?:is|are|was|were|been|got)\s+(?:\w+ly\s+|now\s+|since\s+|later\s+|then\s+)?{_ENDED}"
    rf"|(?:ceased|ended|expired))\s*(?=$|[.,;:!?)]|{_PREPOSITION})",
    re.IGNORECASE,
)
# Who asks whether somebody stopped doing something is told yes by what says so.
_ASKS_ENDING: Final = lazy_pattern(
    r"\b(?:stop|stops|stopped|cease|ceases|ceased|quit|give\s+up|gives\s+up|given\s+up|gave\s+up)\s+"
    r"(?:to\s+\w+|\w{2,}ing)\b",
    re.IGNORECASE,
)
_ANY_ENDING: Final = lazy_pattern(
    rf"\b(?:{_ENDED}|{_ENDS}|stopping|ending|withdrawal|suspension|finish\w*|over)\b", re.IGNORECASE
)
_STILL: Final = lazy_pattern(
    r"\b(?:still|now|nowadays|any\s*more|any\s+longer|today|these\s+days|currently|at\s+present)\b", re.IGNORECASE
)
_PRESENT: Final = lazy_pattern(
    r"^\W*(?:and\s+|but\s+|so\s+)?(?:do|does|is|are|am|can|may|will)(?:n['’]t)?\b", re.IGNORECASE
)
# What governs a thing that it says to be missing, or another in whose place something is.
_MISSING: Final = (
    r"(?:free\s+(?:of|from)|(?:is|are|was|were|been)\s+rid\s+of|devoid\s+of|clear\s+of|"
    r"(?:exempt|absent|missing)\s+from)"
)
_ABSENT: Final = lazy_pattern(rf"\b{_MISSING}\s+(?P<what>(?:[\w’'-]+\s*){{1,4}})", re.IGNORECASE)
_BESIDE: Final = lazy_pattern(
    r"\b(?:without|instead\s+of|rather\s+than|ban(?:s|ned)?\s+on|lack(?:s|ed|ing)?(?:\s+of)?)\s+"
    r"(?P<what>(?:[\w’'-]+\s*){1,4})",
    re.IGNORECASE,
)
_OBJECT_ENDS: Final = lazy_pattern(rf"\s+(?:{_PREPOSITION}|and\b|or\b|but\b|because\b|where\b)", re.IGNORECASE)


def of_today(question: str) -> bool:
    """Whether a question asks what is so, not what was."""
    return asks_still(question) or _PRESENT.search(question) is not None


def asks_still(question: str) -> bool:
    """Whether a question asks if something goes on: `still`, `any more`."""
    return _STILL.search(question) is not None


def asks_for_ending(question: str) -> bool:
    """Whether a question asks if somebody stopped doing something."""
    return _ASKS_ENDING.search(question) is not None


def ended(question: str, verb: Set[str], clause: str) -> bool:
    """Whether a clause says that what is asked for has ended, where that answers the question.

    Args:
        question: What is asked.
        verb: The stem of its verb; empty where that is unclear.
        clause: What may say so.
    """
    asks = asks_for_ending(question)
    if not asks and (not of_today(question) or _ANY_ENDING.search(question)):
        return False
    asked = content_words(question)
    patterns = (_GOVERNING, _TO_DO, _WILL_GOVERN) if asks else (_GOVERNING, _TO_DO)
    governed = [m["what"] for pattern in patterns for m in pattern.finditer(clause)]
    if any(_is_of(asked, verb, _thing(what)) for what in governed):
        return True
    about = _PASSIVE.match(clause)
    return about is not None and bool(says(asked, content_words(about["what"])))


def absent(question: str, clause: str) -> bool:
    """Whether a clause says that what is asked for is missing: `free of mould`."""
    asked = content_words(question)
    return any(says(asked, content_words(_thing(m["what"]))) for m in _ABSENT.finditer(clause))


def without_foreign(question: str, clause: str) -> str:
    """A clause without what it denies of things that the question has not: `sails without a mate`."""
    asked = content_words(question)

    def kept(found: re.Match[str]) -> str:
        thing = content_words(_thing(found["what"]))
        return found[0] if not thing or says(asked, thing) else " "

    return _BESIDE.sub(kept, clause)


def _thing(what: str) -> str:
    """The words up to the first preposition or conjunction."""
    return _OBJECT_ENDS.split(what, maxsplit=1)[0]


def _is_of(asked: frozenset[str], verb: Set[str], what: str) -> bool:
    """Whether what has ended is what is asked for: its object, or the doing itself of that object or of none named."""
    words = content_words(what)
    others = said_by_others(asked, sorted(words))
    shared = {w for w in words if w in asked or w in others}
    doing = {w for w in shared if others.get(w, w) in verb}
    things = asked - verb
    rest = words - doing
    return bool(shared) and (not doing or not rest or not things or bool(shared - doing))


def says(asked: frozenset[str], words: frozenset[str]) -> bool:
    """Whether some of the `words` say a stem of what is asked, as it is or in another way."""
    return bool(asked & words) or bool(said_by_others(asked, sorted(words)))
