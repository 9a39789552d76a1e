"""Questions about something that is only described, as a question for what it is and one with its answer.

`When did the country that produced Fist Power join the EU?` needs `What is the country
that produced Fist Power?` first.
"""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.questions.clause_forms import raised
from quern.jobs.reasoning.questions.plan import SubQuestion
from quern.jobs.reasoning.questions.references import proper_names
from quern.jobs.reasoning.questions.words import ADVERBS, AUXILIARIES, BE, CLOSED, PREPOSITIONS, bare, is_past, is_verb
from quern.jobs.text.quantities import singular
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

_MOST_HOPS: Final = 3
_TELLING: Final = 3  # Words of content by which a clause tells one person from others.
_STARS: Final = frozenset("star host individual men".split())  # Persons whose words are of things as well.
# Nouns that name one thing by its relation to another. With `of NAME` they describe what the question is about.
_RELATION: Final = (
    r"(?:birthplace|birth\s+place|place\s+of\s+(?:birth|death|burial)|hometown|home\s+town|country|state|city|town"
    r"|county|district|"
    r"region|province|continent|capital|wife|husband|spouse|father|mother|son|daughter|child|sibling|brother"
    r"|sister|partner|"
    r"author|writer|director|performer|singer|composer|producer|creator|founder|inventor|designer|developer|publisher|"
    r"owner|maker|manufacturer|builder|employer|leader|architect|painter|artist|star|host|screenwriter|lyricist|"
    r"songwriter|discoverer|team|band|group|company|record\s+label|label|school|university|college|alma\s+mater|"
    r"league|network|party|language|river|successor|predecessor|sequel|religion)"
)
_THAT: Final = (
    r"(?:that|who|which|where|whose|in\s+which|to\s+which|of\s+which|whom|for\s+which|with\s+which|on\s+which"
    r"|from\s+which"
    r"|starring|featuring|containing|responsible\s+for"
    r"|(?:directed|written|produced|created|founded|composed|performed|owned|built|published|designed|made"
    r"|recorded)\s+by)"
)
_RELATIVE: Final = lazy_pattern(
    rf"\b(?P<np>(?:the|an?)\s+(?P<head>(?:(?!{_THAT}\b|of\b|in\b|to\b|for\b|is\b|was\b|are\b|were\b|did\b|does\b|do\b|has\b"
    rf"|have\b|had\b|will\b|would\b|can\b|could\b|should\b|and\b)[\w’'-]+\s+){{1,4}}?)(?P<that>{_THAT})\s+(?P<clause>(?:[^,?]|,(?=\s+(?:19|20)\d\d\b))+))",
    re.IGNORECASE,
)
# `the city Kevin Durant played for`: a relative clause without its pronoun, of a name and a verb.
_BARE: Final = lazy_pattern(
    rf"\b(?P<np>the\s+(?P<head>{_RELATION}|person|man|woman|film|movie|book|song|album|place)\s+(?P<clause>"
    rf"(?:[A-Z#][\w’'-]*\s+)+(?:(?:is|was|are|were)\s+)?\w+[^,?]*))"
)
_OF: Final = lazy_pattern(
    rf"\b(?P<np>the\s+(?P<head>(?:[a-z]+\s+)?{_RELATION})\s+(?:of|for|to)\s+(?P<name>(?:the\s+)?"
    rf"(?:(?!which\b|what\b|whose\b)[a-z]+\s+){{0,2}}?(?:[\"“][^\"”]+[\"”]|#\d|[A-Z0-9][\w’'.&-]*(?:\s+(?:of\s+"
    rf"|the\s+|and\s+|in\s+|to\s+"
    rf"|for\s+|a\s+)*[A-Z0-9#][\w’'.&-]*)*)))(?!['’]s\b)"
)
_OWN: Final = lazy_pattern(
    rf"(?P<np>(?P<name>(?:[\"“][^\"”]+[\"”]|#\d|(?<!\w)[A-Z][\w’'.&-]*?(?:\s+(?:of\s+|the\s+|and\s+|for\s+"
    rf"|a\s+)*[A-Z0-9][\w.&-]*)*))['’]s?\s+(?P<head>{_RELATION}|birth\s+(?:country|city|state|place)"
    rf"|country\s+of\s+(?:birth|citizenship|origin)|city\s+of\s+birth))\b(?!\s+(?:of|at|in)\s+[A-Z])"
)
_OWNS: Final = re.compile(r"(?:['’]s|s['’])$")
# These are followed by what they say, not by what they are: `the claim that the radar was off`.
_SAID: Final = lazy_pattern(
    r"(?:claim|fact|idea|news|belief|announcement|rumou?r|report|statement|hope|view|evidence|promise|suspicion|theory|"
    r"proof|warning|finding|conclusion|argument|allegation|assumption|time|day|year|moment|reason|way|date|week"
    r"|month)s?$",
    re.IGNORECASE,
)
# `the city of Casterby` is Casterby.
_PLACE: Final = lazy_pattern(
    r"(?:country|state|city|town|county|district|region|province|continent|river|band|group|company|university|network"
    r"|party|school|college|league|team)$"
)
_EMPTY: Final = frozenset("name names called known other so same one first there located part of-".split())


