"""The phrases behind an English verb: what it is stated with, directly or behind a preposition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.clauses import words as w
from quern.jobs.reasoning.clauses.tokens import QUOTES, Row
from quern.jobs.reasoning.clauses.verbs import Verb
from quern.schemas.words.calendar import MONTH_START

_LONGEST: Final = 10  # Tokens of a phrase.
_LONGEST_RELATION: Final = 9  # Tokens; a verb with all that stands before a later preposition.
_MOST: Final = 3  # Phrases behind one verb.
_MODALS: Final = frozenset("would could should may might must".split())
_HEDGES: Final = frozenset("just only almost nearly about".split())
_BEHIND: Final = frozenset("out up off back away right like".split())
_YEAR: Final = re.compile(r"[12]\d{3}")
MONTH: Final = re.compile(rf"{MONTH_START}[a-z]*\.?")


@dataclass(frozen=True)
class Related:
    """A phrase behind a verb: tokens `start` to `end`; the relation ends before token `relation_end`."""

    relation_end: int
    start: int
    end: int


def related(row: Row, verb: Verb) -> list[Related]:
    """The phrases that a verb is stated with, in order; none where one of them turns out to be another clause."""
    if verb.says or any(token.low in w.DOUBT for token in row[verb.start : verb.end]):
        return []
    found: list[Related] = []
    for one in _phrases(row, verb):
        if one is None:
            return []
        found.append(one)
        if len(found) == _MOST:
            break
    return found


def _phrases(row: Row, verb: Verb) -> Iterator[Related | None]:
    """Phrase by phrase; None where one is unclear, so that none of them can be trusted."""
    at, first = _behind_verb(row, verb), True
    while at < len(row):
        relation_end, bound = at, False
        if (row[at].low in w.PREPOSITIONS and not row.measures(at)) or (first and row[at].low == "of"):
            bare = row[at].low == "to" and row.infinitive(at + 1)
            if bare or row[at].low == "between" or at - verb.start >= _LONGEST_RELATION:
                return
            relation_end, at, bound = at + 1, at + 1, True
        elif not first:
            return
        end = phrase_end(row, at)
        if end is None or end == at or _idiom(row, at, end):
            return
        if _another_clause(row, end):
            yield None
            return
        helps = row.at(at - 1).low.startswith("help") and end == at + 1 and not row[at].capital
        if helps or not _tells(row, at, end, adjective=_maybe_adjective(verb, end - at) and not bound):
            return
        yield Related(relation_end, at, end)
        at, first = end, False


def _behind_verb(row: Row, verb: Verb) -> int:
    """Where phrases begin: behind an infinitive that belongs to the verb, a particle, and adverbs."""
    at = verb.end
    if row.at(at).low == "to" and not verb.is_be and row.infinitive(at + 1) and row.at(at + 1).low not in w.SAYS:
        at = row.past_adverbs(at + 1) + 1
    if row.at(at).low in w.PARTICLES and not row.measures(at):
        at += 1
    return at if row.at(at).low in w.QUANTIFIERS else row.past_adverbs(at)


def _maybe_adjective(verb: Verb, length: int) -> bool:
    return verb.is_be or (verb.of_be and length == 1)


def _another_clause(row: Row, end: int) -> bool:
    """Whether what comes right behind a phrase makes it another clause's subject, or one of two."""
    token = row.at(end)
    finite = token.closed_verb or token.low in _MODALS or (token.low in w.PAST and not w.doubtful_past(token.low))
    return finite or token.low in ("or", "than")


def _idiom(row: Row, at: int, end: int) -> bool:
    """Whether a phrase makes a preposition of several words, or an adverb: `on account of`, `for sure`."""
    head = at + (row.at(at).low in w.DETERMINERS)
    if row.at(head).low not in w.OF_PREPOSITIONS:
        return False
    return end == head + 1 or row.at(head + 1).low in ("of", "to", "for", "with")


def phrase_end(row: Row, at: int) -> int | None:
    """Where the phrase that begins at token `at` ends; None where it is too long or cut by a quotation mark."""
    n, quoted = at, False
    while n < len(row):
        if row[n].text in QUOTES:
            quoted = not quoted
        elif not quoted and (_ends(row, n, at) if row[n].word else not _joins(row, n, at)):
            break
        n += 1
        if n - at > _LONGEST:
            return None
    if quoted or (row.at(n).low == "than" and row.at(n - 1).adverb):
        return None  # `eight months later than promised` is no eight months.
    while n - at > 1 and _trails(row, n - 1):
        n -= 1
    return n


def _joins(row: Row, n: int, at: int) -> bool:
    """Whether a mark stands inside a phrase: of money, a hyphen, the comma of `May 3, 1951`."""
    dated = row[n].text == "," and n > at and _YEAR.fullmatch(row.at(n + 1).text) and MONTH.match(row.at(n - 2).text)
    return row[n].text in "$€£#&-–'’·/" or bool(dated)


def _ends(row: Row, n: int, at: int) -> bool:
    """Whether word `n` is no more of the phrase."""
    low, before, behind = row[n].low, row.at(n - 1), row.at(n + 1)
    if low == "than":
        return before.low not in ("more", "less", "fewer", "other", "rather")
    if n == at:
        return low in w.STOPS | w.PARTICLES | w.PREPOSITIONS and not row.measures(n)
    if low == "to" and behind.number and (before.number or (before.low == "up" and n == at + 1)):
        return False
    if low == "and" and behind.word:
        names = before.capital and behind.capital and behind.low not in w.NO_SUBJECT
        return not (names or (before.number and behind.number))
    if low in w.PREPOSITIONS | w.STOPS | w.DOUBT or row[n].closed_verb:
        return True
    return low in w.PRONOUNS - w.QUANTIFIERS or (low in w.PAST and not w.doubtful_past(low))


def _trails(row: Row, n: int) -> bool:
    """Whether the last word of a phrase belongs to what comes after it: `a label based`, `the bridge again`."""
    token = row[n]
    if token.adverb or token.text in "'’-–/" or token.low in _BEHIND:
        return True
    open_form = (w.participle(token.low) and not w.doubtful_past(token.low)) or lasting(token.low)
    return open_form and not token.capital and not row.at(n - 1).owned


def lasting(word: str) -> bool:
    """Whether a word is a verb in -ing, by its form."""
    return word.endswith("ing") and len(word) > 4 and word not in w.LASTING_NOUNS


def _tells(row: Row, at: int, end: int, *, adjective: bool) -> bool:
    """Whether a phrase names a thing, a number or a time; where it may be an adjective, only what opens a phrase."""
    phrase = row[at:end]
    first, last = phrase[0], phrase[-1]
    content = any(t.number or (t.word and t.low not in w.DETERMINERS | w.QUANTIFIERS) for t in phrase)
    if not content or first.low in w.PRONOUNS - w.QUANTIFIERS or last.owned:
        return False
    # `a three-storey, red house`: the thing comes after the comma.
    cut = "-" in last.low and not last.capital and not last.number and row.at(end).text == ","
    if last.low in w.STOPS | w.PREPOSITIONS or last.low == "of" or cut:
        return False
    bare = last.low in w.QUANTIFIERS | w.ALONE or (lasting(last.low) and not last.capital)
    if len(phrase) == 1 and bare and not last.number:
        return False
    return not adjective or (phrase[1] if first.low in _HEDGES and len(phrase) > 1 else first).opens
