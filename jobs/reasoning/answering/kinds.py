"""What a question asks for, read from its words: a date, a person, a number of something, yes or no, and so on."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from quern.jobs.reasoning.answering.idioms import asks_cause, asks_clock, asks_his_name, asks_price
from quern.jobs.reasoning.answering.persons import is_person
from quern.jobs.reasoning.answering.sentences import content_words
from quern.jobs.reasoning.answering.verdict_asked import AUXILIARY, PREPOSITION, asks_verdict_behind
from quern.jobs.reasoning.answering.wording import irregular_pasts
from quern.jobs.text.quantities import quantities, singular
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import HAN

KindName = Literal[
    "when",
    "who",
    "where",
    "how_many",
    "how_much",
    "how_long",
    "which",
    "yes_no",
    "list",
    "why",
    "how",
    "what_happened",
    "definition",
    "other",
]


@dataclass(frozen=True)
class Kind:
    """What is asked for.

    Attributes:
        name: The kind of answer.
        noun: Stems of the words that name the thing asked for: `passengers` in `how many passengers`.
        units: Units that an answer may have; empty where any will do. `name` of a unit as in `Quantity.unit`.
        verb: Stem of the verb whose object or complement is asked for: `find` in `what did the divers find`.
        grain: How exact a time is asked for: `year`, `month` or `day`; empty where any will do.
    """

    name: KindName
    noun: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    verb: str = ""
    grain: str = ""


NAMED: Final = "name"  # The verb where the name of a thing is asked for.
NAMESAKE: Final = "name after"  # The same where it is asked whom or what a thing is named after.
_NAMESAKE: Final = re.compile(
    r"\bafter\s+(?:whom|who|what|which)\b.*\b(?:named|called)\b|\b(?:named|called)\s+after\s*\?", re.IGNORECASE
)
LENGTHS: Final = frozenset("metre kilometre centimetre millimetre mile foot inch yard".split()) | {"nautical mile"}
DURATIONS: Final = frozenset("second minute hour day week fortnight month year decade century".split())
MONEY: Final = frozenset("crown dollar pound euro yuan yen".split())
_AREAS: Final = frozenset({"hectare", "acre", "square metre", "square kilometre", "square mile", "平方米", "平方公里"})
_WEIGHTS: Final = frozenset("kilogram gram tonne pound ounce".split())
_SHARES: Final = frozenset({"per cent", "share", "percentage point"})
UNITS: Final = LENGTHS | DURATIONS | MONEY | _AREAS | _WEIGHTS | _SHARES | {"degree", "litre", "tonne", "knot"}
_OF_ADJECTIVE: Final = {
    "far": LENGTHS,
    "tall": LENGTHS,
    "high": LENGTHS,
    "wide": LENGTHS,
    "deep": LENGTHS,
    "thick": LENGTHS,
    "old": frozenset({"year", "month", "week", "day", "岁"}),
    "heavy": _WEIGHTS,
    "fast": frozenset({"knot", "kilometre", "mile"}),
    "hot": frozenset({"degree"}),
    "cold": frozenset({"degree"}),
    "warm": frozenset({"degree"}),
    "large": frozenset[str](),
    "big": frozenset[str](),
    "small": frozenset[str](),
}
# Nouns of measures: `what is the height of` asks for a number as `how high` does.
_OF_MEASURE: Final = {
    noun: units
    for units, nouns in (
        (LENGTHS, "height length width depth distance girth thickness diameter altitude elevation range"),
        (DURATIONS, "duration age"),
        (
            MONEY,
            "price cost fee fine salary wage fare budget rent toll deposit sum bill charge payment expense loan debt",
        ),
        (_SHARES, "share percentage proportion"),
        (_WEIGHTS, "weight mass"),
        (_AREAS, "area"),
        (frozenset({"degree"}), "temperature"),
        (frozenset[str](), "number amount population capacity speed size rate attendance circulation score total"),
    )
    for noun in nouns.split()
    for units in [units]
}
_TIMES: Final = "date|day|month|year|century|decade|season|week|weekday|evening|morning"
_PLACES: Final = (
    "place|city|town|village|country|county|state|province|district|region|island|continent|street|road|venue|location|"
    "neighbourhood|borough|municipality|address"
)
_OPENS: Final = lazy_pattern(
    rf"^(?:(?:and|so|but|then|please|well)?,?\s*|[^,?]{{3,80}},\s+)(?:{AUXILIARY})\b(?!\s*,)", re.IGNORECASE
)
# What is told before the question itself: `I travel in May. Is it free then?`
_SCENE: Final = lazy_pattern(r".*[^\W\d_]{2,}[.!?]\s+(?=[A-Z](?:[^.!?]|\.(?=\d))*\?$)", re.DOTALL)
_WH: Final = lazy_pattern(
    rf"(?:^|[,;:?.!]\s*(?:and\s+)?|\band\s+|\b(?:{PREPOSITION})\s+|^(?:can|could) you (?:tell|say) (?:me )?)"
    rf"(?P<wh>how|what|which|when|where|who|whom|whose|why)\b(?=(?P<rest>[^?]*))",
    re.IGNORECASE,
)
_ANY_WH: Final = lazy_pattern(r"\b(?P<wh>how|what|which|when|where|who|whom|whose|why)\b(?P<rest>[^?]*)", re.IGNORECASE)
_LISTING: Final = lazy_pattern(r"^(?:please\s+)?(?:list|name|enumerate)\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_TELLING: Final = lazy_pattern(r"^(?:please\s+)?(?:explain|describe|tell|trace|summari[sz]e|outline)\b", re.IGNORECASE)
_VERB: Final = lazy_pattern(rf"(?:{AUXILIARY})\b", re.IGNORECASE)
_WORD: Final = lazy_pattern(r"[A-Za-z][\w'’-]*")
_ENDS_NOUN: Final = frozenset(
    f"{AUXILIARY}|{PREPOSITION}|that|who|which|there|not|and|or|you|he|she|it|they|we".split("|")
)
_OPENS_NOUN: Final = frozenset("a an the this these those his her its their our your my out up off down".split())
_MOST_WORDS: Final = 5  # Of a noun phrase.
_HAPPENED: Final = lazy_pattern(
    r"\b(?:happen(?:ed|s)?|occurred|became of|come of|took place|going on)\b", re.IGNORECASE
)
_DEFINING: Final = lazy_pattern(
    r"^\s*(?:is|are)\s+(?:an?\s+)?[\w'’-]+(?:\s+[\w'’-]+){0,2}$|.*\bstand for$", re.IGNORECASE
)
_COSTS: Final = lazy_pattern(
    r"\b(?:cost|costs|pay|paid|pays|charge[ds]?|spend|spent|earn|earns|price[ds]?|fined?|fee|sell|sold|worth|owe[ds]?|"
    r"money|donate[ds]?|invest(?:ed)?|raise[ds]?|bid|offer(?:ed)?)\b",
    re.IGNORECASE,
)
# What takes time and not room: `how long was the library shut because of the flood`.
_LASTS: Final = lazy_pattern(
    r"\b(?:because|after|before|during|since|until|till|while|when|open(?:ed)?|closed?|shut|away|gone|suspended|delayed)\b",
    re.IGNORECASE,
)
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
    r",\s+in\s+(?P<unit>(?:square\s+|nautical\s+)?[a-z]+)\b(?=\s*[,?]|\s*$|\s+of\b)", re.IGNORECASE
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
    if _HOLDS_HAN.search(plain) and (kind := _chinese(plain)) is not None:
        return kind
    if _NAMESAKE.search(plain):
        return Kind("which", verb=NAMESAKE)  # A person, or as often a place or a thing.
    if (match := _LISTING.match(plain)) is not None:
        return Kind("list", content_words(_noun_phrase(match["rest"])))
    match = _asking(plain)
    if match is None and (scene := _SCENE.match(plain)) is not None:
        plain = plain[scene.end() :]
    if (opens := _OPENS.match(plain)) is not None and (match is None or match.start() >= opens.end() - 3):
        return Kind("yes_no")
    if asks_verdict_behind(plain, match):
        return Kind("yes_no")
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
    return _of_the(match["rest"].lower(), match["rest"], question)


def _wh(wh: str, rest: str, question: str) -> Kind:
    if wh == "who" and (match := re.match(r"(?:are|were)\s+(?:the|\w+['’]s?|its|their)\s+(.*)", rest)) is not None:
        noun = _noun_phrase(match[1])
        if noun and _plural(noun.split()[-1]):
            return Kind("list", content_words(noun))
    if wh == "who" and re.match(r"(?:all|else)\b", rest):
        return Kind("list", content_words(_noun_phrase(rest.split(" ", 1)[-1])))
    if wh == "who" and (match := _WHO_IS.match(rest)) is not None:
        return Kind("definition", content_words(match["name"]))  # Not who has a role: what the named one is.
    if wh in ("who", "whom", "whose"):
        noun = _noun_phrase(rest) if wh == "whose" else ""
        first = rest.split(" ", 1)[0].lower()
        does = "" if wh != "who" or _VERB.fullmatch(first) else min(content_words(first), default="")
        return Kind("who", noun=content_words(noun), verb=does)
    if wh == "when" and asks_clock(question):
        return Kind("when", units=frozenset({"o'clock"}))
    if wh in ("when", "where", "why"):
        return Kind(wh)  # type: ignore[arg-type]
    return _how(rest, question) if wh == "how" else _what(wh, rest, question)


def _how(rest: str, question: str) -> Kind:
    first, _, after = rest.partition(" ")
    word = first.lower()
    noun = _noun_phrase(after)
    if word == "many":
        return Kind("how_many", content_words(" ".join([noun, *map(singular, noun.split())])))
    if word in ("often", "frequently"):
        return Kind("how_many", frozenset({"time"}))
    if _PERCENT.search(question) and word not in ("far", "long"):
        return Kind("how_much", content_words(noun), _SHARES)
    if word.rstrip(".,!") == "much":
        money = not noun and (_COSTS.search(question) or asks_price(question))
        return Kind("how_much", content_words(noun), MONEY if money or noun == "money" else frozenset())
    if word == "far" and re.match(r"(?:ahead|in advance|beforehand|back)\b", after, re.IGNORECASE):
        return Kind("how_long", units=DURATIONS)
    if word == "long":
        lengths = re.match(
            r"(?:is|are|was|were|will|would|can|could|should|may|must)\b", after, re.IGNORECASE
        ) and not _LASTS.search(after)
        return Kind("how_long", units=DURATIONS | (LENGTHS if lengths else frozenset()))
    if word in _OF_ADJECTIVE:
        if not _OF_ADJECTIVE[word] and not noun:  # `how big is its workforce`: the number of what the subject names.
            owned = re.match(rf"(?:{AUXILIARY})\s+(?:{_OWNED}|its|his|her|their)\s+(?P<rest>.*)", after, re.IGNORECASE)
            noun = _noun_phrase(owned["rest"]) if owned else ""
        return Kind("how_much", content_words(re.sub(r"^an?\s", "", noun)), _OF_ADJECTIVE[word])
    return Kind("why") if word == "come" else Kind("how")


def _what(wh: str, rest: str, question: str) -> Kind:
    lower = rest.lower()
    if re.match(rf"(?:exact\s+)?(?:time|hour|o'clock)s?\b|(?:{_TIMES})s?\b", lower):
        clock = frozenset({"o'clock"}) if re.match(r"(?:exact\s+)?(?:time|hour)", lower) else frozenset[str]()
        return Kind("when", units=clock, grain=_grain(lower))
    if wh == "what" and asks_his_name(lower):
        return Kind("who", _role_before(question))
    if wh == "what" and asks_price(question):
        return Kind("how_much", units=MONEY)
    if wh == "what" and asks_cause(question):
        return Kind("why")
    if (match := re.match(rf"(?:is|was|were|are)\s+{_OWNED}\s+(?:exact\s+|full\s+)?(.*)", lower)) is not None:
        return _of_the(match[1], rest, question)
    if _SORT.match(rest) is not None:  # The answer is said in place of the noun, seldom beside it.
        return Kind("which")
    if wh == "which" and (match := _OF_THEM.match(rest)) is not None:
        return _of_them(match["rest"])
    noun = _noun_phrase(rest)
    if not noun or re.match(r"(?:happen|occurred|caused|became|led|made|prompted)", lower):
        return _what_verb(rest, question)
    words = [w.lower() for w in _WORD.findall(noun)]
    return _of_noun(words, content_words(noun), plural=_plural(words[-1])) if words else Kind("other")


def _grain(rest: str) -> str:
    """How exact the time is that `what year`, `which day` and the like ask for."""
    found = re.match(r"(?:exact\s+)?(year|month|day|date)\b", rest)
    return "" if found is None else found[1].replace("date", "day")


def _role_before(question: str) -> frozenset[str]:
    """Stems of the first role that a question gives a person whose name it asks for: `a vet was on board`."""
    roles = (m["noun"].lower() for m in _INDEFINITE.finditer(question))
    return next((content_words(noun) for noun in roles if is_person(noun)), frozenset())


def _of_them(rest: str) -> Kind:
    """`Which of the N ...`: one of them, or several where the verb is a plural's."""
    noun = _noun_phrase(
        re.sub(r"^(?:\w+\s+)?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+", "", rest)
    )
    words = [w.lower() for w in _WORD.findall(noun)]
    if not words:
        return Kind("which")
    plural = re.match(r".*?\b(?:are|were|have|do)\b", rest[len(noun) :].split(",")[0]) is not None
    kind = _of_noun([*words[:-1], singular(words[-1])], content_words(noun), plural=plural)
    return Kind("who") if kind.name == "who" else kind  # Of several of a role, the one meant is seldom called by it.


