"""The recipe `ggatrieval` beside `bridge`, and without reflection, compensation or selection, as the paper's ablation.

Recall@5 of evidence documents with paired bootstrap intervals of the difference, and questions a second of the rounds,
those of `bridge` that they begin with among them. Also how many questions were verified, and in how many rounds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quern.indexes.catalog import Warehouse
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.evaluation.bootstrap import intervals
from quern.pipelines.evaluation.retrieval import gold_of, question_metrics
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.filters import conditions_of
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.pipelines.retrieve.select import selected
from quern.schemas.settings import GGatrievalSettings

_WITHOUT = ("reflection", "compensation", "selection")
_MOST_QUESTIONS = 637  # Of one set; a larger one is drawn from.
_RESAMPLES, _CONFIDENCE, _DEPTH = 2000, 0.95, 100
_SAMPLE = Path(__file__).parents[1] / "corpus" / "questions.jsonl"
_FOLDERS = {"lihua": "lihua_world", "musique": "musique_train100", "cmrc": "cmrc2018"}


def benchmark_ggatrieval(datasets: Path, warehouses: Sequence[Path]) -> dict[str, float]:
    """Figures of each warehouse, known by its folder's name: `demo`, `lihua`, `musique`, `cmrc`."""
    figures: dict[str, float] = {}
    for folder in warehouses:
        file = datasets / _FOLDERS[folder.name] / "queries.jsonl" if folder.name in _FOLDERS else _SAMPLE
        figures |= {f"{folder.name} {name}": value for name, value in _figures(folder, file).items()}
    return figures


def _figures(folder: Path, file: Path) -> dict[str, float]:
    snapshot = Warehouse.open(folder).snapshot()
    searcher = Searcher(snapshot, settings_to_ask_by(snapshot.manifest))
    questions = read_questions(file)
    if len(questions) > _MOST_QUESTIONS:
        questions = random.Random(0).sample(questions, _MOST_QUESTIONS)
    gold = gold_of(searcher, questions)
    texts, where = [q.question for q in gold.questions], [conditions_of(q) for q in gold.questions]
    vectors = Batch(searcher, texts).vectors
    (bridge,), (rounds,) = find_recipes("bridge"), find_recipes("ggatrieval")
    bridge.rank(Batch(searcher, texts[:1]))  # Loads the graph.

    def recall(ranking: Ranking, batch: Batch) -> npt.NDArray[np.float64]:
        return question_metrics(batch, selected(batch, ranking), gold, ["R@5"], _DEPTH)["R@5"]

    plain = Batch(searcher, texts, where).with_vectors(vectors)
    base = recall(bridge.rank(plain), plain)
    told = {"bridge recall@5": float(base.mean())}
    for without in ("", *_WITHOUT):
        changed = GGatrievalSettings(**{without: False} if without else {})
        batch = Batch(_with(searcher, changed), texts, where).with_vectors(vectors)
        started, busy = time.perf_counter(), time.process_time()
        ranking = rounds.rank(batch)
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        found = recall(ranking, batch)
        difference = intervals((found - base)[:, None], _RESAMPLES, _CONFIDENCE, 0)
        name = f"without {without}" if without else "ggatrieval"
        told |= {
            f"{name} recall@5": float(found.mean()),
            f"{name} less bridge": float(difference.mean[0]),
            f"{name} less bridge, low": float(difference.low[0]),
            f"{name} less bridge, high": float(difference.high[0]),
            f"{name} better for": float((found > base).sum()),
            f"{name} worse for": float((found < base).sum()),
        }
        searches = ranking.searches or ()
        told |= {
            f"{name} verified": float(np.mean([s.verified for s in searches])),
            f"{name} rounds": float(np.mean([len(s.rounds) for s in searches])),
            f"{name} questions a second": len(texts) / seconds,
            f"{name} questions a second of one core": len(texts) / busy,
        }
    return told


def _with(searcher: Searcher, changed: GGatrievalSettings) -> Searcher:
    """The same snapshot by other settings; what is loaded of it is shared."""
    other = Searcher(searcher.snapshot, searcher.settings.model_copy(update={"ggatrieval": changed}))
    other.graph = searcher.graph
    return other
