"""Other wordings of a comparison, as the readers of pairs know it: `A vs B - which is longer` and the like."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.questions.choices import COMPARATIVE, FIRST
from quern.jobs.reasoning.questions.clause_forms import lowered
from quern.jobs.reasoning.questions.words import ADVERBS, PREPOSITIONS, bare, is_past
from quern.schemas.words.patterns import lazy_pattern

_LONGEST: Final = 400  # Characters; the expressions take the third power of a text's length.
_LONGEST_SIDE: Final = 8  # Words of a thing that stands before the verb.
_MORE: Final = rf"(?:{COMPARATIVE}|more|fewer|less|earlier|later|sooner)"
_BE: Final = r"is|was|are|were"
# A measure of what is asked, worked out from both values: `and by how much`.
_BY: Final = lazy_pattern(
    r"(?:,?\s+and|,|\s[-–—])\s+by\s+(?:how\s+much|how\s+many(?:\s+\w+)?|what(?:\s+\w+)?)\b(?=,|$)", re.IGNORECASE
)
_VERSUS: Final = lazy_pattern(
    r"(?P<a>[^,?:]{2,80}?)\s+(?:vs\.?|versus|v\.)\s+(?P<b>[^,?:;]{2,80}?)\s*(?:\s[-–—]|[:;,.?—])\s*"
    r"(?:so\s+)?(?P<head>(?:which|who|what|whose)\b.+)",
    re.IGNORECASE,
)
_LAST_VERSUS: Final = lazy_pattern(
    r"(?P<head>(?:which|who|what)\b[^,:]+)[,:]\s+(?P<a>.+?)\s+(?:vs\.?|versus)\s+(?P<b>.+)", re.IGNORECASE
)
# `longer than B, or shorter`; `or not` asks nothing more.
_OR_LESS: Final = lazy_pattern(
    rf"(?P<a>(?:{_BE}|did|does|do|has|have|had|will|can)\s+.+?)\s+(?P<comp>{_MORE})\s+(?P<rest>.*?\bthan\b.+?),?\s+or\s+"
    rf"(?P<other>{_MORE}|not|the\s+(?:same|opposite))",
    re.IGNORECASE,
)
_WHICH_OF: Final = lazy_pattern(
    rf"(?P<wh>which|who)(?:\s+one)?\s+of\s+(?P<a>[^,]+?)\s+(?:and|or)\s+(?P<b>[^,]+?)\s+(?P<rest>(?:{_BE}|has|had|have|did|"
    r"came|took|\w+ed)\s[^,]+)",
    re.IGNORECASE,
)
_OF_TWO: Final = lazy_pattern(
    rf"\b(?:the\s+)?(?P<comp>{_MORE})(?:\s+one)?\s+of\s+the\s+(?:two|pair)(?:\s+(?:[a-z]+\s+)?[a-z]+s)?\b"
)
# `before the fire or after it`; `or was it the other way round` asks nothing more.
_OR_AFTER_IT: Final = lazy_pattern(
    r"^(?P<before>.+?)\s+(?:before|after)\s+(?P<event>.+?),?\s+or\s+(?:only\s+)?(?:after|before)(?:\s+(?:it|that|them|this))?$",
    re.IGNORECASE,
)
_OTHER_WAY: Final = lazy_pattern(r",?\s+or\s+(?:was\s+it\s+|is\s+it\s+)?the\s+other\s+way\s+a?round$", re.IGNORECASE)
# `Is A or B the longer ship`, `Is A or B longer`.
_IS_OR: Final = lazy_pattern(
    rf"(?P<be>{_BE})\s+(?:it\s+)?(?P<a>[^,?]+?),?\s+or\s+(?P<b>[^,?]+?),?\s+(?:the\s+)?(?P<comp>{COMPARATIVE})"
    r"(?:\s+(?!in\b|at\b|of\b|on\b|for\b|to\b|from\b|than\b|by\b)[a-z]+)?(?P<rest>\s+(?:in|at|on|for|to|from|by)\s+.+)?",
    re.IGNORECASE,
)
# `first`, `later` and the like as adverbs: with a noun behind (`last year`, `first prize`) they set nothing in order.
_WHEN: Final = rf"(?P<when>{FIRST})(?P<rest>\s+(?:{'|'.join(sorted(PREPOSITIONS - {'of'}))})\s.+)?"
# `Was A or B built first`, `Did A or B close first`.
_FIRST_OR: Final = lazy_pattern(
    rf"(?P<aux>{_BE}|did|does|do)\s+(?P<a>[^,?]+?),?\s+or\s+(?P<b>[^,?]+?)\s+(?P<verb>[a-z]+)\s+{_WHEN}",
    re.IGNORECASE,
)
# `Has A or B more beds`.
_HAS_OR: Final = lazy_pattern(
    r"(?P<aux>has|have|had)\s+(?P<a>[^,?]+?),?\s+or\s+(?P<b>[^,?]+?)\s+(?:the\s+)?(?P<comp>more|fewer|less)"
    r"(?P<rest>\s+(?!or\b|often\b|[a-z]+ly\b)[a-z]+(?:\s+.+)?)",
    re.IGNORECASE,
)
# `Will A be longer than B`; when it will be is not how it is.
_WILL_BE: Final = lazy_pattern(
    rf"\b(?:will|would|shall)\s+(?P<a>[^,?]+?)\s+be\s+(?P<rest>(?:{COMPARATIVE}|more|fewer|less)\b.*)", re.IGNORECASE
)
# `Did A or B carry more cars`.
_DID_OR: Final = lazy_pattern(
    r"(?P<aux>did|does|do)\s+(?P<a>[^,?]+?),?\s+or\s+(?P<b>[^,?]+?)\s+(?P<verb>[a-z]+)\s+(?:the\s+)?"
    rf"(?P<comp>{_MORE}|most|least)(?P<rest>\s+.+)?",
    re.IGNORECASE,
)
_IN_WHICH: Final = lazy_pattern(
    r"(?P<in>in|on|at|during)\s+(?:which|what)(?:\s+(?!is\b|was\b|are\b|were\b|did\b|does\b|do\b)\w+){1,3}?\s+"
    rf"(?P<clause>(?:{_BE}|did|does|do|has|had|have)\s+.*\b{_MORE}\b.*?),\s+(?:(?:in|on|at|during)\s+)?(?P<a>[^,]+?),?"
    r"\s+or\s+(?:(?:in|on|at|during)\s+)?(?P<b>[^,]+)",
    re.IGNORECASE,
)


def canonical(text: str) -> str:
    """The wording of `text` that the readers of pairs know; the text itself, evenly spaced, where it is none."""
    text = " ".join(text.split())
    if len(text) > _LONGEST:
        return text
    text = _OTHER_WAY.sub("", _OR_AFTER_IT.sub(r"\g<before> before or after \g<event>", text))
    text = _WILL_BE.sub(r"is \g<a> \g<rest>", _OF_TWO.sub(r"\g<comp>", _BY.sub("", text)))
    if (m := _VERSUS.fullmatch(text)) or (m := _LAST_VERSUS.fullmatch(text)):
        return f"{m['head']}, {lowered(m['a'])} or {m['b']}"
    if (m := _OR_LESS.fullmatch(text)) and m["comp"].islower():
        other = m["other"].lower()
        comp = m["comp"] if other.startswith(("not", "the ")) else f"{m['comp']} or {other}"
        return f"{m['a']} {comp} {m['rest']}"
    if m := _WHICH_OF.fullmatch(text):
        return f"{m['wh']} {m['rest']}, {m['a']} or {m['b']}"
    if m := _IN_WHICH.fullmatch(text):
        return f"{m['clause']} {m['in'].lower()} {m['a']} or {m['in'].lower()} {m['b']}"
    if re.search(r"\s(?:than|before|after)\s", text):
        return text
    if (m := _IS_OR.fullmatch(text)) and m["comp"].islower():
        return f"which {m['be'].lower()} {m['comp']}{m['rest'] or ''}, {m['a']} or {m['b']}"
    if (m := _FIRST_OR.fullmatch(text)) and _is_order(m):
        return f"which {m['aux'].lower()} {m['verb']} {m['when']}{m['rest'] or ''}, {m['a']} or {m['b']}"
    if (m := _HAS_OR.fullmatch(text)) and len(m["a"].split()) <= _LONGEST_SIDE:
        return f"which {m['aux'].lower()} {m['comp']}{m['rest']}, {m['a']} or {m['b']}"
    if (m := _DID_OR.fullmatch(text)) and m["comp"].islower() and len(m["a"].split()) <= _LONGEST_SIDE:
        return f"which {m['aux'].lower()} {m['verb']} {m['comp']}{m['rest'] or ''}, {m['a']} or {m['b']}"
    return text


def _is_order(m: re.Match[str]) -> bool:
    """Whether a match has a verb, and its sides are things alone: `A or B ever closed` asks whether."""
    verb = m["verb"].lower()
    is_form = is_past(verb) if m["aux"].lower() in _BE.split("|") else verb not in PREPOSITIONS
    return is_form and len(m["a"].split()) <= _LONGEST_SIDE and bare(m["b"].split()[-1]) not in ADVERBS