def _of_the(after: str, rest: str, question: str) -> Kind:
    """`What is the N of ...`: the noun says what is asked for."""
    ends = rf"\s+(?:{PREPOSITION}|that|which|who|when|where|each|every|per|now|{AUXILIARY})\b|[,?]"
    parts = re.split(ends, after, maxsplit=1)
    words = _WORD.findall(parts[0])
    if not words or len(words) > _MOST_WORDS:
        return Kind("other", verb=_main_verb(_WORD.findall(rest)))
    if words[-1] in ("name", "names", "surname"):
        of = re.search(r"\bof\s+(?:the\s+|a\s+|an\s+)?([^,?]+)", after)
        named = _noun_phrase(of[1]) if of else ""
        kind = _of_noun([w.lower() for w in _WORD.findall(named)] or ["name"], content_words(named), plural=False)
        return kind if kind.name != "which" or not named else Kind("which", kind.noun, verb=NAMED)
    if words[-1] in ("called", "named") and len(words) > 1:
        kind = _of_noun(words[:-1], content_words(" ".join(words[:-1])), plural=False)
        return kind if kind.name != "which" else Kind("which", kind.noun, verb=NAMED)
    if words[-1] in ("reason", "cause", "purpose"):
        return Kind("why")
    if re.fullmatch(rf"{_TIMES}|dates", words[-1]):
        return Kind("when", grain=_grain(words[-1].removesuffix("s")))
    return _of_noun(words, content_words(" ".join(words)), plural=_plural(words[-1]))