def chain(question: str) -> tuple[SubQuestion, ...]:
    """Sub-questions for what `question` only describes, innermost first, the last being what is left of it.

    Empty where the question describes nothing that must be found first.
    """
    text = _in_order(" ".join(question.split()).rstrip("?.!？ "))
    found: list[SubQuestion] = []
    phrases: dict[int, str] = {}
    while len(found) < _MOST_HOPS and (inner := _innermost(text)) is not None:
        start, end, head = inner
        phrase = text[start:end]
        number = len(found) + 1
        left = f"{text[:start]}#{number}{text[end:]}"
        if not _has_content(left):
            break
        found.append(_sub(_asked(phrase, head), phrases))
        phrases[number] = phrase
        text = left
    return (*found, _sub(text, phrases)) if found else ()


def _in_order(text: str) -> str:
    """A question with a clause that stands behind the verb put behind its noun: `did the ferry stop whose bell ...`."""
    m = _EXTRAPOSED.search(text)
    if m is None or not is_verb(m["verb"].split()[0]) or (m["clause"][:5] == "that " and m["verb"] in _SAYING):
        return text
    return f"{text[: m.start('np')]}{m['np']} {m['clause']} {m['verb']}"


def _asked(phrase: str, head: str) -> str:
    """The question for what a phrase describes: `which country produced X`, `who is the director of X`."""
    m = _DOES.fullmatch(phrase)
    if m and _verb_follows(m["clause"]) and m["clause"][:1].islower():
        return f"who {m['clause']}" if m["head"] in _ANYBODY else f"which {m['head']} {m['clause']}"
    word = "who" if _is_person(head.split()[-1].lower()) else "what"
    be = "are" if singular(head.split()[-1]) != head.split()[-1].lower() else "is"
    return f"{word} {be} {_definite(phrase)}"


def _is_person(noun: str) -> bool:
    return noun in _STARS or is_person(noun)


# What these take is a clause, and no one's description: `did the board agree that the mill be sold`.
_SAYING: Final = frozenset(
    "say announce decide agree claim rule find learn know think believe report state tell hear confirm argue warn hope "
    "expect promise show admit discover realise realize note hold see feel say demand insist suggest propose recommend "
    "ask order vote resolve declare write read remember forget mention complain explain prove notice conclude".split()
)
_EXTRAPOSED: Final = lazy_pattern(
    r"\b(?:did|does|do|will)\s+(?P<np>the\s+(?:[a-z-]+\s+){0,2}?[a-z-]+)\s+(?P<verb>[a-z]+(?:\s+[a-z]+ing)?)\s+"
    r"(?P<clause>(?:whose|that|who|which)\s+[^,?]+)$"
)
_DOES: Final = lazy_pattern(r"(?:the|an?)\s+(?P<head>[\w\s'’-]+?)\s+(?:that|who|which)\s+(?P<clause>.+)", re.IGNORECASE)
_ANYBODY: Final = frozenset("person man woman one individual people".split())


def _sub(text: str, phrases: dict[int, str]) -> SubQuestion:
    parents = tuple(sorted({int(k) for k in re.findall(r"#(\d)", text)}))
    return SubQuestion(raised(text), parents, {p: _whole(phrases[p], phrases) for p in parents})


def _whole(phrase: str, phrases: dict[int, str]) -> str:
    """The phrase with the phrases inside it."""
    return re.sub(r"#(\d)", lambda m: _whole(phrases[int(m[1])], phrases), phrase)


def _definite(phrase: str) -> str:
    return re.sub(r"^an?\s+", "the ", phrase)


def _innermost(text: str) -> tuple[int, int, str] | None:
    """Start, end and head noun of the shortest description in `text` that holds a name."""
    spans: list[tuple[int, int, str]] = []
    for pattern in (_RELATIVE, _BARE):
        for m in _overlapping(pattern, text):
            before = _auxiliary_before(text, m.start())
            ends = _clause_end(m["clause"], before, fronted=_fronted(text)) if before else len(m["clause"])
            end = m.start("clause") + ends
            phrase = text[m.start() : end]
            fits = _verb_follows(m["clause"]) if pattern is _BARE else _active(text, m)
            if not fits or _SAID.search(m["head"].strip()):
                continue
            clause = text[m.start("clause") : end]
            if (_anchored(clause) or _tells_person(text, m, clause)) and len(phrase.split()) <= 20:
                spans.append((m.start(), end, m["head"].strip()))
    for pattern in (_OF, _OWN):
        spans.extend((m.start(), m.end(), m["head"]) for m in _overlapping(pattern, text) if _related(text, m))
    spans = [s for s in spans if text[s[0] : s[1]].strip() != text.strip()]
    return min(spans, key=lambda s: (s[1] - s[0], s[0]), default=None)


