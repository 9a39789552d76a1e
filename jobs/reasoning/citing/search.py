"""The search for the fewest sources that bear a sentence out: every number of it, and enough of its words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Final

from quern.jobs.reasoning.citing.inputs import MOST_CITED, CitingInput, Element, Overlap, plain_words
from quern.jobs.text.dates import dates
from quern.jobs.text.numbers import possible_numbers
from quern.jobs.text.quantities import Quantity, quantities

# Share of the weight of a sentence's words that its sources must have. Chosen on 323 sentences of answers of CLAPNQ,
# each against its passage and the five most alike of others: .96 are cited, .99 of the citations are right; without the
# sentences that they were written from .04 are (at .4: .97, .99, .07; at .6: .93, .99, .025).
_LEAST_SUPPORT: Final = 0.5
# A further source that the answer was drafted from is cited where it adds so much of the weight. On the same sentences
# .1, .2 and .3 give 393, 373 and 358 citations, of which .986 to .987 are right: in the middle.
_ADDS: Final = 0.2
PARTS: Final = re.compile(r";\s+|；")


def drafted_sources(given: CitingInput) -> list[int]:
    """Which of the sources that the answer was drafted from bear the sentence out, part by part, in their order.

    A part of a composed answer stands between semicolons, and may rest on a source of its own.
    """
    candidates, sentence = given.drafted, " ".join(given.sentence.split())
    if match := next((n for n in candidates if sentence in " ".join(given.sources[n - 1].text.split())), 0):
        return [match]
    free = plain_words(given.question)
    numbers: set[int] = set()
    for part in PARTS.split(given.sentence):
        numbers |= set(_Search(replace(given, sentence=part), free).among(candidates, further=True))
    best = [n for n in candidates if n in numbers][:MOST_CITED]
    whole = _Search(given, free)
    if best and whole.bear_out(best):
        return best
    return sorted(whole.among(candidates, further=True), key=candidates.index)


def best_sources(given: CitingInput) -> list[int]:
    """The fewest of all sources that bear the sentence out, the most telling first; none where they do not."""
    search = _Search(given)
    return search.among(search.overlap.best(range(1, len(given.sources) + 1), given.numbers), further=False)


def repeated_sources(given: CitingInput) -> list[int]:
    """Those of what the sentence was drafted from that it is, or all of whose words and numbers it has."""
    own, text = plain_words(given.sentence) | possible_numbers(given.sentence), given.sentence.strip()
    sources = [(n, given.sources[n - 1]) for n in given.drafted]
    return [n for n, source in sources if text == source.text.strip() or (source.elements and source.elements <= own)]


def missing_numbers(given: CitingInput, named: Iterable[int] | None = None) -> frozenset[float]:
    """The numbers of the sentence that stand in none of its sources and follow from no others that do.

    Where `named` are given, only the sources of these numbers are looked at.
    """
    return _Search(given).missing(range(1, len(given.sources) + 1) if named is None else named)


class _Search:
    """The search for the sources of one sentence; what is `free` of its elements no source needs to have."""

    def __init__(self, given: CitingInput, free: frozenset[Element] = frozenset()) -> None:
        self._given = given
        self.overlap = Overlap(given.weights, given.sources, free)

    def missing(self, numbers: Iterable[int]) -> frozenset[float]:
        """The numbers of the sentence that stand in none of these sources and follow from no others that do."""
        given, sources, own = self._given, list(numbers), self.overlap.own
        missing = given.numbers.difference(*map(own, sources), *given.times)
        if missing:
            missing -= derived_numbers(given.sentence, missing, given.numbers - missing)
        late = [time for time in given.times if not any(time <= own(n) for n in sources)]
        if late:
            days = [own(n) | given.sources[n - 1].days for n in sources]
            missing = missing.union(*(time for time in late if not any(time <= elements for elements in days)))
        return missing

    def among(self, candidates: Sequence[int], *, further: bool) -> list[int]:
        """The fewest of `candidates` that have every number of the sentence and enough of its words; else none.

        With `further` also those that add much of its words.
        """
        if not candidates:
            return []
        share = self.overlap.share
        support = [max(candidates, key=lambda n: (not self.missing([n]), *self.overlap.worth([n])))]
        while missing := self.missing(support):
            best = self._next(support, candidates, numbers=True)
            if not best or self.missing([*support, best]) == missing:
                return []
            support.append(best)
        while further and (best := self._next(support, candidates, numbers=False)):
            if share([*support, best]) - share(support) < _ADDS:
                break
            support.append(best)
        return support if self.bear_out(support) else []

    def bear_out(self, numbers: Sequence[int]) -> bool:
        """Whether these sources together have every number of the sentence, and enough of its words."""
        if self.missing(numbers):
            return False
        if not self.overlap.weights:
            return set(numbers) <= set(self._given.rests_on)
        weights = {e: weight for e, weight in self.overlap.weights.items() if e not in self._given.dated}
        # Numbers that only follow from the sources' days are borne out too.
        elements = self.overlap.known(numbers) | self._given.numbers
        return math.fsum(weights.get(e, 0.0) for e in elements) >= _LEAST_SUPPORT * math.fsum(weights.values())

    def _next(self, support: Sequence[int], candidates: Sequence[int], *, numbers: bool) -> int:
        """The candidate that adds most to those chosen, by `numbers` first; 0 where there may be no more."""
        rest = [n for n in candidates if n not in support] if len(support) < MOST_CITED else []
        return max(
            rest,
            key=lambda n: (-len(self.missing([*support, n])) if numbers else 0, *self.overlap.worth([*support, n])),
            default=0,
        )


_DAYS: Final = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
_ONE_UNIT: Final = {"percentage point": "per cent"}  # By which shares differ.
# What stands between two numbers that are set against each other.
_AGAINST: Final = re.compile(r"\s*(?:against|versus|vs\.?|compared (?:with|to)|对|比)\s*", re.IGNORECASE)


def derived_numbers(sentence: str, missing: frozenset[float], known: frozenset[float]) -> frozenset[float]:
    """Those of `missing` that the sentence tells as the difference of two numbers that are `known`, or of two days.

    How long lies between two of its times, or between the ends of a range, is stated in whole units.
    """
    times = dates(sentence)
    counts = quantities(sentence, times)
    ends = [(t.from_day, t.to_day) if t.precision == "range" else (t.from_day,) for t in times]
    days = [day for of in ends for day in of if day is not None]
    differences: set[float] = set()
    for q in counts:
        near = {n for n in missing if math.isclose(q.value, n)}
        spans = (abs((a - b).days) / _DAYS[q.unit] for a, b in combinations(days, 2) if near and q.unit in _DAYS)
        if any(q.value in (math.floor(span), math.ceil(span)) for span in spans) or (
            near and _is_difference(q, counts, known, sentence)
        ):
            differences |= near
    return frozenset(differences)


def _is_difference(q: Quantity, counts: Sequence[Quantity], known: frozenset[float], sentence: str) -> bool:
    """Whether two neighbours among the sentence's quantities differ by `q` and count the same as it.

    Where the numbers have no unit, they must be set against each other: `by 7,140 (8,340 against 1,200)`. One of two
    may be without the unit that the other has: `68 against 61 metres`.
    """

    def comparable(one: Quantity, other: Quantity) -> bool:
        units = {_unit(one), _unit(other)}
        if not units <= {"", _unit(q)} or _unit(q) not in units:
            return False
        return "" not in units or _AGAINST.fullmatch(sentence[one.end : other.start]) is not None

    return any(
        one.value in known
        and other.value in known
        and math.isclose(abs(one.value - other.value), q.value)
        and comparable(one, other)
        for one, other in pairwise(c for c in counts if c is not q)
    )


def _unit(q: Quantity) -> str:
    return _ONE_UNIT.get(q.unit, q.unit)
