"""Embedding against sentence-transformers in fp32: texts a second of all cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from quern.jobs.chunks.chunk import Splitter
from quern.jobs.models.folders import find_folder, load_tokenizer, read_model
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings
from tests.benchmarks import in_turns, median, median_ratio, seconds_of

Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]

# Tokens of a chunk and of a node (question and answer), and how many of each are embedded in a round.
_KINDS = {"chunks": (330, 48), "nodes": (30, 512)}


def _rival(settings: EmbedSettings) -> Encode:
    """sentence-transformers in fp32 with its own batches and order, on as many tokens as our model reads."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(settings.threads or len(os.sched_getaffinity(0)))
    model = SentenceTransformer(str(find_folder(settings.model)), device="cpu", local_files_only=True)
    model.max_seq_length = settings.max_tokens
    return lambda texts: np.asarray(model.encode(list(texts), normalize_embeddings=True), dtype=np.float32)


def benchmark_embed(documents: Sequence[str], settings: EmbedSettings, repeats: int = 5) -> dict[str, float]:
    """Texts a second, medians over `repeats` rounds in which both take turns.

    Returns:
        For chunks (about 330 tokens) and nodes (about 30): the rate, `_rival` that of sentence-transformers in fp32,
        `_ratio` the median of each round's ratio, `_least_cosine` and `_mean_cosine` between their vectors,
        `_tokenising` the share of time that tokenising takes.

    Raises:
        ValueError: The documents are too few.
    """
    own, rival, tokenizer = Embedder.load(settings).encode, _rival(settings), load_tokenizer(read_model(settings.model))
    figures: dict[str, float] = {}
    for name, (tokens, count) in _KINDS.items():
        # Pieces of the documents of about so many tokens: nine tenths of them or more, at most all.
        texts: list[str] = []
        for text, spans in zip(documents, Splitter(tokenizer, tokens, 0.0).split(documents), strict=True):
            texts += [text[span.start : span.end] for span in spans if span.tokens > tokens * 0.9][: count - len(texts)]
            if len(texts) == count:
                break
        if len(texts) < count:
            raise ValueError(f"the documents make {len(texts)} {name} of {tokens} tokens; {count} are needed")
        # The first calls of either compile kernels for the shapes they meet.
        cosines = (own(texts) * rival(texts)).sum(axis=1)
        works: dict[str, Callable[[], object]] = {"own": partial(own, texts), "rival": partial(rival, texts)}
        rounds = in_turns(works, repeats, time.perf_counter)
        rate = len(texts) / median(rounds, "own")
        tokenising = seconds_of(partial(tokenizer.encode_batch, texts), time.perf_counter)
        figures |= {
            name: rate,
            f"{name}_rival": len(texts) / median(rounds, "rival"),
            f"{name}_ratio": median_ratio(rounds, "rival", "own"),
            f"{name}_least_cosine": float(cosines.min()),
            f"{name}_mean_cosine": float(cosines.mean()),
            f"{name}_tokenising": tokenising * rate / len(texts),
        }
    return figures
