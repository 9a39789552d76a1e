"""What is asked of the shares of a chunk: questions of their units, taken one after the other as nodes need them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from quern.schemas.words.spaces import squeeze


@dataclass
class Asked:
    """The questions of a share, written as they are asked for, and what answers them.

    Attributes:
        answer: The part of the chunk that answers them.
        source: The questions, the best first; at least one.
        written: Those taken so far, each once.
        turns: How many were asked for.
    """

    answer: str
    source: Iterator[str]
    written: list[str] = field(default_factory=list)
    turns: int = 0

    def next(self) -> str:
        """The next question; where there are no more, those before again in their order."""
        turn, self.turns = self.turns, self.turns + 1
        seen = {question.lower() for question in self.written}
        while turn >= len(self.written):
            question = squeeze(next(self.source, ""))
            if not question:
                return self.written[turn % len(self.written)]
            if question.lower() not in seen:
                self.written.append(question)
        return self.written[turn]
