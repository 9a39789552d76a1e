"""What a question asks for by `which` and a noun, and where a later part speaks of it: `and when did it close`.

A pronoun stands for it where it is the subject of its question, or where nothing else in it can be meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.questions.references import described_name, subject
from quern.jobs.reasoning.questions.words import AUXILIARIES, DETERMINERS, PREPOSITIONS, bare, base, is_past, is_verb
from quern.schemas.words.patterns import lazy_pattern

_WHICH: Final = lazy_pattern(r"(?:(?P<lead>[a-z]+)\s+)?(?:which|what)\s+(?P<rest>.+)", re.IGNORECASE)
_MOST_WORDS: Final = 5  # Of the noun phrase.
_PERSONAL: Final = lazy_pattern(r"\b(?:he|she|him|his|her)\b", re.IGNORECASE)
_THING: Final = lazy_pattern(r"\b(?:it|they|them)\b", re.IGNORECASE)
_ITS: Final = lazy_pattern(r"\b(?:its|their)\b", re.IGNORECASE)
_SOMEBODY: Final = lazy_pattern(r"\b(?:that|this|the same) (?:person|man|woman|one)\b", re.IGNORECASE)
_THERE: Final = lazy_pattern(r"\bthere\b(?!\s+(?:is|are|was|were|been|be)\b)(?<!\bis there)(?<!\bare there)")
_PLACE: Final = lazy_pattern(
    r"(?:island|town|city|village|country|county|street|harbour|harbor|port|district|region|building|school|library|"
    r"museum|hospital|park|square|river|lake|mountain|hill|place|house|yard)s?"
)


# Nouns that name nobody but persons; of those in -er many name ships and tools.
_HUMAN: Final = lazy_pattern(
    r"(?:lad|boy|girl|child|pupil|person|poet|chief|mayor|captain|judge|king|queen|president|author|wife|husband|nurse|"
    r"farmer|teacher|engineer|officer|painter|writer|singer|driver|baker|minister|director|doctor|\w+(?:ist|ian|man|woman))"
)


@dataclass(frozen=True)
class Wanted:
    """What a question asks for.

    Attributes:
        noun: Its noun phrase: `lost trawler`.
        is_subject: Whether it does what the question asks about, as in `Which lost trawler is behind the festival`.
        described: The words that describe it: `the lost trawler that is behind the festival`.
    """

    noun: str
    is_subject: bool
    described: str

    @property
    def head(self) -> str:
        """The last word of the noun phrase."""
        return self.noun.split()[-1].lower()


def wanted_by(question: str) -> Wanted | None:
    """What a question with `which` or `what` and a noun asks for; None for any other."""
    m = _WHICH.fullmatch(question.strip(" ?"))
    if m is None or (m["lead"] and bare(m["lead"]) not in PREPOSITIONS):
        return None
    words = m["rest"].split()
    # A participle that comes first belongs to the noun: `which lost trawler`.
    end = next((i for i, w in enumerate(words) if _ends_noun(w) and (i or not is_past(bare(w)))), len(words))
    if not 0 < end <= _MOST_WORDS or end == len(words):
        return None
    noun, rest = " ".join(words[:end]), words[end:]
    after = rest[1] if len(rest) > 1 else ""
    plain = bare(rest[0]) not in AUXILIARIES
    acts = not m["lead"] and (plain or bare(after) in PREPOSITIONS or is_past(bare(after)))
    that = "" if bare(rest[0]) in PREPOSITIONS else "that "
    described = f"the {noun} {that}{' '.join(rest)}" if acts else f"the {noun}"
    return Wanted(noun, acts, described)


def _ends_noun(word: str) -> bool:
    plain = bare(word)
    if word[:1].isupper() or plain in PREPOSITIONS:
        return plain in PREPOSITIONS
    return plain in AUXILIARIES or is_past(plain) or (plain.endswith("s") and is_verb(base(plain)))


def spoken_of(piece: str, earlier: str) -> tuple[str, str] | None:
    """A later part with `#` for what the part before it asks for, and the words for that; None if it is not meant."""
    wanted = wanted_by(earlier)
    if wanted is None:
        who = re.match(r"who\s+(?P<rest>(?!is\b|was\b|are\b|were\b)\w+\s.+?)\??$", earlier, re.IGNORECASE)
        somebody = _SOMEBODY.search(piece) if who else None
        return (_SOMEBODY.sub("#", piece, count=1), f"the person who {who['rest']}") if who and somebody else None
    own = subject(earlier)
    person = _HUMAN.fullmatch(wanted.head) is not None
    # `What school does the lad attend, and how did its pupils cope`: a lad has none.
    of_person = not wanted.is_subject and _HUMAN.fullmatch(_head(own)) is not None
    meant = (
        (re.compile(rf"\b(?:that|this|the same)\s+{re.escape(wanted.head)}\b", re.IGNORECASE), True),
        (_SOMEBODY, person),
        (_PERSONAL, person),
        (_THING, wanted.is_subject and not person),
        (_ITS, of_person or (wanted.is_subject and not person and not described_name(earlier))),
        (_THERE, _PLACE.fullmatch(wanted.head) is not None),
    )
    for pattern, fits in meant:
        m = pattern.search(piece) if fits else None
        if m is not None:
            return f"{piece[: m.start()]}{_formed(m[0], piece[m.end() :])}{piece[m.end() :]}", wanted.described
    return None


def _formed(word: str, behind: str) -> str:
    """`#` as the word stands: of a possessive one, or of a place."""
    plain = word.lower()
    owns = plain in ("its", "their", "his") or (plain == "her" and re.match(r"\s+[a-z]+", behind) is not None)
    return "in #" if plain == "there" else "#'s" if owns else "#"


def _head(phrase: str) -> str:
    """The noun of a phrase, before what is said of it."""
    words = re.split(r"\s+(?:of|in|for|at|on|from|that|which|who)\b", phrase)[0].split()
    return words[-1].lower() if words and bare(words[-1]) not in DETERMINERS else ""
