"""Taking a question apart into sub-questions that depend on each other (graph query decomposition of Xinyu and GraTAG).

A question is terminal, a chain (a parent's answer is needed to ask the child), a split (independent parts), or a
mixture. The rule reads explicit forms (`.plan`); most questions are terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from pydantic import Field

from quern.jobs.reasoning.questions.plan import MOST_SUB_QUESTIONS, REFERENCE, Plan, SubQuestion, fault_of_plan, parts
from quern.jobs.tasks.prompts import QuestionInput
from quern.jobs.tasks.runner import Reasoner
from quern.jobs.tasks.task import Checked, OutputModel, Problem, Task
from quern.schemas.words.terms import search_terms


class Relation(OutputModel):
    """A sub-question that needs the answer of another, both by their number, counted from 1."""

    parent: int
    child: int


class Decomposition(OutputModel):
    """A question taken apart: the output of the task, and what a model writes."""

    is_complex: bool = Field(description="Whether the question needs several answers.")
    sub_queries: list[str] = Field(
        description="The sub-questions, parents before children; #k is the answer of the k-th.",
        json_schema_extra={"maxItems": MOST_SUB_QUESTIONS},
    )
    parent_child: list[Relation] = Field(
        description="Pairs where the child cannot be asked without the answer of the parent.",
        json_schema_extra={"maxItems": 15},
    )


# The question stands last: what is before it is the same for all, which a runtime computes once.
PROMPT = """\
You take a question apart into the questions that must be answered first.

Most questions ask one thing: for these is_complex is false and both lists are empty.
A question is complex where it asks several things, compares two things, sets two events in order, or asks about
something that it only describes and that must be found first.
Write at most {{ most }} sub-questions. Each asks one thing, can be understood alone with full names instead of
pronouns, and is no repetition of another. Where one needs the answer of an earlier one, write #k in the place of the
answer of the k-th sub-question, and list the pair in parent_child. Parents come before children; there is no circle.

Return JSON: {"is_complex": true or false, "sub_queries": ["..."], "parent_child": [{"parent": 1, "child": 2}]}

Question: {{ question }}
"""


def decomposition(given: QuestionInput) -> Decomposition:
    """The question taken apart by rule."""
    subs = parts(given.question)
    relations = [Relation(parent=p, child=n) for n, s in enumerate(subs, 1) for p in s.parents]
    return Decomposition(is_complex=bool(subs), sub_queries=[s.text for s in subs], parent_child=relations)


def checked(given: QuestionInput, output: Decomposition) -> Checked[Decomposition]:
    """The decomposition, if its graph holds; sub-questions beside the question or the same as it are dropped."""
    if not output.is_complex or not output.sub_queries:
        return Checked(Decomposition(is_complex=False, sub_queries=[], parent_child=[]))
    subs = _sub_questions(output)
    fault = fault_of_plan(subs)
    if fault is not None:
        return Checked(None, (Problem(fault, _DETAILS[fault]),))
    question = search_terms(given.question).split()

    def alike(text: str) -> float:
        """Similarity of two questions by their words, in [0, 1]: it stands for the cosine of the released code."""
        return SequenceMatcher(None, search_terms(text).split(), question, autojunk=False).ratio()

    # The released code of Xinyu AI Search drops a sub-question outside these similarities to the question.
    numbers = [n for n, s in enumerate(subs, 1) if s.parents or 0.25 < alike(s.text) <= 0.95]
    if len(numbers) == len(subs):
        return Checked(output)
    if len(numbers) < 2 or any(p not in numbers for n in numbers for p in subs[n - 1].parents):
        detail = "sub-questions repeat the question or ask for something else"
        return Checked(None, (Problem("unlike", detail),))
    new = {old: n for n, old in enumerate(numbers, 1)}
    pairs = [(r.parent, r.child) for r in output.parent_child if r.parent in new and r.child in new]
    return Checked(
        Decomposition(
            is_complex=True,
            sub_queries=[_renumbered(output.sub_queries[n - 1], new) for n in numbers],
            parent_child=[Relation(parent=new[parent], child=new[child]) for parent, child in pairs],
        )
    )


def _renumbered(text: str, new: Mapping[int, int]) -> str:
    return REFERENCE.sub(lambda m: f"#{new[int(m[1])]}", text)


_DETAILS: Final = {
    "blank": "a sub-question is blank",
    "too_many": f"more than {MOST_SUB_QUESTIONS} sub-questions",
    "duplicate": "a sub-question is there twice",
    "dangling": "a reference or a pair names a sub-question that is not there",
    "cyclic": "the pairs make a circle",
}


def _sub_questions(output: Decomposition) -> tuple[SubQuestion, ...]:
    """The output as sub-questions with their parents: those of pairs, and those whose answers a text refers to."""
    # A small model forgets pairs of its references, which say it all.
    parents = {n: [int(k) for k in REFERENCE.findall(text)] for n, text in enumerate(output.sub_queries, 1)}
    for relation in output.parent_child:
        # A pair whose child is not there is put to the first one, so that the check sees it dangle.
        child = relation.child if 1 <= relation.child <= len(output.sub_queries) else 1
        parents.setdefault(child, []).append(relation.parent if child == relation.child else 0)
    return tuple(
        SubQuestion(" ".join(text.split()), tuple(sorted(set(parents.get(n, ())))))
        for n, text in enumerate(output.sub_queries, 1)
    )


DECOMPOSE: Final = Task(
    "decompose", 16, PROMPT, Decomposition, decomposition, checked, constants={"most": MOST_SUB_QUESTIONS}
)


def decomposed(reasoner: Reasoner, questions: Sequence[str]) -> list[Plan]:
    """The plan of each of the questions, in their order: a terminal one where a question is one question.

    Raises:
        GeneratorError: The model cannot be asked any more.
    """
    results = reasoner.run(DECOMPOSE, [QuestionInput(q) for q in questions])
    return [plan_of(q, d.output) for q, d in zip(questions, results, strict=True)]


def plan_of(question: str, output: Decomposition) -> Plan:
    """The plan in an order in which parents come first; terminal where the graph does not hold."""
    by_rule = parts(question)
    if [s.text for s in by_rule] == output.sub_queries:
        return Plan(question, by_rule)
    subs = _sub_questions(output)
    if fault_of_plan(subs) is not None:
        return Plan(question)
    if any(p >= n for n, s in enumerate(subs, 1) for p in s.parents):
        order = [n for level in Plan("", subs).levels() for n in level]
        new = {old: n for n, old in enumerate(order, 1)}
        moved = [subs[old - 1] for old in order]
        subs = tuple(SubQuestion(_renumbered(s.text, new), tuple(sorted(new[p] for p in s.parents))) for s in moved)
    return Plan(question, subs)
