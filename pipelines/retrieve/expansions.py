"""What is looked for beside a question: its expansions, made by rule of what the index asks near it."""

from __future__ import annotations

import numpy as np

from quern.jobs.reasoning.questions.expand import ExpandInput, expanded
from quern.jobs.reasoning.runner import Reasoner
from quern.pipelines.retrieve.batch import Batch, Clauses
from quern.pipelines.retrieve.recipes.node_texts import pair_texts


def expansions(batch: Batch) -> Clauses:
    """The expansions of a batch's questions, themselves a batch."""
    reached = batch.widened(1)
    texts = batch.searcher.held(pair_texts, "question")
    near: list[tuple[list[str], list[str]]] = [([], []) for _ in batch.questions]
    for n in np.lexsort((-reached.similarity, reached.question)).tolist():
        near[reached.question[n]][min(1, int(reached.hop[n]))].append(texts[reached.node[n]])
    inputs = [ExpandInput(q, *of) for q, of in zip(batch.questions, near, strict=True)]
    further = expanded(Reasoner(), inputs)
    question = np.repeat(np.arange(len(batch)), [len(f) for f in further])
    where = [batch.where[q] for q in question.tolist()]
    return Clauses(batch.searcher, [text for texts in further for text in texts], question, where)
