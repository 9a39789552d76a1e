"""What a question is taken apart into: a directed acyclic graph of sub-questions (GraTAG, section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import networkx as nx

REFERENCE: Final = re.compile(r"#(\d{1,2})(?!\d)")
MOST_SUB_QUESTIONS: Final = 6  # Xinyu AI Search and GraTAG, prompt of the decomposition.

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

    def asked(self) -> list[int]:
        """Numbers of the sub-questions whose answers make the whole: all, but for those that only lead to others.

        What leads to the next is asked for too where the question has its words: `who built it, and when was he born`.
        """
        return [n for n, s in enumerate(self.sub_questions, 1) if n in self.leaves() or _holds(self.question, s.text)]

    def filled(self, number: int, answers: Mapping[int, str]) -> str:
        """Sub-question `number` with the answers of its parents in the place of their references.

        Args:
            number: Counted from 1.
            answers: Short answers by number. Where one is missing or empty, or longer than a name or a value can be,
                the words that it stands for are put back.
        """
        sub = self.sub_questions[number - 1]

        def words(match: re.Match[str]) -> str:
            parent = int(match[1])
            if parent not in sub.parents:
                return match[0]
            answer = " ".join(answers.get(parent, "").split()).rstrip(".!?。！？ ")
            name = answer if len(answer.split()) <= _MOST_NAME_WORDS else ""
            return name or " ".join(sub.stands_for.get(parent, "").split()) or self._asked_for(parent)

        return REFERENCE.sub(words, sub.text)

    def _asked_for(self, parent: int) -> str:
        """What a sub-question asks for, as words that may stand in another."""
        return REFERENCE.sub("it", self.sub_questions[parent - 1].text).rstrip("?？ ")


def _holds(question: str, part: str) -> bool:
    """Whether a question has the words of a part as they are."""
    return " ".join(part.lower().split()).rstrip("?") in " ".join(question.lower().split())


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
