"""English questions about what someone is quoted to have said: by whom, and about what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from quern.jobs.queries.rules.subjects import subjects_of
from quern.jobs.reasoning.clauses.words import PRONOUNS

_SAYS: Final = (
    r"(?P<verb>said|says|cried|asked|answered|replied|exclaimed|added|explained|whispered|shouted|wrote|writes|warned"
    r"|thought|remarked|recalled)"
)
_WHO: Final = (
    r"(?P<who>(?:the|an old|The|An old)(?: (?!who\b|which\b|that\b|and\b)[A-Za-z-]+){1,3}?"
    r"|(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Rep|Sen|Gov|Gen|Capt|Lt|Sgt|Col|Rev)\. )?"
    r"[A-Z][\w’'-]+(?: (?:of the |of |the )?[A-Z][\w’'-]+){0,3})"
)
_ENDS: Final = r"(?=[,.;:!?]| (?:to|as|in|with|when|at|on|of|about|again|once|softly|aloud|while|and|after|before)\b|$)"
_SPOKEN: Final = (
    re.compile(rf"[,.?!–—-][\"”’'] ?{_SAYS} {_WHO}{_ENDS}"),
    re.compile(rf"[,.?!–—-][\"”’'] ?{_WHO} (?:also |then )?{_SAYS}{_ENDS}"),
    re.compile(rf"^(?:(?:And|But|Then|So) )?{_WHO} (?:also |then )?{_SAYS}(?: to [^,:\"“]{{2,30}})?[,:] ?[\"“‘']"),
)
_QUOTED: Final = re.compile(r"[\"“‘](?P<said>[^\"“”]{3,})[\"”’]|(?:^| )'(?P<plain>.{3,}?)[,.?!]'(?= |$)")
_ASKED: Final = frozenset(("asked",))
_PRESENT: Final = frozenset(("says", "writes"))


def spoken(sentence: str, topic: str) -> Iterator[str]:
    """Questions about the words that a sentence quotes of someone who is named, the most telling first.

    Args:
        sentence: The sentence.
        topic: What the document is about, or is called; may be empty.
    """
    found = next(filter(None, (pattern.search(sentence) for pattern in _SPOKEN)), None)
    if found is None:
        return
    who = found["who"].rstrip("’'")
    who = f"{who[:1].lower()}{who[1:]}" if who.split()[0].lower() in ("the", "an") else who
    if who.split()[0].lower() in PRONOUNS or who.split()[-1].lower() in PRONOUNS:
        return
    aux = "does" if found["verb"] in _PRESENT else "did"
    verb = "ask" if found["verb"] in _ASKED else "think" if found["verb"] == "thought" else "say"
    said = " ".join(m["said"] or m["plain"] for m in _QUOTED.finditer(sentence))
    for about in subjects_of(said, f"{topic} {who}"):
        yield f"What {aux} {who} {verb} about {about}?"
    if topic and topic.lower() not in who.lower():
        yield f"What {aux} {who} {verb} in “{topic}”?"
    elif " " in who and not who.startswith("the "):
        yield f"What {aux} {who} {verb}?"
