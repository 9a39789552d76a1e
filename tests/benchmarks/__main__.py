"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from quern.schemas.settings import EmbedSettings
from tests.benchmarks.alignment import benchmark_alignment
from tests.benchmarks.answers import benchmark_answers, write_floors
from tests.benchmarks.articles import synthetic_articles
from tests.benchmarks.chunk import benchmark_chunk
from tests.benchmarks.citations import benchmark_citations
from tests.benchmarks.confidence import benchmark_confidence
from tests.benchmarks.crawl import benchmark_crawl
from tests.benchmarks.date_expressions import benchmark_dates
from tests.benchmarks.decomposition import benchmark_decomposition
from tests.benchmarks.deduplicate import benchmark_deduplicate
from tests.benchmarks.domains import HELD_OUT, benchmark_domains
from tests.benchmarks.embed import benchmark_embed
from tests.benchmarks.entailment import benchmark_entailment
from tests.benchmarks.extraction import benchmark_extraction
from tests.benchmarks.files import benchmark_files
from tests.benchmarks.graph import benchmark_graph
from tests.benchmarks.images import benchmark_images
from tests.benchmarks.ingest import benchmark_cluster, benchmark_ingest, benchmark_memory
from tests.benchmarks.judges import benchmark_judges
from tests.benchmarks.kills import benchmark_kills
from tests.benchmarks.knn import Part, benchmark_knn
from tests.benchmarks.lines import benchmark_lines
from tests.benchmarks.nights import benchmark_law, benchmark_nights
from tests.benchmarks.nights_linking import benchmark_nights_linking
from tests.benchmarks.normalise import benchmark_normalise
from tests.benchmarks.personal_data import evaluate_personal_data
from tests.benchmarks.reading import benchmark_reading
from tests.benchmarks.refusal import benchmark_refusal
from tests.benchmarks.reranking import benchmark_reranking
from tests.benchmarks.retrieval import benchmark_retrieval
from tests.benchmarks.rot import benchmark_rot
from tests.benchmarks.scale import benchmark_scale, plot_scale
from tests.benchmarks.search_on_disk import benchmark_search_on_disk
from tests.benchmarks.sources import benchmark_sources
from tests.benchmarks.tasks import benchmark_tasks
from tests.benchmarks.templates import benchmark_templates
from tests.benchmarks.timelines import benchmark_timelines

_HELP = (
    "alignment: whether chunks that answer are aligned with their questions and others are not, of --folder "
    "or the shared sets and each --warehouse of demo, lihua, musique, cmrc; pairs a second; "
    "answers: all figures of answers, over the sample corpus and the sets of --folder; --warehouse each that is built; "
    "cluster: WARC files of --pages to documents on a Spark master with two workers, against local[2], of --folder; "
    "chunk: cutting documents, tokens a second on one core; graph: loading a graph, seconds; "
    "citations: citation precision and density on experts' claims of --folder or the shared set, by the rule and by "
    "the models of --set, such as --set selector=FOLDER --set extractor=FOLDER; "
    "confidence: how well answerable questions are told, each set of --folder held out, --warehouse each of demo, "
    "lihua, musique, cmrc; with --fit the model is written; "
    "crawl: a local site of 5,000 pages, pages a second, and what a kill costs; "
    "dates: dates in sentences, F1 and days, and their speed against dateparser's, of --folder or the "
    "shared sets; "
    "decomposition: questions taken apart by rule, and by --model, against people's, of --folder; "
    "domains: answers on the held-out domains of tests/corpus/domains, or those of --only: totals by type; "
    "deduplicate: near duplicates, recall, precision, documents a second; "
    "embed: texts a second against sentence-transformers; "
    "entailment: experts' verdicts on claims, held out, and statements made false, of --folder or the shared sets; "
    "with --fit the models are written; "
    "extract: cleaning of pages, pages a second of one core and F1; "
    "files: 20 generated PDF and DOCX files, words in order and cells of tables right; "
    "images: figures of real pages taken out and placed again, of --folder or the shared pages; "
    "ingest: WARC files to documents, pages a second of all cores, with --memory the peak of a 2 GB file; "
    "judges: how far people agree with each judge by rule, of --folder or the shared sets; with --fit the figures that "
    "the package carries are written; "
    "kills: --kills kills of builds, their steps, crawls, ingests, answers and prunings with --engine, each run again; "
    "survived, equal digests, orphans, files left; --only build, rebuild, stage, 'stage clean', ingest, crawl, answer; "
    "knn: the graph builder against faiss, pynndescent, on the nodes of each --warehouse or synthetic ones; "
    "law: random nights, each against a build from nothing, --nights of them, from --seed; "
    "nights: a night in which a hundredth of --documents changed, one in which none did, against a full build, by a "
    "model of random weights or, with --real-model, the packaged one; "
    "nights-linking: linking by partitions after 1 of 100 nodes changed, against a full run, edges compared; "
    "lines: right lines among the likeliest, of held-out genres, or of files given with --reading; "
    "normalise: the final form of documents, documents a second; personal-data: precision and recall on gold spans; "
    "reading: the packaged reader on pages of held-out genres, or on files given with --reading; "
    "refusal: prompts of XSTest that are refused, of --folder or the shared set; with --fit the weights are written; "
    "reranking: recall and nDCG of --questions on --warehouse with the reranker --model and without, and its cost; "
    "rot: bits that flip and files that are cut, --places of them, and the share of a build that checksums take; "
    "search-on-disk: 637 questions among --nodes vectors on disk against faiss's inverted file, in --folder; "
    "scale: seconds and memory of each step of builds of each --size, by a model of random weights; "
    "sources: sources of gold questions, validity and the other measures of Know Where to Go, of each --warehouse "
    "(demo, lihua, musique) and the sets of --folder; --only sample, readers, lihua, musique; "
    "tasks: each step that a model may take over, by its rule and by the model of --set, over a --warehouse of the "
    "sample corpus; "
    "templates: documents of one template that differ in a value, and copies that differ in none; "
    "timelines: gold timelines of the sample corpus and of --folder, days, order, sentences; --only sample, airbus, "
    "apple; "
    "retrieval: a batch of questions against networkx question by question, in --warehouse or a synthetic graph"
)

