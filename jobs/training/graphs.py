"""Questions with their graphs of sub-questions as people wrote them: what the decomposer learns from.

A file is JSON Lines in any of these forms, row by row:
- Quern's own: `question`, `sub_questions` and, unless the references `#k` say it all, `parent_child` as a list of
  `[parent, child]` counted from 1; `answer` for training by reward, `license` for the model card.
- StrategyQA: `question`, `sub_questions`, `answer` (true or false), `facts`, which are put behind the answer.
- Break (QDMR): `question`, `steps`, `operators`. Steps that look nothing up (filter, count, compare) have no
  sub-question, so only graphs all of whose steps look something up are taken; with one such step the question is whole.
- FanOutQA and MuSiQue: `question`, `decomposition` of `question` and, in the former, `id` and `depends_on`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.optimize import linear_sum_assignment

from quern.jobs.reasoning.questions.decompose import Decomposition, Relation
from quern.jobs.reasoning.questions.plan import MOST_SUB_QUESTIONS, REFERENCE, Plan, SubQuestion, fault_of_plan
from quern.jobs.training.pairs import read_rows

LOOK_UPS: Final = ("select", "project", "boolean")  # Operators of QDMR that look something up.


@dataclass(frozen=True)
class Graph:
    """A question and its sub-questions; none where it is one question by itself."""

    question: str
    sub_questions: tuple[SubQuestion, ...]
    steps: int  # Sub-questions that people wrote, 1 for a whole question; those of graphs that cannot be taken too.
    answer: str  # Empty where it is unknown.
    licence: str  # Of the row, where it says so.
    source: str  # Name of its file.
    fault: str | None  # Why the graph cannot be learnt from.

    @property
    def plan(self) -> Plan:
        """The same as the Task's plan."""
        return Plan(self.question, self.sub_questions)

    @property
    def decomposition(self) -> Decomposition:
        """The same in the Task's output form."""
        pairs = [Relation(parent=p, child=n) for n, s in enumerate(self.sub_questions, 1) for p in s.parents]
        texts = [s.text for s in self.sub_questions]
        return Decomposition(is_complex=bool(texts), sub_queries=texts, parent_child=pairs)

    @property
    def held_out(self) -> bool:
        """Whether it is measured with, not trained on."""
        return is_held_out(self.question)


def is_held_out(text: str) -> bool:
    """Whether a text belongs to the held-out tenth, by a digest of its words: the same in every file."""
    return int(sha256(" ".join(text.lower().split()).encode()).hexdigest()[:12], 16) % 10 == 0


def read_graphs(files: Sequence[Path]) -> list[Graph]:
    """The graphs of the files, in their order; each question once.

    Raises:
        DataError: A file cannot be read, or a row is none of the forms.
    """
    graphs: dict[str, Graph] = {}
    for file in files:
        for graph in read_rows(file, partial(graph_of, source=file.name), "question with its sub-questions"):
            graphs.setdefault(graph.question, graph)
    return list(graphs.values())


def graph_of(row: Mapping[str, Any], source: str = "") -> Graph:
    """The graph of a row of any of the forms, of the file `source`.

    Raises:
        ValueError, TypeError, KeyError: It is of none.
    """
    question, answer, fault = row["question"], row.get("answer") or "", None
    if not isinstance(question, str) or not question.strip():
        raise ValueError("`question` is no text")
    parents: dict[int, set[int]] = {}
    if "steps" in row:
        texts, operators = row["steps"], ast.literal_eval(row["operators"])
        steps = sum(o in LOOK_UPS for o in operators)
        fault = "looks nothing up" if 1 < steps < len(operators) else None
        texts = texts if steps > 1 else []
    elif "decomposition" in row:
        texts = [part["question"] for part in row["decomposition"]]
        numbers = {part.get("id"): n for n, part in enumerate(row["decomposition"], 1)}
        parents = {
            n: {numbers[i] for i in part.get("depends_on", ()) if i in numbers}
            for n, part in enumerate(row["decomposition"], 1)
        }
        steps = len(texts)
    else:
        texts = row["sub_questions"]
        for parent, child in row.get("parent_child", ()):
            parents.setdefault(int(child), set()).add(int(parent))
        steps = len(texts)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("the sub-questions are no list of texts")
    if isinstance(answer, bool):
        answer = " ".join(["Yes." if answer else "No.", *row.get("facts", ())])
    elif isinstance(answer, dict | list):
        answer = ", ".join(map(str, answer))
    subs = tuple(
        SubQuestion(
            " ".join(text.split()), tuple(sorted(parents.get(n, set()) | {int(k) for k in REFERENCE.findall(text)}))
        )
        for n, text in enumerate(texts if len(texts) > 1 else (), 1)
    )
    late = any(p >= n for n, s in enumerate(subs, 1) for p in s.parents)
    fault = fault or fault_of_plan(subs) or ("late parent" if late else None)
    licence = str(row.get("license") or "not stated")
    return Graph(question.strip(), subs, max(1, steps), str(answer).strip(), licence, source, fault)


def measures(golds: Sequence[Graph], plans: Sequence[Plan]) -> dict[str, np.ndarray[Any, Any]]:
    """Per question: whether its plan is a valid graph, right and within one in its steps, and counts of edges.

    Edges are those of golds that can be learnt from; sub-questions are matched one to one where the sum of their
    similarities by words is highest. `edges` has shape (n, 3): edges of both, of the plan, of the gold.
    """
    off = [
        abs(max(1, len(p.sub_questions)) - min(MOST_SUB_QUESTIONS, g.steps)) for g, p in zip(golds, plans, strict=True)
    ]
    return {
        "valid": np.array([fault_of_plan(p.sub_questions) is None for p in plans]),
        "right number": np.array(off) == 0,
        "within one": np.array(off) <= 1,
        "edges": np.array([_edges(g, p) for g, p in zip(golds, plans, strict=True)]),
    }


def edge_f1(edges: np.ndarray[Any, Any]) -> float:
    """F1 over the edges of all questions, from their counts of shape (n, 3)."""
    both, plan, gold = edges.sum(0).tolist()
    return float(2 * both / max(1, plan + gold))


def _edges(gold: Graph, plan: Plan) -> tuple[int, int, int]:
    if gold.fault:
        return 0, 0, 0
    ours, theirs = (
        {(p, n) for n, s in enumerate(subs, 1) for p in s.parents} for subs in (plan.sub_questions, gold.sub_questions)
    )
    if not ours or not theirs:
        return 0, len(ours), len(theirs)
    alike = [
        [SequenceMatcher(None, a.text.lower().split(), b.text.lower().split()).ratio() for b in gold.sub_questions]
        for a in plan.sub_questions
    ]
    rows, columns = linear_sum_assignment(np.array(alike), maximize=True)
    match = {int(r) + 1: int(c) + 1 for r, c in zip(rows, columns, strict=True)}
    return len({(match.get(p), match.get(n)) for p, n in ours} & theirs), len(ours), len(theirs)


def sources(graphs: Iterable[Graph]) -> list[tuple[str, str, int]]:
    """Each file and licence of graphs, with how many it has: for a model card."""
    return [(*key, count) for key, count in sorted(Counter((g.source, g.licence) for g in graphs).items())]
