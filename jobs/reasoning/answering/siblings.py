"""Values that one sentence sets beside each other, each with what it is said of: `30 days on Gold; on Platinum 180`.

Such a value is said of what stands in its own clause, not of what stands nearest to it in letters. In an elided clause
(`and 120 on Gold`) only the qualifier is said again: a word of the question there decides, whatever the first clause
shares with the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.names import names
from quern.jobs.reasoning.answering.typed.value import Value
from quern.jobs.reasoning.answering.wording import irregular_pasts, said_by_others
from quern.jobs.reasoning.questions.words import BE, CONJUNCTIONS, bare, base, is_past, is_verb
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_MOST: Final = 8  # Values of a sentence; one of more is a table or a list of figures.
_SAME_FIT: Final = 0.15  # By how much values differ that are of one kind: a number of another thing is no sibling.
_LOST: Final = 0.01  # What a value counts that its sentence says of something else. By reason alone.
_TOLD: Final = 0.4  # Of the belief in all siblings, what the one meant has at least: enough to be told by itself.
_MEASURED: Final = frozenset({"how_many", "how_much", "how_long", "when"})
_NAME: Final = 3  # What a name or a number of the question counts against another word, where both clauses are whole.
_PARTED: Final = lazy_pattern(r"[;；。]")
_JOINED: Final = lazy_pattern(
    r"[,，]\s*(?:and|or|but|while|whereas|whilst|und|oder|aber|während|et|y)\b|\b(?:but|while|whereas|whilst|during)\b|而"
)
_EITHER: Final = lazy_pattern(r"[,，、](?!\d)|\b(?:and|or|und|oder|et|y)\b|[和与]")
_BEHIND: Final = lazy_pattern(
    r"[^\s]*(?:\s+\w+){0,2}?\s+(?:on|in|at|for|per|by|of|to|from|with|under|as|auf|bei|für|pro)\b"
)
_BRACKETS: Final = lazy_pattern(r"(?<![\w’'-])(?P<head>(?:[\w’'-]++\s){1,4})\((?P<inside>[^()]{1,80})\)")
_HAVE: Final = frozenset({"has", "have", "had"})
_RELATIVE: Final = frozenset({"which", "who", "that", "whose"})
# What sets a clause apart that says nothing of the subject, and what stands for a noun of the clause before.
_BESIDE: Final = lazy_pattern(r",\s*(?:which|who|whose|where)\b[^,;]*")
_STANDS_FOR: Final = lazy_pattern(r"\b(?:the|an?)\s+\w+\s+ones?\b|\b(?:that|those)\s+(?:of|in|on|at|for)\b")
_CAPITAL: Final = lazy_pattern(r"(?<=[\w,;] )[A-Z][\w’'-]*")
_RESPECTIVELY: Final = lazy_pattern(r"\brespectively\b", re.IGNORECASE)
# Such a clause tells what else there is beside what is asked of.
_SET_AGAINST: Final = lazy_pattern(
    r"[,\s]*(?:(?:as\s+)?compared\s+(?:with|to)|against|instead\s+of|rather\s+than|(?:up|down)\s+(?:on|from)|than)\b"
)
_BY_CHANCE: Final = 1  # Words of the question that such a clause may share and not be meant.
# Words are taken whole, so that a word of many thousand letters takes no time of its square.
_ITEM: Final = r"(?:[\w’'-]++\s){0,2}[\w’'-]++"
_SERIES: Final = re.compile(
    rf"(?<![\w’'-])(?P<first>{_ITEM}(?:,\s{_ITEM}){{0,6}}),?\s(?:and|or)\s(?P<last>(?:the\s)?[\w’'-]++)"
)


@dataclass(frozen=True)
class Siblings:
    """The values of one kind that a sentence sets beside each other.

    Attributes:
        groups: Positions of the values of each clause.
        own: Stems of the question that each clause alone has.
        won: The clause that the question is about; None where no word tells them apart.
        named: Whether each clause has a name or a word with a capital that the question has not.
    """

    groups: tuple[tuple[int, ...], ...]
    own: tuple[frozenset[str], ...]
    won: int | None
    named: bool

    def weighed(self, weights: Sequence[float]) -> list[float]:
        """Weights of the values: what is said of the thing asked about takes the greatest, its siblings next to none.

        No value gains on those of other sentences by it: which of the siblings is meant says nothing of the sentence.
        """
        if self.won is None:
            return [*weights]
        lost = {n for at, group in enumerate(self.groups) if at != self.won for n in group}
        of_all = [weights[n] for group in self.groups for n in group]
        most = max(*of_all, _TOLD * math.fsum(of_all))
        top = max(weights[n] for n in self.groups[self.won])
        found = [w * _LOST if n in lost else w for n, w in enumerate(weights)]
        for n in self.groups[self.won]:
            found[n] *= most / top
        return found

    def means(self, at: int) -> bool | None:
        """Whether value `at` is said of what the question is about; None where that cannot be told."""
        if self.won is None or not any(at in group for group in self.groups):
            return None
        if at not in self.groups[self.won]:
            return False
        return True if len(self.groups[self.won]) == 1 else None


@lru_cache(maxsize=4096)
def _named(question: str) -> frozenset[str]:
    """Stems of the names and numbers of a question."""
    plain = question.partition(" ")[2]
    capitals = re.findall(r"\b[A-Z][\w’'-]*|\b\w*\d[\w-]*", plain)
    return content_words(" ".join([*(n.text for n in names(question)), *capitals]))


def siblings(question: str, kind: Kind, text: str, values: Sequence[Value]) -> Siblings | None:
    """The clauses of the likeliest kind of value in a sentence, where there are two or more; else none.

    Names are set beside each other in lists too: of them a name or a number of the question must tell which is meant.
    """
    if not 2 <= len(values) <= _MOST:
        return None
    if (bracketed := _in_brackets(question, text, values)) is not None:
        return bracketed
    fit = max(v.fit for v in values)
    fits = [n for n, v in enumerate(values) if v.fit >= fit - _SAME_FIT]
    bare_too = [n for n, v in enumerate(values) if n in fits or _bare(v)]
    # Where other things are counted too, a bare number may be of any: `320 passengers and 44 carts, here 280 and 36`.
    groups = _groups(values, bare_too if len(bare_too) == len(values) else fits)
    if len(groups) < 2 or len({values[g[0]].same for g in groups}) < 2:
        return None
    clauses = _respective(text, values, groups)
    if clauses is None:
        groups, clauses = _clauses(text, values, groups)
    if len(groups) < 2:
        return None
    asked = content_words(question)
    held = _held(asked, clauses)
    seen = Counter(w for words in held for w in words)
    own = tuple(frozenset(w for w in words if seen[w] == 1) for words in held)
    counted = [v.text for v in values]
    won = _won(_named(question), [_without(clause, counted) for clause in clauses], own)
    if won is not None and kind.name not in _MEASURED and not own[won] & _named(question):
        won = None
    others = all(_capitals(clause) - asked for clause in clauses)
    return Siblings(tuple(groups), own, won, others)


def _in_brackets(question: str, text: str, values: Sequence[Value]) -> Siblings | None:
    """A value in brackets behind the name asked about, a word of the question with it: `Harrow (founded in 1931)`."""
    named, asked = _named(question), content_words(question)
    held = [(m, content_words(m["inside"]) & (asked - named)) for m in _BRACKETS.finditer(text)]
    meant = [(m, words) for m, words in held if words and content_words(m["head"]) & named]
    groups = _groups(values, range(len(values)))
    if len(meant) != 1 or len(groups) < 2:
        return None
    (m, words) = meant[0]
    won = [n for n, group in enumerate(groups) if m.start("inside") <= values[group[0]].start < m.end("inside")]
    if len(won) != 1:
        return None
    own = tuple(words if n == won[0] else frozenset[str]() for n in range(len(groups)))
    return Siblings(tuple(groups), own, won[0], named=True)


def _capitals(clause: str) -> frozenset[str]:
    """Stems of the words with a capital inside a clause, where that shows a name."""
    return content_words(" ".join(_CAPITAL.findall(clause)))


def _bare(value: Value) -> bool:
    """Whether a value is a number whose unit is said of another: `12 crowns for adults, 6 for children`."""
    return isinstance(value.same, tuple) and len(value.same) == 2 and value.same[1] == ""


def _without(clause: str, counted: Sequence[str]) -> str:
    """A clause without its values: what is counted may look like a verb (`120 requests`)."""
    for text in counted:
        clause = clause.replace(text, "#")
    return clause


def _held(asked: frozenset[str], clauses: Sequence[str]) -> list[frozenset[str]]:
    """Stems of the question that each clause has, in other words too: what one of them says no other says otherwise."""
    said = [content_words(clause) for clause in clauses]
    others = said_by_others(asked, sorted(frozenset().union(*said)))
    return [(asked & words) | {others[w] for w in words if w in others} for words in said]


def _groups(values: Sequence[Value], of: Sequence[int]) -> list[tuple[int, ...]]:
    """The values in their order, those together that overlap."""
    found: list[list[int]] = []
    for n in sorted(of, key=lambda n: values[n].start):
        if found and values[n].start < max(values[m].end for m in found[-1]):
            found[-1].append(n)
        else:
            found.append([n])
    return [tuple(group) for group in found]


def _clauses(
    text: str, values: Sequence[Value], groups: Sequence[tuple[int, ...]]
) -> tuple[list[tuple[int, ...]], list[str]]:
    """The clause of each group; groups that nothing parts, or nothing but a conjunction, are one."""
    behind = _BEHIND.match(text, max(values[n].end for n in groups[-1])) is not None
    joined: list[tuple[int, ...]] = [groups[0]]
    cuts = [0]
    for before, after in pairwise(groups):
        start, end = max(values[n].end for n in before), min(values[n].start for n in after)
        cut = _cut(text, start, end, behind=behind)
        if cut is None:
            joined[-1] += after
        else:
            joined.append(after)
            cuts.append(cut)
    return joined, [text[a:b] for a, b in pairwise([*cuts, len(text)])]


def _cut(text: str, start: int, end: int, *, behind: bool) -> int | None:
    """Where the next clause begins between two values; None where both are of one."""
    between = text[start:end]
    parted = [m.start() for m in _PARTED.finditer(between)]
    if parted:
        return start + parted[-1]
    joined = list(_JOINED.finditer(between))
    either = joined or [*_EITHER.finditer(between)]
    if not either or not content_words(_EITHER.sub(" ", between)):
        return None
    return start + (either[-1] if behind else either[0]).start()


def _respective(text: str, values: Sequence[Value], groups: Sequence[tuple[int, ...]]) -> list[str] | None:
    """What each value is said of where a sentence says `A and B ... 900 and 120 respectively`."""
    if _RESPECTIVELY.search(text) is None:
        return None
    taken = [(values[g[0]].start, max(values[n].end for n in g)) for g in groups]
    for found in _SERIES.finditer(text):
        if any(start < found.end() and found.start() < end for start, end in taken):
            continue
        items = [*found["first"].split(", "), found["last"]]
        if len(items) == len(groups):
            return items
    return None


def _won(named: frozenset[str], clauses: Sequence[str], own: Sequence[frozenset[str]]) -> int | None:
    """The clause that has most of what the question says of one of them alone; None where none has more.

    What the first clause alone has may hold of all that are elided: there it counts only where none of these has any.
    """
    elided = [n for n in range(1, len(clauses)) if not _whole(clauses[n])]
    worth = [sum(_NAME if w in named else 1 for w in words) for words in own]
    # A clause that sets another beside it shares a word by chance: `compared with 1.4 for the coating in use today`.
    least = {n: _BY_CHANCE if _SET_AGAINST.match(clauses[n]) else 0 for n in elided}
    if any(worth[n] > least[n] for n in elided):
        worth[0] = 0
    best = max(worth)
    return worth.index(best) if best and worth.count(best) == 1 else None


def _whole(clause: str) -> bool:
    """Whether a clause has a subject and a verb of its own; `published in June` and `the new one has` lack the one."""
    if _STANDS_FOR.search(clause):
        return False
    words = [w for w in _BESIDE.sub(" ", clause).strip(" ,;，；").split() if bare(w) not in CONJUNCTIONS]
    if words and (bare(words[0]) in _RELATIVE or _is_form(words[0])):
        return False
    return any(_is_form(w) or (w.islower() and w.endswith("s") and is_verb(base(w))) for w in words)


def _is_form(word: str) -> bool:
    """Whether a word is a form of `be` or `have`, or looks like a past or a participle."""
    plain = bare(word)
    return plain in BE or plain in _HAVE or is_past(plain) or plain in irregular_pasts()
