"""Embedding against sentence-transformers in fp32: texts a second of all cores."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from quern.jobs.chunks.chunk import Splitter
from quern.jobs.models.folders import find_folder, load_tokenizer, read_model
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings

Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]

# Tokens of a chunk and of a node (question and answer), and how many of each are embedded in a round.
_KINDS = {"chunks": (330, 48), "nodes": (30, 512)}


def _pieces(documents: Sequence[str], settings: EmbedSettings, tokens: int, count: int) -> list[str]:
    """`count` pieces of the documents of about `tokens` tokens: nine tenths of them or more, at most all."""
    splitter = Splitter(load_tokenizer(read_model(settings.model)), tokens, 0.0)
    pieces: list[str] = []
    for text, spans in zip(documents, splitter.split(documents), strict=True):
        pieces += [text[span.start : span.end] for span in spans if span.tokens > tokens * 0.9]
        if len(pieces) >= count:
            break
    return pieces[:count]


def _rival(settings: EmbedSettings) -> Encode:
    """sentence-transformers in fp32 with its own batches and order, on as many tokens as our model reads."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(settings.threads or len(os.sched_getaffinity(0)))
    model = SentenceTransformer(str(find_folder(settings.model)), device="cpu", local_files_only=True)
    model.max_seq_length = settings.max_tokens
    return lambda texts: np.asarray(model.encode(list(texts), normalize_embeddings=True), dtype=np.float32)


def _seconds(encode: Encode, texts: Sequence[str]) -> float:
    started = time.perf_counter()
    encode(texts)
    return time.perf_counter() - started


def _compare(name: str, own: Encode, rival: Encode, texts: Sequence[str], repeats: int) -> dict[str, float]:
    """Rates of both over `texts`, the median of the rounds' ratios, and how near the vectors are."""
    # The first calls of either compile kernels for the shapes they meet.
    cosines = (own(texts) * rival(texts)).sum(axis=1)
    rounds = [(_seconds(own, texts), _seconds(rival, texts)) for _ in range(repeats)]
    return {
        f"{name}": len(texts) / statistics.median(mine for mine, _ in rounds),
        f"{name}_rival": len(texts) / statistics.median(other for _, other in rounds),
        f"{name}_ratio": statistics.median(other / mine for mine, other in rounds),
        f"{name}_least_cosine": float(cosines.min()),
        f"{name}_mean_cosine": float(cosines.mean()),
    }


def _tokenising(settings: EmbedSettings, texts: Sequence[str], rate: float) -> float:
    """Share of the time of embedding `texts` that tokenising them takes."""
    tokenizer = load_tokenizer(read_model(settings.model))
    started = time.perf_counter()
    tokenizer.encode_batch(list(texts))
    return (time.perf_counter() - started) * rate / len(texts)


def benchmark_embed(documents: Sequence[str], settings: EmbedSettings, repeats: int = 5) -> dict[str, float]:
    """Texts a second, medians over `repeats` rounds in which both take turns.

    Returns:
        For chunks (about 330 tokens) and nodes (about 30): the rate, `_rival` that of sentence-transformers in fp32,
        `_ratio` the median of each round's ratio, `_least_cosine` and `_mean_cosine` between their vectors,
        `_tokenising` the share of time that tokenising takes.

    Raises:
        ValueError: The documents are too few.
    """
    own, rival = Embedder.load(settings).encode, _rival(settings)
    figures: dict[str, float] = {}
    for name, (tokens, count) in _KINDS.items():
        texts = _pieces(documents, settings, tokens, count)
        if len(texts) < count:
            raise ValueError(f"the documents make {len(texts)} {name} of {tokens} tokens; {count} are needed")
        figures |= _compare(name, own, rival, texts, repeats)
        figures[f"{name}_tokenising"] = _tokenising(settings, texts, figures[name])
    return figures
