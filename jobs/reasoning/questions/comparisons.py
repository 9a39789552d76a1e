"""Questions that set two things or two events beside each other, as one question for each of the two."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from quern.jobs.reasoning.questions.clause_forms import asked_of_clause, asked_of_question, is_event, raised
from quern.jobs.reasoning.questions.references import has_pronoun, named, proper_names, subject
from quern.jobs.reasoning.questions.words import AUXILIARIES, PREPOSITIONS, bare, base, is_past, is_verb
from quern.jobs.text.quantities import quantities, singular
from quern.schemas.words.patterns import lazy_pattern

Way = Literal["compare", "order", "both"]


@dataclass(frozen=True)
class Pair:
    """Two things (or more) that a question sets beside each other.

    Attributes:
        way: `compare` by a value, `order` in time, `both` for yes or no of each.
        sides: The things, in the question's words.
        questions: What is asked of each.
        word: The word that compares: `longer`, `more`, `higher or lower`, `before or after`; empty if there is none.
    """

    way: Way
    sides: tuple[str, ...]
    questions: tuple[str, ...]
    word: str = ""


_FIRST: Final = r"(?:first|earlier|earliest|later|last|latest|sooner|more recently|most recently)"
_ADJECTIVES: Final = {
    "better": "good", "best": "good", "worse": "bad", "worst": "bad", "farther": "far", "further": "far",
    "farthest": "far", "furthest": "far", "elder": "old", "eldest": "old", "younger": "old", "youngest": "old",
    "smaller": "large", "smallest": "large", "shorter": "long", "shortest": "long", "lower": "high", "lowest": "high",
    "nearer": "far", "nearest": "far", "closer": "far", "closest": "far", "slower": "fast", "slowest": "fast",
    "cheaper": "expensive", "cheapest": "expensive", "narrower": "wide", "thinner": "thick", "lighter": "heavy",
    "lightest": "heavy", "poorer": "rich", "less": "much", "fewer": "many", "greater": "great", "larger": "large",
    "largest": "large", "higher": "high", "highest": "high", "older": "old", "oldest": "old", "wider": "wide",
    "later": "late",
}  # fmt: skip
_MUTE_E: Final = frozenset(
    "larg wid lat saf clos nic pal wis fin brav rar sever strang simpl gentl nobl matur dens".split()
)
_COMPARATIVE: Final = (
    r"(?:(?:more|less|most|least)\s+(?!people\b|money\b|likely\b|than\b)[a-z]+(?:ive|ous|ful|al|ant|ent|ing|ed"
    r"|able|ible|ar|ic|ly|y|ult|le)\b"
    r"|(?!over\b|ever\b|never\b|after\b|under\b|other\b|another\b|either\b|neither\b|whether\b|together\b|former\b"
    r"|latter\b|number\b|water\b|computer\b|player\b|member\b|river\b|power\b|paper\b|order\b|officer\b|winter\b"
    r"|summer\b|owner\b|danger\b|letter\b|chapter\b|center\b|founder\b|leader\b|writer\b|singer\b|actor\b|per\b"
    r"|newspaper\b|composer\b|designer\b|designer\b|corner\b|cover\b|enter\b|offer\b|fewer\b|director\b|her\b"
    r"|character\b|master\b|later\b|earlier\b|sister\b|brother\b|mother\b|father\b|daughter\b|quarter\b|rather\b)"
    r"[a-z]{3,}(?:er|est)\b|best\b|worst\b|worse\b)"
)
_REACH: Final = 24  # Characters in which a number must begin.
_QUANTITY: Final = lazy_pattern(
    r"\b(?:number|amount|cost|costs|price|prices|fare|fares|fee|total|rate|share|size|length|height|width|depth|weight|"
    r"population|budget|estimate|area|age|speed|salary|value|bill|fine|temperature|turnover|income|revenue|income|"
    r"capacity|percentage|level|score|count|sum)\b",
    re.IGNORECASE,
)


# What sets the scene of a question: `In the 2010 census, which ...`.
_LED: Final = lazy_pattern(
    r"((?:in|on|at|after|before|during|according\s+to|as\s+of|for|by|from|since)\s+[^,?]+),\s+"
    r"(?=(?:which|who|what|whose|did|was|is|were|are|has|had|does|do|how)\b)",
    re.IGNORECASE,
)


def pair(question: str) -> Pair | None:
    """The two things that `question` compares, with what is asked of each; None where it compares nothing."""
    text = " ".join(question.split()).rstrip("?.!？ ")
    text = re.sub(r"\s+and\s+by\s+(?:how\s+much|how\s+many\s+\w+|what\s+\w+)\b(?=,|$)", "", text)
    led = _LED.match(text)
    if led and (inner := pair(text[led.end() :])) is not None:
        return replace(inner, questions=tuple(raised(f"{led[1]}, {q[:1].lower()}{q[1:]}") for q in inner.questions))
    for reader in _READERS:
        if (found := reader(text)) is not None and len(set(found.questions)) == len(found.questions):
            return found
    return None


def _adjective(comparative: str) -> str:
    """The plain form: `longer` is `long`, `more expensive` is `expensive`."""
    words = comparative.lower().split()
    if len(words) > 1:
        return words[1]
    word = words[0]
    if word in _ADJECTIVES:
        return _ADJECTIVES[word]
    stem = re.sub(r"(?:er|est)$", "", word)
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if re.search(r"([bdgmnpt])\1$", stem):
        return stem[:-1]
    return f"{stem}e" if stem in _MUTE_E else stem


_OR: Final = lazy_pattern(r",?\s+or\s+", re.IGNORECASE)


def _listed(text: str) -> list[str]:
    """The things of `A or B` and `A, B, or C`."""
    *before, last = _OR.split(text)
    things = [t for b in before for t in re.split(r",\s+", b)]
    return [t.strip(" ,:") for t in [*things, last] if t.strip(" ,:")]


# Names with a comma of their own: `Minden, Nevada or Ely, Nevada`.
_PLACES: Final = lazy_pattern(
    r"(?P<head>(?:[Ww]hich|[Ww]ho|[Ww]hat)\b[^,:]+)[,:]\s+(?P<a>[A-Z][^,]+,\s+[A-Z][^,]+?),?\s+or\s+"
    r"(?P<b>[A-Z][^,]+,\s+[A-Z][^,]+)"
)


def _offered(text: str) -> tuple[str, list[str]] | None:
    """A question with a word of asking and the alternatives that it offers: at its end, in its middle or first."""
    m = re.match(
        r"(?:between|of|out\s+of|among)\s+(?:the\s+(?:two\s+)?\w+,?\s+)?(?P<list>.+?\s+(?:and|or)\s+[^,]+),\s+"
        r"(?P<head>(?:which|who|what|whose)\b.+)$",
        text,
        re.IGNORECASE,
    )
    if m:
        return m["head"], _listed(re.sub(r"\s+and\s+", " or ", m["list"], count=1))
    m = _PLACES.fullmatch(text)
    if m:
        return m["head"], [m["a"], m["b"]]
    m = re.match(
        r"(?P<head>(?:which|who|what|whose|where)\b.+?)(?:,|:|\s+-)\s+(?:either\s+)?(?P<list>[^?]+?\s+or\s+[^,?]+)"
        r"(?P<tail>,\s+[^?]+)?$",
        text,
        re.IGNORECASE,
    )
    if m:
        things = _listed(m["list"])
        if m["tail"] and len(things) == 2 and re.match(r",\s+(?:is|was|are|were|has|had|have|\w+ed)\b", m["tail"]):
            return m["head"] + m["tail"].replace(",", "", 1), things
        return (m["head"], things) if all(len(t.split()) <= 16 for t in things) and not m["tail"] else None
    m = re.match(
        rf"(?P<head>(?:which|who|what|whose)\b.*?\b(?:{_COMPARATIVE}|{_FIRST}|more|fewer|less|most)"
        rf"(?:\s+[a-z]+)*?)\s+(?P<list>(?:the\s+)?[A-Z\"“][^,]*?\s+or\s+[^,]+)$",
        text,
    )
    return (m["head"], _listed(m["list"])) if m else None


def _choice(text: str) -> Pair | None:
    """The sides of `Which is longer, A or B`."""
    found = _offered(text)
    if found is None or not 2 <= len(found[1]) <= 6:
        return None
    head, things = found
    head = re.sub(
        r"^((?:which|who|what))\s+(?:one\s+)?of\s+(?:the\s+)?(?:two\s+|these\s+|following\s+)*[^,]*?\s+(?=(?:is"
        r"|was|are|were|has|had|have|did|does|do|came|\w+ed)\b)",
        r"\1 ",
        head,
        flags=re.IGNORECASE,
    )
    of_one = _of_one(head)
    if of_one is None:
        return None
    way, pattern, word = of_one
    return Pair(way, tuple(things), tuple(raised(pattern.replace("@", thing)) for thing in things), word)


_WHO: Final = (
    r"(?:who|what|which)(?:\s+(?!is\b|was\b|are\b|were\b|has\b|had\b|have\b|did\b|does\b"
    r"|do\b)[\w'’-]+){0,10}?"
)


def _of_one(head: str) -> tuple[Way, str, str] | None:
    """What a question of choice asks of one of the things, `@` in its place; with the word that compares."""
    head = head.strip(" ,:")
    whose = re.match(r"whose\s+(?P<n>.+?)\s+(?P<rest>(?:is|was|are|were|has|had|have|\w+ed)\b.*)$", head, re.IGNORECASE)
    if whose:
        inner = _of_one(f"which {whose['rest']}")
        return (inner[0], inner[1].replace("@", f"@'s {whose['n']}"), inner[2]) if inner else None
    for pattern, reader in _HEADS:
        m = re.fullmatch(pattern, head, re.IGNORECASE)
        if m and (found := reader(m)) is not None:
            return found
    return None


def _did(verb: str) -> tuple[str, str]:
    """The auxiliary and plain form of a finite verb."""
    word = verb.lower()
    if word in ("has", "have"):
        return ("does" if word == "has" else "do"), "have"
    if word == "had" or is_past(word):
        return "did", base(word)
    return ("does" if word.endswith("s") else "do"), base(word)


def _of_first(m: re.Match[str]) -> tuple[Way, str, str]:
    verb, when = m["verb"].lower(), m["when"].lower()
    rest = m.groupdict().get("rest") or ""
    if verb in ("came", "comes", "happened", "occurred", "happens", "occurs", "took place", "was", "is"):
        return "order", f"when was @ {rest}", when
    if m.groupdict().get("be"):
        return "order", f"when {m['be']} @ {verb} {rest}", when
    aux, plain = _did(verb.split()[0])
    return "order", f"when {aux} @ {' '.join([plain, *verb.split()[1:]])} {rest}", when


def _of_adjective(m: re.Match[str]) -> tuple[Way, str, str]:
    rest = m["rest"] or ""
    word = m["comp"].lower()
    if re.match(r"\s*(?:[a-z]+\b)", rest) and m.groupdict().get("article"):
        return "compare", f"how {_adjective(word)} {m['be']} the {rest.strip()} of @", word
    return "compare", f"how {_adjective(word)} {m['be']} @ {rest}", word


def _of_passive(m: re.Match[str]) -> tuple[Way, str, str]:
    rest = m["rest"] or ""
    noun = m["noun"] or ""
    much = f"how many {noun}" if noun else "how much"
    return "compare", f"{much} {m['be']} @ {m['verb']} {rest}", m["comp"].lower()


def _of_amount(m: re.Match[str]) -> tuple[Way, str, str] | None:
    aux, plain = _did(m["verb"])
    noun, rest, word = (m["noun"] or "").strip(), m["rest"] or "", m["comp"].lower()
    if noun and bare(noun.split()[0]) in PREPOSITIONS:
        noun, rest = "", f"{noun} {rest}"
    many = "many" if word in ("fewer", "fewest") or re.search(r"s\b|people|children|staff", noun) else "much"
    return "compare", f"how {many} {noun} {aux} @ {plain} {rest}", word


def _of_size(m: re.Match[str]) -> tuple[Way, str, str]:
    aux, _ = _did(m["verb"])
    be = "was" if aux == "did" else "is"
    return "compare", f"what {be} the {m['noun']} of @ {m['rest'] or ''}", m["comp"].lower()


def _of_manner(m: re.Match[str]) -> tuple[Way, str, str]:
    aux, plain = _did(m["verb"])
    return "compare", f"how {_adjective(m['comp'])} {aux} @ {plain} {m['rest'] or ''}", m["comp"].lower()


def _of_truth(m: re.Match[str]) -> tuple[Way, str, str] | None:
    verb, rest = m["verb"].lower(), m["rest"]
    having = verb in ("has", "had", "have")
    if is_past(bare(rest.split()[0])) if having else verb in AUXILIARIES:
        return "both", f"{verb} @ {rest}", ""
    if not (is_past(verb) or having or is_verb(base(verb))):
        return None
    aux, plain = _did(verb)
    return "both", f"{aux} @ {plain} {rest}", ""


_HEADS: Final = (
    (
        rf"{_WHO}\s+(?P<be>was|were|is|are|got)\s+(?P<verb>\w+(?:\s+(?!{_FIRST}\b)\w+)*?)\s+(?P<when>{_FIRST})"
        rf"(?P<rest>.*)",
        _of_first,
    ),
    (rf"{_WHO}\s+(?P<verb>(?:came|comes)\s+out|took\s+place|\w+)\s+(?P<when>{_FIRST})(?P<rest>.*)", _of_first),
    (
        rf"{_WHO}\s+(?P<be>is|was|are|were)\s+(?P<article>the\s+)?(?P<comp>{_COMPARATIVE})"
        rf"(?P<rest>\s+.*)?",
        _of_adjective,
    ),
    (
        rf"{_WHO}\s+(?P<be>is|was|are|were)\s+(?P<verb>\w+ed|sold|paid|built|made|held|given|known|seen|won|lost"
        rf"|hit)\s+(?:the\s+)?(?P<comp>more|less|most|least)(?P<noun>\s+(?!over|by|in|for|at|on|often)[a-z]+s)?"
        rf"(?P<rest>\s+.*)?",
        _of_passive,
    ),
    (
        rf"{_WHO}\s+(?P<verb>has|had|have)\s+(?:an?|the)\s+(?P<comp>{_COMPARATIVE})\s+(?P<noun>[a-z]+(?:\s+[a-z]+)?)"
        rf"(?P<rest>\s+(?:in|at|on|of|for|by|than)\s+.*)?",
        _of_size,
    ),
    (
        rf"{_WHO}\s+(?P<verb>\w+)\s+(?:the\s+)?(?P<comp>more|fewer|less|most|fewest|least)(?P<noun>\s+[a-z]+"
        rf"(?:\s+(?!in\b|at\b|on\b|of\b|for\b|by\b|to\b|from\b|over\b|as\b|during\b|with\b)[a-z]+)?)?"
        rf"(?P<rest>\s+.*)?",
        _of_amount,
    ),
    (
        rf"{_WHO}\s+(?P<verb>\w+)\s+(?P<comp>longer|shorter|faster|slower|higher|lower|farther|further|deeper)"
        rf"(?P<rest>\s+.*)?",
        _of_manner,
    ),
    (rf"{_WHO}\s+(?P<verb>\w+)\s+(?P<rest>.+)", _of_truth),
)


def _shape(words: list[str]) -> list[str]:
    """Words as classes: prepositions as they are, names and numbers as `N`, others as `n`."""
    shape: list[str] = []
    for raw in words:
        word = bare(raw)
        kind = word if word in PREPOSITIONS or word in ("when", "that", "which") else "N" if is_upper(raw) else "n"
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return shape


def is_upper(raw: str) -> bool:
    """Whether a word is written like a name or a number."""
    return raw.strip("\"“'(")[:1].isupper() or raw[:1].isdigit()


def parallel(left: str, right: str) -> tuple[str, str] | None:
    """What `left` ends with that `right` stands beside, and what comes before it.

    `people on Castle Meadow in 2024` and `on Quay Green in 2025` are parallel from `on`: the shortest end of `left`
    whose prepositions, names and other words come in the order of those of `right`.
    """
    words, wanted = left.split(), _shape(right.split())
    for start in range(len(words) - 1, 0, -1):
        if _shape(words[start:]) == wanted and (start == 0 or _boundary(words, start, wanted[0])):
            return " ".join(words[:start]), " ".join(words[start:])
    first = bare(right.split()[0])
    if first in PREPOSITIONS or first in ("the", "a", "an", "when"):
        for start in range(len(words) - 1, 0, -1):
            if bare(words[start]) == first:
                return " ".join(words[:start]), " ".join(words[start:])
    return None


def _boundary(words: list[str], start: int, kind: str) -> bool:
    """Whether a phrase of the kind may begin at `start`: a name begins with its first word."""
    return kind != "N" or not is_upper(words[start - 1])


def _yes_or_no(text: str) -> Pair | None:
    """The sides of `did X draw more in A or in B`, `was A higher or lower than B`, `does A have more than B`."""
    m = re.fullmatch(rf"(?P<aux>{'|'.join(sorted(AUXILIARIES))})\s+(?P<rest>.+)", text, re.IGNORECASE)
    if m is None:
        return None
    aux, rest = m["aux"].lower(), m["rest"]
    than = re.fullmatch(
        r"(?P<a>.+?)\s+(?P<comp>(?:higher|bigger|larger|longer|more|older|earlier)\s+or\s+\w+"
        rf"|{_COMPARATIVE}|more|fewer|less|earlier|later|sooner)\s*(?P<noun>.*?)\s*\bthan\s+(?P<b>.+)",
        rest,
        re.IGNORECASE,
    )
    if than:
        return _than(aux, than)
    several = re.fullmatch(rf"(?P<left>.*\b(?:more|fewer|less|{_COMPARATIVE})\b.*?)\s+or\s+(?P<right>.+)", rest)
    if several and (cut := parallel(several["left"], several["right"])):
        stem, a = cut
        amount = re.search(rf"\b(?P<comp>more|fewer|less|{_COMPARATIVE})\s+(?P<noun>(?!than\b)[a-z]+s|people)\b", stem)
        if amount:
            asked = stem[: amount.start()] + stem[amount.end() :]
            questions = tuple(raised(f"how many {amount['noun']} {aux} {asked} {x}") for x in (a, several["right"]))
            return Pair("compare", (a, several["right"]), questions, amount["comp"])
    return None


def _than(aux: str, m: re.Match[str]) -> Pair | None:
    a, b, word, noun = m["a"], m["b"], m["comp"].lower(), m["noun"].strip()
    if noun.startswith("likely") or (quantities(b[:_REACH]) and quantities(b[:_REACH])[0].start == 0):
        return None  # `more than three weeks` compares with a number, not with a thing.
    first = word.split(" or ")[0].split()[0] if " or " in word else word
    if aux in ("is", "was", "are", "were"):
        if first in ("earlier", "later", "sooner"):
            return Pair("order", (a, b), tuple(asked_of_clause(x) for x in (a, b)), word)
        if _QUANTITY.search(a):
            whole = _completed(a, b)
            return Pair("compare", (a, b), tuple(raised(f"what {aux} {x}") for x in (a, whole)), word)
        if first in ("more", "less", "fewer"):
            return None if not noun else _many(aux, "", a, b, noun, word)
        return Pair("compare", (a, b), tuple(raised(f"how {_adjective(first)} {aux} {x} {noun}") for x in (a, b)), word)
    words = a.split()
    at = next((i for i in range(1, len(words)) if is_verb(bare(words[i])) and not is_upper(words[i])), None)
    if at is None:
        return None
    who, verb = " ".join(words[:at]), " ".join(words[at:])
    b = re.sub(r"\s+(?:did|does|do|has|had|was|is)$", "", b)
    if first in ("earlier", "later", "sooner"):
        return Pair("order", (who, b), tuple(raised(f"when {aux} {x} {verb} {noun}") for x in (who, b)), word)
    if first in ("more", "less", "fewer"):
        return _many(aux, verb, who, b, noun, word)
    if m["noun"] and verb == "have":
        return Pair("compare", (who, b), tuple(raised(f"what is the {noun} of {x}") for x in (who, b)), word)
    return Pair(
        "compare", (who, b), tuple(raised(f"how {_adjective(first)} {aux} {x} {verb} {noun}") for x in (who, b)), word
    )


def _many(aux: str, verb: str, a: str, b: str, noun: str, word: str) -> Pair:
    counted = re.match(r"[a-z]+s\b|people\b", noun)
    asked = f"how many {noun.split()[0]}" if counted else "how much"
    rest = " ".join(noun.split()[1:]) if counted else noun
    return Pair("compare", (a, b), tuple(raised(f"{asked} {aux} {x} {verb} {rest}") for x in (a, b)), word)


_MONTH: Final = lazy_pattern(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|\d)"
)


def _completed(a: str, b: str) -> str:
    """`b` with what `a` is of, where `b` alone does not say: `the estimate of January 2024` of what?"""
    if re.match(r"that\s+of\b|those\s+of\b", b, re.IGNORECASE):
        head = re.split(r"\s+of\s+", a)[0]
        return re.sub(r"^(?:that|those)\b", head, b)
    if proper_names(f"x {b}") or not proper_names(f"x {a}"):
        return b
    wholes = (a[m.end() :] for m in re.finditer(r"\s(?:of|for)\s+", a))
    whole = next((w for w in wholes if not _MONTH.match(w)), proper_names(f"x {a}")[-1])
    return f"{b} for {whole}"


def _compared(text: str) -> Pair | None:
    """The sides of `How does A compare with B`, `the difference between A and B`, `How many ... A compared with B`."""
    text = " ".join(text.split())
    m = re.fullmatch(
        r"how\s+(?P<aux>did|does|do|is|was|are|were)\s+(?P<a>.+?)\s+(?P<verb>compare|compared|differ|different"
        r"|differed)\s+(?:with|to|from|against)\s+(?P<b>.+)",
        text,
        re.IGNORECASE,
    )
    if m:
        be = "was" if m["aux"].lower() in ("did", "was", "were") else "is"
        b = _swapped(m["a"], m["b"])
        return Pair(
            "compare", (m["a"], m["b"]), tuple(raised(f"what {be} {x}") for x in (m["a"], b)), m["verb"].lower()
        )
    m = re.fullmatch(
        r"(?P<wh>what|how\s+(?:big|large|much|great))\s+(?P<be>is|was|are|were)\s+the\s+(?:differences?"
        r"|age\s+difference)\s+(?:in\s+(?P<in>.+?)\s+)?between\s+(?P<a>.+?)\s+and\s+(?P<b>.+)",
        text,
        re.IGNORECASE,
    )
    if m:
        of = f"the {re.sub('^the ', '', m['in'])} of " if m["in"] else ""
        b = m["b"] if of else _swapped(m["a"], m["b"])
        return Pair(
            "compare", (m["a"], m["b"]), tuple(raised(f"what {m['be']} {of}{x}") for x in (m["a"], b)), "difference"
        )
    m = re.fullmatch(
        r"(?P<left>.+?)\s*,?\s+(?:as\s+)?(?:compared|as\s+opposed)\s+(?:with|to)\s+(?P<right>.+)", text, re.IGNORECASE
    )
    if m and (cut := parallel(m["left"], m["right"])):
        left, a = cut
        right = m["right"]
        return Pair("compare", (a, right), (raised(m["left"]), raised(f"{left} {right}")), "compared")
    return None


def _swapped(a: str, b: str) -> str:
    """`b` in the place of its counterpart in `a`: the effect in `one trial` and `another` is the effect in another."""
    own = re.search(
        r"\bof\s+(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|\d))", b
    )
    if re.match(r"(?:that|those)\s+(?:of|in|at|on|for|from)\b", b, re.IGNORECASE):
        head = re.split(r"\s+(?:of|in|at|on|for|from)\s+", a)[0]
        return re.sub(r"^(?:that|those)\b", head, b, flags=re.IGNORECASE)
    last = list(re.finditer(r"\s(?:in|at|on|for|from|by)\s+(?=(?:the|an?|[A-Z]|its|his|her))", a))
    if own or not last or proper_names(f"x {b}"):
        if "'s " in b or "’s " in b:
            of = re.search(r"\bof\s+(?P<of>(?:the\s+)?[\w\s]+?)(?:\s+(?:given|in|at|on|for|from|by|made|told)\b|$)", a)
            return f"{b} about {of['of']}" if of and not proper_names(f"x {b}") else b
        return b if own or not last or not is_upper(b.split()[0]) else f"{a[: last[-1].end()]}{b}"
    if "'s " in b or "’s " in b:
        of = re.search(r"\bof\s+(?P<of>(?:the\s+)?[\w\s]+?)(?:\s+(?:given|in|at|on|for|from|by|made|told)\b|$)", a)
        return f"{b} about {of['of']}" if of else b
    return f"{a[: last[-1].end()]}{b}"


def _ordered(text: str) -> Pair | None:
    """Two events and their times: `Did A happen before B`, `How long after A was B`."""
    if _HAPPENED.match(text) and (cut := _cut_in_time(text)) is not None:
        question, word, b = cut
        first = asked_of_question(question, "When")
        if first is not None:
            whole = named(b, question) if has_pronoun(b) else b
            return Pair("order", (question, b), (first, asked_of_clause(whole, by=subject(question))), word)
    m = re.fullmatch(
        r"how\s+(?:long|(?:many|much)\s+(?P<unit>[a-z]+))(?:\s+(?P<time>time|later))?\s+(?P<word>after|before)\s+"
        r"(?P<a>.+?)\s+(?P<aux>was|were|did|is|has|had|does|do|will)\s+(?P<b>.+)",
        text,
        re.IGNORECASE,
    )
    if m and not re.match(r"(?:that|it|this)\b", m["b"]):
        second = raised(f"when {m['aux']} {m['b']}")
        a = named(m["a"], second) if has_pronoun(m["a"]) else m["a"]
        return Pair("order", (m["a"], m["b"]), (asked_of_clause(a), second), m["word"].lower())
    m = re.fullmatch(
        r"how\s+(?:long|(?:many|much)\s+[a-z]+)\s+(?:was\s+it\s+|were\s+there\s+|(?:passed|elapsed|lay|went\s+by"
        r"|lie|are\s+there|is\s+there|is\s+it|was\s+there)\s+)between\s+(?P<a>.+?)\s+and\s+(?P<b>.+)",
        text,
        re.IGNORECASE,
    )
    if m:
        return Pair("order", (m["a"], m["b"]), tuple(asked_of_clause(x) for x in (m["a"], m["b"])), "between")
    return _further_apart(text)


_THAN: Final = r"(?:more|less|longer|shorter)\s+than\s+(?:an?|\d{1,4}|[a-z]+)\s+(?:day|week|month|year)s?"
_APART: Final = (
    lazy_pattern(
        rf"(?:is|was)\s+the\s+(?:time\s+|length\s+of\s+)?(?:time|interval|span|gap|period)\s+(?:(?P<than>{_THAN})\s+)?"
        rf"between\s+(?P<a>.+?)\s+and\s+(?P<b>.+?)(?:\s+(?P<late>{_THAN}))?(?:\s*\([^()]*\))?",
        re.IGNORECASE,
    ),
    lazy_pattern(
        rf"did\s+(?:it\s+take\s+)?(?P<than>{_THAN})\s+(?:(?:pass|lie|elapse|go\s+by)\s+)?(?:from|between)\s+(?P<a>.+?)\s+"
        r"(?:to|and)\s+(?P<b>[A-Z].+|the\s.+)",
        re.IGNORECASE,
    ),
)


def _further_apart(text: str) -> Pair | None:
    """Two events and how far apart they may be: `Did it take more than a week from A to B`."""
    m = next((m for pattern in _APART if (m := pattern.fullmatch(text)) is not None), None)
    if m is None or (than := m["than"] or m.groupdict().get("late")) is None:
        return None
    return Pair("order", (m["a"], m["b"]), tuple(asked_of_clause(x) for x in (m["a"], m["b"])), than.lower())


# What happened has a time; what can, would or usually does happen has none.
_HAPPENED: Final = lazy_pattern(r"(?:did|was|were|had|has|have|is|are)\s", re.IGNORECASE)
_IN_TIME: Final = lazy_pattern(r"\s(before\s+or\s+after|after\s+or\s+before|before|after)\s", re.IGNORECASE)


def _cut_in_time(text: str) -> tuple[str, str, str] | None:
    """Question, word and second event of `Did A happen before B`, cut at the last word of time before an event."""
    cuts = [(text[: m.start()], m[1].lower(), text[m.end() :]) for m in _IN_TIME.finditer(text)]
    events = [c for c in cuts if (len(c[2].split()) >= 3 or " or " in c[1]) and len(c[0].split()) >= 3]
    told = [c for c in events if is_event(c[2])]
    return told[-1] if told else events[0] if events else None


_NAMED: Final = r"(?:(?:the|an?)\s+)?(?:[a-z]+\s+){0,3}?[A-Z\"“\d][^,]*?"


_BOTH: Final = lazy_pattern(
    r"(?P<aux>are|were|is|was|do|did|does|have|has)\s+(?:both\s+(?:of\s+)?|either\s+)?"
    rf"(?P<a>{_NAMED})\s+(?:and|or)\s+(?P<b>{_NAMED})\s+"
    r"(?P<rest>(?:both\s+|each\s+|all\s+)?(?:(?!by\b|of\b|and\b)[a-z]"
    r"|[A-Z]\w+(?:an|ish|ese|ian)\s+(?!have\b|has\b|had\b|is\b|are\b|was\b)[a-z]).*)"
)


def _both(text: str) -> Pair | None:
    """The sides of `Are A and B both X`, `Do A and B have the same X`."""
    m = _BOTH.fullmatch(text[:1].lower() + text[1:])
    if m is None or not _lone_names(m["a"]):
        return None
    if m["aux"].lower() in ("is", "was", "does", "has") and not re.match(r"both\b|the\s+same\b", m["rest"]):
        return None
    aux, sides = m["aux"].lower(), (m["a"], m["b"])
    same = re.search(r"\b(?:the\s+)?same\s+(?P<n>[a-z]+(?:\s+[a-z]+)?)", m["rest"])
    if same:
        return Pair("both", sides, tuple(raised(f"what is the {same['n']} of {x}") for x in sides), "same")
    rest = _of_each(re.sub(r"\b(?:both|each|all)\s+", "", m["rest"], count=1), aux)
    one = {"are": "is", "were": "was", "do": "does", "have": "has"}.get(aux, aux)
    return Pair("both", sides, tuple(raised(f"{one} {x} {rest}") for x in sides), "both")


def _of_each(rest: str, aux: str) -> str:
    """What is said of several, said of one: `American composers` is `an American composer`."""
    words = rest.split()
    end = next((i for i, w in enumerate(words) if bare(w) in PREPOSITIONS or bare(w) in ("who", "that")), len(words))
    if aux not in ("are", "were") or not end or singular(words[end - 1]) == words[end - 1].lower():
        return rest
    if is_past(bare(words[0])) or bare(words[0]) in ("the", "from"):
        return rest
    noun = [*words[: end - 1], singular(words[end - 1]), *words[end:]]
    return f"{'an' if noun[0][0].lower() in 'aeiou' else 'a'} {' '.join(noun)}"


def _lone_names(a: str) -> bool:
    """Whether the first side is a name alone: nothing of a sentence stands in it."""
    words = [bare(w) for w in a.split() if not is_upper(w)]
    return not any(w in AUXILIARIES or is_verb(w) or (w in PREPOSITIONS and w != "of") for w in words)


_MORE: Final = lazy_pattern(
    r"(?P<by>by\s+)?how\s+(?:many|much)\s+(?P<unit>(?!more\b|less\b)[a-z]+s\s+)?(?P<comp>more|fewer|less|\w+er)\s+"
    r"(?P<noun>.*?)\s*"
    rf"\b(?P<aux>{'|'.join(sorted(AUXILIARIES))})\s+(?P<a>.+?)\s+than\s+(?P<b>.+)",
    re.IGNORECASE,
)


def _by_how_much(text: str) -> Pair | None:
    """The sides of `how many more seats did A have than B`, `how much longer is A than B`."""
    m = _MORE.fullmatch(text)
    if m is None:
        return None
    aux, noun, word = m["aux"].lower(), m["noun"].strip(), m["comp"].lower()
    words = m["a"].split()
    verbs = (i for i in range(1, len(words)) if is_verb(bare(words[i])) or is_past(bare(words[i])))
    at = next((i for i in verbs if not is_upper(words[i])), len(words))
    who, verb = " ".join(words[:at]), " ".join(words[at:])
    b = re.sub(r"\s+(?:did|does|do|has|had|was|is|were|are)$", "", m["b"])
    if word in ("more", "fewer", "less"):
        return _many(aux, verb, who, b, noun, "difference") if noun or verb else None
    return Pair(
        "compare", (who, b), tuple(raised(f"how {_adjective(word)} {aux} {x} {verb}") for x in (who, b)), "difference"
    )


_READERS: Final = (_by_how_much, _choice, _compared, _ordered, _yes_or_no, _both)

__all__ = ["Pair", "Way", "pair", "parallel", "subject"]
