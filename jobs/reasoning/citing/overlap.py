"""How much of a sentence its sources have: each of its words and numbers weighs its rarity among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from quern.jobs.reasoning.citing.source import Element, Source

PROMISING: Final = 12  # Sources that are looked at closely, and shown in a prompt.


class _Shared(dict[int, frozenset[Element]]):
    """What of the elements of a sentence a source has, by its number; looked up when it is first asked for."""

    def __init__(
        self, elements: frozenset[Element], sources: Sequence[Source], of: Callable[[Source], frozenset[Element]]
    ) -> None:
        super().__init__()
        self._elements, self._sources, self._of = elements, sources, of

    def __missing__(self, number: int) -> frozenset[Element]:
        found = self[number] = self._elements & self._of(self._sources[number - 1])
        return found

    def of(self, numbers: Iterable[int]) -> frozenset[Element]:
        """What any of these sources has."""
        return frozenset[Element]().union(*(self[n] for n in numbers))


class Overlap:
    """What a sentence and its sources share, and how much of the sentence that is.

    Attributes:
        weights: Share of each element of the sentence in the weight of all; empty where no element weighs anything.
        own: What of the elements each source has, by its number.
        titled: The same with what only the title of its document has.
    """

    def __init__(
        self, weights: Mapping[Element, float], sources: Sequence[Source], free: frozenset[Element] = frozenset()
    ) -> None:
        """`weights` are of the elements of the sentence; what is `free` of these no source needs to have."""
        total = math.fsum(weight for element, weight in weights.items() if element not in free)
        self.weights = {e: 0.0 if e in free else weight / total for e, weight in weights.items()} if total else {}
        self.own = _Shared(frozenset(weights), sources, attrgetter("elements"))
        self.titled = _Shared(frozenset(weights), sources, attrgetter("known"))

    def best(self, candidates: Iterable[int], needed: frozenset[float]) -> list[int]:
        """The most promising of `candidates`: those that share most, and those that do and have all that is `needed`.

        Each at most `PROMISING`.
        """
        ranked = sorted(candidates, key=lambda n: self.worth([n]), reverse=True)
        whole = [n for n in ranked if needed <= self.own[n]]
        return list(dict.fromkeys([*whole[:PROMISING], *ranked[:PROMISING]]))

    def worth(self, numbers: Sequence[int]) -> tuple[float, int]:
        """How much of the sentence sources have, what only their titles have counting half; then the earlier one."""
        return self._weight(self.own, numbers) + self.share(numbers), -numbers[-1]

    def share(self, numbers: Iterable[int]) -> float:
        """Share of the weight of the sentence's elements that these sources have, titles and all."""
        return self._weight(self.titled, numbers)

    def _weight(self, held: _Shared, numbers: Iterable[int]) -> float:
        # An exact sum, for sets have no order.
        return math.fsum(self.weights.get(element, 0.0) for element in held.of(numbers))