_DATASETS = Path(__file__).parents[3] / "shared" / "datasets"

# Those that make their own input.
_SYNTHETIC: dict[str, Callable[[argparse.Namespace], dict[str, float]]] = {
    "lines": lambda options: benchmark_lines(options.reading),
    "reading": lambda options: benchmark_reading(options.reading),
    "alignment": lambda options: benchmark_alignment(options.folder or _DATASETS, options.warehouse or ()),
    "answers": lambda options: benchmark_answers(
        options.folder or _DATASETS, options.warehouse or (), options.only or ()
    ),
    "citations": lambda options: benchmark_citations(options.folder or _DATASETS, options.set),
    "crawl": lambda options: benchmark_crawl(repeats=min(3, options.repeats)),
    "dates": lambda options: benchmark_dates(options.folder or _DATASETS / "date_expressions"),
    "deduplicate": lambda options: benchmark_deduplicate(options.documents, min(3, options.repeats)),
    "domains": lambda options: benchmark_domains(options.only or HELD_OUT, options.set),
    "embed": lambda options: _embed(options),
    "entailment": lambda options: benchmark_entailment(options.folder or _DATASETS, fit=options.fit),
    "files": lambda options: benchmark_files(),
    "graph": lambda options: benchmark_graph(options.nodes, options.repeats),
    "images": lambda options: benchmark_images(options.folder or _DATASETS / "article_extraction_benchmark"),
    "judges": lambda options: benchmark_judges(options.folder or _DATASETS, write_file=options.fit),
    "kills": lambda options: benchmark_kills(options.kills, options.engine, options.only or (), options.seed),
    "knn": lambda options: benchmark_knn(options.nodes, options.warehouse or (), min(5, options.repeats), options.part),
    "law": lambda options: benchmark_law(options.nights, options.seed),
    "nights": lambda options: benchmark_nights(options.documents, real_model=options.real_model),
    "nights-linking": lambda options: benchmark_nights_linking(
        options.nodes, options.warehouse or (), min(3, options.repeats)
    ),
    "refusal": lambda options: benchmark_refusal(options.folder or _DATASETS / "xstest", fit=options.fit),
    "reranking": lambda options: benchmark_reranking(options.warehouse[0], options.questions, str(options.model)),
    "rot": lambda options: benchmark_rot(options.places, options.seed),
    "search-on-disk": lambda options: benchmark_search_on_disk(options.nodes, min(5, options.repeats), options.folder),
    "scale": lambda options: _scale(options),
    "sources": lambda options: benchmark_sources(
        options.folder or _DATASETS, options.warehouse or (), options.only or ()
    ),
    "tasks": lambda options: benchmark_tasks(options.warehouse[0], options.set, options.only or ()),
    "templates": lambda options: benchmark_templates(),
    "timelines": lambda options: benchmark_timelines(options.folder or _DATASETS, options.only or ()),
    "retrieval": lambda options: benchmark_retrieval(
        (options.warehouse or [None])[0], options.questions, repeats=options.repeats
    ),
}
_OF_RERANKING = [("reranking", option) for option in ("warehouse", "questions", "model")]
# Those that read --folder.
_FOLDERS: dict[str, Callable[[argparse.Namespace], dict[str, float]]] = {
    "cluster": lambda options: benchmark_cluster(options.folder, options.pages, min(3, options.repeats)),
    "confidence": lambda options: benchmark_confidence(options.folder, options.warehouse or [], fit=options.fit),
    "decomposition": lambda options: benchmark_decomposition(options.folder, options.model, options.prompts),
    "extract": lambda options: benchmark_extraction(options.folder, options.repeats),
    "ingest": lambda options: _ingest(options),
}


def _texts(file: Path) -> list[str]:
    with file.open(encoding="utf-8") as lines:
        return [str(json.loads(line)["text"]) for line in lines if line.strip()]


def _embed(options: argparse.Namespace) -> dict[str, float]:
    embed = EmbedSettings(precision=options.precision)
    texts = _texts(options.texts) if options.texts else synthetic_articles()
    return benchmark_embed(texts, embed, min(5, options.repeats))


