"""The group of a finite English verb, found by closed classes and by the forms of open ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from quern.jobs.reasoning.clauses import words as w
from quern.jobs.reasoning.clauses.tokens import Row

# Before these a noun may stand as well: `good vibes all the way`.
_LOOSE: Final = frozenset("all both each every more less most some any".split())


@dataclass(frozen=True)
class Verb:
    """The group of a verb: tokens `start` to `end`.

    Attributes:
        start: Its first token.
        end: One past its last.
        is_be: It says what something is, or how: what stands behind it may be an adjective.
        of_be: It is a passive, or lasts: one bare word behind it may be an adjective, `was declared dead`.
        says: It tells what someone says, thinks or wants.
    """

    start: int
    end: int
    is_be: bool = False
    of_be: bool = False
    says: bool = False


def verb_at(row: Row, at: int, *, single: bool, strict: bool) -> Verb | None:
    """The verb's group that begins at token `at`; None where there is none, or one that only supposes.

    Args:
        row: The sentence.
        at: Where it should begin; adverbs may stand before.
        single: The subject is one thing, so that a present in -s may be its verb.
        strict: What could be a noun or a participle too must have a phrase behind it that no noun can stand before.
    """
    start = row.past_adverbs(at)
    token = row.at(start)
    if not token.word or token.low in w.DOUBT:
        return None
    if token.low in w.BE:
        found: Verb | None = _be(row, start)
    elif token.low in w.HAVE:
        found = _have(row, start)
    elif token.closed_verb:
        found = _auxiliary(row, start)
    else:
        found = _open(row, start, single=single, strict=strict)
    if found is None or not any(t.low in w.NEGATIVE for t in row[at:start]):
        return found
    return replace(found, start=at)  # `never played` is the opposite of `played`.


def _be(row: Row, start: int) -> Verb:
    after = row.past_adverbs(start + 1)
    if row.at(after).low == "being":
        after = row.past_adverbs(after + 1)
    word = row.at(after)
    lasting = word.low.endswith("ing") and len(word.low) > 5 and not word.capital
    if w.participle(word.low) or lasting:
        return Verb(start, after + 1, of_be=True, says=word.low in w.SAYS)
    return Verb(start, start + 1, is_be=True)


def _have(row: Row, start: int) -> Verb:
    after = row.past_adverbs(start + 1)
    word = row.at(after)
    if word.low == "been":
        behind = row.past_adverbs(after + 1)
        longer = w.participle(row.at(behind).low) or row.at(behind).low.endswith("ing")
        return Verb(start, behind + 1) if longer else Verb(start, after + 1, is_be=True)
    return Verb(start, after + 1, says=word.low in w.SAYS) if w.participle(word.low) else Verb(start, start + 1)


def _auxiliary(row: Row, start: int) -> Verb | None:
    after = row.past_adverbs(start + 1)
    word = row.at(after)
    if word.low == "be":
        behind = row.past_adverbs(after + 1)
        return Verb(start, behind + 1) if w.participle(row.at(behind).low) else Verb(start, after + 1, is_be=True)
    if row.at(start).low in ("do", "does", "did") and not any(t.low == "not" for t in row[start:after]):
        return Verb(start, start + 1) if word.opens else None
    return Verb(start, after + 1, says=word.low in w.SAYS) if w.BASE.fullmatch(word.low) else None


def _open(row: Row, start: int, *, single: bool, strict: bool) -> Verb | None:
    """A verb of one word, in the past or the present."""
    after = row.past_adverbs(start + 1)
    token, following = row.at(start), row.at(after)
    past = w.past(token.low)
    present = single and w.third_person(token.low)
    if not (past or single) and row.at(start - 1).low in ("i", "we"):
        present = w.BASE.fullmatch(token.low) is not None and token.low not in w.PREPOSITIONS | w.STOPS
    if not (past or present) or token.capital:
        return None
    opens = following.opens and (past or following.low not in _LOOSE)
    certain = past and not w.doubtful_past(token.low) and not token.low.endswith("ed")
    if (past and not strict) or certain or opens or row.measures(after):
        return Verb(start, start + 1, says=token.low in w.SAYS)
    loose = not strict and following.low in w.PREPOSITIONS
    return Verb(start, start + 1, says=token.low in w.SAYS) if loose else None
