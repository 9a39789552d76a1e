"""English questions about a sentence, by rule.

A form looks for the constituent that it asks for (a date, a place, a cause, a count, an object) in the sentence's first
clause and turns the clause round. One that finds none gives nothing, and a question that would not stand alone, or that
nobody would ask at such length, is none: no question is better than one that cannot be read. The forms were chosen by
what people asked of the sentences of SQuAD (Du, Shao and Cardie 2017, arXiv 1705.00106).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from quern.jobs.queries.rules.clause import Clause, clause_of
from quern.jobs.queries.rules.parts import (
    COUNTED,
    DATE,
    LENGTH,
    MONEY,
    RATED,
    SECOND_PERSON,
    is_person,
    is_place,
    shortened,
)
from quern.jobs.queries.rules.pronouns import PERSON_NOUN, resolve
from quern.jobs.reasoning.clauses.words import BE, HAVE
from quern.jobs.reasoning.questions.words import base, is_past

Form = Callable[[str, Clause, str], str]

_APPOSITION: Final = re.compile(r"(?:, (?!\d)[^,]{2,160},(?! and| or| [A-Z])| \([^()]{0,120}\))(?= )")
_THERE: Final = re.compile(
    r"There (?P<be>is|are|was|were) (?P<number>(?:(?:about|over|only|almost|nearly|some|now) )*(?:\d[\d,.]*|two"
    r"|three|four|five|"
    r"six|seven|eight|nine|ten|eleven|twelve|several) )?(?P<what>[^,.;:]+?)(?P<where> (?:in|at|on|near|along"
    r"|of) [^,.;:]+)?[,.;]"
)
_WHY: Final = re.compile(
    r"(?:^|,? )(?:because(?: of)?|due to|owing to|in order to|so that|as a result of|thanks to) ", re.IGNORECASE
)
_HOW: Final = re.compile(r"(?:^| )by (?:\w+ly )?(?!\w*(?:morning|evening|king)\b)\w+ing ")
_BY_AGENT: Final = re.compile(r"(?:^|(?P<before>.*?) )by (?P<who>(?:the |an? )?[\w'’.-]+.*)")
_IN_PLACE: Final = re.compile(r"(?:^|(?P<before>.*?) )(?:in|at|near|on|outside) (?P<where>(?:the )?[A-Z][\w'’-]+.*)")
_DEFINED: Final = re.compile(r"(?:an?|the|one of the) [\w’'-]+")
_BARE_PREPOSITION: Final = re.compile(
    r"(?P<prep>for|of|about|as|after|with|from|into) (?!\d)(?P<what>(?:the |an? )?[\w’'-]+)"
)
_TAKES_PREPOSITION: Final = re.compile(
    r"(?:known|named|used|made|based|accused|responsible|famous|noted|intended|designed|composed|consist|equipped|"
    r"convicted|regarded|focused|concerned|renamed|divided|converted|translated|derive|derived|suffer|specialise"
    r"|specialize|"
    r"account|stand|apply|look|care|pay|charged|charge|blamed)$"
)
_CONDITION: Final = re.compile(r"(?P<word>If|When|Once|Unless) (?P<rest>[^,\"“”]{5,70}),")
_STEP: Final = re.compile(
    r"(?:[A-Z]\w+ [^.;]{3,60}?)\bto (?P<aim>(?!the |a |an |\d|[A-Z])[a-z]+ (?:the|an?|your|any) [^,.;]{3,50})[.;]"
)
_COMPARED: Final = re.compile(
    r"\b(?:more|less|fewer|[a-z]{3,}er)(?: [\w-]+)? than (?P<other>(?:the |in "
    r"|an? )?[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)*(?: in [^,.;]+)?)"
)
_THAT: Final = re.compile(r"(?:that|how|why|whether|what) ")
_TO: Final = re.compile(r"to (?P<verb>[a-z]{2,})\b")
_OBJECT: Final = re.compile(
    r"(?P<object>(?:the|an?|his|her|its|their|all|both|several|many|some|more|new|\d[\d,.]*|[A-Z])\b.*?)"
    r"(?= (?:in|on|at|by|for|from|to|with|into|during|after|before|under|over|through|between|as|against|across"
    r"|onto) |$)"
)
# A title that names what its document is about, so that `it` may stand for that: no headline.
_NAMED: Final = re.compile(
    r"(?:[A-Z0-9][\w’'.&-]*|of|the|and|de|du|la|le|von|van|in|for|at|on|a|to|&)(?:[ ,]+(?:[A-Z0-9][\w’'.&-]*|of"
    r"|the|and|de|du|la|le|von|van|in|for|at|on|a|to|&)){0,6}"
)
_PLAIN_TOPIC: Final = 3
_BORN: Final = re.compile(r"\([^()]{0,60}\b(?:born\b|1\d{3} ?[–-]+ ?|(?:19|20)\d\d ?[–-]+ ?(?:\w+ ){0,2}(?:19|20)\d\d)")
_LIGHT: Final = frozenset("have be get take make do give come go become remain seem appear keep let put".split())
_SAYING: Final = frozenset(
    "say announce report claim warn find show suggest argue state explain note believe add confirm agree".split()
)
_PRONOUNS: Final = re.compile(
    r"\b(?:it|he|she|they|them|him|this|these|those|that|here|there|I|me|my|we|us|our|you|your|yesterday|today"
    r"|tomorrow|such|"
    r"former|latter|same|itself|themselves|himself|herself|above|below|following|also|other|others|another|however)\b"
)
_LEAST: Final = 3  # Words of a question.
_MOST: Final = 20


def questions(text: str, topic: str, before: str = "", kind: str = "") -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the plain sentence `text` of a document about `topic`, the best first.

    Args:
        text: The sentence.
        topic: What the document is about; may be empty.
        before: The sentence before it.
        kind: What the topic is known to be: `person`, `thing` or nothing.
    """
    topic = topic if _NAMED.fullmatch(topic) or len(topic.split()) < _PLAIN_TOPIC else ""
    sentence = resolve(_APPOSITION.sub("", text), before, topic, kind)
    born = bool(_BORN.search(text)) or (kind == "person" and topic != "")
    if there := _there(sentence, topic):
        yield "how_many" if there.startswith("How") else "whether", there
    if condition := _condition(sentence):
        yield "condition", condition
    clause = clause_of(sentence)
    if (
        clause is not None
        and clause.is_be
        and _DEFINED.match(clause.rest)
        and born
        and clause.subject in (topic, text[: len(clause.subject)])
    ) and (named := finished(f"Who {clause.aux} {clause.subject}")):
        yield "definition", named
    if clause is None or _PRONOUNS.search(clause.subject):
        return
    for name, form in _FORMS.items():
        question = finished(form(sentence, clause, topic))
        if question:
            yield name, question