def _scale(options: argparse.Namespace) -> dict[str, float]:
    figures = benchmark_scale(options.size or (1000, 10_000), options.set)
    if options.plot:
        plot_scale(figures, options.plot)
    return figures


def _ingest(options: argparse.Namespace) -> dict[str, float]:
    if options.memory:
        return benchmark_memory(options.folder, int(options.gigabytes * 1e9))
    return benchmark_ingest(options.folder, options.pages, min(3, options.repeats))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark named on the command line and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    names = [*_SYNTHETIC, *_FOLDERS, "chunk", "normalise", "personal-data"]
    parser.add_argument("benchmark", choices=sorted(names), help=_HELP)
    parser.add_argument("--texts", type=Path, help="JSONL with the field text; default: synthetic articles")
    parser.add_argument(
        "--folder",
        type=Path,
        help="the article extraction benchmark, for extract, ingest; for others the folder of the datasets",
    )
    parser.add_argument("--precision", default="f32", help="embed.precision, of embed")
    parser.add_argument("--pages", type=int, default=6516, help="pages of the WARC files of ingest")
    parser.add_argument("--memory", action="store_true", help="of ingest: measure memory on one large file")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the file of --memory")
    parser.add_argument("--file", type=Path, help="JSONL with text and spans, for personal-data")
    parser.add_argument("--nodes", type=int, default=100_000, help="nodes of the synthetic graph")
    parser.add_argument("--documents", type=int, default=20_000, help="documents of deduplicate and nights")
    parser.add_argument(
        "--reading", type=Path, action="append", help="of lines, reading: a file of pages; may be repeated"
    )
    parser.add_argument("--size", type=int, action="append", help="of scale: documents of a build; repeatable")
    parser.add_argument("--plot", type=Path, help="of scale: an SVG of seconds and memory by size")
    parser.add_argument("--nights", type=int, default=100, help="of law: nights that are compared")
    parser.add_argument("--places", type=int, default=500, help="of rot: how many are damaged")
    parser.add_argument("--seed", type=int, default=0, help="of kills, law and rot: what is drawn from it")
    parser.add_argument("--real-model", action="store_true", help="of nights: the packaged embedding model")
    parser.add_argument(
        "--warehouse", type=Path, action="append", help="of retrieval: whose graph is searched; of knn: whose nodes"
    )
    parser.add_argument("--part", choices=get_args(Part), help="of knn: what is measured; default: all")
    parser.add_argument(
        "--only",
        action="append",
        help="of answers, domains, timelines: a set to take; of tasks: one; of kills: a scene; repeatable",
    )
    parser.add_argument("--model", type=Path, help="of decomposition, reranking: a folder")
    parser.add_argument("--prompts", type=int, default=100, help="of decomposition: how many")
    parser.add_argument("--kills", type=int, default=200, help="of kills: how many")
    parser.add_argument("--engine", default="local", help="of kills: engine.engine")
    parser.add_argument(
        "--floors", action="store_true", help="of answers: set the floors that tests keep to the figures"
    )
    parser.add_argument(
        "--fit", action="store_true", help="of confidence, entailment, judges: write what the package carries"
    )
    parser.add_argument("--questions", type=Path, help="of retrieval, reranking: JSONL with the field question")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="of citations, domains, scale: settings"
    )
    parser.add_argument("--repeats", type=int, default=7, help="rounds (deduplicate: 3 at most); the median is printed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    told = logging.getLogger(__package__)  # How far a training is, and nothing of what is measured.
    told.addHandler(logging.StreamHandler())
    told.setLevel(logging.INFO)
    if options.benchmark in _FOLDERS and options.folder is None:
        parser.error(f"{options.benchmark} needs --folder")
    for name, needed in (("tasks", "warehouse"), *_OF_RERANKING):
        if options.benchmark == name and not getattr(options, needed):
            parser.error(f"{name} needs --{needed}")
    if options.benchmark in _SYNTHETIC:
        figures = _SYNTHETIC[options.benchmark](options)
    elif options.benchmark in _FOLDERS:
        figures = _FOLDERS[options.benchmark](options)
    elif options.benchmark == "normalise":
        texts = _texts(options.texts) if options.texts else synthetic_articles()
        figures = benchmark_normalise(texts, options.repeats)
    elif options.benchmark == "personal-data":
        if options.file is None:
            parser.error("personal-data needs --file")
        figures = evaluate_personal_data(options.file)
    else:
        figures = benchmark_chunk(_texts(options.texts) if options.texts else synthetic_articles(), options.repeats)
    if options.floors:
        sys.stderr.writelines(f"{line}\n" for line in write_floors(figures))
    if options.json:
        sys.stdout.write(json.dumps(figures) + "\n")
        return
    width = max(24, *map(len, figures)) if figures else 24
    for name, figure in figures.items():
        digits = 0 if figure >= 100 else 2 if figure >= 1 else 5 if figure > 0.99 else 3
        sys.stdout.write(f"{name:{width}} {figure:12,.{digits}f}\n")


if __name__ == "__main__":
    main()
