"""The persons, places and things that a sentence names, and what it says beside a name."""

from __future__ import annotations

import re
from dataclasses import replace

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.names import Name, chinese_names, is_body, names
from quern.jobs.reasoning.answering.persons import same_roles, told_by_age
from quern.jobs.reasoning.answering.typed.value import MARKED, Value
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person
from quern.schemas.words.scripts import HAN

_BODY = 0.45  # What the name of a body is worth where a person is asked for.
_OTHER_ROLE = 0.6  # What a name is worth where the sentence lacks the role that is asked for: `the vet`.
_CALLED = lazy_pattern(r"\b(?:called|named|christened|dubbed|nicknamed|names?(?: is| was)?)\s+(?:the\s+)?[\"“'‘]?$")
_THING_BEFORE = lazy_pattern(
    r"\b(?:ferry|ship|boat|vessel|dredger|trawler|steamer|brig|schooner|yacht|tug|barge|liner|tanker|tram|train|bus|plane|"
    r"company|firm|bank|brand|song|film|novel|book|journal|newspaper|magazine|band|club|storm)\s+$"
)
_OF_THING = 0.2  # What the name of a ship, a firm or a book is worth where a person is asked for.
_DOES = 0.9  # What a person is worth who does what is asked.
_WORD_AFTER = lazy_pattern(r"\s+(?:(?:has|have|had|also|then|first|\w+ly)\s+)?([a-z]+)")
_HAN = lazy_pattern(f"[{HAN}]")
_LIES = lazy_pattern(
    rf"(?:(?P<lies>位[于在]|[坐座]落[于在]|地处)|[设建葬]在|葬于|出生[于在]|来自|分布[于在]|居?住在)"
    rf"(?P<at>[{HAN}][^，。；,;！？]{{1,24}}?)(?=[，。；,;！？]|$|境内)"
)
# What says beside a name what it names: an apposition behind it, or a role before it.
_INTRODUCES = lazy_pattern(
    r"(?P<what>,\s+(?:an?|the|aged|\d{1,2})\b|\s+(?:is|was)\s+(?:an?|the|\d))|,\s+(?:who|whose|its|his|her)\b|\s+who\b"
)
_ROLE_BEFORE = lazy_pattern(
    r"(?P<what>\b(?:[a-z]+(?:er|or|ist|ian|eer|man|woman|ant|ess)|the [a-z]+|chief|[Tt]he [A-Z][a-z]+),?\s+$)"
)
_WORD_BEFORE = lazy_pattern(r"([a-z]+),?\s+(?:(?:called|named)\s+)?$")
_IS_A = lazy_pattern(r",?\s+(?:(?:is|was)\s+)?(?:an?|the)\s+((?:[\w-]+\s+){0,3}?[a-z]+)\b")
_CLAUSE = lazy_pattern(r"[,;:.!?]|$")
# `From Quennell Cells, a supplier`: no place.
_IS_SOMEBODY = lazy_pattern(r",\s+an?\s+(?:[\w-]+\s+){0,2}?[a-z]+(?:er|or|ist|firm|company|maker)\b")
_ROLE = lazy_pattern(
    r"\b(?:[Tt]he|[Aa]n?|[Ii]ts|[Hh]is|[Hh]er|[Tt]heir|[Oo]ur|[Mm]y|"
    r"[\w-]+['’]s)\s+(?:[a-z][\w-]*\s+){0,2}?(?P<noun>[a-z]{3,})"
    r"(?:\s+of\s+(?:the\s+|its\s+)?[\w’'-]+(?:\s+[A-Z][\w’'-]+)*)?"
)
# Whom or what something is named after: `called Lady Maren, after the island's first schoolmistress`.
_AFTER = re.compile(
    r"\b(?:named?|names|called|christened)\b[^.;:]{0,60}?\bafter\s+(?P<who>[^.;:,]{2,60}?)(?=[.;:,]|\s+(?:and|who|which)\b|$)"
)


def namesakes(sentence: str) -> list[Value]:
    """Whom or what something of `sentence` is named after."""
    return [Value(*m.span("who"), m["who"], 1.0, m["who"].lower()) for m in _AFTER.finditer(sentence)]


def naming(sentence: str) -> list[Value]:
    """The names of a sentence; one behind `called` or beside commas names what the sentence speaks of."""
    found = []
    for n in names(sentence):
        called = _CALLED.search(sentence, max(0, n.start - 25), n.start) is not None
        beside = sentence[max(0, n.start - 2) : n.start] == ", " and sentence[n.end : n.end + 1] in (",", ".")
        fit = 1.0 if called else 0.9 if beside else 0.4 if n.role == "other" else 0.2
        found.append(Value(n.start, n.end, n.text, fit, n.text.lower()))
    return found