def finished(question: str) -> str:
    """The question with its mark; nothing where it could not be understood alone or is too long to be asked."""
    body = question.strip().rstrip(".,;:!?").strip()
    words = body.split()
    if not _LEAST <= len(words) <= _MOST or _PRONOUNS.search(body) or re.search(r"[\[\](){}<>|\"“”=\x00]|\.\.", body):
        return ""
    if words[-1].lower() in _DANGLING:
        return ""
    return f"{body[0].upper()}{body[1:]}?"


_DANGLING: Final = frozenset(
    "the a an and or of is was were are be been his her its their not only more than no so very".split()
)


def _there(sentence: str, topic: str) -> str:
    found = _THERE.match(sentence)
    if found is None:
        return ""
    where = found["where"] or (f" in {topic}" if is_place(topic) else "")
    if found["number"] and found["be"] in ("are", "were"):
        return finished(f"How many {found['what']} {found['be']} there{where}").replace("  ", " ") or _bare_there(
            found, where
        )
    return ""


def _bare_there(found: re.Match[str], where: str) -> str:
    body = f"How many {found['what']} {found['be']} there{where}"
    return f"{body}?" if len(body.split()) <= _MOST and not SECOND_PERSON.search(body) else ""


def _condition(sentence: str) -> str:
    found = _CONDITION.match(sentence)
    return finished(f"What happens {found['word'].lower()} {found['rest']}") if found else ""


