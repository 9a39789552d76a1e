"""Polite and wordy requests as the questions that they are: `I'd like to know the age of the bell`.

What is asked is what stands behind the words of asking: a question, a clause (`whether the bell rings`) or the name of
what is wanted (`the price of a ticket`). Openings of general English and Chinese.
"""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.questions.clause_forms import asked_of_clause, is_event, raised
from quern.jobs.reasoning.questions.words import AUXILIARIES, BE, PREPOSITIONS, bare, base, is_name, is_past
from quern.jobs.text.quantities import singular
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import HAN

_LONGEST: Final = 400  # Characters; a text so long is no request.
_WHO: Final = r"(?:you|anyone|anybody|someone|somebody)"
_KINDLY: Final = r"(?:(?:please|kindly|possibly|maybe|perhaps|just|also|quickly|happen\s+to|by\s+any\s+chance),?\s+)*"
_KNOW: Final = (
    r"(?:know|find\s+out|learn|hear|understand|ask|discover|be\s+told|figure\s+out|remember|recall|work\s+out|check)"
)
_TELL: Final = (
    r"(?:(?:tell|remind|inform|give)\s+(?:me|us)|let\s+(?:me|us)\s+know|say|explain|find\s+out|check|look\s+up|work\s+out|"
    r"help\s+(?:me|us)\s+(?:find(?:\s+out)?|work\s+out|understand))"
)
_I: Final = r"(?:i|we)(?:['’](?:d|m|re|ve)|\s+(?:would|am|are|was|were|have|had))?"
_OPENINGS: Final = (
    rf"(?:can|could|would|will|might)\s+{_WHO}\s+{_KINDLY}{_TELL}",
    r"(?:would|do)\s+you\s+mind\s+(?:telling|reminding)\s+(?:me|us)",
    rf"(?:can|could|may|might)\s+(?:i|we)\s+{_KINDLY}(?:ask|know|find\s+out)",
    rf"(?:is|would)\s+it\s+(?:be\s+)?possible\s+to\s+(?:{_KNOW}|tell\s+me)",
    r"(?:tell|remind|inform|give)\s+(?:me|us)|let\s+(?:me|us)\s+know",
    rf"(?:{_I}\s+)?(?:(?:really|quite|just|only|still|been)\s+)*"
    rf"(?:like|love|want|need|wish|hope|trying|hoping|looking|keen|eager|curious|interested)\s+to\s+{_KNOW}",
    rf"(?:do|does)\s+{_WHO}\s+(?:here\s+)?(?:(?:happen\s+to|by\s+any\s+chance|still)\s+)*"
    r"(?:know|remember|recall|have\s+an[y]?\s+(?:idea|clue))",
    rf"{_I}(?:\s+(?:can(?:['’]t|not)|couldn['’]t|don['’]t|do\s+not))?\s+(?:quite\s+|really\s+|just\s+)*"
    r"(?:remember|recall|forget|forgot|forgotten)",
    r"(?:what|all)\s+(?:i|we)(?:['’]\w+)?\s+(?:[a-z]+\s+){0,5}?(?:know|find\s+out|hear|understand|ask|wonder|remember)\s+is",
)
# Behind these a thing may be named after `about`, of which others tell more than one fact.
_WONDERS: Final = (
    rf"(?:{_I}\s+|(?:was|am|been)\s+)?(?:(?:been|just|also|always|only|idly)\s+)*(?:wonder(?:ed|ing)?|curious)",
    rf"(?:have\s+you\s+|has\s+anyone\s+|got\s+)?any\s+(?:idea|clue|chance\s+{_WHO}\s+(?:knows?|can\s+tell\s+me))"
    r"(?:\s+at\s+all)?",
)
# These say nothing of what is wanted but where a question stands behind them: `I don't know who built it`.
_DOUBTS: Final = (
    rf"(?:{_I}\s+)?not\s+(?:quite\s+|at\s+all\s+|entirely\s+)?(?:sure|certain)",
    rf"{_I}\s+(?:can(?:['’]t|not)|couldn['’]t|don['’]t|do\s+not)\s+(?:quite\s+|really\s+|actually\s+)*"
    r"(?:know|find\s+out|work\s+out|tell|see|say)",
    r"(?:i\s+have\s+)?no\s+idea",
)
_BETWEEN: Final = r",?\s+(?:(?:please|by\s+any\s+chance|perhaps|again|roughly|exactly|for\s+me|if\s+possible),?\s+)*"
_ABOUT: Final = r"(?:(?:about|of|on|as\s+to|regarding|concerning)\s+)?"
_LEAD: Final = rf"(?:(?:{'|'.join(sorted(PREPOSITIONS))})\s+)?"
_WH: Final = rf"{_LEAD}(?:who|whom|whose|what|which|when|where|why|how)\b"
_SUBJECT: Final = r"(?:the|an?|this|these|its|his|her|their|it|they|he|she|we|I|you|one)\b|[A-Z]"
_CLAUSE: Final = r"(?:whether|if)\s"
# What is wanted by name: a definite thing, or what somebody or something has.
_THING: Final = r"(?:the|its|his|her|their)\s+[a-z]|(?:[\w’'-]+\s+){0,3}?[\w-]+(?:['’]s|s['’])\s"
_OPENING: Final = lazy_pattern(
    rf"(?:{_KINDLY})(?:(?:{'|'.join(_OPENINGS)}){_BETWEEN}(?:(?:of\s+)?(?={_THING})|{_ABOUT}(?={_WH}|{_CLAUSE}))"
    rf"|(?:{'|'.join(_WONDERS)}){_BETWEEN}{_ABOUT}(?={_WH}|{_CLAUSE}|{_THING})"
    rf"|(?:{'|'.join(_DOUBTS)}){_BETWEEN}{_ABOUT}(?={_WH}|{_CLAUSE}))",
    re.IGNORECASE,
)
# An order to tell of something asks for more than its name.
_ORDERS: Final = lazy_pattern(
    rf"(?:{_KINDLY})(?:can|could|would|will)\s+you\s+{_KINDLY}(?=(?:list|name|describe|explain|summari[sz]e|compare|trace)\s)",
    re.IGNORECASE,
)
# What is said behind a question to whom it is put.
_BEHIND: Final = lazy_pattern(
    rf"\s*[,;–—-]\s+(?:(?:and\s+)?(?:do|does)\s+{_WHO}\s+(?:happen\s+to\s+)?know|any\s+(?:idea|clue)s?|(?:can|could)\s+{_WHO}\s+"
    r"(?:tell|remind|help)\s+(?:me|us)|please|thanks?(?:\s+you)?(?:\s+in\s+advance|\s+a\s+lot|\s+very\s+much)?|cheers|"
    r"if\s+(?:you|anyone)\s+(?:please|know|knows|remember|don['’]t\s+mind)|i\s+wonder|(?:just\s+)?(?:wondering|curious)|"
    r"by\s+any\s+chance|remind\s+me|tell\s+me|out\s+of\s+(?:interest|curiosity)|do\s+you\s+remember|"
    r"i\s+(?:forget|can['’]t\s+remember|don['’]t\s+remember|(?:ha)?ve\s+forgotten))\s*(?P<end>[?.!]*)$",
    re.IGNORECASE,
)
_ASKS: Final = lazy_pattern(rf"(?:.*[,;:]\s+)?(?:{_WH}|(?:{'|'.join(sorted(AUXILIARIES))})\s)", re.IGNORECASE)
# `what the price of a ticket is`: what is asked stands before its verb.
_TURNED: Final = lazy_pattern(
    r"(?P<wh>what|who|where)\s+(?P<what>(?:the|its|his|her|their|[\w’'-]+(?:\s+[\w-]+)?['’]s)\s+.+?)\s+"
    r"(?P<be>is|was|are|were)(?:\s+(?P<rest>called|named|again))?",
    re.IGNORECASE,
)
# `how tall the tower is`, `who I should ask`: a statement behind the word of asking.
_TOLD: Final = lazy_pattern(
    rf"(?P<wh>{_LEAD}(?:who|whom|what|when|where|why|how|which|whose)(?:\s+(?!{_SUBJECT})[a-z-]+){{0,3}}?)\s+"
    rf"(?P<clause>(?:{_SUBJECT}).*)"
)
_SOMEBODY: Final = lazy_pattern(
    r"the\s+(?:person|man|woman|one|people|persons|individuals?)\s+(?P<who>who\s+.+)", re.IGNORECASE
)
# A statement that leaves open what is asked behind it: `I sail free if I buy something, what was it again`.
_RECALLED: Final = lazy_pattern(
    r"(?P<told>[^?]+?)\s*[,;–—-]\s+(?:and\s+)?(?P<wh>what|who|where)\s+(?:is|was|were|are)\s+(?:it|that|this|they|he|she)"
    r"(?:\s+again)?\s*[?.!]*",
    re.IGNORECASE,
)
_OPEN: Final = {
    "what": r"\b(?:something|one\s+thing|a\s+certain\s+thing)\b",
    "who": r"\b(?:someone|somebody)\b",
    "where": r"\bsomewhere\b",
}
_ASKS_FIRST: Final = lazy_pattern(rf"(?:{_WH}|(?:{'|'.join(sorted(AUXILIARIES))})\s)", re.IGNORECASE)
_HAN: Final = lazy_pattern(f"[{HAN}]")
_CHINESE: Final = lazy_pattern(
    r"(?:请问|麻烦(?:您|你)?|(?:我|我们)?(?:很|就)?想(?:请)?(?:问|知道|了解)(?:一下)?|"
    r"(?:您|你|谁|有人|有谁)?(?:能不能|能否|可不可以|可否|能|可以)?(?:请)?(?:帮我)?(?:告诉我|查一下|查查|说一下|说说)|"
    r"(?:您|你|有人|有谁|谁)(?:知不知道|知道))(?:一下)?[，,：:]?"
)
_CHINESE_WH: Final = lazy_pattern(r"谁|什么|哪|几|多少|多[久高长远深宽厚大重快]|为何|怎么|怎样|如何|何时|何地")
_PARTICLE: Final = lazy_pattern(r"[吗嘛么呢][？?。]?$")


