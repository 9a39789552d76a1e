"""Whom a pronoun at the head of an English sentence stands for, by rule.

It is the subject of the sentence before if that is a name, else what the document is about. The rule is
conservative: he and she never stand for what is known to be a thing, nor it for what is known to be a person, and
a pronoun that follows another name of its own sentence is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from quern.jobs.queries.rules.units import STOP_WORDS

_PERSONS = """
actor actress author bishop biker bowler boxer chef comedian cricketer cyclist dancer designer driver duke fighter
golfer governor historian judge jumper knight librarian mayor minister monk musician nun physician physicist pilot
player priest rapper rider rower runner scholar screenwriter senator skater skier soldier songwriter sprinter surgeon
swimmer wrestler
bishop coach composer daughter director emperor engineer footballer founder general king lawyer
leader manager member officer painter philosopher player poet president prince princess producer professor queen rapper
saint singer son teacher writer
"""
# What persons are called, beside words such as `politician`, `artist`, `playwright`, `woman`.

PERSON_NOUN = re.compile(
    r"(?:an?|the|one of the) (?:[\w-]+ ){0,4}?(?:[a-z]+(?:ist|ician|wright|woman|man)|"
    + "|".join(sorted({*_PERSONS.split()}))
    + r")\b"
)
LEAD = re.compile(
    r"(?:In|On|At|By|During|After|Before|From|Since|As|For|Under|With|However|Moreover|Also|Today|Currently|Then|Finally)\b"
    r"(?: \d{1,2}, (?=\d{4}\b)|[^,.;:]){0,60}(?:, | (?=(?:he|she|it|they) [a-z]))(?=\S)"
)
_PRONOUN = re.compile(
    r"(?P<subject>He|She|It|They|This|These) (?=(?:\w+ly |also |then |later )?"
    r"(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|does|did|[a-z]+ed|[a-z]{3,}s|"
    r"began|became|won|made|wrote|led|held|took|went|grew|left|lost|ran|sang|met|gave|built|fought|got|came) )"
    r"|(?P<owner>His|Her|Its|Their) (?=[a-z])"
)
_NAME = re.compile(r"(?:The )?(?P<name>[A-Z][\w'’.-]*[a-z](?: (?:(?:of|the|de|von|van|and) )?[A-Z][\w'’.-]+){0,4})")
_HEAD = re.compile(r"(?:[^,.;:]{0,60}, )?(?P<head>He|She|His|Her|It|Its|he|she|his|her|it|its) ")
_DEFINED = re.compile(r" (?:is|was|are|were) (?P<what>(?:an?|the|one of the) .*)")
_BORN = re.compile(r"\(.{0,40}\bborn\b|\b(?:19|18|20)\d\d ?[–-] ?(?:\w+ ){0,2}(?:19|18|20)\d\d\)")
_HUMAN = frozenset(("he", "she", "his", "her"))
_THING = frozenset(("it", "its", "this"))
_MANY = frozenset(("they", "their", "these"))


def resolve(sentence: str, before: str, topic: str, kind: str) -> str:
    """`sentence` with the pronoun at its head, or after its opening phrase, replaced by a name where that is safe.

    Args:
        sentence: The sentence.
        before: The sentence before it; empty if there is none.
        topic: What the document is about; may be empty.
        kind: What the topic is known to be: `person`, `thing` or nothing.
    """
    lead = LEAD.match(sentence)
    at = lead.end() if lead else 0
    rest = sentence[at:]
    pronoun = _PRONOUN.match(rest[:1].upper() + rest[1:])
    if pronoun is None:
        return _whole_name(sentence, at, topic)
    name = _antecedent(pronoun[0].strip().lower(), before, topic, kind)
    if not name:
        return sentence
    owner = "'s" if pronoun["owner"] else ""
    return f"{sentence[:at]}{name}{owner} {rest[pronoun.end() :]}"


def kind_of(topic: str, sentences: Sequence[str]) -> str:
    """What `topic` is known to be from the sentences of a chunk about it: `person`, `thing` or nothing."""
    heads = [m["head"].lower() for m in map(_HEAD.match, sentences) if m]
    human = sum(1 for h in heads if h in _HUMAN)
    if human or not topic:
        return "person" if human > sum(1 for h in heads if h in _THING) else ""
    last = topic.rsplit(" ", 1)[-1]
    for sentence in sentences[:2]:
        found = _DEFINED.search(sentence)
        if found and last in sentence[: found.start()]:
            return "person" if PERSON_NOUN.match(found["what"]) or _BORN.search(sentence) else "thing"
    return ""


def _whole_name(sentence: str, at: int, topic: str) -> str:
    """A person's family name alone, as in running text, filled up to the whole name."""
    last = topic.rsplit(" ", 1)[-1]
    named = last and sentence[at:].startswith(f"{last} ") and all(word[:1].isupper() for word in topic.split())
    return f"{sentence[:at]}{topic}{sentence[at + len(last) :]}" if named else sentence


def _antecedent(pronoun: str, before: str, topic: str, kind: str) -> str:
    name = _subject(before)
    if name and name not in topic and topic not in before:
        # Of a name nothing is known but its words: two are like a person's, for a thing one is enough.
        if pronoun in _MANY or (pronoun in _HUMAN) != (" " in name):
            return ""
        return name
    if (pronoun in _HUMAN and kind == "thing") or (pronoun in _THING | _MANY and kind == "person"):
        return ""
    return topic


def _subject(sentence: str) -> str:
    """The name that a sentence begins with, after its opening phrase; empty if it begins otherwise."""
    lead = LEAD.match(sentence)
    found = _NAME.match(sentence, lead.end() if lead else 0)
    if found is None or re.match(r" \d", sentence[found.end() :]):
        return ""  # `Entry 8` is a number's label and no name.
    return found["name"] if found["name"].split()[0].lower() not in STOP_WORDS else ""
