"""The question for who did it, of an English clause in the passive."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.queries.rules.clause import Clause
from quern.jobs.queries.rules.parts import DATE, is_person, whole
from quern.jobs.reasoning.clauses.words import BE, PREPOSITIONS
from quern.jobs.reasoning.questions.words import base, is_past

_BY_AGENT: Final = re.compile(r"(?:^|(?P<before>.*?) )by (?P<who>(?:the |an? )?[\w'’.-]+.*)")


def who_by(sentence: str, clause: Clause, topic: str) -> str:
    """Who or what did what is told in the passive; empty where nobody is named."""
    agent = _BY_AGENT.match(clause.rest)
    verb = clause.main.split()[-1] if clause.main else ""
    if agent is None or clause.aux not in BE or not is_past(verb) or DATE.match(f" by {agent['who']}"):
        return ""
    if re.match(r"(?:the |an? )?(?:\d|\w+ing\b|end\b|law\b|hand\b|means\b|default\b)", agent["who"]):
        return ""
    before = (agent["before"] or "").split()
    # `fitted after damage by a van`: the van did the damage.
    if len(before) > 6 or (before and before[-1][:1].islower() and set(before) & PREPOSITIONS):
        return ""
    # What a name does is mostly done by a person or a body; not what lies around, and not what befalls.
    named = agent["who"][:1].isupper() and verb not in _BY_THINGS and not _THING.search(agent["who"])
    who = "Who" if named or is_person(agent["who"]) else "What"
    if verb in _NAMED_SO:
        return ""
    if clause.aux in ("is", "are") and " " not in clause.main:
        return f"{who} {_third_person(base(verb))} {clause.subject} {whole(agent['before'] or '')}"
    if clause.aux in ("was", "were") and (verb.endswith("ed") or verb in _SAME_PAST):
        return f"{who} {clause.main} {clause.subject} {whole(agent['before'] or '')}"
    return " ".join(f"{who} {clause.turned} {whole(agent['before'] or '')} by".split())


_NAMED_SO: Final = frozenset("considered called named deemed dubbed regarded described known".split())
_BY_THINGS: Final = frozenset(
    "bordered bounded surrounded flanked crossed fed drained watered joined served reached followed preceded linked "
    "connected separated divided located situated enclosed affected hit struck caused inspired influenced "
    "powered".split()
)
_THING: Final = re.compile(
    r"^(?:\w+ ){0,3}?(?:Act|Bridge|Canal|Fire|Flood|Hurricane|Lake|Mountains|Ocean|Railway|Rebellion|Revolution|River|"
    r"Road|Route|Sea|Storm|Street|Treaty|Typhoon|War)\b"
)


def _third_person(verb: str) -> str:
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|ch|sh|o)$", verb) else f"{verb}s"


_SAME_PAST: Final = frozenset(
    "led built held won made found bought sold taught brought caught put cut hit set left kept "
    "lost met paid sent told".split()
)
