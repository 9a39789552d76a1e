"""Benchmarks that can be run anywhere: `python -m pipelines.benchmarks chunk`, `deduplicate` or `graph`.

The rival and the product take turns within a round, so that both meet the same noise; the figure is the median of
the rounds' ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from tokenizers import Tokenizer

from jobs.chunk import Chunk, Splitter
from jobs.models import DEFAULT_MODEL, load_tokenizer, read_model
from pipelines.crawl_benchmark import benchmark_crawl
from pipelines.deduplicate_benchmark import benchmark_deduplicate
from pipelines.extraction_benchmark import benchmark_extraction
from pipelines.graph_benchmark import benchmark_graph
from pipelines.ingest_benchmark import benchmark_ingest, benchmark_memory
from pipelines.normalise_benchmark import benchmark_normalise
from pipelines.personal_data_benchmark import evaluate_personal_data
from schemas.groups import ChunkSettings
from schemas.tables import TIMESTAMP


def synthetic_articles(articles: int = 120, seed: int = 20261) -> list[str]:
    """Articles of 100 to 2,400 words in sentences and paragraphs, from a list of 3,000 words drawn with `seed`.

    Words are one to five syllables with Zipf's frequencies; every ninth sentence has a name and a year. The
    same seed gives the same articles on every machine.
    """
    rng = random.Random(seed)
    syllables = [c + v + e for c in "bcdfghlmnprstvw" for v in "aeiou" for e in ("", "n", "r", "st")]
    words = ["".join(rng.choices(syllables, k=rng.choice((1, 1, 2, 2, 3, 4, 5)))) for _ in range(3000)]
    weights = [1 / rank for rank in range(2, 3002)]

    def sentence() -> str:
        body = rng.choices(words, weights, k=rng.randint(5, 30))
        if rng.randrange(9) == 0:
            body.insert(rng.randrange(len(body)), f"{rng.choice(words).title()}, {rng.randint(1900, 2026)}")
        return " ".join(body).capitalize() + rng.choice((".", ".", ".", "?", "!"))

    def paragraph() -> str:
        return " ".join(sentence() for _ in range(rng.randint(2, 9)))

    return ["\n\n".join(paragraph() for _ in range(rng.randint(1, 25))) for _ in range(articles)]


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep the tokenizer, which both sides use, to this thread."""
    name = "TOKENIZERS_PARALLELISM"
    before = os.environ.get(name)
    os.environ[name] = "false"
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


