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

from quern.jobs.queries.rules.agents import who_by
from quern.jobs.queries.rules.antecedents import resolved
from quern.jobs.queries.rules.clause import Clause, clause_of, left_open
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
    whole,
)
from quern.jobs.queries.rules.pronouns import PERSON_NOUN
from quern.jobs.queries.rules.subjects import subjects_of
from quern.jobs.reasoning.clauses.words import ADVERBS, BE, HAVE, PREPOSITIONS, STOPS
from quern.jobs.reasoning.questions.words import is_past

Form = Callable[[str, Clause, str], str]

_APPOSITION: Final = re.compile(
    r"(?:, (?:(?=(?:the|an?|who|which|whose|where|also|formerly|officially|now|then|his|her|its|their|one"
    r"|including|such as|according|by|with|in|at|on|from|for|like|after|before|as|however|though|\w+ed) )[^,]{2,160}"
    # A name is one of a list unless the verb follows.
    r"|[A-Z][^,]{1,60}(?=, (?:is|was|are|were|has|had|[a-z]+ed|[a-z]+s) ))"
    r",(?! and| or| [A-Z])| \([^()]{0,120}\))(?= )"
)
_BRACKETS: Final = re.compile(r" \([^()]{0,120}\)(?=[ ,.;])")
# A line that names something and then describes it: `Mill Lane, opposite the inn: oak, planted in 1990`.
_HEADED: Final = re.compile(r"[^.;:]{2,60}: (?:an? |the )?[a-z]")
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
_IN_PLACE: Final = re.compile(r"(?:^|(?P<before>.*?) )(?:in|at|near|on|outside) (?P<where>(?:the )?[A-Z][\w'’-]+.*)")
_DEFINED: Final = re.compile(r"(?:an?|the|one of the) [\w’'-]+")
_BARE_PREPOSITION: Final = re.compile(
    r"(?P<prep>for|of|about|as|after|with|from|into) (?!\d)(?P<what>(?:the |an? )?[\w’'-]+)"
)
_TAKES_PREPOSITION: Final = re.compile(
    r"(?:known|named|used|based|accused|responsible|famous|noted|intended|designed|composed|consist|equipped|"
    r"convicted|regarded|focused|concerned|renamed|divided|converted|translated|derive|derived|suffer|specialise"
    r"|specialize|"
    r"account|stand|apply|look|care|pay|charged|charge|blamed)$"
)
_CONDITION: Final = re.compile(r"(?P<word>If|When|Once|Unless) (?P<rest>[^,\"“”]{5,70}),")
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
NAMED: Final = re.compile(
    r"(?:[A-Z0-9][\w’'.&-]*|of|the|and|de|du|la|le|von|van|in|for|at|on|a|to|&)(?:[ ,]+(?:[A-Z0-9][\w’'.&-]*|of"
    r"|the|and|de|du|la|le|von|van|in|for|at|on|a|to|&)){0,6}"
)
_PLAIN_TOPIC: Final = 3
_BORN: Final = re.compile(r"\([^()]{0,60}\b(?:born\b|1\d{3} ?[–-]+ ?|(?:19|20)\d\d ?[–-]+ ?(?:\w+ ){0,2}(?:19|20)\d\d)")
_LIGHT: Final = frozenset(
    "see witness have be get take make do give come go become remain seem appear keep let put".split()
)
# Verbs of which the object alone says too little: what is named has a name, who is told is told something.
_NAMING: Final = frozenset("call name consider deem dub label declare tell inform remind assure convince teach".split())
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