def _active(text: str, m: re.Match[str]) -> bool:
    """Whether a phrase is not the subject of a passive question, as in `was the house built by Marr`."""
    before = text[: m.start()].split()
    return not (m["that"].endswith("by") and before and bare(before[-1]) in BE)


def _related(text: str, m: re.Match[str]) -> bool:
    """Whether `the capital of X` or `X's capital` means something else than X, and X is the whole name."""
    if _OWNS.search(m["name"]) and re.match(r"\s+[a-z]", text[m.end() :]):
        return False  # `the architect of Averil's library` is not of Averil.
    if m.start() == 0 or (re.search(r"[A-Z][\w’'-]*\s$", text[: m.start()]) and " " in text[: m.start()].strip()):
        return False
    return m["name"].startswith("#") or "'" in m[0] or "’" in m[0] or not _PLACE.search(m["head"])


def _verb_follows(clause: str) -> bool:
    """Whether the first word behind the names of `clause` is a verb: `Kevin Durant played for`."""
    word = next((bare(w) for w in clause.split() if not (w[0].isupper() or w[0] == "#")), "")
    return word in AUXILIARIES or is_past(word) or is_verb(re.sub(r"s$", "", word))


def _overlapping(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Matches from every start, inner ones too."""
    found, at = [], 0
    while (m := pattern.search(text, at)) is not None:
        found.append(m)
        at = m.start() + 1
    return found


def _anchored(clause: str) -> bool:
    """Whether a clause says of something known: a name, a number of a reference, a quoted title."""
    return bool(proper_names(f"x {clause}")) or "#" in clause or '"' in clause or "“" in clause


_WHO: Final = frozenset("who whom whose name".split())  # Who asks for a person by these asks nothing else of them.


def _tells_person(text: str, m: re.Match[str], clause: str) -> bool:
    """Whether a clause says so much of one person that no name is needed to find who it is, and is not all asked."""
    head = m["head"].split()[-1].lower()
    one = _is_person(head) and singular(head) == head and m["np"].lower().startswith("the ")
    before = text[: m.start()].lower().split()
    if not one or m["that"].lower() not in ("who", "that", "whose") or not _WHO.isdisjoint(before):
        return False
    return sum(bare(w) not in CLOSED for w in clause.split()) >= _TELLING


def _auxiliary_before(text: str, start: int) -> str:
    """The auxiliary before `start`, behind which the subject stands, whose verb is still to come; empty for none."""
    word = next((bare(w) for w in reversed(text[:start].split())), "")
    return word if word in AUXILIARIES else ""


def _clause_end(clause: str, auxiliary: str, *, fronted: bool) -> int:
    """Where a relative clause ends: before the verb of the main question, or before the preposition at its end.

    `Which city is the firm that bought the plant from`: no plain form of a verb goes with `is`, and the preposition is
    the question's where the verb of the clause has its object already and the question does not begin with one of its
    own, or with `how`, which needs none (`fronted`).
    """
    words = list(re.finditer(r"\S+", clause))
    seen_verb = False
    for i, m in enumerate(words):
        word = bare(m[0])
        plain = is_verb(word) and not (seen_verb and auxiliary in BE)
        verb = not m[0][0].isupper() and (plain or is_past(word) or word in AUXILIARIES or _behind_name(words, i))
        behind = i and bare(words[i - 1][0]) not in CLOSED
        if verb and seen_verb and behind and i > 1:
            return words[i - 1].end()
        if verb and not (word in AUXILIARIES and seen_verb):
            seen_verb = (
                seen_verb
                or word not in AUXILIARIES
                or i + 1 == len(words)
                or not is_past(bare(words[min(i + 1, len(words) - 1)][0]))
            )
    if fronted or auxiliary not in BE or len(words) < 3 or bare(words[-1][0]) not in PREPOSITIONS:
        return len(clause)
    earlier = [bare(m[0]) for m in words[:-2] if not m[0][0].isupper()]
    has_object = any(is_past(word) or is_verb(re.sub(r"s$", "", word)) for word in earlier)
    return words[-2].end() if has_object else len(clause)


def _fronted(text: str) -> bool:
    """Whether a question begins with a preposition, or asks how old or long something is."""
    first = bare(text.split()[0])
    return first in PREPOSITIONS or first == "how"


def _behind_name(words: list[re.Match[str]], at: int) -> bool:
    """Whether word `at` of a clause ends in s and has nothing but names before it: `Lantern Tide commemorates`."""
    word = words[at][0]
    return (
        at > 0
        and word.endswith("s")
        and not _OWNS.search(word)
        and word not in ADVERBS
        and all(m[0][0].isupper() for m in words[:at])
    )


def _has_content(text: str) -> bool:
    """Whether anything is asked of the references in `text`: a word beside those of closed classes."""
    words = [bare(w) for w in re.sub(r"#\d(?:['’]s)?", "", text).split()]
    return any(w and w not in CLOSED and w not in _EMPTY for w in words)
