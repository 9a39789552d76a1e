"""What is told of another thing than the one asked about answers nothing."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import MEASURED
from quern.jobs.reasoning.answering.kinds.units import MONEY
from quern.jobs.reasoning.answering.named_numbers import names_numbered
from quern.jobs.reasoning.answering.names import names
from quern.jobs.reasoning.answering.numbered import of_another
from quern.jobs.reasoning.answering.persons import same_roles
from quern.jobs.reasoning.answering.typed.value import Value
from quern.jobs.reasoning.answering.wording import said_by_others
from quern.jobs.reasoning.confidence.features import asked
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.reasons import Reason
from quern.jobs.reasoning.questions.references import subject
from quern.jobs.reasoning.questions.words import ADVERBS, DETERMINERS, PREPOSITIONS
from quern.jobs.text.quantities import singular
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.persons import is_person

_PEOPLE: Final = content_words("people persons")
_STEM: Final = 3  # Letters in which two words may be forms of one: `veggies` and `vegetables`.
# `of puffins`, `of the fishermen's speech`: the noun, behind names and owners.
_HOW_MANY_OF: Final = lazy_pattern(
    r"\b[Hh]ow many\s+[a-z-]+\s+of\s+(?:the\s+)?(?P<of>(?:(?:[A-Z][\w-]*|[\w-]+['’]s|[\w-]+s['’])\s+)*[\w-]+)"
)
_OF: Final = lazy_pattern(r"\s+of\s+(?:the\s+)?(?P<of>[a-z-]+)")
_END_OF_ROLE: Final = (
    r"(?=\s+(?:of|at|for|in|on|to|who|that|from|with|when|during|behind|and|is|was|did|does|had|has)\b|\s*[?,.]|\s*$)"
)
_ROLE_ASKED: Final = lazy_pattern(
    r"\b(?:who(?:\s+(?:is|was)|['’]s)\s+(?:the|an?|its|his|her|their|our|(?:[\w’'-]+\s+){0,3}?[\w-]+['’]s)|"
    r"name\s+of\s+(?:the|an?)|(?:which|what)(?!\s+(?:is|was)\b))\s+"
    rf"(?:[a-z-]+\s+){{0,2}}?(?P<role>[a-z-]+){_END_OF_ROLE}",
    re.IGNORECASE,
)
# `her husband, the painter Jonas Lie`: both are roles of him.
_ROLE_BEFORE: Final = lazy_pattern(
    r"\b(?P<role>(?:[a-z]{2,},\s+(?:(?:the|an?)\s+)?)?(?:[a-z]+\s+){0,2}?[a-z-]{2,})\s+$"
)
_NEAR: Final = 80  # Characters before a name in which its roles stand.
_ROLE_BEHIND: Final = lazy_pattern(
    r",\s+(?:who\s+(?:is|was)\s+)?(?:an?|the|its|his|her|their)\s+(?P<role>(?:[a-z][\w’'-]*\s+){0,2}?[a-z][\w’'-]*)"
)
_A_NAME: Final = r"(?:the\s+)?(?P<name>[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*)*)"
_ROLE_OF: Final = lazy_pattern(rf"\b(?P<role>[A-Za-z]+)\s+(?:of|at|for)\s+{_A_NAME}")
_OF_ANOTHER: Final = lazy_pattern(rf",\s+(?:an?|the|its)\s+(?:[a-z][\w-]*\s+){{1,3}}?(?:of|at|for)\s+{_A_NAME}")
# What may stand for a name that was told before.
_STANDS_FOR: Final = lazy_pattern(r"\b(?:he|she|it|they|we|i|his|her|its|their|our|my|him|them|us)\b", re.IGNORECASE)
# In a sentence whose words are parted by single spaces.
_PRICED: Final = lazy_pattern(
    r"(?:^|[.;,] |\band )(?:the|an?|its|their|his|her|our|each|every) (?P<thing>[\w’'-]+(?: [\w’'-]+){0,7}?) "
    r"(?:(?:will|would|has|have|had) )?(?:costs?|(?:is|was|were) (?:priced at|sold for)|fetched|sold for|"
    r"(?:is|was|were|(?:has|have|had) been) [a-z]+(?: [^ ,;.]+){0,12}? at (?:a|the) (?:total )?(?:cost|price) of)\b",
    re.IGNORECASE,
)
# What is paid for anything: its price is that of what is asked for. Who asks what was spent or paid asks for any part.
_PAID: Final = content_words("ticket tickets membership entry admission fee single return work works pass season")
_SPENT: Final = lazy_pattern(r"\b(?:spend|spent|spending|pay|pays|paid|paying)\b", re.IGNORECASE)
_PLACE: Final = lazy_pattern(r"\b(?:in|at)\s+(?P<name>[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*)*)(?=\s*(?:[?,.]|$))")


def other_counted(chosen: Chosen) -> Reason | None:
    """Why not, where what is counted is named and is another: pairs of gannets for pairs of puffins.

    In a table the head of the column names it. Refused on all sets: 2 that have no answer, no right answer.
    """
    if chosen.kind.name != "how_many" or not chosen.told or not chosen.english:
        return None
    value, line = chosen.told[0], chosen.line
    wanted, of = _HOW_MANY_OF.search(chosen.question), _OF.match(line.text, value.end)
    if wanted and of and not akin(content_words(wanted["of"]), content_words(line.text)):
        return Reason("other_entity", f"What was found counts {of['of']}, not {wanted['of']}.")
    if line.row is None or not line.row.header:
        return None
    cells = zip(line.row.header, line.row.starts, line.row.cells, strict=True)
    head = next((h for h, start, cell in list(cells)[1:] if start <= value.start <= start + len(cell)), "")
    if not head or akin(content_words(head), content_words(chosen.question)):
        return None
    if chosen.kind.noun & _PEOPLE and any(is_person(singular(w)) for w in re.findall(r"[a-z]+", head.lower())):
        return None  # `Visitors over three nights` are people.
    return Reason("other_entity", f"What was found counts another thing: {head}.")


def other_number(chosen: Chosen) -> Reason | None:
    """Why not, where the value told is of a thing of the same name with another number: `Model 7` for `Model 9`.

    By the sentence, else by the head of its table or the title of its page. Refused on all sets: none, so that it costs
    none.
    """
    if chosen.kind.name not in MEASURED or not chosen.told:
        return None
    other = of_another(chosen.question, chosen.line, chosen.title)
    if not other:
        return None
    asked = ", ".join(" ".join(one) for one in sorted(names_numbered(chosen.question, years=True)))
    return Reason("other_entity", f"What was found is of {other}, not of {asked}.")


def other_role(chosen: Chosen) -> Reason | None:
    """Why not, where the person told is said to have another role than the one asked for.

    `Managing director Aurel Pennick` is not the mate, whatever else the sentence says of a mate.
    Refused on all sets: 2 that have no answer, no right answer.
    """
    if chosen.kind.name != "who" or not chosen.told or chosen.line.row is not None:
        return None
    found = (m["role"].lower() for m in _ROLE_ASKED.finditer(chosen.question))
    role = next((r for r in found if is_person(r)), None)
    if role is None:
        return None
    wanted, value = same_roles(content_words(role)), chosen.told[0]
    own = _roles_beside(chosen.line.text, value)
    if not own or wanted & content_words(value.text) or wanted & same_roles(content_words(" ".join(own))):
        return None
    return Reason("other_entity", f"What was found names {value.text} as {own[0]}, not as {role}.")


def other_owner(chosen: Chosen) -> Reason | None:
    """Why not, where the person told is said to be something of another: the master of the Orrin for that of the Maren.

    Refused on all sets: 1 that has no answer, no right answer.
    """
    if chosen.kind.name != "who" or not chosen.told or chosen.line.row is not None:
        return None
    told = _OF_ANOTHER.match(chosen.line.text, chosen.told[0].end)
    wanted = _ROLE_OF.search(chosen.question)
    if told is None or wanted is None or not is_person(wanted["role"].lower()):
        return None
    other = content_words(told["name"]) - content_words(chosen.question)
    own = content_words(wanted["name"]) - content_words(chosen.line.text)
    if not other or not own:
        return None
    return Reason("other_entity", f"What was found is of {told['name']}, not of {wanted['name']}.")


def other_subject(chosen: Chosen) -> Reason | None:
    """Why not, where the question is about one that has a name, and nothing there names it or stands for it.

    `Was Bosun on board?` is not answered by a sentence about the ship. Only where the name itself is the subject, not a
    thing of it (`Skarrow Line's receiver`), and only on pages: in a conversation who speaks is seldom named. Refused on
    all sets: 3 that have no answer, 1 right answer. Where only the sentences beside were asked for the name, instead of
    the whole chunk, stories had 8 right ones refused.
    """
    if chosen.converses or chosen.line.row is not None or not chosen.english or chosen.given.before:
        return None
    about = subject(chosen.question)
    name = next((n for n in names(f"x {about}") if n.start == len("x ") or n.end == len(about) + len("x ")), None)
    if name is None or f"{name.text}'s" in about or f"{name.text}’s" in about or _behind(about, name.text):
        return None
    wanted, text = content_words(name.text), chosen.line.text
    first = next((n.start for n in names(text)), len(text))  # A pronoun behind another name stands for that.
    if not wanted or akin(wanted, content_words(chosen.chunk)) or _STANDS_FOR.search(text, 0, first):
        return None
    return Reason("other_entity", f"What was found does not name {name.text}.")


def other_priced(chosen: Chosen) -> Reason | None:
    """Why not, where a price is asked for and the sentence says what another thing costs.

    `The repair cost 3.1 million` does not say what it costs to join. Refused of 718 questions over the sample corpus: 2
    that have no answer, 1 wrong answer, no right one.
    """
    if not chosen.kind.units & MONEY or not chosen.english or _SPENT.search(chosen.question):
        return None
    things = [m["thing"] for m in _PRICED.finditer(" ".join(chosen.line.text.split()))]
    wanted = content_words(chosen.question) | _PAID
    if not things or any(akin(content_words(thing), wanted) for thing in things):
        return None
    return Reason("only_related", f"What was found is the price of another thing: {things[0]}.")


def other_place(chosen: Chosen) -> Reason | None:
    """Why not, where it is asked what is at a place and the sentence stands on the page of another, naming neither.

    `There are 61 lobster boats` on Skarrow's page are not those of Port Averil.
    Refused on all sets: 1 that has no answer, no right answer.
    """
    found = _PLACE.search(chosen.question)
    if found is None or not chosen.titled_by_name:
        return None
    if content_words(chosen.title) & content_words(chosen.question):
        return None
    if asked(chosen.question).names & content_words(chosen.near):
        return None
    return Reason("other_entity", f"What was found is of {chosen.title}, not of {found['name']}.")


def akin(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether one of the stems is among the others, begins like one or means the same."""
    return bool(
        some & others
        or said_by_others(some, sorted(others))
        or {w[:_STEM] for w in some if len(w) >= _STEM} & {w[:_STEM] for w in others}
    )


def _roles_beside(text: str, value: Value) -> list[str]:
    """The roles that stand right before or behind a name."""
    before = _ROLE_BEFORE.search(text, max(0, value.start - _NEAR), value.start)
    behind = _ROLE_BEHIND.match(text, value.end)
    words = [w.strip(",") for m in (before, behind) if m for w in m["role"].split()]
    return [w.lower() for w in words if is_person(w.lower())]


def _behind(about: str, name: str) -> bool:
    """Whether a name of a subject only says of which thing it speaks: `Averil council`, `a crossing over the Sarn`."""
    start = about.find(name)
    words = about[:start].split()
    lower = about[start + len(name) :].split()[:1]
    noun = bool(lower) and lower[0].islower() and lower[0] not in PREPOSITIONS | ADVERBS | DETERMINERS
    return noun or bool(PREPOSITIONS.union(["of"]) & set(words[-2:]))
