"""What a question asks for, by its question word and what stands behind that."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from quern.jobs.reasoning.answering.idioms import asks_cause, asks_clock, asks_his_name, asks_price
from quern.jobs.reasoning.answering.kinds.chinese import chinese_kind
from quern.jobs.reasoning.answering.kinds.kind import NAMED, NAMESAKE, OFTEN, PHONE, Kind
from quern.jobs.reasoning.answering.kinds.noun_phrases import WORD, is_plural, main_verb, noun_phrase
from quern.jobs.reasoning.answering.kinds.nouns import TIMES, grain_of, of_noun, of_the, of_them
from quern.jobs.reasoning.answering.kinds.units import (
    DURATIONS,
    LENGTHS,
    MONEY,
    OF_ADJECTIVE,
    OF_MEASURE,
    SHARES,
    UNITS,
    WEIGHTS,
)
from quern.jobs.reasoning.answering.kinds.verdict_asked import AUXILIARY, PREPOSITION, asks_verdict_behind
from quern.jobs.text.quantities import singular
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person
from quern.schemas.words.scripts import HAN

_NAMESAKE: Final = re.compile(
    r"\bafter\s+(?:whom|who|what|which)\b.*\b(?:named|called)\b|\b(?:named|called)\s+after\s*\?", re.IGNORECASE
)
_RINGS: Final = lazy_pattern(
    r"\b(?:what|which|give|tell)\b[^?]*\b(?:(?:tele)?phone|contact|fax|hotline)\s+number\b|"
    r"\b(?:what|which)(?:\s+is\s+the|['’]s\s+the)?\s+number\b[^?]*\b(?:ring|call|phone|dial)\b",
    re.IGNORECASE,
)
_OPENS: Final = lazy_pattern(
    rf"^(?:(?:and|so|but|then|please|well)?,?\s*|[^,?]{{3,80}},\s+)(?:{AUXILIARY})\b(?!\s*,)", re.IGNORECASE
)
# What is told before the question itself: `I travel in May. Is it free then?`
_SCENE: Final = lazy_pattern(r".*[^\W\d_]{2}[.!?]\s+(?=[A-Z](?:[^.!?]|\.(?=\d))*\?$)", re.DOTALL)
_WH: Final = lazy_pattern(
    rf"(?:^|[,;:?.!]\s*(?:and\s+)?|\band\s+|\b(?:{PREPOSITION})\s+|^(?:can|could) you (?:tell|say) (?:me )?)"
    rf"(?P<wh>how|what|which|when|where|who|whom|whose|why)\b(?=(?P<rest>[^?]*))",
    re.IGNORECASE,
)
_ANY_WH: Final = lazy_pattern(r"\b(?P<wh>how|what|which|when|where|who|whom|whose|why)\b(?P<rest>[^?]*)", re.IGNORECASE)
_LISTING: Final = lazy_pattern(r"^(?:please\s+)?(?:list|name|enumerate)\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_TELLING: Final = lazy_pattern(r"^(?:please\s+)?(?:explain|describe|tell|trace|summari[sz]e|outline)\b", re.IGNORECASE)
_VERB: Final = lazy_pattern(rf"(?:{AUXILIARY})\b", re.IGNORECASE)
_HAPPENED: Final = lazy_pattern(
    r"\b(?:happen(?:ed|s)?|occurred|became of|come of|took place|going on)\b", re.IGNORECASE
)
_DEFINING: Final = lazy_pattern(
    r"^\s*(?:is|are)\s+(?:an?\s+)?[\w'’-]+(?:\s+[\w'’-]+){0,2}$|.*\bstand for$", re.IGNORECASE
)
_COSTS: Final = lazy_pattern(
    r"\b(?:cost|costs|pay|paid|pays|charge[ds]?|spend|spent|earn|earns|price[ds]?|fined?|fee|sell|sold|worth|owe[ds]?|"
    r"money|gets?\s+for|got\s+for|given\s+for|receive[ds]?|donate[ds]?|invest(?:ed)?|raise[ds]?|bid|offer(?:ed)?)\b",
    re.IGNORECASE,
)
# What takes time and not room: `how long was the library shut because of the flood`.
_LASTS: Final = lazy_pattern(
    r"\b(?:because|after|before|during|since|until|till|while|when|open(?:ed)?|closed?|shut|away|gone|suspended|delayed|"
    r"last|take|stay|hold|wait|keep|remain|live|survive|serve|valid|banned|allowed|guaranteed)\b",
    re.IGNORECASE,
)
_FOR_HOW_LONG: Final = lazy_pattern(r"\bfor\s+how\s+long\b", re.IGNORECASE)
# `... only if I buy what?`: what is asked for stands behind its verb.
_IN_PLACE: Final = lazy_pattern(rf"\b(?P<verb>[a-z]+)\s+what(?=\s+(?:{PREPOSITION})\s[^?,]*\?$|\s*\?$)", re.IGNORECASE)
_ITS_NAME: Final = lazy_pattern(r"(?:is|was|are|were)\s+(?:it|that|they|(?P<who>he|she))\s+(?:called|named)\b")
_SHORTENED: Final = lazy_pattern(r"\b(what|who|where|when|why|how)(?:['’]s|s)\b", re.IGNORECASE)
_SORT: Final = lazy_pattern(
    r"(?:(?:exact\s+)?(?:sort|kind|type|breed|species|variety|make|brand|style)s?)\s+of\b", re.IGNORECASE
)
_OF_THEM: Final = lazy_pattern(
    r"of\s+(?:all\s+)?(?:the|these|those|its|his|her|their|our|(?:the\s+)?[\w-]+['’]s?)\s+(?P<rest>.*)", re.IGNORECASE
)
# A phrase without a verb asks for what it names: `price of a queen bee?`
_PHRASE: Final = lazy_pattern(
    r"(?:the\s+|an?\s+)?(?P<rest>[\w'’ ,-]{3,60}?\s+(?:of|for|in|on|at|to|from)\s.*)", re.IGNORECASE
)
_OWNED: Final = r"(?:the|(?:[\w’'-]+\s+){0,3}?[\w-]+(?:['’]s|s['’]))"
_PERCENT: Final = lazy_pattern(r"\bas a (?:percentage|share|proportion)\b|\bin per ?cent\b", re.IGNORECASE)
_IN_UNIT: Final = lazy_pattern(
    r"(?:,\s+|\s(?=in\s+[a-z]+(?:\s+[a-z]+)?\s*\?$))in\s+(?P<unit>(?:square\s+|nautical\s+)?[a-z]+)\b(?=\s*[,?]|\s*$|\s+of\b)",
    re.IGNORECASE,
)
_WHO_IS: Final = lazy_pattern(
    r"(?:is|was|are|were)\s+(?P<name>[A-Z][\w'’-]*\.?(?:\s+[A-Z][\w'’-]*\.?)*)\s*(?:$|[,.]|and\b)"
)
_INDEFINITE: Final = lazy_pattern(r"\b(?:an?|the|one)\s+(?:[a-z-]+\s+){0,2}?(?P<noun>[a-z]+)\b", re.IGNORECASE)
_HOLDS_HAN: Final = lazy_pattern(f"[{HAN}]")


@lru_cache(maxsize=4096)
def kind_of(question: str) -> Kind:
    """What `question` asks for; of several things, the first."""
    plain = _SHORTENED.sub(r"\1 is", " ".join(question.split()))
    if _HOLDS_HAN.search(plain) and (kind := chinese_kind(plain)) is not None:
        return kind
    if _NAMESAKE.search(plain):
        return Kind("which", verb=NAMESAKE)  # A person, or as often a place or a thing.
    if _RINGS.search(plain):
        return Kind("which", verb=PHONE)
    if (match := _LISTING.match(plain)) is not None:
        return Kind("list", content_words(noun_phrase(match["rest"])))
    match = _asking(plain)
    if match is None and (scene := _SCENE.match(plain)) is not None:
        plain = plain[scene.end() :]
    if (opens := _OPENS.match(plain)) is not None and (match is None or match.start() >= opens.end() - 3):
        return Kind("yes_no")
    if asks_verdict_behind(plain, match):
        return Kind("yes_no")
    if match is None and (placed := _IN_PLACE.search(plain)) is not None:
        return Kind("other", verb=min(content_words(placed["verb"]), default=""))
    match = match or _ANY_WH.search(plain)
    kind = _phrased(plain) if match is None else _wh(match["wh"].lower(), match["rest"].strip(), plain)
    return _in_unit(kind, plain)


def _in_unit(kind: Kind, question: str) -> Kind:
    """The kind with the unit that a question wants its number in: `the length, in minutes, of`."""
    found = _IN_UNIT.search(question) if kind.name == "how_much" else None
    if found is None or (unit := singular(found["unit"].lower()).replace("feet", "foot")) not in UNITS:
        return kind
    return replace(kind, name="how_long" if unit in DURATIONS else kind.name, noun=frozenset(), units=frozenset({unit}))


def _asking(question: str) -> re.Match[str] | None:
    """The question word that asks, behind a clause of time or place that leads to it: `when it rains, who ...`."""
    found = list(_WH.finditer(question))
    for match, later in pairwise(found):
        if match["wh"].lower() not in ("when", "where") or _VERB.match(match["rest"].strip()):
            return match
        if "," not in question[match.start() : later.start("wh")]:
            return match
    return found[-1] if found else None


def _phrased(question: str) -> Kind:
    """What a question without a question word asks for: what its first noun names."""
    if _TELLING.match(question):
        return Kind("what_happened")
    if (match := _PHRASE.match(question)) is None or not question.rstrip().endswith("?"):
        return Kind("how_much", units=MONEY) if asks_price(question) else Kind("other")
    return of_the(match["rest"].lower(), match["rest"], question)


def _wh(wh: str, rest: str, question: str) -> Kind:
    if wh == "who" and (match := re.match(r"(?:are|were)\s+(?:the|\w+['’]s?|its|their)\s+(.*)", rest)) is not None:
        noun = noun_phrase(match[1])
        if noun and is_plural(noun.split()[-1]):
            return Kind("list", content_words(noun))
    if wh == "who" and re.match(r"(?:all|else)\b", rest):
        return Kind("list", content_words(noun_phrase(rest.split(" ", 1)[-1])))
    if wh == "who" and (match := _WHO_IS.match(rest)) is not None:
        return Kind("definition", content_words(match["name"]))  # Not who has a role: what the named one is.
    if wh in ("who", "whom", "whose"):
        noun = noun_phrase(rest) if wh == "whose" else ""
        first = rest.split(" ", 1)[0].lower()
        does = "" if wh != "who" or _VERB.fullmatch(first) else min(content_words(first), default="")
        return Kind("who", noun=content_words(noun), verb=does)
    if wh == "when" and asks_clock(question):
        return Kind("when", units=frozenset({"o'clock"}))
    if wh in ("when", "where", "why"):
        return Kind(wh)  # type: ignore[arg-type]
    return _how(rest, question) if wh == "how" else _what(wh, rest, question)


_OF_ONE: Final = lazy_pattern(
    r"(?:is|are|was|were)\s+(?:an?|one|each)\s+[a-z]", re.IGNORECASE
)  # `is a pass`: its price.


_WEIGHS: Final = lazy_pattern(r"\bweigh(?:s|ed|ing)?\b", re.IGNORECASE)
_SOON: Final = frozenset("quick quickly soon swiftly promptly".split())
_ARRIVES: Final = lazy_pattern(
    r"\b(?:reach|arrive|get|come|respond|answer|reply|react|finish|open|reopen|sell|end|begin|start|return)(?:ed|s)?\b",
    re.IGNORECASE,
)
_WORKS: Final = frozenset("well effective effectively successful successfully badly accurate reliable".split())


def _how(rest: str, question: str) -> Kind:
    first, _, after = rest.partition(" ")
    word = first.lower()
    noun = noun_phrase(after)
    if word == "many":
        unit = singular(noun.split(" ")[0].lower())
        counted = content_words(" ".join([noun, *map(singular, noun.split())]))
        return Kind("how_much", units=frozenset({unit})) if unit in MONEY else Kind("how_many", counted)
    if word in ("often", "frequently"):
        return Kind("how_many", frozenset({"time"}), verb=OFTEN)
    if _PERCENT.search(question) and word not in ("far", "long"):
        return Kind("how_much", content_words(noun), SHARES)
    if word.rstrip(".,!") == "much":
        return Kind("how_much", content_words(noun), _units_of_much(noun, after, question))
    if word == "far" and re.match(r"(?:ahead|in advance|beforehand|back)\b", after, re.IGNORECASE):
        return Kind("how_long", units=DURATIONS)
    if word == "long":
        lengths = re.match(
            r"(?:is|are|was|were|will|would|can|could|should|may|must)\b", after, re.IGNORECASE
        ) and not (_LASTS.search(after) or _FOR_HOW_LONG.search(question))
        return Kind("how_long", units=DURATIONS | (LENGTHS if lengths else frozenset()))
    if word in _SOON or (word == "fast" and _ARRIVES.search(after)):
        return Kind("how_long", units=DURATIONS)
    if word in _WORKS:  # Told by a share or in words.
        return Kind("how", units=SHARES)
    if word in OF_ADJECTIVE:
        return _how_large(word, noun, after)
    return Kind("why") if word == "come" else Kind("how")


def _how_large(word: str, noun: str, after: str) -> Kind:
    """`How tall is it`, `how big a fine`, `how large is its workforce`."""
    if not OF_ADJECTIVE[word] and not noun:  # `How big is its workforce`: the number of what the subject names.
        owned = re.match(rf"(?:{AUXILIARY})\s+(?:{_OWNED}|its|his|her|their)\s+(?P<rest>.*)", after, re.IGNORECASE)
        noun = noun_phrase(owned["rest"]) if owned else ""
        after = f"a {noun}"
    units = OF_MEASURE.get(noun.split()[-1].lower()) if noun else None
    if not OF_ADJECTIVE[word] and units and re.match(r"an?\s", after):  # `How large a fine`, `how large was it`: money.
        return Kind("how_much", units=units)
    return Kind("how_much", content_words(re.sub(r"^an?\s", "", noun)), OF_ADJECTIVE[word])


def _units_of_much(noun: str, after: str, question: str) -> frozenset[str]:
    """The units that `how much` asks for: of money, or of weight where it is asked what something weighs."""
    if not noun and _WEIGHS.search(question):
        return WEIGHTS
    money = not noun and (_COSTS.search(question) or asks_price(question) or _OF_ONE.match(after))
    return MONEY if money or noun == "money" else frozenset()


def _what(wh: str, rest: str, question: str) -> Kind:
    lower = rest.lower()
    if re.match(rf"(?:exact\s+)?(?:time|hour|o'clock)s?\b|(?:{TIMES})s?\b", lower):
        clock = frozenset({"o'clock"}) if re.match(r"(?:exact\s+)?(?:time|hour)", lower) else frozenset[str]()
        return Kind("when", units=clock, grain=grain_of(lower))
    if wh == "what" and asks_his_name(lower):
        return Kind("who", _role_before(question))
    if wh == "what" and (called := _ITS_NAME.match(lower)) is not None:
        return Kind("who") if called["who"] else Kind("which", verb=NAMED)
    if wh == "what" and asks_price(question):
        return Kind("how_much", units=MONEY)
    if wh == "what" and asks_cause(question):
        return Kind("why")
    be = r"(?:is|was|were|are|(?:will|would|could|might|may|should|must)\s+be)"
    if (match := re.match(rf"{be}\s+{_OWNED}\s+(?:exact\s+|full\s+)?(.*)", lower)) is not None:
        return of_the(match[1], rest, question)
    if _SORT.match(rest) is not None:  # The answer is said in place of the noun, seldom beside it.
        return Kind("which")
    if wh == "which" and (match := _OF_THEM.match(rest)) is not None:
        return of_them(match["rest"])
    noun = noun_phrase(rest)
    if not noun or re.match(r"(?:happen|occurred|caused|became|led|made|prompted)", lower):
        return _what_verb(rest, question)
    words = [w.lower() for w in WORD.findall(noun)]
    return of_noun(words, content_words(noun), plural=is_plural(words[-1])) if words else Kind("other")


def _what_verb(rest: str, question: str) -> Kind:
    """`What did the divers find`, `what caused the flood`."""
    if _HAPPENED.search(rest):
        return Kind("what_happened")
    if re.search(r"\b(?:cost|costs)\b", rest, re.IGNORECASE):
        return Kind("how_much", units=MONEY)
    if re.match(r"(?:caused|led to|made|prompted)\b", rest, re.IGNORECASE):
        return Kind("why")
    if _DEFINING.match(rest):
        return Kind("definition", content_words(rest))
    words = WORD.findall(rest)
    if _VERB.match(rest) and len(words) > 2:
        return Kind("other", verb=main_verb(words))
    return Kind("other", verb=min(content_words(words[0]), default="") if words else "")


def _role_before(question: str) -> frozenset[str]:
    """Stems of the first role that a question gives a person whose name it asks for: `a vet was on board`."""
    roles = (m["noun"].lower() for m in _INDEFINITE.finditer(question))
    return next((content_words(noun) for noun in roles if is_person(noun)), frozenset())
