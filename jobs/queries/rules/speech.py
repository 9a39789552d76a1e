"""What a speaker says of himself and of those he talks to, as others would ask about it: I and you become names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from quern.jobs.queries.rules.parts import shortened
from quern.jobs.reasoning.clauses.words import ADVERBS, PREPOSITIONS
from quern.jobs.reasoning.questions.words import CLOSED, base, is_past, is_verb

_ASKS: Final = re.compile(
    r"(?P<wh>(?:What|When|Where|Who|Why|How|Which)(?: [\w’'-]+){0,4}? )?(?P<aux>do|did|are|were|have|can|could"
    r"|will|would|should|"
    r"am|is|does|has|was|’re|'re) (?P<who>you guys|you all|you|we|I)(?P<rest> [^?]*)\?",
    re.IGNORECASE,
)
_TO_ALL: Final = re.compile(r"\b(?:you (?:guys|all)|everyone|anyone|everybody|anybody|y'all)\b", re.IGNORECASE)
_ONE: Final = {"do": "does", "are": "is", "were": "was", "have": "has", "am": "is"}
_FIRST: Final = re.compile(
    r"(?:^|(?<=[.!?…,] )|(?<=\bbut )|(?<=\band )|(?<=[^\w\s] ))(?P<who>I|We|we)(?P<short>['’](?:m|re|ve|ll|d))?"
    r"(?: (?P<words>[^.!?…;:()\"“”]+))(?P<end>[.!?…;:(\"“]|$)"
)
_ADVERB: Final = re.compile(
    r"(?:(?:just|really|also|always|usually|definitely|actually|still|totally|already|recently|even|so|only|"
    r"currently|\w+ly) )+"
)
_ENDED: Final = re.compile(
    r", |[–—]| (?:but|because|since|so|and (?:I|we|it|then|have|\w+ing)|if|when|while|as (?!an? |part)|which|who"
    r"|that (?:I|we|you)|though|although) |\s-\s"
)
_TIME: Final = re.compile(
    r"(?:^| )(?:(?:this|next|last|every) (?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|week|weekend|month|year"
    r"|morning|afternoon|evening|summer)"
    r"(?: (?:morning|afternoon|evening|night))?|(?:on )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: (?:morning"
    r"|afternoon|evening|night))?"
    r"|tomorrow(?: (?:morning|afternoon|evening|night))?|tonight|today|yesterday|(?:at|around"
    r"|by) (?:about )?(?:\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\b\.?)?|noon|midnight)"
    r"|in the (?:morning|afternoon|evening)|after work|later today)(?![\w’'])",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r" (?:at|to|in) (?P<where>(?:the |my |our )?(?:(?:[A-Z][\w’'-]+)(?: [A-Z][\w’'-]+)*|local [a-z]+|park|gym|café"
    r"|cafe|library|beach|mall|studio))(?= |$)"
)
_OF: Final = re.compile(r"\b(?:I|me|my|mine|myself|you|your|yours|yourself|we|us|our|ours)\b", re.IGNORECASE)
_UNCLEAR: Final = re.compile(
    r"\bthis\b(?! (?:[A-Z][a-z]+day|week|weekend|month|year|morning|afternoon|evening|summer|winter|spring"
    r"|fall)\b)|\b(?:it|that|those|these|them|they|he|she|him|there|here|one|ones|something|anything|everything|so"
    r"|too|not|never|mine|yours)\b|n['’]t\b",
    re.IGNORECASE,
)
_EMPTY_VERBS: Final = frozenset(
    "think guess know hope feel mean say see wonder bet get agree understand hear remember suppose do".split()
)
_MODALS: Final = frozenset("can could will would should might may must".split())
_NO_VERBS: Final = frozenset("too guys all both got gotta hardly kinda sure ready".split())
_LEAST: Final = 4
_MOST: Final = 18
_OBJECT: Final = re.compile(
    r"(?:the|an?|my|your|our|some|any|more|new|\d+|two|three|all)? ?[\w’'-]+(?: (?!(?:in|on|at|by|for|from|to|with"
    r"|into|during|after|before|about|like|as|of|over|around|and) )[\w’'-]+){0,3}"
)


@dataclass(frozen=True)
class Turn:
    """Who speaks to whom."""

    speaker: str
    addressee: str

    @property
    def together(self) -> str:
        """Both of them."""
        return f"{self.speaker} and {self.addressee}"

    def of(self, text: str, *, named: str = "") -> str:
        """`text` with names and `their` for I, you and we; a name that stands before (`named`) is `their`."""
        seen = named

        def stands(found: re.Match[str]) -> str:
            nonlocal seen
            word = found[0].lower()
            mine, ours = word in ("i", "me", "my", "mine", "myself"), word in ("we", "us", "our", "ours")
            name = self.together if ours else self.speaker if mine else self.addressee
            owned = word in ("my", "your", "our")
            if word in ("myself", "yourself"):
                return "themselves"
            if name == seen or (ours and seen):
                return "their" if owned else "them" if word in ("me", "you", "us") else "they"
            seen = seen or name
            return f"{name}'s" if owned else name

        return _OF.sub(stands, text)


def asked(said: str, turn: Turn) -> Iterator[str]:
    """The questions that a turn asks, as others would ask them: `What do you play?` as `What does Anna play?`."""
    for found in _ASKS.finditer(said):
        rest, who, aux, wh = found["rest"].strip(), found["who"].lower(), found["aux"].lower(), found["wh"] or ""
        if who in ("you guys", "you all") or _TO_ALL.search(rest) or _UNCLEAR.search(rest) or _dangling(wh, rest):
            continue
        if rest.split()[:1] in (["think"], ["guess"], ["mind"], ["know"]) or not rest:
            continue
        name = turn.together if who == "we" else turn.speaker if who == "i" else turn.addressee
        if not name:
            continue
        start = said[: found.start()].rstrip()[-1:]
        if start and start not in ".!?,…-–—)" and start.isalnum():
            continue
        verb = aux if who == "we" else _ONE.get(aux, aux)
        yield from _put(f"{wh}{verb} {name} {turn.of(rest, named=name)}")


def _dangling(wh: str, rest: str) -> bool:
    """Whether what is asked needs what was said before: `How about ...`, a clause behind a comma."""
    return (
        wh.lower().startswith(("how about", "what about", "why don"))
        or len(rest.split()) < 1
        or ", " in rest
        or " - " in rest
    )


def stated(said: str, turn: Turn) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) that ask for what a speaker states of himself or of both."""
    for found in _FIRST.finditer(said):
        if found["end"] == "?":
            continue
        yield from _of_statement(found, turn)


