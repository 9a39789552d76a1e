"""An answer as it was chosen: the sentence that it rests on, the values told, and what stands beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.answering.relevance import Line, is_conversation
from quern.jobs.reasoning.answering.task import Draft
from quern.jobs.reasoning.answering.typed.value import Value
from quern.schemas.words.scripts import HAN

_HAN: Final = re.compile(f"[{HAN}]")
_BEFORE: Final = 2  # Sentences before the one that answers that say of what it speaks: those that its score counts too.

_TITLE_OF_NAME: Final = 4  # Words of a title that is nothing but a name, at most: one more is a headline.


@dataclass(frozen=True)
class Chosen:
    """A drafted answer that rests on a sentence of the evidence.

    Attributes:
        given: The question and its evidence.
        draft: The answer.
        kind: What was asked for.
        line: The first sentence that the short answer rests on.
        said: All sentences that the answer rests on, in its order.
    """

    given: AnswerInput
    draft: Draft
    kind: Kind
    line: Line
    said: tuple[Line, ...]

    @classmethod
    def of(cls, given: AnswerInput, draft: Draft) -> Chosen | None:
        """That of a draft; None where it rests on nothing."""
        kind = kind_of(given.question)
        by_number = {line.number: line for line in lines(given, kind)}
        numbers = dict.fromkeys(n for s in draft.sentences for n in s.rests_on)
        said = tuple(by_number[n] for n in numbers if n in by_number)
        return cls(given, draft, kind, said[0], said) if said else None

    @property
    def question(self) -> str:
        """What was asked."""
        return self.given.question

    @cached_property
    def english(self) -> bool:
        """Whether no Chinese was asked: quantities, names and clauses are read by words of English."""
        return _HAN.search(self.question) is None

    @cached_property
    def told(self) -> tuple[Value, ...]:
        """The values of the kind asked for that the short answer tells, of its first sentence."""
        short = self.draft.short
        return tuple(v for v in self.line.values if v.text in short or (v.means and v.means in short))

    @cached_property
    def converses(self) -> bool:
        """Whether the sentence stands in a conversation, whose messages name seldom what they speak of."""
        return is_conversation(self._page)

    @cached_property
    def title(self) -> str:
        """The title of the page that the sentence is of; empty where it has none."""
        return self.given.evidence[self.line.evidence].title or ""

    @cached_property
    def near(self) -> str:
        """The sentence with those that say of what it speaks: two before it, the next one, the title."""
        first, last = self.line.number - _BEFORE, self.line.number + 1
        beside = [line.text for line in self._page if first <= line.number <= last]
        return "\n".join([self.title, *beside])

    @property
    def chunk(self) -> str:
        """The whole chunk that the sentence is of, with its title."""
        return f"{self.title}\n{self.given.evidence[self.line.evidence].text}"

    @cached_property
    def titled_by_name(self) -> bool:
        """Whether the title is nothing but a name: a page about one thing."""
        words = re.findall(r"[\w’'-]+", self.title.partition(" (")[0])
        return 0 < len(words) <= _TITLE_OF_NAME and all(w[0].isupper() or w[0].isdigit() for w in words)

    @cached_property
    def _page(self) -> list[Line]:
        """The sentences of the same chunk, in their order."""
        same = (line for line in lines(self.given, self.kind) if line.evidence == self.line.evidence)
        return sorted(same, key=lambda line: line.number)