def _when(sentence: str, clause: Clause, topic: str) -> str:
    found = DATE.search(" " + clause.rest)
    if found and found[0].startswith(" since") and clause.aux in HAVE:
        return f"Since when {clause.turned} {_whole(clause.rest[: max(found.start() - 1, 0)])}"
    if (
        found
        and clause.is_be
        and _DEFINED.match(clause.rest)
        and not found[0].lstrip().startswith(("from", "between", "until"))
    ):
        return ""  # Something else in the sentence has that date: `a piece composed in 2002`.
    if found:
        before = clause.rest[: max(found.start() - 1, 0)]
        if not clause.main and not before:
            return f"When {clause.turned}"
        return f"When {clause.turned} {_whole(before)}" if before or clause.main else ""
    if DATE.match(" " + clause.lead[:1].lower() + clause.lead[1:]) and (clause.main or clause.rest):
        return f"When {clause.turned} {_with_clause(clause)}"
    return ""


def _with_clause(clause: Clause) -> str:
    """What follows the verb, with the clause that says what was said; nothing where it is left open."""
    if clause.rest or not _THAT.match(clause.more):
        return shortened(clause.rest)
    said = re.split(r"[,.;:]", clause.more, maxsplit=1)[0]
    return said if len(said.split()) <= 14 else "\x00"


def _whole(before: str) -> str:
    """What stands before the words asked for, without a comma or a preposition left alone."""
    words = shortened(before, 14).split()
    while words and words[-1].lower() in ("and", "or", "only", "both", "about", "early", "late"):
        words.pop()
    return " ".join(words).rstrip(",")


def _why(sentence: str, clause: Clause, topic: str) -> str:
    inside = _WHY.search(clause.rest)
    if inside:
        return f"Why {clause.turned} {_whole(clause.rest[: inside.start()])}" if clause.main or inside.start() else ""
    behind = _WHY.match(clause.more)
    return f"Why {clause.turned} {shortened(clause.rest)}" if behind and (clause.main or clause.rest) else ""


def _how(sentence: str, clause: Clause, topic: str) -> str:
    means = _HOW.search(clause.rest)
    if means is None or not clause.main:
        return ""
    return f"How {clause.turned} {_whole(clause.rest[: means.start()])}"


def _who_by(sentence: str, clause: Clause, topic: str) -> str:
    agent = _BY_AGENT.match(clause.rest)
    verb = clause.main.split()[-1] if clause.main else ""
    if agent is None or clause.aux not in BE or not is_past(verb) or DATE.match(f" by {agent['who']}"):
        return ""
    if re.match(r"(?:the |an? )?(?:\d|\w+ing\b|end\b|law\b|hand\b|means\b|default\b)", agent["who"]):
        return ""
    # What a name does is mostly done by a person or a body; not what lies around, and not what befalls.
    named = agent["who"][:1].isupper() and verb not in _BY_THINGS and not _THING.search(agent["who"])
    who = "Who" if named or is_person(agent["who"]) else "What"
    if clause.aux in ("is", "are") and " " not in clause.main:
        return f"{who} {_third_person(base(verb))} {clause.subject} {_whole(agent['before'] or '')}"
    if clause.aux in ("was", "were") and (verb.endswith("ed") or verb in _SAME_PAST):
        return f"{who} {clause.main} {clause.subject} {_whole(agent['before'] or '')}"
    return " ".join(f"{who} {clause.turned} {_whole(agent['before'] or '')} by".split())