def request_asked(text: str) -> str:
    """The question that a request asks; a text that is none, or asks directly, as it is."""
    if len(text) > _LONGEST:
        return text
    if _HAN.search(text):
        return _of_chinese(text)
    plain = " ".join(text.split())
    rest = plain
    if (behind := _BEHIND.search(rest)) is not None and (_ASKS.match(rest[: behind.start()]) or opens_request(rest, 0)):
        rest = f"{rest[: behind.start()]}?"
    while (opening := _OPENING.match(rest)) is not None and opening.end():
        rest = rest[opening.end() :]
    if (recalled := _RECALLED.fullmatch(rest)) is not None and not _ASKS_FIRST.match(rest):
        wh = recalled["wh"].lower()
        told, count = re.subn(_OPEN[wh], wh, recalled["told"], count=1, flags=re.IGNORECASE)
        return f"{told}?" if count else text
    if (order := _ORDERS.match(rest)) is not None:
        return f"{rest[order.end() :].rstrip('?. ')}."
    return text if rest == plain else _direct(rest) or text


def opens_request(text: str, at: int) -> bool:
    """Whether a request begins at a place of a text."""
    return (found := _OPENING.match(text, at)) is not None and found.end() > at


def _direct(rest: str) -> str:
    """A clause or a name of what is wanted as a question."""
    clause = rest.rstrip("?.! ")
    if re.match(_CLAUSE, clause, re.IGNORECASE):
        return _whether(clause.split(" ", 1)[1])
    if (turned := _TURNED.fullmatch(clause)) is not None:
        called = turned["rest"] if turned["rest"] and turned["rest"] != "again" else ""
        return raised(f"{turned['wh']} {turned['be']} {turned['what']} {called}")
    if (told := _TOLD.match(f"{clause[:1].lower()}{clause[1:]}")) is not None and _is_told(told):
        return asked_of_clause(told["clause"], told["wh"])
    if re.match(_WH, clause, re.IGNORECASE):
        return raised(clause)
    if (somebody := _SOMEBODY.fullmatch(clause)) is not None:
        return raised(somebody["who"])
    return raised(f"what {'are' if _is_several(clause) else 'is'} {clause}")