def _of_statement(found: re.Match[str], turn: Turn) -> Iterator[tuple[str, str]]:
    who = turn.speaker if found["who"] == "I" else turn.together
    if not who or (found["who"] != "I" and not turn.addressee):
        return
    why = re.search(r" because ", found["words"])
    words = _ENDED.split(found["words"], maxsplit=1)[0].strip(" ,")
    words = _ADVERB.sub("", words, count=1)
    verb = _verb((found["short"] or "")[1:], words, plural=found["who"] != "I")
    if verb is None or _UNCLEAR.search(words):
        return
    aux, main, rest = verb
    plain = main.split()[-1] if main else ""
    if plain in _EMPTY_VERBS or (
        plain in ("have", "be", "go", "look", "make", "take", "try", "love", "like", "want", "keep", "swear")
        and len(rest.split()) < 2
    ):
        return
    head = " ".join(filter(None, (aux, who, main)))
    if turn.speaker.split()[0] in rest:
        return
    rest = turn.of(rest, named=who)
    if why:
        yield from _form("why", f"Why {head} {shortened(rest)}")
    if when := _TIME.search(f" {rest}"):
        before = rest[: max(when.start() - 1, 0)].strip()
        if (before or plain not in ("be", "")) and _TIME.search(before) is None:
            yield from _form("when", f"When {head} {before}")
    place = _PLACE.search(f" {rest}")
    if place and main and "is" not in (aux, *tuple(main.split()[:1])):
        before = f" {rest}"[: place.start()].strip()
        if _TIME.search(f" {place['where']}") is None:
            yield from _form("where", f"Where {head} {before}")
    yield from _objects(head, plain, rest)
    if rest and (main or len(rest.split()) > 1):
        yield from _form("whether", f"{head} {shortened(rest)}")