def questions(
    text: str, topic: str, before: str = "", kind: str = "", *, names_topic: bool = True
) -> Iterator[tuple[str, str]]:
    """Pairs (form, question) for the plain sentence `text` of a document about `topic`, the best first.

    Args:
        text: The sentence.
        topic: What the document is about; may be empty.
        before: The sentence before it.
        kind: What the topic is known to be: `person`, `thing` or nothing.
        names_topic: Whether the text that the sentence is of names the topic.
    """
    topic = topic if NAMED.fullmatch(topic) or len(topic.split()) < _PLAIN_TOPIC else ""
    sentence = resolved(_without_asides(text), before, topic, kind, text_names=names_topic)
    born = bool(_BORN.search(text)) or (kind == "person" and topic != "")
    if there := _there(sentence, topic):
        yield "how_many" if there.startswith("How") else "whether", there
    if condition := _condition(sentence):
        yield "condition", condition
    clause = None if _HEADED.match(sentence) else clause_of(sentence)
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
    compared = clause.more.startswith("than ")  # What is compared is cut from what it is compared with.
    for name, form in _FORMS.items():
        if compared and name != "compared":
            continue
        question = finished(form(sentence, clause, topic))
        if question and not (name in _TO_THE_END and left_open(clause)):
            yield name, question


def _without_asides(text: str) -> str:
    """The sentence without brackets and appositions; a phrase before the subject is followed by no apposition."""
    opening = text.split(" ", 1)[0].lower()
    led = opening in PREPOSITIONS or opening in ADVERBS or opening in STOPS or opening.endswith(("ing", "ed"))
    return (_BRACKETS if led else _APPOSITION).sub("", text)


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
    "too much the a an and or of is was were are be been his her its their not only more than no so very".split()
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
    if found is None:
        return ""
    told = any(is_past(word) or word in _WERE for word in found["rest"].split())
    return finished(f"What {'happened' if told else 'happens'} {found['word'].lower()} {found['rest']}")


_WERE: Final = frozenset("was were had did could would began came went saw took got".split())


def _when(sentence: str, clause: Clause, topic: str) -> str:
    if clause.main in _SAYING and not clause.rest.startswith(("in ", "on ")):
        return ""
    found = DATE.search(" " + clause.rest)
    if found and found[0].startswith(" since") and clause.aux in HAVE:
        return f"Since when {clause.turned} {whole(clause.rest[: max(found.start() - 1, 0)])}"
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
        return f"When {clause.turned} {whole(before)}" if before or clause.main else ""
    if DATE.match(" " + clause.lead[:1].lower() + clause.lead[1:]) and (clause.main or clause.rest):
        return f"When {clause.turned} {_with_clause(clause)}"
    return ""


def _with_clause(clause: Clause) -> str:
    """What follows the verb, with the clause that says what was said; nothing where it is left open."""
    if clause.rest or not _THAT.match(clause.more):
        return shortened(clause.rest)
    said = re.split(r"[,.;:]", clause.more, maxsplit=1)[0]
    return said if len(said.split()) <= 14 else "\x00"


def _why(sentence: str, clause: Clause, topic: str) -> str:
    inside = _WHY.search(clause.rest)
    if inside:
        return f"Why {clause.turned} {whole(clause.rest[: inside.start()])}" if clause.main or inside.start() else ""
    behind = _WHY.match(clause.more)
    return f"Why {clause.turned} {shortened(clause.rest)}" if behind and (clause.main or clause.rest) else ""


def _how(sentence: str, clause: Clause, topic: str) -> str:
    means = _HOW.search(clause.rest)
    if means is None or not clause.main:
        return ""
    return f"How {clause.turned} {whole(clause.rest[: means.start()])}"


def _definition(sentence: str, clause: Clause, topic: str) -> str:
    if not clause.is_be or not _DEFINED.match(clause.rest) or len(clause.subject.split()) > 8:
        return ""
    named = clause.subject.removeprefix("the ")[:1].isupper() or clause.subject.lower() == topic.lower()
    if clause.subject.startswith(("a ", "an ")) and clause.aux in ("was", "were"):
        return ""
    if not named and not clause.subject.startswith(("a ", "an ")):
        telling = clause.rest.startswith("the ") and len(clause.subject.split()) > 2
        return f"What {clause.aux} {clause.subject}" if telling else ""
    # `the residence of an author` is no author.
    head = re.split(r" (?:of|in|for|at|on|by|from|to|that|which) ", clause.rest.removeprefix("one of "))[0]
    who = "Who" if PERSON_NOUN.match(f"{head} ") else "What"
    return f"{who} {clause.aux} {clause.subject}"


