"""Cutting documents into chunks against LangChain's splitter, in tokens a second of one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pytest
from langchain_text_splitters import RecursiveCharacterTextSplitter

from quern.jobs.chunks.chunk import Chunk, Splitter
from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.schemas.settings import ChunkSettings
from quern.schemas.tables import TIMESTAMP
from tests.benchmarks import in_turns, median, median_ratio


def benchmark_chunk(texts: Sequence[str], repeats: int = 7) -> dict[str, float]:
    """Tokens a second of CPU time on one core, medians over `repeats` rounds.

    Returns:
        `encode`: the tokenizer alone, the bound of any splitter. `split`: choosing chunks. `job`: the whole job, with
        search terms and Arrow columns. `recursive`: RecursiveCharacterTextSplitter of the same sizes, with the same
        tokenizer as its length. `ratio`, `ratio_job`, `ratio_bound`: medians of each round's split, job and encode over
        recursive.
    """
    settings = ChunkSettings()
    tokenizer = load_tokenizer(read_model(DEFAULT_MODEL))
    splitter, job = Splitter(tokenizer, settings.tokens, settings.overlap), Chunk(settings)
    recursive = RecursiveCharacterTextSplitter(
        chunk_size=settings.tokens,
        chunk_overlap=int(settings.tokens * settings.overlap),
        length_function=lambda text: len(tokenizer.encode(text, add_special_tokens=False)),
    )
    columns = {
        "doc_id": pa.array([str(n) for n in range(len(texts))], pa.string()),
        "title": pa.nulls(len(texts), pa.string()),
        "text": pa.array(texts, pa.string()),
        "published_at": pa.nulls(len(texts), TIMESTAMP),
        "utc_offset": pa.nulls(len(texts), pa.int32()),
    }
    documents = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    tokens = sum(len(e) for e in tokenizer.encode_batch(list(texts), add_special_tokens=False))
    works: dict[str, Callable[[], object]] = {
        "encode": lambda: tokenizer.encode_batch(list(texts), add_special_tokens=False),
        "split": lambda: list(splitter.split(texts)),
        "job": lambda: job.apply(documents),
        "recursive": lambda: [recursive.split_text(text) for text in texts],
    }
    with pytest.MonkeyPatch.context() as patch:
        # The tokenizer, which both sides use, keeps to this thread.
        patch.setenv("TOKENIZERS_PARALLELISM", "false")
        job.apply(documents.slice(0, 1))
        rounds = in_turns(works, repeats)
    figures = {name: tokens / median(rounds, name) for name in works}
    for ratio, name in (("ratio", "split"), ("ratio_job", "job"), ("ratio_bound", "encode")):
        figures[ratio] = median_ratio(rounds, "recursive", name)
    return {"documents": float(len(texts)), "tokens": float(tokens), **figures}
