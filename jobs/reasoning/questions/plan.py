"""What a question is taken apart into: a directed acyclic graph of sub-questions (GraTAG, section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from quern.schemas.words.patterns import lazy_pattern

if TYPE_CHECKING:
    import networkx as nx

REFERENCE: Final = re.compile(r"#(\d{1,2})(?!\d)")
MOST_SUB_QUESTIONS: Final = 6  # Xinyu AI Search and GraTAG, prompt of the decomposition.

# What a noun phrase has not, and a sentence has: a verb for all of it, a pronoun that opens it. Nor has it cells.
_SENTENCE: Final = lazy_pattern(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|did|does|do)\b|^(?:it|he|she|they|we|i|yes|no|there)\b|"
    r" \| ",
    re.IGNORECASE,
)
# `the pylon in which she hung`; what numbers tell from others (`the oak planted at 7 Mill Lane`) they must tell on.
_DESCRIBED: Final = lazy_pattern(
    r"(?P<what>the\s[^,]{1,120}?)\s(?:(?:in|on|at|from|for|to|of|by|with)\swhich|that|who|which|whose|where)\s[^\d]+",
    re.IGNORECASE,
)
_MOST_NAME_WORDS: Final = 10  # Of an answer that may stand in another question; a sentence cannot.


@dataclass(frozen=True)
class SubQuestion:
    """A question that helps to answer another.

    Attributes:
        text: Its words; `#k` is the answer to sub-question number k, counted from 1.
        parents: Numbers of the sub-questions whose answers it needs, counted from 1.
        stands_for: The words of the whole question that each parent's answer takes the place of, by its number.
    """

    text: str
    parents: tuple[int, ...] = ()
    stands_for: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A question and its sub-questions, parents before children; none where it is one question by itself."""

    question: str
    sub_questions: tuple[SubQuestion, ...] = ()

    @property
    def is_complex(self) -> bool:
        """Whether the question has parts."""
        return bool(self.sub_questions)

    def graph(self) -> nx.DiGraph[int]:
        """Numbers of the sub-questions, an edge from each parent to its child."""
        import networkx as nx  # A simple question has no need of it.

        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(1, len(self.sub_questions) + 1))
        graph.add_edges_from((p, n) for n, s in enumerate(self.sub_questions, 1) for p in s.parents)
        return graph

    def levels(self) -> list[list[int]]:
        """Numbers of the sub-questions by level: those of one level need only answers of levels before it."""
        if not self.sub_questions:
            return []
        import networkx as nx

        return [sorted(level) for level in nx.topological_generations(self.graph())]

    def ancestors(self, number: int) -> list[int]:
        """Numbers of the sub-questions whose answers lead to sub-question `number`, in order."""
        import networkx as nx

        return sorted(nx.ancestors(self.graph(), number))

    def leaves(self) -> list[int]:
        """Numbers of the sub-questions that no other needs: their answers make the answer of the whole question."""
        needed = {p for s in self.sub_questions for p in s.parents}
        return [n for n in range(1, len(self.sub_questions) + 1) if n not in needed]

    def filled(self, number: int, answers: Mapping[int, str], known: Collection[int] = ()) -> str:
        """Sub-question `number` with the answers of its parents in the place of their references.

        Args:
            number: Counted from 1.
            answers: Short answers by number. Where one is missing or empty, or longer than a name or a value can be,
                the words that it stands for are put back.
            known: Parents of which it is enough to say what they are: of their words the clause that told them from
                others is left out.
        """
        sub = self.sub_questions[number - 1]

        def words(match: re.Match[str]) -> str:
            parent = int(match[1])
            if parent not in sub.parents:
                return match[0]
            answer = " ".join(answers.get(parent, "").split()).partition(" (")[0].rstrip(".!?。！？ ")
            name = answer if len(answer.split()) <= _MOST_NAME_WORDS and not _SENTENCE.search(answer) else ""
            phrase = " ".join(sub.stands_for.get(parent, "").split())
            if parent in known and not name and (described := _DESCRIBED.fullmatch(phrase)):
                return described["what"]
            return name or phrase or self._asked_for(parent)

        return REFERENCE.sub(words, sub.text)

    def _asked_for(self, parent: int) -> str:
        """What a sub-question asks for, as words that may stand in another: its text without the question word."""
        text = REFERENCE.sub("it", self.sub_questions[parent - 1].text).rstrip("?？ ")
        return re.sub(r"^(?:who|what|which)\s+(?:is|was|are|were)\s+", "", text, flags=re.IGNORECASE)


def fault_of_plan(sub_questions: Sequence[SubQuestion]) -> str | None:
    """What is wrong with such a plan: `blank`, `too_many`, `duplicate`, `dangling` or `cyclic`; None if nothing is.

    A reference `#k` in a text must be to a parent.
    """
    if len(sub_questions) > MOST_SUB_QUESTIONS:
        return "too_many"
    if any(not any(c.isalnum() for c in REFERENCE.sub("", s.text)) for s in sub_questions):
        return "blank"
    texts = {" ".join(s.text.lower().split()).rstrip("?？") for s in sub_questions}
    if len(texts) < len(sub_questions):
        return "duplicate"
    last = len(sub_questions)
    for sub in sub_questions:
        named = {int(k) for k in REFERENCE.findall(sub.text)}
        if not named <= set(sub.parents) or any(not 1 <= p <= last for p in sub.parents):
            return "dangling"
    return "cyclic" if _cyclic(sub_questions) else None


def _cyclic(sub_questions: Sequence[SubQuestion]) -> bool:
    import networkx as nx

    return not nx.is_directed_acyclic_graph(Plan("", tuple(sub_questions)).graph())
