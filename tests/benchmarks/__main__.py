"""The command line of the benchmarks.

`docs/figures.md` says which figure each measures, and the docstring of its module how.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from tests.benchmarks.answers import benchmark_answers, write_floors
from tests.benchmarks.citations import benchmark_citations
from tests.benchmarks.confidence import benchmark_confidence
from tests.benchmarks.corruption import benchmark_corruption
from tests.benchmarks.crawl import benchmark_crawl
from tests.benchmarks.date_expressions import benchmark_dates
from tests.benchmarks.decomposition import benchmark_decomposition
from tests.benchmarks.deduplicate import benchmark_deduplicate
from tests.benchmarks.domains import HELD_OUT, benchmark_domains
from tests.benchmarks.entailment import benchmark_entailment
from tests.benchmarks.extraction import main_text_f1
from tests.benchmarks.ingest import benchmark_ingest, benchmark_memory
from tests.benchmarks.judges import benchmark_judges
from tests.benchmarks.kills import benchmark_kills
from tests.benchmarks.knn import Part, benchmark_knn, benchmark_nights_linking
from tests.benchmarks.nights import benchmark_law, benchmark_nights
from tests.benchmarks.personal_data import evaluate_personal_data
from tests.benchmarks.reading import benchmark_lines, benchmark_reading
from tests.benchmarks.refusal import benchmark_refusal
from tests.benchmarks.reranking import benchmark_reranking
from tests.benchmarks.retrieval import benchmark_retrieval
from tests.benchmarks.scale import benchmark_scale
from tests.benchmarks.sources import benchmark_sources
from tests.benchmarks.timelines import benchmark_timelines
from tests.beside import SHARED

_BENCHMARKS: dict[str, Callable[[argparse.Namespace], dict[str, float]]] = {
    "answers": lambda o: benchmark_answers(o.folder, o.warehouse, o.only),
    "citations": lambda o: benchmark_citations(o.folder),
    "confidence": lambda o: benchmark_confidence(o.folder, o.warehouse, fit=o.fit),
    "crawl": lambda o: benchmark_crawl(repeats=o.repeats),
    "dates": lambda o: benchmark_dates(o.folder),
    "decomposition": lambda o: benchmark_decomposition(o.folder / "decomposition", o.model, o.prompts),
    "deduplicate": lambda o: benchmark_deduplicate(o.documents, o.repeats),
    "domains": lambda o: benchmark_domains(o.only or HELD_OUT, o.set),
    "entailment": lambda o: benchmark_entailment(o.folder, fit=o.fit),
    "extract": lambda o: {"f1": main_text_f1(o.folder / "article_extraction_benchmark")},
    "ingest": lambda o: benchmark_memory(o.folder) if o.memory else benchmark_ingest(o.folder, repeats=o.repeats),
    "judges": lambda o: benchmark_judges(o.folder, write_file=o.fit),
    "kills": lambda o: benchmark_kills(o.kills, o.engine, o.only, o.seed),
    "knn": lambda o: benchmark_knn(o.nodes, o.repeats, o.part),
    "law": lambda o: benchmark_law(o.nights, o.seed),
    "lines": lambda o: benchmark_lines(),
    "nights": lambda o: benchmark_nights(o.documents, real_model=o.real_model),
    "nights-linking": lambda o: benchmark_nights_linking(o.nodes, o.repeats),
    "personal-data": lambda o: evaluate_personal_data(o.folder / "presidio_pii" / "synth_dataset_v2.jsonl"),
    "reading": lambda o: benchmark_reading(),
    "refusal": lambda o: benchmark_refusal(o.folder / "xstest", fit=o.fit),
    "reranking": lambda o: benchmark_reranking(o.warehouse[0], o.questions, str(o.model)),
    "retrieval": lambda o: benchmark_retrieval(o.warehouse[0], o.questions, o.repeats),
    "corruption": lambda o: benchmark_corruption(o.places, o.seed),
    "scale": lambda o: benchmark_scale(o.size or (1000, 10_000), o.set),
    "sources": lambda o: benchmark_sources(o.warehouse[0]),
    "timelines": lambda o: benchmark_timelines(o.folder, o.only),
}
_REQUIRED = {
    "reranking": ("warehouse", "questions", "model"),
    "retrieval": ("warehouse", "questions"),
    "sources": ("warehouse",),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark named on the command line and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    option = parser.add_argument
    option("benchmark", choices=sorted(_BENCHMARKS))
    option("--folder", type=Path, default=SHARED, help="the folder of the datasets")
    option("--memory", action="store_true", help="of ingest: the peak of a file of 2 GB")
    option("--nodes", type=int, default=100_000, help="nodes of the synthetic graph")
    option("--documents", type=int, default=20_000, help="documents of deduplicate and nights")
    option("--size", type=int, action="append", help="of scale: documents of a build; repeatable")
    option("--nights", type=int, default=100, help="of law: incremental builds that are compared")
    option("--places", type=int, default=500, help="of corruption: how many are damaged")
    option("--seed", type=int, default=0, help="of kills, law and corruption: what is drawn from it")
    option("--real-model", action="store_true", help="of nights: the packaged embedding model")
    option("--warehouse", type=Path, action="append", default=[], help="one that is built; repeatable")
    option("--part", choices=get_args(Part), help="of knn: what is measured; default: all")
    option("--only", action="append", default=[], help="a set, a scene of kills; repeatable")
    option("--model", type=Path, help="of decomposition, reranking: a folder")
    option("--prompts", type=int, default=100, help="of decomposition: how many")
    option("--kills", type=int, default=200, help="of kills: how many")
    option("--engine", default="local", help="of kills: engine.engine")
    option("--floors", action="store_true", help="of answers: set the floors that tests keep to the figures")
    option("--fit", action="store_true", help="of confidence, entailment, judges, refusal: write the packaged file")
    option("--questions", type=Path, help="of retrieval, reranking: JSONL with the field question")
    option("--set", action="append", default=[], metavar="NAME=VALUE", help="settings; repeatable")
    option("--repeats", type=int, default=3, help="rounds; the median is printed")
    option("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    progress = logging.getLogger(__package__)
    progress.addHandler(logging.StreamHandler())
    progress.setLevel(logging.INFO)
    for name in _REQUIRED.get(options.benchmark, ()):
        if not getattr(options, name):
            parser.error(f"{options.benchmark} needs --{name}")
    figures = _BENCHMARKS[options.benchmark](options)
    if options.floors:
        sys.stderr.writelines(f"{line}\n" for line in write_floors(figures))
    if options.json:
        sys.stdout.write(json.dumps(figures) + "\n")
        return
    for name, figure in figures.items():
        digits = 0 if figure >= 100 else 2 if figure >= 1 else 5 if figure > 0.99 else 3
        sys.stdout.write(f"{name:{max(map(len, figures))}} {figure:12,.{digits}f}\n")


if __name__ == "__main__":
    main()