def _of_noun(words: list[str], noun: frozenset[str], *, plural: bool) -> Kind:
    head = words[-1]
    if re.fullmatch(_PLACES, head):
        return Kind("where", noun)
    if head in _OF_MEASURE:
        units = _OF_MEASURE[head]
        return Kind("how_much", frozenset() if units & _SHARES else noun, units)
    if is_person(head.removesuffix("s") if plural else head):
        return Kind("list" if plural else "who", noun)
    return Kind("list" if plural else "which", noun)


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
    words = _WORD.findall(rest)
    if _VERB.match(rest) and len(words) > 2:
        return Kind("other", verb=_main_verb(words))
    return Kind("other", verb=min(content_words(words[0]), default="") if words else "")


def _main_verb(words: list[str]) -> str:
    """The stem of the last word of content of `did the divers find`, or of what stands before a preposition.

    A guess without a parser: the verb of a question comes after its subject.
    """
    last = ""
    for word in words[1:]:
        if last and word.lower() in _ENDS_NOUN:
            break
        if word.islower() and not word.endswith("ly"):
            last = min(content_words(word), default=last)
    return last


def _noun_phrase(rest: str) -> str:
    """The words up to a verb, preposition or punctuation mark: `passengers and crew were ...` gives the first three."""
    words: list[str] = []
    for match in re.finditer(r"[\w'’-]+|[,;:?.]", rest):
        word = match[0]
        low = word.lower()
        if not word[0].isalnum() or (low in _ENDS_NOUN and not (low in ("and", "or") and words)):
            break
        # Behind a lower-case noun an article or a name opens the next phrase.
        if words and (low in _OPENS_NOUN or (word[0].isupper() and words[-1].islower())):
            break
        # And behind a plural or a person a past tense is the verb: `which vessels came`, `which scientist worked`.
        past = low.endswith("ed") or low in irregular_pasts()
        if words and past and (_plural(words[-1]) or is_person(words[-1])):
            break
        # Behind any noun it is, where an article, a preposition or the like follows: `which firm made the strips`.
        after = _WORD.match(rest, match.end() + 1)
        if words and past and after and after[0].lower() in _ENDS_NOUN | _OPENS_NOUN:
            break
        if words and low in ("more", "most", "less", "fewer", "least"):
            break
        words.append(word)
        if len(words) == _MOST_WORDS:
            break
    while words and words[-1].lower() in ("and", "or"):
        words.pop()
    return " ".join(words)


