"""Questions that compare two things by a value, as one question for each; and which reader a question has."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from quern.jobs.reasoning.questions.canonical import canonical
from quern.jobs.reasoning.questions.choices import COMPARATIVE, choice, plain_form
from quern.jobs.reasoning.questions.clause_forms import asked_of_clause, raised
from quern.jobs.reasoning.questions.pairs import QUANTITY, Pair, is_upper, parallel, resolved
from quern.jobs.reasoning.questions.references import proper_names, subject
from quern.jobs.reasoning.questions.time_order import ordered
from quern.jobs.reasoning.questions.words import AUXILIARIES, PREPOSITIONS, bare, is_past, is_verb
from quern.jobs.text.quantities import quantities, singular
from quern.schemas.words.calendar import MONTH
from quern.schemas.words.patterns import lazy_pattern

_REACH: Final = 24  # Characters in which a number must begin.
# What sets the scene of a question: `In the 2010 census, which ...`.
_LED: Final = lazy_pattern(
    r"((?:in|on|at|after|before|during|according\s+to|as\s+of|for|by|from|since)\s+[^,?]+),\s+"
    r"(?=(?:which|who|what|whose|did|was|is|were|are|has|had|does|do|how)\b)",
    re.IGNORECASE,
)


# What a question is about, before it: `Dogs in the reading room: did the library allow this before or after ...`.
_TOPIC: Final = lazy_pattern(
    r"(?P<topic>(?!(?:which|who|what|whose|where|when|why|how|did|was|is|were|are|has|had|does|do)\b)[^:?]{3,120}?)"
    r"(?:\s*[:;–—]|\s-)\s+(?P<asked>(?:and\s+)?(?:which|who|what|whose|did|was|is|were|are|has|had|does|do|how)\b.+)",
    re.IGNORECASE,
)
_LEANS: Final = lazy_pattern(
    r"\b(?:it|its|they|their|them|that|this|these|those|so|he|she|his|her|him|there)\b", re.IGNORECASE
)


def pair(question: str) -> Pair | None:
    """The two things that `question` compares, with what is asked of each; None where it compares nothing."""
    text = " ".join(question.split()).rstrip("?.!？ ")
    text = canonical(text)
    led = _LED.match(text)
    if led and (inner := pair(text[led.end() :])) is not None:
        return replace(inner, questions=tuple(raised(f"{led[1]}, {q[:1].lower()}{q[1:]}") for q in inner.questions))
    topic = _TOPIC.fullmatch(text)
    if topic and (inner := pair(topic["asked"])) is not None:
        leans = [_LEANS.search(q) is not None for q in inner.questions]
        told = zip(inner.questions, leans, strict=True)
        about = topic["topic"]
        questions = (f"{about}: {q[:1].lower()}{q[1:]}" if lean or not any(leans) else q for q, lean in told)
        return replace(inner, questions=tuple(map(raised, questions)))
    for reader in _READERS:
        if (found := reader(text)) is not None and len(set(found.questions)) == len(found.questions):
            return found
    return None


def _yes_or_no(text: str) -> Pair | None:
    """The sides of `did X draw more in A or in B`, `was A higher or lower than B`, `does A have more than B`."""
    m = re.fullmatch(rf"(?P<aux>{'|'.join(sorted(AUXILIARIES))})\s+(?P<rest>.+)", text, re.IGNORECASE)
    if m is None:
        return None
    aux, rest = m["aux"].lower(), m["rest"]
    than = re.fullmatch(
        rf"(?P<a>.+?)\s+(?P<comp>(?:{COMPARATIVE}|more|fewer|less|earlier|later)\s+or\s+\w+"
        rf"|{COMPARATIVE}|more|fewer|less|earlier|later|sooner)\s*(?P<noun>.*?)\s*\bthan\s+(?P<b>.+)",
        rest,
        re.IGNORECASE,
    )
    if than:
        return _than(aux, than)
    several = re.fullmatch(rf"(?P<left>.*\b(?:more|fewer|less|{COMPARATIVE})\b.*?)\s+or\s+(?P<right>.+)", rest)
    if several and (cut := parallel(several["left"], several["right"])):
        stem, a = cut
        amount = re.search(
            rf"\b(?P<comp>more|fewer|less|{COMPARATIVE})\s+(?P<noun>(?:(?!than\b)[a-z-]+\s+){{0,2}}?(?:(?!than\b)[a-z]+s|people))\b",
            stem,
        )
        if amount:
            asked = stem[: amount.start()] + stem[amount.end() :]
            questions = tuple(raised(f"how many {amount['noun']} {aux} {asked} {x}") for x in (a, several["right"]))
            return Pair("compare", (a, several["right"]), questions, amount["comp"])
    return None


def _than(aux: str, m: re.Match[str]) -> Pair | None:
    a, b, word, noun = m["a"], m["b"], m["comp"].lower(), m["noun"].strip()
    if (
        noun.startswith("likely")
        or re.match(r"(?:twice|half|double|a\s+(?:third|quarter|tenth))\b", b)
        or (quantities(b[:_REACH]) and quantities(b[:_REACH])[0].start == 0)
    ):
        return None  # `more than three weeks` compares with a number, not with a thing.
    first = word.split(" or ")[0].split()[0] if " or " in word else word
    if _ADVERBIAL.match(b):
        return _elsewhere(aux, m, first)
    if aux in ("is", "was", "are", "were"):
        b = resolved(b, a)
        if first in ("earlier", "later", "sooner"):
            return Pair("order", (a, b), tuple(asked_of_clause(x) for x in (a, b)), word)
        if QUANTITY.search(a):
            whole = _completed(a, b)
            return Pair("compare", (a, b), tuple(raised(f"what {aux} {x}") for x in (a, whole)), word)
        if first in ("more", "less", "fewer"):
            return None if not noun else _many(aux, "", a, b, noun, word)
        return Pair("compare", (a, b), tuple(raised(f"how {plain_form(first)} {aux} {x} {noun}") for x in (a, b)), word)
    words = a.split()
    at = next((i for i in range(1, len(words)) if is_verb(bare(words[i])) and not is_upper(words[i])), None)
    if at is None:
        return None
    who, verb = " ".join(words[:at]), " ".join(words[at:])
    b = resolved(re.sub(r"\s+(?:did|does|do|has|had|was|is)$", "", b), who)
    if first in ("earlier", "later", "sooner"):
        return Pair("order", (who, b), tuple(raised(f"when {aux} {x} {verb} {noun}") for x in (who, b)), word)
    if first in ("more", "less", "fewer"):
        return _many(aux, verb, who, b, noun, word)
    if m["noun"] and verb == "have":
        return Pair("compare", (who, b), tuple(raised(f"what is the {noun} of {x}") for x in (who, b)), word)
    return Pair(
        "compare", (who, b), tuple(raised(f"how {plain_form(first)} {aux} {x} {verb} {noun}") for x in (who, b)), word
    )


_ADVERBIAL: Final = lazy_pattern(rf"(?:{'|'.join(sorted(PREPOSITIONS))}|when|now|today|it|they)\b", re.IGNORECASE)
_NOW: Final = lazy_pattern(r"\b(?:now|today|currently|at\s+present|this\s+(?:year|month|week))(?:\s*\([^()]*\))?$")
_YEAR_BESIDE: Final = lazy_pattern(
    r"(?:in\s+)?(?:the|a)\s+year\s+(?:(?P<before>before|earlier|previously)|after|later)$", re.IGNORECASE
)


def _elsewhere(aux: str, m: re.Match[str], first: str) -> Pair | None:
    """One thing at two places or times: `more guests on Mill Green than on the quay`, `dearer in 2024 than in 2022`."""
    a, b, noun = m["a"], m["b"], m["noun"].strip()
    if first in ("more", "less", "fewer"):
        counted = re.match(r"(?P<noun>[a-z]+s|people)\b\s*(?P<rest>.*)", noun)
        asked = f"how many {counted['noun']}" if counted else "how much"
        whole = f"{asked} {aux} {a} {counted['rest'] if counted else noun}"
    else:
        whole = f"how {plain_form(first)} {aux} {a} {noun}"
    return _two_of(whole.strip(), b, m["comp"].lower())


def _two_of(whole: str, b: str, word: str) -> Pair | None:
    """A question for the one of two places or times, and the same with `b` in that one's place; None without one."""
    if re.match(r"(?:it|they)\b", b, re.IGNORECASE):
        return None
    now = _NOW.search(whole)
    cut = (whole[: now.start()].strip(), now[0]) if now else parallel(whole, b)
    if cut is None or len(cut[0].split()) < _LEAST_ASKED:
        return None
    stem, side = cut
    year = re.findall(r"\b(?:1\d|20)\d\d\b", side)
    if year and (beside := _YEAR_BESIDE.search(b)) is not None:
        b = f"{b[: beside.start()]}in {int(year[-1]) + (-1 if beside['before'] else 1)}"
    return Pair("compare", (side, b), (raised(f"{stem} {side}"), raised(f"{stem} {b}")), word)


