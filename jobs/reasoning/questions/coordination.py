"""Questions that ask for several things one after another, as one question for each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from quern.jobs.reasoning.questions.clause_forms import raised
from quern.jobs.reasoning.questions.references import (
    asked_for,
    described_name,
    first_pronoun,
    named,
    object_pronoun,
    proper_names,
    subject,
    wanted,
)
from quern.jobs.reasoning.questions.wanted import spoken_of
from quern.jobs.reasoning.questions.words import AUXILIARIES, PREPOSITIONS, base, is_past
from quern.schemas.words.patterns import lazy_pattern

_LEAD: Final = rf"(?:(?:{'|'.join(sorted(PREPOSITIONS))})\s+)?"
_AUX: Final = rf"(?:{'|'.join(sorted(AUXILIARIES))})"
# A main question: a question word with its noun, then an auxiliary and its subject; or a question word that is the
# subject, then its verb. `and what the council said` is neither, being part of another sentence.
_ASKS: Final = (
    rf"(?:{_LEAD}(?:(?:what|which|whose|how)(?:\s+(?!{_AUX}\b)[\w'’-]+){{0,5}}?|who|whom|when|where|why|how)\s+{_AUX}\s+\S"
    rf"|(?:who|what|which\s+\w+|whose\s+\w+|how\s+(?:many|much)(?:\s+[\w'’-]+){{0,6}}?)\s+(?:first\s+|then\s+"
    rf"|later\s+)?"
    r"(?:\w+ed|\w{3,}s|took|came|went|got|made|won|led|left|lay|ran|wrote|paid|sold|built|held|became|gave|found)\b)"
)
_CUT: Final = lazy_pattern(
    rf"(?:\s*[,;]\s*|\s+)(?:and|but|or)\s+(?:then\s+|also\s+|if\s+so,?\s+)?(?={_ASKS})|\s*;\s*(?={_ASKS})"
    rf"|[?？]\s+(?=\S)|\s*,\s+(?=(?:what|who|when|where|why|how|which)\b[^,?]*,\s+(?:and|or)\s+(?:what|who|when"
    rf"|where|why|how|which|{_LEAD})|(?:what|who|when|where|why|how|which)\b[^,?]*\s(?:and|or)\s+{_ASKS})",
    re.IGNORECASE,
)
_START: Final = lazy_pattern(rf"\s*(?:{_LEAD}(?:what|which|who|whom|whose|when|where|why|how)|{_AUX}|[A-Z][a-z]+)\b")
_TWO_WORDS: Final = lazy_pattern(
    r"(?P<a>when|where|why|how|who)\s+and\s+(?P<b>when|where|why|how|by\s+whom|at\s+what\s+\w+"
    r"|in\s+which\s+\w+)\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_HEADED: Final = lazy_pattern(rf"(?P<head>[^:?]{{8,}}):\s+(?P<list>(?={_ASKS}).+)", re.IGNORECASE | re.DOTALL)
_BECAME: Final = lazy_pattern(
    r"^(?:trace|describe|explain|tell|show|list|compare|say|summari[sz]e)\s+(?:me\s+)?(?:what\s+became\s+of|how"
    r"|what\s+happened\s+to)?\s*",
    re.IGNORECASE,
)
# What asks for a measure of what was asked before, and is worked out from its answers: `and by how much`.
_MEASURE: Final = lazy_pattern(
    r"by\s+(?:how\s+much|how\s+many|what)\b|how\s+(?:many|much)\s+\w+\s+(?:lay|passed|elapsed|were|went|are"
    r"|is)\b.*\b(?:between|apart|later|earlier)"
    r"|how\s+(?:long|far|many\s+\w+)\s+(?:before|after|apart|between|later|earlier)\b",
    re.IGNORECASE,
)
_STEP: Final = (
    r"(?:when|after|before|at|in|on|during|by|under|with|for|since|until|from)\s+(?:the|its|his|her"
    r"|their|an?|it|they|he|she|\d|[A-Z])"
)
_SERIES: Final = lazy_pattern(
    rf"(?P<stem>(?:{_LEAD}(?:what|which|who|when|where|why|how)|{_AUX})\b.+?)\s+(?P<steps>{_STEP}[^,]+"
    rf"(?:,\s+{_STEP}[^,]+)+,?\s+and\s+{_STEP}[^,]+)",
    re.IGNORECASE,
)
_LEAST_WORDS: Final = 3
_SCOPE: Final = lazy_pattern(r"\s((?:after|before|during|since|in|at|for|on)\s+(?:the\s+)?[^,?]*?[A-Z][\w’'-]*[^,?]*)$")


@dataclass(frozen=True)
class Part:
    """One of several questions in one.

    Attributes:
        text: The question, in full names.
        measures: Whether it asks for a measure between answers of the others, such as `and by how much`.
        needs: The place of the part that asks for what this one speaks of, from 0; None where it stands alone. Its
            text has `#` in the place of that part's answer.
        stands_for: The words that `#` stands for.
    """

    text: str
    measures: bool = False
    needs: int | None = None
    stands_for: str = ""


def parts(question: str) -> list[Part]:
    """The questions that `question` asks one after another; one where it asks one thing."""
    text = " ".join(question.split()).rstrip("?.!？ ")
    both = _TWO_WORDS.fullmatch(text)
    if both:
        return [Part(raised(f"{both[word]} {both['rest']}")) for word in ("a", "b")]
    headed = _HEADED.fullmatch(text)
    pieces = _pieces(headed["list"] if headed else text)
    if len(pieces) == 1:
        return [Part(raised(p)) for p in _series(text)] or [Part(raised(text))]
    if headed:
        about = _BECAME.sub("", headed["head"]).strip()
        return [Part(raised(_about(p, about))) for p in pieces]
    return _named(pieces)


def _pieces(text: str) -> list[str]:
    """The text cut where a question ends and another begins."""
    cuts = [m for m in _CUT.finditer(text) if len(text[: m.start()].split()) >= _LEAST_WORDS]
    starts, ends = [0, *(m.end() for m in cuts)], [*(m.start() for m in cuts), len(text)]
    pieces = [text[a:b].strip(" ,;?") for a, b in zip(starts, ends, strict=True)]
    whole: list[str] = []
    for piece in pieces:
        if whole and (len(piece.split()) < _LEAST_WORDS and not _MEASURE.match(piece)):
            whole[-1] = f"{whole[-1]} and {piece}"
        elif piece:
            whole.append(piece)
    return whole if whole and _START.match(whole[0]) else [text]


def _series(text: str) -> list[str]:
    """`How did it stand when A, after B, and in C?` as one question for each step; none where there are no steps."""
    m = _SERIES.fullmatch(text)
    if m is None:
        return []
    steps = re.split(rf",\s+(?:and\s+)?(?={_STEP})|\s+and\s+(?={_STEP})", m["steps"])
    return [f"{m['stem']} {named(step, m['stem'])}" for step in steps] if 3 <= len(steps) <= 6 else []


def _about(piece: str, about: str) -> str:
    """A part of a list with what the list is about, which its head says."""
    if not about or about.lower() in piece.lower():
        return piece
    return f"{piece}, on {about}" if " about " in piece else f"{piece} about {about}"


def _named(pieces: list[str]) -> list[Part]:
    """Parts with their pronouns replaced and, where they name nothing, with the scope of the first."""
    found: list[Part] = []
    for n, piece in enumerate(pieces):
        if n and _MEASURE.match(piece):
            found.append(Part(raised(piece), measures=True))
            continue
        if n == 0:
            found.append(Part(raised(piece)))
            continue
        earlier = found[0].text if len(found) == 1 else next((p.text for p in reversed(found) if not p.measures), "")
        found.append(_later(piece, earlier, found))
    return found


_WHEN_WAS_THAT: Final = lazy_pattern(
    r"(?P<word>when|where|why)\s+(?:was|is|did|does)\s+(?:that|this|it)(?:\s+(?:happen|occur"
    r"|take\s+place))?",
    re.IGNORECASE,
)


def _same_event(word: str, earlier: str) -> Part | None:
    """`When was that` as a question for the time of what the part before it speaks of."""
    text = earlier.rstrip("?")
    who = re.match(r"who\s+(?P<verb>\w+)\s+(?P<rest>.+)", text, re.IGNORECASE)
    if who and is_past(who["verb"].lower()):
        asked = f"{word} did # {base(who['verb'])} {who['rest']}"
        return Part(raised(asked), needs=0, stands_for=f"the person who {who['verb']} {who['rest']}")
    aux = re.search(rf"\b{_AUX}\s+(?P<rest>.+)", text)
    return Part(raised(f"{word} {text[aux.start() :]}")) if aux and len(aux["rest"].split()) >= _LEAST_WORDS else None


def _later(piece: str, earlier: str, found: list[Part]) -> Part:
    when = _WHEN_WAS_THAT.fullmatch(piece)
    if when is not None and (event := _same_event(when["word"], earlier)) is not None:
        place = next(i for i, p in enumerate(found) if p.text == earlier)
        return event if event.needs is None else replace(event, needs=place)
    if (meant := spoken_of(piece, earlier)) is not None:
        place = next(i for i, p in enumerate(found) if p.text == earlier)
        return Part(raised(meant[0]), needs=place, stands_for=meant[1])
    pronoun = first_pronoun(piece)
    described = asked_for(earlier, pronoun) if pronoun else ""
    if not described and pronoun and object_pronoun(piece) == pronoun:
        described = wanted(earlier)
    if described:
        place = next(i for i, p in enumerate(found) if p.text == earlier)
        return Part(raised(named(piece, earlier, "#")), needs=place, stands_for=described)
    text = named(piece, earlier)
    if text == piece and not proper_names(f"x {piece}"):
        scope = _SCOPE.search(earlier.rstrip("?"))
        names = "" if " or " in earlier else subject(earlier) or described_name(earlier)
        about = scope[1] if scope else f"({names})"
        text = f"{piece} {about}" if about != "()" and about.lower() not in piece.lower() else piece
    return Part(raised(text))