def _plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "ics", "'s", "’s"))


_COUNTED: Final = lazy_pattern(r"(?:多少|几)(?P<unit>[^？?，。\s]{1,4})")
_CHINESE: Final[tuple[tuple[str, Kind], ...]] = (
    (r"[吗嗎][？?]?$|是否|是不是|有没有|能不能|会不会|可不可以", Kind("yes_no")),
    (
        r"为什么|为何|為什麼|为啥|因为什么|因何|(?:原因|起因|目的)(?:是|为)?(?:什么|啥)|(?:怎么|怎样|如何).{0,2}(?:引起|造成|引发|导致|起火|烧)",
        Kind("why"),
    ),
    (r"哪一?年|何年|几几年", Kind("when", grain="year")),
    (
        r"什么时候|何时|何時|什么时间|哪一?年|哪一?天|哪一?日|哪个?月|几月|几号|几时|何年|哪个?(?:年代|世纪|时期|朝代)|什么年代",
        Kind("when"),
    ),
    (r"几点", Kind("when", units=frozenset({"o'clock"}))),
    (r"谁|何人|哪位|哪一位|什么人", Kind("who")),
    (
        r"哪里|哪儿|何处|何地|什么地方|哪个?(?:国家|城市|省|县|市|地区|地方|区|州|镇|村|岛)|什么位置|位于哪|在哪",
        Kind("where"),
    ),
    (
        r"多久|多长时间|几(?:年|天|个月|小时|分钟|周|个星期)(?!级)|多少(?:年|天|个月|小时|分钟|周)",
        Kind("how_long", units=DURATIONS),
    ),
    (r"多少岁|几岁|多大(?:年纪|岁数|年龄)|(?:年龄|岁数|年纪)多大", Kind("how_much", units=frozenset({"岁", "year"}))),
    (r"多少(?:元|克朗|美元|英镑|欧元|钱|经费|资金)", Kind("how_much", units=MONEY)),
    (r"多[高长远深宽厚]", Kind("how_much", units=LENGTHS)),
    (r"多大|多重|多快|占多大|百分之几|面积|多少", Kind("how_much")),
    (r"几(?=[个名位次家艘只条座人种盏本块辆间场台棵根份支项])", Kind("how_many")),
    (r"哪些|哪几|有什么|都有|分别是", Kind("list")),
    (r"怎么|怎样|如何|怎么样", Kind("how")),
    (r"^什么是|是什么(?:意思)?[？?]?$|指的?是什么|何谓", Kind("definition")),
    (r"发生了?什么|怎么回事", Kind("what_happened")),
    (r"什么|哪|何|几", Kind("which")),
)


def _chinese(question: str) -> Kind | None:
    for pattern, kind in _CHINESE:
        if re.search(pattern, question):
            if kind.name in ("how_much", "how_many") and not kind.units and (counted := _COUNTED.search(question)):
                return _counted(counted["unit"])
            return kind
    return None


def _counted(after: str) -> Kind:
    """How many of what a Chinese question names behind its `how many`: in the unit that a number there would have."""
    unit = next((q.unit for q in quantities(f"3{after.removeprefix('个') or after}") if q.start == 0 and q.unit), "")
    return Kind("how_many", content_words(after[:2]), frozenset({unit}) if unit else frozenset())
