"""English clauses taken apart with no tagger: subject, group of the verb, and the phrases behind it.

A relation is the verb's group, with the words up to a preposition where the object stands behind one (ReVerb, Fader and
others 2011, section 3: V, V P, V W* P). A clause in which something is unclear gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.clauses import words as w
from quern.jobs.reasoning.clauses.part import Part
from quern.jobs.reasoning.clauses.phrases import MONTH, related
from quern.jobs.reasoning.clauses.tokens import QUOTES, Row, tokens
from quern.jobs.reasoning.clauses.verbs import Verb, verb_at
from quern.jobs.text.names import names

_LONGEST_SUBJECT: Final = 10  # Tokens.
_LEAD: Final = 16  # Tokens of an opening phrase.
_ASIDE: Final = 25  # Tokens between a name and its verb, in parentheses or commas.
_OPENING: Final = frozenset("while when although though because".split())
_DATED: Final = frozenset("in on by since from during".split())
_TIMES: Final = frozenset("yesterday today later then however moreover finally meanwhile initially originally".split())
_SUPPOSES: Final = frozenset(("if", "unless", "whether"))


@dataclass(frozen=True)
class Stated:
    """Subject, relation and object of a clause, as places in its sentence.

    Attributes:
        subject: The subject.
        relation: The verb's group, a preposition behind it included.
        object: The object.
        pronoun: The pronoun that the subject is, in lower case; empty where it names something.
    """

    subject: Part
    relation: Part
    object: Part
    pronoun: str = ""


@dataclass(frozen=True)
class _Subject:
    """A subject, whether it is a pronoun, and the verb behind it."""

    part: Part
    verb: Verb
    pronoun: str = ""


@dataclass(frozen=True)
class HeadedClause:
    """Where subject and verb of a clause stand in its sentence.

    Attributes:
        subject: The subject.
        group: The verb with its auxiliaries.
        pronoun: The pronoun that the subject is, in lower case; empty where it names something.
    """

    subject: Part
    group: Part
    pronoun: str = ""


def headed_clauses(sentence: str) -> Iterator[HeadedClause]:
    """Subject and verb of each clause of a sentence that states something."""
    row = tokens(sentence)
    named = {name.start: name.end for name in names(sentence)}
    for at in _starts(row):
        if (subject := _subject(row, at, named)) is not None:
            verb = subject.verb
            yield HeadedClause(subject.part, Part(row[verb.start].start, row[verb.end - 1].end), subject.pronoun)


def clauses(sentence: str) -> Iterator[Stated]:
    """What the clauses of a sentence state; what it asks, supposes or quotes is left out."""
    if sentence.rstrip("\"'”’)] ").endswith(("?", "？")) or sentence[:1] in QUOTES:
        return
    row = tokens(sentence)
    if len(row) < 3 or any(token.low in _SUPPOSES for token in row):
        return
    named = {name.start: name.end for name in names(sentence)}
    for at in _starts(row):
        if (subject := _subject(row, at, named)) is not None:
            yield from _stated(row, subject)


def _stated(row: Row, subject: _Subject) -> Iterator[Stated]:
    """What is stated of a subject, by its verb and by others that hang on it: `X did A and founded B`."""
    verb: Verb | None = subject.verb
    while verb is not None:
        found = related(row, verb)
        for one in found:
            relation = Part(row[verb.start].start, row[one.relation_end - 1].end)
            value = Part(row[one.start].start, row[one.end - 1].end)
            yield Stated(subject.part, relation, value, subject.pronoun)
        end = found[-1].end if found else len(row)
        verb = verb_at(row, end + 1, single=True, strict=True) if row.at(end).low == "and" else None


def _starts(row: Row) -> Iterator[int]:
    """Where clauses may begin: at the head, after an opening phrase, after a semicolon or a conjunction."""
    if (first := _after_lead(row, 0)) is not None:
        yield first
    quoted = False
    for n, token in enumerate(row):
        quoted ^= token.text in QUOTES
        joined = token.text == "," and row.at(n + 1).low in ("and", "but")
        if not quoted and (token.text == ";" or joined):
            start = _after_lead(row, n + 1 + joined)
            if start is not None:
                yield start


def _after_lead(row: Row, at: int) -> int | None:
    """Where the subject may begin, behind `In 2024`, `On 3 May 1990,`, `After it,`; None where that is unclear."""
    low = row.at(at).low
    if low in _TIMES:
        return at + 1 + (row.at(at + 1).text == ",")
    if low not in w.PREPOSITIONS and low not in _OPENING:
        return at if at < len(row) else None
    dated = at + 1
    while row.at(dated).number or MONTH.fullmatch(row.at(dated).text):
        dated += 1
    if low in _DATED and dated > at + 1:
        return dated + (row.at(dated).text == ",")
    comma = next((n for n in range(at, min(len(row), at + _LEAD)) if row[n].text == ","), len(row))
    return comma + 1 if row.at(comma + 1).low not in w.STOPS and comma + 1 < len(row) else None


def _subject(row: Row, at: int, named: Mapping[int, int]) -> _Subject | None:
    """The subject that begins at token `at`, with the verb behind it."""
    token = row.at(at)
    if not token.word or (token.closed_verb and "'" in token.low):
        return None
    if token.low in ("he", "she", "it", "i"):
        verb = verb_at(row, at + 1, single=token.low != "i", strict=False)
        return _Subject(Part(token.start, token.end), verb, token.low) if verb else None
    if token.low.partition("'")[0] in w.PRONOUNS | w.NO_SUBJECT:
        return None
    if token.start in named:
        stop = named[token.start]
        after = next((n for n in range(at, len(row)) if row[n].start >= stop), len(row))
        behind = _behind_name(row, after)
        alone = at == 0 and after == 1 and token.text[1:].islower()
        if behind is not None and not (alone and _hardly_a_name(row, behind)):
            return _Subject(Part(token.start, stop), behind)
    return _phrase_subject(row, at)


def _hardly_a_name(row: Row, verb: Verb) -> bool:
    """Whether the one word that a sentence begins with is hardly a name before this verb: `Outdoor circuits`."""
    first, second = row[0].low, row[verb.start]
    return (
        first.startswith(("let", "how"))
        or first.endswith("ing")
        or (w.third_person(second.low) and not second.closed_verb)
    )


def _behind_name(row: Row, at: int) -> Verb | None:
    """The verb behind a name, behind what stands in parentheses or between commas after it, too."""
    if row.at(at).text in ("(", "（"):
        close = next((n for n in range(at, min(len(row), at + _ASIDE)) if row[n].text in ")）"), None)
        if close is None:
            return None
        at = close + 1
    aside = row.at(at + 1)
    opens = aside.low in ("a", "an", "the", "who", "which", "aged", "now", "then") or aside.number
    if row.at(at).text == "," and opens:
        close = next((n for n in range(at + 2, min(len(row), at + _ASIDE)) if row[n].text == ","), None)
        if close is None:
            return None
        at = close + 1
    return verb_at(row, at, single=True, strict=False)


def _phrase_subject(row: Row, at: int) -> _Subject | None:
    """A phrase with an article, or one that the sentence begins with, up to the verb."""
    first = row[at]
    if first.closed_verb or first.low in w.OWNERS | w.PREPOSITIONS or first.low.endswith("ing"):
        return None
    if not (first.low in w.DETERMINERS or first.capital or first.number):
        return None
    for n in range(at + 1, min(len(row), at + _LONGEST_SUBJECT + 1)):
        token = row[n]
        if _no_subject(row, n):
            return None
        if n == at + 1 and first.low in w.DETERMINERS and not token.closed_verb:
            continue  # `The damaged ship`: what follows an article is no verb.
        verb = verb_at(row, n, single=not _plural(row[n - 1].low), strict=not token.closed_verb)
        if verb is not None:
            last = row[n - 1]
            whole = last.low not in w.PREPOSITIONS and last.low not in ("of", "and") and not last.adverb
            return _Subject(Part(first.start, last.end), verb) if whole else None
        if token.low in w.DOUBT or token.closed_verb:
            return None
    return None


def _plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _no_subject(row: Row, n: int) -> bool:
    """Whether token `n` shows that what it stands in is no subject."""
    token = row[n]
    if (
        not token.word
        or token.low in ("be", "been", "being")
        or token.low in w.PRONOUNS
        or (token.low in w.STOPS and token.low != "and")
    ):
        return True
    return token.low.endswith("ing") and row.at(n + 1).low in w.DETERMINERS