def of_noun(kind: Kind, sentence: str) -> list[Value]:
    """The names that a sentence gives such things as are asked for: `the company Qinglan Optics`, `Crane Bank`."""
    found = []
    for n in names(sentence):
        _, _, last = n.text.rpartition(" ")
        before, behind = _WORD_BEFORE.search(sentence, 0, n.start), _IS_A.match(sentence, n.end)
        beside = [m[1] for m in (before, behind) if m] + ([last] if last != n.text else [])
        if kind.noun & content_words(" ".join(beside)):
            found.append(Value(n.start, n.end, n.text, MARKED, n.text.lower()))
    return found


def introduced(kind: Kind, sentence: str) -> list[Value]:
    """What stands beside the name that is asked about and says what it names: `Ann Lee, 83,`, `the poet Ann Lee`."""
    values = []
    for name in names(sentence):
        if kind.noun <= content_words(name.text):
            behind = _INTRODUCES.match(sentence, name.end)
            found = behind or _ROLE_BEFORE.search(sentence, 0, name.start)
            if found is not None:
                start, end = found.start(), _clause_end(sentence, found.end()) if behind else found.end()
                fit = 1.0 if found["what"] else MARKED
                values.append(Value(start, end, sentence[start:end], fit, sentence[start:end]))
    return values


def _clause_end(sentence: str, at: int) -> int:
    found = _CLAUSE.search(sentence, at)
    return found.start() if found else len(sentence)


def persons(kind: Kind, sentence: str) -> list[Value]:
    """The names of persons, and the roles of persons that have none: `the insurer of the dredger`."""
    found = [
        Value(n.start, n.end, n.text, _fit_of_name(n, sentence), n.text.split()[-1].lower())
        for n in (*names(sentence), *chinese_names(sentence))
        if n.role != "place" or _IS_SOMEBODY.match(sentence, n.end)
    ]
    roles = [m for m in _ROLE.finditer(sentence) if is_person(m["noun"].lower())]
    taken = [(v.start, v.end) for v in found if v.fit >= 0.75]
    if kind.noun and not same_roles(kind.noun) & (content_words(sentence) | told_by_age(sentence)):
        found = [replace(v, fit=v.fit * _OTHER_ROLE) for v in found]
    free = (m for m in roles if not any(s < m.end() + 12 and m.start() < e + 12 for s, e in taken))
    found += [Value(m.start(), m.end(), m[0], _fit_of_role(kind, m["noun"]), m["noun"].lower()) for m in free]
    return [replace(v, fit=max(v.fit, _DOES)) if _does(kind, v, sentence) else v for v in found]


def _fit_of_role(kind: Kind, noun: str) -> float:
    return 0.5 * _OTHER_ROLE if kind.noun and not kind.noun & content_words(noun) else 0.5


def _does(kind: Kind, value: Value, sentence: str) -> bool:
    """Whether a person stands right before the verb whose subject is asked for: `the insurer paid`."""
    after = _WORD_AFTER.match(sentence, value.end)
    return bool(kind.verb) and after is not None and kind.verb in content_words(after[1])


def _fit_of_name(name: Name, sentence: str) -> float:
    """How likely a name is a person's; a word with a capital from the start of a sentence is seldom one."""
    if name.role == "person":
        return 1.0
    if is_body(name.text):
        return _BODY
    if _THING_BEFORE.search(sentence, max(0, name.start - 25), name.start):
        return _OF_THING
    if sentence[max(0, name.start - 4) : name.start].lower() == "the ":
        return 0.3
    opens = name.start == 0 or sentence[name.start - 2 : name.start] in (": ", "! ", "? ", ". ")
    if " " not in name.text and (name.text.isupper() or (opens and re.match(r"[,!]?\s[a-z]", sentence[name.end :]))):
        return 0.15
    return {1: 0.4, 2: 0.75, 3: 0.6}.get(len(name.text.split()), 0.4)


def places(sentence: str) -> list[Value]:
    """The names of places, and less surely other names; in Chinese what stands behind a verb of lying somewhere."""
    if _HAN.search(sentence):
        return [
            Value(m.start("at"), m.end("at"), m["at"], 1.0 if m["lies"] else 0.6, m["at"])
            for m in _LIES.finditer(sentence)
        ]
    fits = {"place": 1.0, "other": 0.4, "person": 0.0}
    return [Value(n.start, n.end, n.text, fits[n.role], n.text.lower()) for n in names(sentence) if n.role != "person"]
