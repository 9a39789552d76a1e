"""Cutting documents into chunks against LangChain's splitter, in tokens a second of one core."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from tokenizers import Tokenizer

from quern.jobs.chunks.chunk import Chunk, Splitter
from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.schemas.settings import ChunkSettings
from quern.schemas.tables import TIMESTAMP


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
        "utc_offset": pa.nulls(len(texts), pa.int32()),
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