_LEAST_ASKED: Final = 4  # Words of a question that two places or times are put to.


def _many(aux: str, verb: str, a: str, b: str, noun: str, word: str) -> Pair:
    counted = re.match(r"[a-z]+s\b|people\b", noun)
    asked = f"how many {noun.split()[0]}" if counted else "how much"
    rest = " ".join(noun.split()[1:]) if counted else noun
    return Pair("compare", (a, b), tuple(raised(f"{asked} {aux} {x} {verb} {rest}") for x in (a, b)), word)


_MONTH_OR_NUMBER: Final = lazy_pattern(rf"{MONTH}|\d")


def _completed(a: str, b: str) -> str:
    """`b` with what `a` is of, where `b` alone does not say: `the estimate of January 2024` of what?"""
    if re.match(r"that\s+of\b|those\s+of\b", b, re.IGNORECASE):
        head = re.split(r"\s+of\s+", a)[0]
        return re.sub(r"^(?:that|those)\b", head, b)
    if proper_names(f"x {b}") or not proper_names(f"x {a}"):
        return b
    wholes = (a[m.end() :] for m in re.finditer(r"\s(?:of|for)\s+", a))
    whole = next((w for w in wholes if not _MONTH_OR_NUMBER.match(w)), proper_names(f"x {a}")[-1])
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
    about = subject(m["left"]) if m else ""
    if (
        m
        and about
        and re.match(r"(?:the|an?|its|that|those)\s", m["right"])
        and not re.search(r"\s(?:in|at|on)\s", about)
    ):
        right = resolved(m["right"], about)
        other = m["left"].replace(about, right, 1)
        return Pair("compare", (about, right), (raised(m["left"]), raised(other)), "compared")
    if m and (cut := parallel(m["left"], m["right"])):
        left, a = cut
        right = m["right"]
        return Pair("compare", (a, right), (raised(m["left"]), raised(f"{left} {right}")), "compared")
    return None