def _is_told(told: re.Match[str]) -> bool:
    """Whether a statement stands behind a word of asking, and the verb of no other clause or question before that."""
    asking, clause = told["wh"].split()[1:], told["clause"]
    if any(bare(w) in AUXILIARIES or is_past(bare(w)) for w in asking) or not is_event(clause):
        return False
    return re.search(r"\b(?:that|who|which|where|when)\b", clause) is None


def _is_several(thing: str) -> bool:
    """Whether the noun of a phrase is a plural."""
    words = thing.split()
    end = next((n for n, w in enumerate(words) if n and bare(w) in PREPOSITIONS | {"that", "who", "which"}), len(words))
    head = bare(words[end - 1])
    return singular(head) != head and not head.endswith(("ss", "'s", "’s"))


def _whether(clause: str) -> str:
    """A clause as a question for yes or no: `the pool is open` is `Is the pool open?`; empty without a verb known."""
    words = clause.split()
    for n, raw in enumerate(words):
        word = bare(raw)
        if n and word in AUXILIARIES and raw[-1:] not in ",;:":
            return raised(f"{word} {' '.join(words[:n])} {' '.join(words[n + 1 :])}")
        if n and is_past(word) and not is_name(raw) and bare(words[n - 1]) not in PREPOSITIONS | {"the", "a", "an"}:
            after = bare(words[n + 1]) if n + 1 < len(words) else ""
            if after not in BE and after != "by":
                return raised(f"did {' '.join(words[:n])} {base(word)} {' '.join(words[n + 1 :])}")
    return ""


def _of_chinese(text: str) -> str:
    opening = _CHINESE.match(text)
    if opening is None:
        return text
    while (more := _CHINESE.match(text, opening.end())) is not None:
        opening = more
    rest = text[opening.end() :].strip()
    if not _CHINESE_WH.search(rest):
        return text if len(rest) < len(text) // 2 else rest
    return _PARTICLE.sub("？", rest)