def _documents(texts: Sequence[str]) -> pa.RecordBatch:
    columns = {
        "doc_id": pa.array([str(n) for n in range(len(texts))], pa.string()),
        "title": pa.nulls(len(texts), pa.string()),
        "text": pa.array(texts, pa.string()),
        "published_at": pa.nulls(len(texts), TIMESTAMP),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _rival(tokenizer: Tokenizer, settings: ChunkSettings) -> Callable[[str], list[str]]:
    """LangChain's splitter with the same tokenizer as its length and the same sizes."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    def length(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False))

    overlap = int(settings.tokens * settings.overlap)
    splitter = RecursiveCharacterTextSplitter(chunk_size=settings.tokens, chunk_overlap=overlap, length_function=length)
    return lambda text: list(splitter.split_text(text))


def benchmark_chunk(texts: Sequence[str], repeats: int = 7) -> dict[str, float]:
    """Tokens a second of CPU time on one core, medians over `repeats` rounds.

    Returns:
        `encode`: the tokenizer alone, the bound of any splitter. `split`: choosing chunks, which is what the rival
        does. `job`: the whole job, with search terms and Arrow columns. `recursive`: the rival,
        RecursiveCharacterTextSplitter. `ratio`, `ratio_job`, `ratio_bound`: medians of each round's split, job and
        encode over recursive.
    """
    settings = ChunkSettings()
    tokenizer = load_tokenizer(read_model(DEFAULT_MODEL))
    splitter = Splitter(tokenizer, settings.tokens, settings.overlap)
    job, documents, rival = Chunk(settings), _documents(texts), _rival(tokenizer, settings)
    tokens = sum(len(e) for e in tokenizer.encode_batch(list(texts), add_special_tokens=False))
    works: dict[str, Callable[[], object]] = {
        "encode": lambda: tokenizer.encode_batch(list(texts), add_special_tokens=False),
        "split": lambda: list(splitter.split(texts)),
        "job": lambda: job.apply(documents),
        "recursive": lambda: [rival(text) for text in texts],
    }
    with _one_core():
        job.apply(documents.slice(0, 1))
        rounds = [{name: _seconds(work) for name, work in works.items()} for _ in range(repeats)]
    figures = {name: tokens / statistics.median(r[name] for r in rounds) for name in works}
    for ratio, name in (("ratio", "split"), ("ratio_job", "job"), ("ratio_bound", "encode")):
        figures[ratio] = statistics.median(r["recursive"] / r[name] for r in rounds)
    return {"documents": float(len(texts)), "tokens": float(tokens), **figures}


_HELP = (
    "chunk: cutting documents, tokens a second on one core; graph: loading a graph, seconds; "
    "crawl: a local site of 5,000 pages, pages a second, and what a kill costs; "
    "deduplicate: near duplicates, recall, precision, documents a second; "
    "extract: cleaning of pages, pages a second of one core and F1; "
    "ingest: WARC files to documents, pages a second of all cores, with --memory the peak of a 2 GB file; "
    "normalise: the final form of documents, documents a second; personal-data: precision and recall on gold spans"
)

# Those that make their own input.
_SYNTHETIC: dict[str, Callable[[argparse.Namespace], dict[str, float]]] = {
    "crawl": lambda options: benchmark_crawl(repeats=min(3, options.repeats)),
    "deduplicate": lambda options: benchmark_deduplicate(options.documents, min(3, options.repeats)),
    "graph": lambda options: benchmark_graph(options.nodes, options.repeats),
}


def _texts(file: Path) -> list[str]:
    with file.open(encoding="utf-8") as lines:
        return [str(json.loads(line)["text"]) for line in lines if line.strip()]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark named on the command line and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m pipelines.benchmarks", description=__doc__)
    names = ["chunk", "crawl", "deduplicate", "extract", "graph", "ingest", "normalise", "personal-data"]
    parser.add_argument("benchmark", choices=names, help=_HELP)
    parser.add_argument("--texts", type=Path, help="JSONL with the field text; default: synthetic articles")
    parser.add_argument("--folder", type=Path, help="the article extraction benchmark, for extract, ingest")
    parser.add_argument("--pages", type=int, default=1629, help="pages of the WARC files of ingest")
    parser.add_argument("--memory", action="store_true", help="of ingest: measure memory on one large file")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the file of --memory")
    parser.add_argument("--file", type=Path, help="JSONL with text and spans, for personal-data")
    parser.add_argument("--nodes", type=int, default=100_000, help="nodes of the synthetic graph")
    parser.add_argument("--documents", type=int, default=20_000, help="documents of the corpus of deduplicate")
    parser.add_argument("--repeats", type=int, default=7, help="rounds (deduplicate: 3 at most); the median is printed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    if options.benchmark in ("extract", "ingest") and options.folder is None:
        parser.error(f"{options.benchmark} needs --folder")
    if options.benchmark in _SYNTHETIC:
        figures = _SYNTHETIC[options.benchmark](options)
    elif options.benchmark == "extract":
        figures = benchmark_extraction(options.folder, options.repeats)
    elif options.benchmark == "ingest":
        if options.memory:
            figures = benchmark_memory(options.folder, int(options.gigabytes * 1e9))
        else:
            figures = benchmark_ingest(options.folder, options.pages, min(3, options.repeats))
    elif options.benchmark == "normalise":
        texts = _texts(options.texts) if options.texts else synthetic_articles()
        figures = benchmark_normalise(texts, options.repeats)
    elif options.benchmark == "personal-data":
        if options.file is None:
            parser.error("personal-data needs --file")
        figures = evaluate_personal_data(options.file)
    else:
        figures = benchmark_chunk(_texts(options.texts) if options.texts else synthetic_articles(), options.repeats)
    if options.json:
        sys.stdout.write(json.dumps(figures) + "\n")
        return
    for name, figure in figures.items():
        digits = 0 if figure >= 100 else 2 if figure >= 1 else 3
        sys.stdout.write(f"{name:24} {figure:12,.{digits}f}\n")


if __name__ == "__main__":
    main()
