"""The measure of SemEval-2015 task 4, timelines of entities, as the task's own tool takes it (Minard et al. 2015).

A timeline orders mentions of events, words of sentences, each with a date. Its temporal relations are those that the
tool states of it, without what follows from others (UzZaman and Allen 2011): each mention is simultaneous with its
date, and the last mention of a place in the order is before the first of the next. *Precision* is the share of ours
that hold in the closure of the gold ones, *recall* the share of the gold ones that hold in the closure of ours. A
relation of a mention that the other timeline lacks does not hold. Order 0 is no place in time: it is left out.

An event of ours is a sentence; `event_word` chooses the word that stands for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from datetime import date
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from quern.jobs.text.words import PASTS


class Placed(NamedTuple):
    """A mention of an event in a timeline."""

    order: int
    date: str
    mention: str


@dataclass(frozen=True)
class Relations:
    """How many temporal relations two timelines state, and how many of each hold in the other; sums over timelines."""

    ours: int = 0
    ours_right: int = 0
    gold: int = 0
    gold_found: int = 0

    def __add__(self, other: Relations) -> Relations:
        return Relations(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))

    def figures(self) -> dict[str, float]:
        """Precision, recall and F1; 0 where there is nothing to divide by."""
        precision, recall = self.ours_right / max(1, self.ours), self.gold_found / max(1, self.gold)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return {"precision": precision, "recall": recall, "f1": f1}


_Node = tuple[str, int]
"""A mention, and which of those that are written alike."""


@dataclass
class _Graph:
    """The relations that a timeline states, and what follows from them."""

    order: dict[_Node, int] = field(default_factory=dict)  # Place of each mention.
    date: dict[_Node, str] = field(default_factory=dict)  # Its date.
    before: list[tuple[_Node, _Node]] = field(default_factory=list)  # Pairs of mentions stated to follow one another.

    @classmethod
    def of(cls, timeline: Iterable[Placed]) -> _Graph:
        def natural(placed: Placed) -> tuple[int, str, list[tuple[int, str]]]:
            """The tool's order of lines: numbers by value."""
            parts = re.findall(r"\d+|\D+", placed.mention)
            return placed.order, placed.date, [(int(p), "") if p.isdigit() else (0, p) for p in parts]

        graph, alike = cls(), Counter[str]()
        for placed in sorted((p for p in timeline if p.order), key=natural):
            node = (placed.mention, alike[placed.mention])
            alike[placed.mention] += 1
            graph.order[node], graph.date[node] = placed.order, placed.date
        places = [[*nodes] for _, nodes in groupby(graph.order, key=graph.order.__getitem__)]
        graph.before = [(earlier[-1], later[0]) for earlier, later in pairwise(places)]
        return graph

    @property
    def size(self) -> int:
        return len(self.date) + len(self.before)

    def holding_in(self, other: _Graph) -> int:
        """How many of the relations stated hold in another graph's closure."""
        dated = sum(other.date.get(node) == day for node, day in self.date.items())
        both = [(a, b) for a, b in self.before if a in other.order and b in other.order]
        return dated + sum(other.order[a] < other.order[b] for a, b in both)


def relations(gold: Iterable[Placed], ours: Iterable[Placed]) -> Relations:
    """The relations of a gold timeline and of ours."""
    right, found = _Graph.of(gold), _Graph.of(ours)
    return Relations(found.size, found.holding_in(right), right.size, right.holding_in(found))


def timed(events: Iterable[tuple[date, date, str]]) -> Iterator[Placed]:
    """Mentions with the first and the last day meant, placed by the task's dates: a day, a month, a year.

    What is vaguer has no place.
    """
    rows = []
    for first, last, mention in events:
        month = f"{first:%Y-%m}-XX" if first.month == last.month else f"{first:%Y}-XX-XX"
        rows.append((first.isoformat() if first == last else month if first.year == last.year else "", mention))
    # X as 0, as in the gold: a month comes before its days.
    orders = {day: n for n, day in enumerate(sorted({d for d, _ in rows if d}, key=lambda d: d.replace("X", "0")), 1)}
    return (Placed(orders.get(day, 0), day, mention) for day, mention in rows)


_BE: Final = frozenset("is are was were am be been being got".split())
_HAVE: Final = frozenset("has have had".split())
_MODAL: Final = frozenset("will would shall can could may might must should to did does do".split())
_BETWEEN: Final = frozenset("not never also already since now just then once first later only recently".split())
# A form in -ed after one of these is no finite verb: `the troubled programme`.
_OF_NOUN: Final = frozenset(
    "a an the this that these those its his her their our my your of by with for in at on from and or as than some any "
    "each every most many several no more less newly very highly".split()
)
_NO_VERB: Final = frozenset("this its his as us plus versus series news years months weeks days hours".split())
_VERBS_IN_LY: Final = frozenset("fly apply reply supply rely comply imply multiply".split())
_PARTICLES: Final = frozenset("out off up down away back".split())


def event_word(sentence: str, *, title: bool = False) -> str | None:
    """The word that stands for the event a sentence tells: its first verb that is finite or after an auxiliary.

    In a title a verb in -s, or one after `to`, comes first. A particle after it is joined to it, as in the gold:
    `rolls_out`. None where there is no such verb. A rule without a parser, read on sentences of `airbus`: it
    chooses a gold word in .59 of the gold sentences that our timelines have, there and on `apple`.
    """
    words = [stripped for word in sentence.split() if (stripped := word.strip("`'\"“”‘’.,;:!?()[]"))]
    at = _headline_verb(words) if title else None
    at = _finite_verb(words) if at is None else at
    if at is None:
        return None
    return "_".join(words[at : at + 2]) if words[at + 1 : at + 2] and words[at + 1] in _PARTICLES else words[at]


def _headline_verb(words: list[str]) -> int | None:
    for at, (before, word) in enumerate(pairwise(words[:-1]), 1):
        if before == "to" and word.isalpha() and word not in _OF_NOUN:
            return at + (word == "be")
        third_person = word.islower() and word.endswith("s") and not word.endswith(("ss", "us", "'s"))
        if third_person and word not in _NO_VERB | _BE | _HAVE and before.lower() not in _OF_NOUN | _MODAL:
            return at
    return None


def _finite_verb(words: list[str]) -> int | None:
    before, auxiliary = "", ""
    for at, word in enumerate(words):
        low = word.lower()
        if low in _BE | _HAVE or (low in _MODAL and low != "to"):
            auxiliary = "modal" if low in _MODAL else auxiliary or low
        elif low not in _BETWEEN and (not low.endswith("ly") or low in _VERBS_IN_LY):
            past = low in PASTS or (low.endswith("ed") and len(low) > 4)
            if auxiliary == "modal":
                is_verb = low.isalpha() and low not in _OF_NOUN
            elif past:
                is_verb = bool(auxiliary or (before and before not in _OF_NOUN))
            else:
                is_verb = auxiliary in _BE and low.endswith("ing")
            if is_verb:
                return at
            auxiliary = ""
        before = low
    return None