def _where(sentence: str, clause: Clause, topic: str) -> str:
    if clause.main in _SAYING:
        return ""
    place = _IN_PLACE.match(clause.rest)
    if place is None or DATE.match(f" in {place['where']}") or DATE.match(f" on {place['where']}"):
        return ""
    before = place["before"] or ""
    if not is_place(place["where"]) or (not clause.main and before and _DEFINED.match(before)):
        return ""
    return f"Where {clause.turned} {whole(before)}" if clause.main or not before else ""


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
    if own and clause.rest:
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
        about = next(subjects_of(f"{clause.rest} {clause.more}", f"{clause.subject} {topic}"), "")
        return f"What {clause.turned} about {about}" if about and verb in _ABOUT else f"What {clause.turned}"
    if _DATIVE.match(clause.rest) or _IDIOM.match(clause.rest):
        return ""
    if _TO.match(clause.rest) and verb in _AIMS:
        return f"What {clause.turned} to do"
    found = _OBJECT.match(clause.rest)
    if found is None or verb in _LIGHT | _NAMING or found["object"] == "" or DATE.match(f" in {found['object']}"):
        return ""
    if is_person(found["object"]) or COUNTED.match(clause.rest) or MONEY.match(clause.rest):
        return ""
    behind = clause.rest[found.end() :].strip()
    # What follows may tell more about the object: `a fall in orders`.
    own = behind.startswith("to ") or (found["object"].startswith(("a ", "an ")) and _OF_OBJECT.match(behind))
    return f"What {clause.turned} {'' if own else shortened(behind, 8)}"


_OF_OBJECT: Final = re.compile(r"(?:in|of|for|between|against|on|about) ")
_ABOUT: Final = frozenset("say claim report explain".split())
# Whom something is given or told, and objects that belong to their verb: `lost his way`, `did a lot`.
_DATIVE: Final = re.compile(
    r"(?:him|them|me|us|you)\b|her (?:the|an?|that|to|how|what|where|all|some|this|his|it)\b|her$"
)
_IDIOM: Final = re.compile(
    r"(?:(?:his|her|its|their) (?:own )?(?:way|best|mind|temper|time|turn|place|part|eyes?|heads?|hands?|breath)"
    r"|an? (?:lot|bit|little|while))\b"
)
_AIMS: Final = frozenset(
    "decide agree plan want hope promise try refuse offer intend aim need vote ask propose fail manage help".split()
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
    cut = clause.rest.split()[-1].lower() in PREPOSITIONS | {"to"}
    if cut or not is_person(clause.subject) or (clause.subject.endswith("ing") and " " not in clause.subject):
        return ""
    return f"Who {clause.finite} {shortened(clause.rest)}"


def _whether(sentence: str, clause: Clause, topic: str) -> str:
    if len(clause.rest.split()) < (1 if clause.main else 2) and not clause.main:
        return ""
    if (
        (not clause.rest and clause.main and not _THAT.match(clause.more))
        or clause.more.startswith(("as ", ":"))
        or (not clause.rest and clause.more.strip(".!") and not _THAT.match(clause.more))
    ):
        return ""
    asked = f"{clause.turned} {_with_clause(clause)}"
    return "" if asked.split()[-1].lower() in PREPOSITIONS or left_open(clause) else asked


# Forms that ask with all that follows the verb.
_TO_THE_END: Final = frozenset(("why", "who_did", "how_many"))
# The order is that of preference: the most telling constituents first.
_FORMS: Final[dict[str, Form]] = {
    "why": _why,
    "when": _when,
    "how_many": _how_many,
    "definition": _definition,
    "who_by": who_by,
    "where": _where,
    "how": _how,
    "what": _what,
    "preposition": _preposition,
    "compared": _compared,
    "who_did": _who_did,
    "whether": _whether,
}
