"""What the sentences of a chunk state, by patterns of English clauses, without a parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from quern.jobs.queries.rules.units import dialogue_speakers
from quern.jobs.text.names import is_body, names
from quern.jobs.reasoning.clauses.clauses import clauses
from quern.jobs.reasoning.clauses.words import BE, PREPOSITIONS, STOPS
from quern.jobs.triplets.statement import Part, Passage, Statement
from quern.schemas.words.scripts import HAN

_LABEL: Final = re.compile(r"\s*(?P<name>[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*){0,3}):\s+")
_HAN: Final = re.compile(f"[{HAN}]")
_OPEN: Final = re.compile(r"[“\"]")
_CLOSE: Final = re.compile(r"[”\"]")
_BORN: Final = re.compile(
    r"(?<=\()(?P<relation>born)(?:\s+(?:on\s+)?(?P<object>(?:\d{1,2}\s+)?(?:[A-Z][a-z]+\s+)?(?:\d{1,2},\s+)?\d{4}))"
)
_ALIAS: Final = re.compile(r"\s*(?P<relation>\()(?P<object>[A-Z][A-Z0-9&-]{1,9})\)")
_ROLE: Final = re.compile(
    r",\s+(?:an?\s+|the\s+|its\s+)?(?P<relation>(?:[a-z]+\s+){0,3}[a-z]{3,}\s+(?:of|at|for))\s+(?:the\s+)?(?=[A-Z])"
)


def sentence_statements(passage: Passage) -> Iterator[Statement]:
    """What the sentences of a chunk state; rows of tables and Chinese sentences are left to others."""
    text = passage.text
    speakers = dialogue_speakers(text)
    before: Part | None = None  # The subject of the sentence before, if that was a name.
    in_quote, line_end, speaker = False, 0, None
    for span in passage.sentences:
        sentence = span.of(text)
        if "\n" in text[line_end : span.start] or span.start == 0:
            in_quote, before, speaker = False, None, None
        line_end = span.end
        quoted, in_quote = in_quote, in_quote ^ (len(re.findall(r'"', sentence)) % 2 == 1 or _unclosed(sentence))
        if " | " in sentence or sentence.startswith("|") or 3 * len(_HAN.findall(sentence)) > len(sentence):
            continue
        label = _LABEL.match(sentence)
        offset = span.start
        if label and label["name"] in speakers:
            speaker = Part(span.start + label.start("name"), span.start + label.end("name"))
            offset, sentence = span.start + label.end(), sentence[label.end() :]
        if quoted:
            continue
        yield from _beside_names(sentence, offset, span)
        subject: Part | None = None
        for stated in clauses(sentence):
            who = _moved(stated.subject, offset)
            if stated.pronoun:
                found = speaker if stated.pronoun == "i" else _meant(stated.pronoun, before, text)
                if found is None:
                    continue
                who = found
            subject = subject or (None if who == speaker else who)
            yield Statement(
                who, _moved(stated.relation, offset), _moved(stated.object, offset), span.start, span.end, "sentence"
            )
        before = (
            subject
            if subject and _is_name(subject.of(text))
            else before
            if subject is None and not _named(sentence)
            else None
        )


def _unclosed(sentence: str) -> bool:
    return sentence.count("“") != sentence.count("”")


def _moved(part: Part, by: int) -> Part:
    return Part(part.start + by, part.end + by)


def _named(sentence: str) -> bool:
    """Whether a sentence names anything else that a pronoun after it may stand for."""
    return bool(names(sentence))


def _is_name(text: str) -> bool:
    """Whether a subject is a name: capitals in all words but those that bind, and in more than where it begins."""
    words = text.removeprefix("The ").removeprefix("the ").split()
    own = [word for word in words if word not in ("of", "the", "and", "de", "van", "von", "&")]
    return bool(own) and all(word[:1].isupper() or word[:1].isdigit() for word in own) and own[0] not in ("A", "An")


def _meant(pronoun: str, before: Part | None, text: str) -> Part | None:
    """The name that the sentence before was about, if it can be a person for `he`, and a thing for `it`."""
    if before is None:
        return None
    name = before.of(text)
    found = names(name)
    role = found[0].role if found else "other"
    like_person = role == "person" or (
        " " in name and role == "other" and not is_body(name) and not name.startswith("The ")
    )
    if pronoun == "it":
        return before if not like_person or name.startswith("The ") else None
    return before if like_person else None


def _beside_names(sentence: str, offset: int, span: Part) -> Iterator[Statement]:
    """What stands behind a name: `(born 1951)`, `(HCB)`, `, chief clerk of the Harbour Board`."""
    for name in names(sentence):
        subject = Part(offset + name.start, offset + name.end)
        alias = _ALIAS.match(sentence, name.end)
        if alias and _abbreviates(alias["object"], name.text):
            yield _statement(subject, alias, offset, span)
        if sentence[name.end : name.end + 2] == " (" and (born := _BORN.match(sentence, name.end + 2)):
            yield _statement(subject, born, offset, span)
        role = _ROLE.match(sentence, name.end)
        other = next((n for n in names(sentence) if role and n.start == role.end()), None)
        if role and other and _is_role(role["relation"]) and not _goes_on(sentence[other.end :]):
            part = Part(offset + other.start, offset + other.end)
            relation = Part(offset + role.start("relation"), offset + role.end("relation"))
            yield Statement(subject, relation, part, span.start, span.end, "name")


def _is_role(words: str) -> bool:
    """Whether words behind a name say what it is: they begin with no preposition and no participle."""
    first = words.split()[0]
    return first not in PREPOSITIONS | STOPS and not first.endswith(("ing", "ed"))


def _goes_on(rest: str) -> bool:
    """Whether a name is the first part of a longer phrase: `Merrimack River watershed`."""
    found = re.match(r"\s+([a-z]+)", rest)
    return found is not None and found[1] not in PREPOSITIONS | STOPS | BE


def _statement(subject: Part, found: re.Match[str], offset: int, span: Part) -> Statement:
    relation, value = (_moved(Part(*found.span(group)), offset) for group in ("relation", "object"))
    return Statement(subject, relation, value, span.start, span.end, "name")


def _abbreviates(short: str, name: str) -> bool:
    """Whether capitals are those of a name's words, in order."""
    initials = "".join(word[0] for word in re.findall(r"\w+", name)).upper()
    letters = iter(initials)
    return len(short) > 1 and all(c in letters for c in short if c.isalpha())