_BY_THINGS: Final = frozenset(
    "bordered bounded surrounded flanked crossed fed drained watered joined served reached followed preceded linked "
    "connected separated divided enclosed affected hit struck caused inspired influenced powered".split()
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


def _definition(sentence: str, clause: Clause, topic: str) -> str:
    if not clause.is_be or not _DEFINED.match(clause.rest) or len(clause.subject.split()) > 8:
        return ""
    named = clause.subject.removeprefix("the ")[:1].isupper() or clause.subject.lower() == topic.lower()
    if not named and not clause.subject.startswith(("a ", "an ")):
        return f"What {clause.aux} {clause.subject}" if clause.rest.startswith("the ") else ""
    who = "Who" if PERSON_NOUN.match(clause.rest) else "What"
    return f"{who} {clause.aux} {clause.subject}"


def _where(sentence: str, clause: Clause, topic: str) -> str:
    place = _IN_PLACE.match(clause.rest)
    if place is None or DATE.match(f" in {place['where']}") or DATE.match(f" on {place['where']}"):
        return ""
    before = place["before"] or ""
    if not is_place(place["where"]) or (not clause.main and before and _DEFINED.match(before)):
        return ""
    return f"Where {clause.turned} {_whole(before)}" if clause.main or not before else ""


def _how_many(sentence: str, clause: Clause, topic: str) -> str:
    rated = RATED.match(clause.rest)
    if rated and (clause.is_be or clause.main in ("stand", "measure", "be")):
        be = clause.aux if clause.is_be else "is" if clause.aux == "does" else "was"
        return f"How {rated['how']} {be} {clause.subject}"
    if clause.main == "cost" or clause.main.endswith(" cost"):
        return f"How much {clause.turned}" if MONEY.match(clause.rest) else ""
    if clause.main in ("take", "last") and LENGTH.match(clause.rest):
        return f"How long {clause.turned}"
    own = COUNTED.match(clause.subject)
    if own:
        noun = clause.subject[own.end("number") :].strip()
        return (
            f"How many {noun} {clause.finite} {shortened(clause.rest)}"
            if own["noun"].endswith(("s", "people", "men", "women", "children"))
            else ""
        )
    counted = COUNTED.match(clause.rest)
    if (
        counted
        and clause.main
        and clause.main != "be"
        and counted["noun"].endswith(("s", "people", "children", "men", "women"))
        and not MONEY.match(clause.rest)
    ):
        return f"How many {counted['noun']} {clause.turned} {_further(clause.rest[counted.end() :])}"
    return ""


def _further(rest: str) -> str:
    return "" if rest.lstrip().startswith(("and ", "or ", "per ", ",")) else shortened(rest, 8)


def _compared(sentence: str, clause: Clause, topic: str) -> str:
    found = _COMPARED.search(f"{clause.rest} {clause.more}")
    if found is None or not clause.is_be:
        return ""
    return f"How does {clause.subject} compare with {found['other']}"


def _what(sentence: str, clause: Clause, topic: str) -> str:
    """What someone did: the object of a verb, or what was said or decided."""
    if not clause.main or clause.aux in BE:
        return ""
    verb = clause.main.split()[-1]
    if verb in _SAYING and (_THAT.match(clause.rest) or _THAT.match(clause.more)):
        return f"What {clause.turned}"
    if _TO.match(clause.rest) and verb in _AIMS:
        return f"What {clause.turned} to do"
    found = _OBJECT.match(clause.rest)
    if found is None or verb in _LIGHT or found["object"] == "" or DATE.match(f" in {found['object']}"):
        return ""
    if is_person(found["object"]) or COUNTED.match(clause.rest) or MONEY.match(clause.rest):
        return ""
    return f"What {clause.turned} {shortened(clause.rest[found.end() :].strip(), 8)}"


_AIMS: Final = frozenset(
    "decide agree plan want hope promise try refuse offer intend aim need vote ask propose fail manage begin "
    "start help".split()
)


def _preposition(sentence: str, clause: Clause, topic: str) -> str:
    found = _BARE_PREPOSITION.match(clause.rest)
    last = (clause.main or "").split()[-1:] or [""]
    if found is None or not _TAKES_PREPOSITION.match(last[0]):
        return ""
    return f"What {clause.turned} {found['prep']}"


def _who_did(sentence: str, clause: Clause, topic: str) -> str:
    """Who did it: the subject, where it is a name other than what the document is about."""
    named = clause.subject.removeprefix("the ")
    if (
        clause.is_be
        or named.lower() in topic.lower()
        or not named[:1].isupper()
        or not clause.rest
        or len(clause.rest.split()) < 2
    ):
        return ""
    if not is_person(clause.subject):
        return ""
    return f"Who {clause.finite} {shortened(clause.rest)}"


def _whether(sentence: str, clause: Clause, topic: str) -> str:
    if len(clause.rest.split()) < (1 if clause.main else 2) and not clause.main:
        return ""
    if clause.more.startswith("than ") or (
        not clause.rest and clause.more.strip(".!") and not _THAT.match(clause.more)
    ):
        return ""
    return f"{clause.turned} {_with_clause(clause)}"


# The order is that of preference: the most telling constituents first.
_FORMS: Final[dict[str, Form]] = {
    "why": _why,
    "when": _when,
    "how_many": _how_many,
    "definition": _definition,
    "who_by": _who_by,
    "where": _where,
    "how": _how,
    "what": _what,
    "preposition": _preposition,
    "compared": _compared,
    "who_did": _who_did,
    "whether": _whether,
}