def _swapped(a: str, b: str) -> str:
    """`b` in the place of its counterpart in `a`: the effect in `one trial` and `another` is the effect in another."""
    own = re.search(rf"\bof\s+(?!{MONTH}|\d)", b)
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
# `How many more people worked for A than for B`.
_MORE_OF: Final = lazy_pattern(
    r"(?:by\s+)?(?P<asked>how\s+(?:many|much))\s+(?:more|fewer|less)\s+(?P<rest>[a-z]+\s.+?)\s+than\s+(?P<b>.+)",
    re.IGNORECASE,
)


def _by_how_much(text: str) -> Pair | None:
    """The sides of `how many more seats did A have than B`, `how much longer is A than B`."""
    m = _MORE.fullmatch(text)
    if m is None:
        return _by_how_many_elsewhere(text)
    aux, noun, word = m["aux"].lower(), m["noun"].strip(), m["comp"].lower()
    words = m["a"].split()
    verbs = (i for i in range(1, len(words)) if is_verb(bare(words[i])) or is_past(bare(words[i])))
    at = next((i for i in verbs if not is_upper(words[i])), len(words))
    who, verb = " ".join(words[:at]), " ".join(words[at:])
    b = re.sub(r"\s+(?:did|does|do|has|had|was|is|were|are)$", "", m["b"])
    if _ADVERBIAL.match(b):
        counted = word in ("more", "fewer", "less")
        asked = f"how many {noun}" if counted and noun else "how much" if counted else f"how {plain_form(word)}"
        return _two_of(f"{asked} {aux} {m['a']}", b, "difference")
    b = resolved(b, who)
    if word in ("more", "fewer", "less"):
        return _many(aux, verb, who, b, noun, "difference") if noun or verb else None
    return Pair(
        "compare", (who, b), tuple(raised(f"how {plain_form(word)} {aux} {x} {verb}") for x in (who, b)), "difference"
    )


def _by_how_many_elsewhere(text: str) -> Pair | None:
    """The sides of `how many more people worked for A than for B`, where those counted are the subject."""
    m = _MORE_OF.fullmatch(text)
    if m is None or not _ADVERBIAL.match(m["b"]):
        return None
    return _two_of(f"{m['asked']} {m['rest']}", m["b"], "difference")


_READERS: Final = (_by_how_much, choice, _compared, ordered, _yes_or_no, _both)
