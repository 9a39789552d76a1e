"""Questions that offer things to choose from, as one question for each: `Which is longer, A or B`."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.questions.amounts import amount_of, did, kind_of_sides
from quern.jobs.reasoning.questions.clause_forms import raised
from quern.jobs.reasoning.questions.pairs import QUANTITY, Pair, Way, is_upper, parallel, resolved
from quern.jobs.reasoning.questions.words import AUXILIARIES, PREPOSITIONS, bare, base, is_past, is_verb
from quern.schemas.words.patterns import lazy_pattern

FIRST: Final = r"(?:first|earlier|earliest|later|last|latest|sooner|more recently|most recently)"
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
COMPARATIVE: Final = (
    r"(?:(?:more|less|most|least)\s+(?!people\b|money\b|likely\b|than\b)[a-z]+(?:ive|ous|ful|al|ant|ent|ing|ed"
    r"|able|ible|ar|ic|ly|y|ult|le)\b"
    r"|(?!over\b|ever\b|never\b|after\b|under\b|other\b|another\b|either\b|neither\b|whether\b|together\b|former\b"
    r"|latter\b|number\b|water\b|computer\b|player\b|member\b|river\b|power\b|paper\b|order\b|officer\b|winter\b"
    r"|summer\b|owner\b|danger\b|letter\b|chapter\b|center\b|founder\b|leader\b|writer\b|singer\b|actor\b|per\b"
    r"|newspaper\b|composer\b|designer\b|designer\b|corner\b|cover\b|enter\b|offer\b|fewer\b|director\b|her\b"
    r"|character\b|master\b|later\b|earlier\b|sister\b|brother\b|mother\b|father\b|daughter\b|quarter\b|rather\b)"
    r"[a-z]{3,}(?:er|est)\b|best\b|worst\b|worse\b)"
)


def plain_form(comparative: str) -> str:
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


# `The mill and the barn: which is older`.
_SIDES_FIRST: Final = lazy_pattern(
    r"(?P<a>[^,:?]{2,60}?)\s+(?:and|or)\s+(?P<b>[^,:?]{2,60}?)(?:\s*[:;–—]|\s-)\s+"
    rf"(?P<head>(?:which|who|what)\b.*\b(?:{COMPARATIVE}|{FIRST}|more|fewer|less|most)\b.*)",
    re.IGNORECASE,
)
# What is called `the one`, of a kind that the question names: `which hut has more beds, the one on the fell or ...`.
_ONE: Final = lazy_pattern(r"\b(the(?:\s+[a-z]+)?)\s+one\b", re.IGNORECASE)


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
        rf"(?P<head>(?:which|who|what|whose)\b.*?\b(?:{COMPARATIVE}|{FIRST}|more|fewer|less|most)"
        rf"(?:\s+[a-z]+)*?)\s+(?P<list>(?:the\s+)?[A-Z\"“][^,]*?\s+or\s+[^,]+)$",
        text,
    )
    if m is None and (m := _SIDES_FIRST.fullmatch(text)) is not None:
        return m["head"], [m["a"], m["b"]]
    return (m["head"], _listed(m["list"])) if m else None


def choice(text: str) -> Pair | None:
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
    if kind := kind_of_sides(head):
        things = [_ONE.sub(rf"\1 {kind}", thing) for thing in things]
    things = [things[0], *(_completed(resolved(thing, things[0]), things[0]) for thing in things[1:])]
    return Pair(way, tuple(things), tuple(raised(pattern.replace("@", thing)) for thing in things), word)


def _completed(thing: str, first: str) -> str:
    """A thing with what it shares with the first: `on Gold` beside `the limit on Platinum` is `the limit on Gold`."""
    words, own = thing.split(), first.split()
    measured = QUANTITY.search(first) is not None and is_upper(words[0]) and not QUANTITY.search(thing)
    if bare(words[0]) in PREPOSITIONS and bare(own[0]) not in PREPOSITIONS and (cut := parallel(first, thing)):
        return f"{cut[0]} {thing}"
    at = max((n for n, w in enumerate(own) if bare(w) in PREPOSITIONS), default=0)
    if measured and at and is_upper(own[-1]):
        return f"{' '.join(own[: at + 1])} {thing}"
    return thing


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
        if reader is _of_manner and (amount := amount_of(head)) is not None:
            return "compare", amount.pattern, amount.word
        m = re.fullmatch(pattern, head, re.IGNORECASE)
        if m and (found := reader(m)) is not None:
            return found
    return None


def _of_first(m: re.Match[str]) -> tuple[Way, str, str]:
    verb, when = m["verb"].lower(), m["when"].lower()
    rest = m.groupdict().get("rest") or ""
    if verb in ("came", "comes", "happened", "occurred", "happens", "occurs", "took place", "was", "is"):
        return "order", f"when was @ {rest}", when
    if m.groupdict().get("be"):
        return "order", f"when {m['be']} @ {verb} {rest}", when
    aux, plain = (m["aux"].lower(), verb) if m.groupdict().get("aux") else did(verb.split()[0])
    return "order", f"when {aux} @ {' '.join([plain, *verb.split()[1:]])} {rest}", when


def _of_adjective(m: re.Match[str]) -> tuple[Way, str, str]:
    rest = m["rest"] or ""
    word = m["comp"].lower()
    if m.groupdict().get("article"):  # `the longer ship`: what the sides are needs not be asked.
        rest = _NOUN.sub("", rest)
    return "compare", f"how {plain_form(word)} {m['be']} @ {rest}", word


_NOUN: Final = lazy_pattern(rf"^\s*(?:(?!(?:{'|'.join(sorted(PREPOSITIONS))})\b)[a-z]+\s*){{1,2}}(?=\s|$)")


def _of_passive(m: re.Match[str]) -> tuple[Way, str, str]:
    rest = m["rest"] or ""
    noun = m["noun"] or ""
    much = f"how many {noun}" if noun else "how much"
    return "compare", f"{much} {m['be']} @ {m['verb']} {rest}", m["comp"].lower()


def _asked_by(m: re.Match[str]) -> tuple[str, str] | None:
    """The auxiliary and plain form of the verb of a match; None where its word is no verb."""
    verb = m["verb"].lower()
    if m["aux"]:
        return m["aux"].strip().lower(), verb
    return did(verb) if is_past(verb) or is_verb(base(verb)) or verb in ("has", "have", "had") else None


def _of_size(m: re.Match[str]) -> tuple[Way, str, str]:
    aux, _ = did(m["verb"])
    be = "was" if aux == "did" else "is"
    if not QUANTITY.search(m["noun"]):  # `the taller tower`: the tower is asked for by its height.
        asked = f"how {plain_form(m['comp'])} {be} the {m['noun']} of @ {m['rest'] or ''}"
        return "compare", asked, m["comp"].lower()
    return "compare", f"what {be} the {m['noun']} of @ {m['rest'] or ''}", m["comp"].lower()


def _of_manner(m: re.Match[str]) -> tuple[Way, str, str] | None:
    if (asked := _asked_by(m)) is None:
        return None
    aux, plain = asked
    if plain in _STANDS:
        be = "was" if aux == "did" else "is" if aux == "does" else "are"
        return "compare", f"how {plain_form(m['comp'])} {be} @ {m['rest'] or ''}", m["comp"].lower()
    return "compare", f"how {plain_form(m['comp'])} {aux} @ {plain} {m['rest'] or ''}", m["comp"].lower()


# Verbs that say no more than `be` beside an adjective.
_STANDS: Final = frozenset("stand rise lie measure look seem rank prove remain reach".split())


def _of_truth(m: re.Match[str]) -> tuple[Way, str, str] | None:
    verb, rest = m["verb"].lower(), m["rest"]
    having = verb in ("has", "had", "have")
    if is_past(bare(rest.split()[0])) if having else verb in AUXILIARIES:
        return "both", f"{verb} @ {rest}", ""
    if not (is_past(verb) or having or is_verb(base(verb))):
        return None
    aux, plain = did(verb)
    return "both", f"{aux} @ {plain} {rest}", ""


_HEADS: Final = (
    (
        rf"{_WHO}\s+(?P<be>was|were|is|are|got)\s+(?P<verb>\w+(?:\s+(?!{FIRST}\b)\w+)*?)\s+(?P<when>{FIRST})"
        rf"(?P<rest>.*)",
        _of_first,
    ),
    (rf"{_WHO}\s+(?P<aux>did|does|do)\s+(?P<verb>\w+)\s+(?P<when>{FIRST})(?P<rest>.*)", _of_first),
    (rf"{_WHO}\s+(?P<verb>(?:came|comes)\s+out|took\s+place|\w+)\s+(?P<when>{FIRST})(?P<rest>.*)", _of_first),
    (
        rf"{_WHO}\s+(?P<be>is|was|are|were)\s+(?P<article>the\s+)?(?P<comp>{COMPARATIVE})"
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
        rf"{_WHO}\s+(?P<verb>has|had|have)\s+(?:an?|the)\s+(?P<comp>{COMPARATIVE})\s+(?P<noun>[a-z]+(?:\s+[a-z]+)?)"
        rf"(?P<rest>\s+(?:in|at|on|of|for|by|than)\s+.*)?",
        _of_size,
    ),
    (
        rf"{_WHO}\s+(?P<aux>(?:did|does|do)\s+)?(?P<verb>\w+)\s+(?P<comp>{COMPARATIVE})(?P<rest>\s+.*)?",
        _of_manner,
    ),
    (rf"{_WHO}\s+(?P<verb>\w+)\s+(?P<rest>.+)", _of_truth),
)