def _objects(head: str, plain: str, rest: str) -> Iterator[tuple[str, str]]:
    if re.match(r"(?:to \w+|\w+ing\b)", rest) and plain in (
        "love",
        "like",
        "want",
        "enjoy",
        "plan",
        "prefer",
        "need",
        "start",
        "decide",
        "hope",
        "try",
    ):
        doing = "doing" if not rest.startswith("to ") else "to do"
        yield from _form("what", f"What {head} {doing}")
        return
    if rest.startswith("forward to "):
        yield from _form("what", f"What {head} forward to")
        return
    found = _OBJECT.match(rest)
    if (
        found is None
        or not plain
        or plain.endswith("ed")
        or plain
        in (
            "be",
            "been",
            "find",
            "let",
            "help",
            "give",
            "show",
            "go",
            "come",
            "look",
            "feel",
            "work",
            "meet",
            "wait",
            "arrive",
        )
    ):
        return
    if (
        rest.split()[0].lower()
        in PREPOSITIONS | ADVERBS | {"to", "up", "out", "down", "off", "how", "what", "that", "a", "like"}
        and rest.split()[0] != "a"
    ):
        return
    behind = rest[found.end() :].strip()
    if behind.split()[:1] in (["of"], ["and"], ["to"]):
        behind = ""
    yield from _form("what", f"What {head} {shortened(behind, 8)}")


def _verb(short: str, words: str, *, plural: bool) -> tuple[str, str, str] | None:
    """Auxiliary, verb and rest of what a speaker says of himself."""
    parts = words.split()
    if not parts:
        return None
    first, rest = parts[0].lower(), " ".join(parts[1:])
    be = "are" if plural else "is"
    if short in ("m", "re"):
        return _lasting(be, words)
    if short == "ll":
        return "will", first, rest
    if short == "ve":
        return ("have" if plural else "has"), first, rest
    if short == "d":
        return ("would", first, rest) if is_verb(first) or first == "love" else None
    if first in ("am", "are"):
        return _lasting(be, rest)
    if first in ("was", "were"):
        return _lasting("were" if plural else "was", rest)
    if first in ("have", "had") and parts[1:] and is_past(parts[1].lower()):
        return ("have" if plural else "has") if first == "have" else "had", parts[1], " ".join(parts[2:])
    if first in _MODALS:
        verb = parts[1].lower() if parts[1:] else ""
        return (first, verb, " ".join(parts[2:])) if verb.isalpha() and verb not in ADVERBS else None
    if is_past(first) and first not in ("read", "put", "let", "set", "cut", "hit", "shut", "cost"):
        return "did", base(first), rest
    if parts[0].isalpha() and len(first) > 2 and first not in CLOSED | ADVERBS | _NO_VERBS:
        return ("do" if plural else "does"), first, rest
    return None


def _lasting(be: str, words: str) -> tuple[str, str, str] | None:
    words = _ADVERB.sub("", words, count=1)
    parts = words.split()
    if not parts:
        return None
    first = parts[0].lower()
    if first == "going" and parts[1:2] == ["to"] and len(parts) > 3:
        return be, f"going to {parts[2]}", " ".join(parts[3:])
    if first == "gonna" and len(parts) > 2:
        return be, f"going to {parts[1]}", " ".join(parts[2:])
    if (first.endswith("ing") and len(first) > 4) or (is_past(first) and len(parts) > 1):
        return be, first, " ".join(parts[1:])
    return (be, "", words) if len(parts) > 2 else None


def _form(name: str, question: str) -> Iterator[tuple[str, str]]:
    yield from ((name, whole) for whole in _put(question))


def _put(question: str) -> Iterator[str]:
    body = " ".join(question.split()).rstrip(" ,.;:-–")
    words = body.split()
    if not _LEAST <= len(words) <= _MOST or _UNCLEAR.search(" ".join(words[1:])):
        return
    if words[-1].lower() in (
        "the",
        "a",
        "an",
        "and",
        "or",
        "my",
        "their",
        "of",
        "very",
        "is",
        "are",
        "was",
        "does",
        "did",
    ):
        return
    if not all(c.isascii() or c.isalpha() or c in "’–—" for c in body) or re.search(r"[\"“”()*#_<>\[\]]", body):
        return
    yield f"{body[0].upper()}{body[1:]}?"
