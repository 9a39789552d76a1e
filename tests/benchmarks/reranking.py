"""The benchmark of reranking: what a model adds to the default recipe, and what it costs.

`fairytale_pairs` makes the labelled set that a reranker is trained on here: people's questions, none of them about the
sets that it is measured on.
"""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from pathlib import Path
from typing import Final

import numpy as np

from quern.indexes.catalog import Warehouse
from quern.jobs.models.cross_encoder import CrossEncoder
from quern.jobs.training.pairs import normalised
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.evaluation.bootstrap import intervals
from quern.pipelines.evaluation.retrieval import document_run, gold_of, run_metrics
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import selected
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.schemas.settings.reading import load_settings
from tests.conftest import SHARED, read_jsonl

_WORDS, _STRIDE = 60, 40  # Of a passage, and between the beginnings of two.
_NEGATIVES: Final = 8
_READ: Final = 25  # Passages of a question whose cost is measured.


def fairytale_pairs(out: Path, folder: Path = SHARED / "fairytaleqa") -> int:
    """Write explicit questions of FairytaleQA with passages of 60 words, in FlagEmbedding's format; returns how many.

    The first passage of a question's section that has its answer is positive; negatives are passages of other sections
    of the same story without the answer.
    """
    rows = read_jsonl(folder / "train.jsonl")
    sections: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for row in rows:
        words = row["text"].split()
        starts = range(0, max(1, len(words) - _WORDS + _STRIDE), _STRIDE)
        sections[row["story"]][row["text"]] = [" ".join(words[at : at + _WORDS]) for at in starts]
    chance, count = random.Random(0), 0
    with out.open("w", encoding="utf-8") as file:
        for row in rows:
            answer = f" {normalised(row['answers'][0])} "
            others = [p for text, some in sections[row["story"]].items() if text != row["text"] for p in some]
            right = [p for p in sections[row["story"]][row["text"]] if answer in f" {normalised(p)} "]
            wrong = [p for p in others if answer not in f" {normalised(p)} "]
            if row["explicit"] and answer.strip() and right and wrong:
                negatives = chance.sample(wrong, min(_NEGATIVES, len(wrong)))
                file.write(json.dumps({"query": row["question"], "pos": right[:1], "neg": negatives}) + "\n")
                count += 1
    return count


def benchmark_reranking(
    warehouse: Path, questions: Path, model: str, depth: int = _READ, most: int = 150
) -> dict[str, float]:
    """Figures of the recipe `bridge` without `rerank.model` and with it, the paired difference with its 95 % interval.

    Args:
        warehouse: A build of the corpus that is asked.
        questions: Questions with evidence.
        model: The reranker.
        depth: Chunks of a question that it reads.
        most: Questions that are measured, drawn by chance.

    Returns:
        Figures, and `questions a second` that are reranked on two cores by processor time, loading left out.
    """
    snapshot = Warehouse.open(warehouse).snapshot()
    every = [q for q in read_questions(questions) if q.evidence_doc_ids or q.evidence_urls]
    chosen = random.Random(0).sample(every, min(most, len(every)))
    plain = load_settings(None, [], settings_to_ask_by(snapshot.manifest))
    reranked = load_settings(
        None, [f"rerank.model={model}", f"rerank.depth={depth}"], settings_to_ask_by(snapshot.manifest)
    )
    CrossEncoder.load(reranked.rerank).scores(["Who?"], ["Nobody."])
    metrics, values, seconds = {"recall@5": "R@5", "nDCG@10": "nDCG@10"}, [], []
    for settings in (plain, reranked):
        searcher = Searcher(snapshot, settings)
        gold = gold_of(searcher, chosen)
        batch = Batch(searcher, [q.question for q in gold.questions])
        ranking = find_recipes("bridge")[0].rank(batch)
        begun = time.process_time()
        run = document_run(batch, selected(batch, ranking), gold, 100)
        seconds.append(time.process_time() - begun)
        found = run_metrics(run, gold, [*metrics.values()])
        values.append(np.column_stack([found[metric] for metric in metrics.values()]))
    told = intervals(np.hstack([*values, values[1] - values[0]]), 10_000)
    names = [f"{name}{end}" for end in ("", " reranked", " difference") for name in metrics]
    figures = {name: float(mean) for name, mean in zip(names, told.mean, strict=True)}
    for n, name in enumerate(names):
        if name.endswith("difference"):
            figures[f"{name} low"], figures[f"{name} high"] = float(told.low[n]), float(told.high[n])
    return {"questions": float(len(values[0])), **figures, "questions a second": 2 * len(chosen) / seconds[1]}
