"""The benchmark of deduplication, on a synthetic corpus with planted near duplicates, against datatrove's MinHash.

datatrove is given the same bands, rows and words, and as many tasks as there are cores. It keeps what shares a band,
without verifying it, and has no incremental runs; Quern's time includes writing the documents.
"""

from __future__ import annotations

import logging
import multiprocessing
import re
import statistics
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from indexes.stages import Stage, StageWriter
from jobs.deduplicate import deduplicate
from jobs.engines import Engines, core_count
from jobs.meter import MemoryMeter
from jobs.runner import Run
from pipelines.near_duplicates import judge, plant
from schemas.groups import DeduplicateSettings, EngineSettings
from schemas.tables import DOCUMENTS, REJECTS

_WORD = re.compile(r"\w+")
_NEW_SHARE = 100
_SETTINGS = DeduplicateSettings()
_BATCH = 1000


def _document(number: int, text: str) -> dict[str, object]:
    lists: dict[str, object] = {"images": [], "metadata_from": [], "personal_data": []}
    row: dict[str, object] = {f.name: None for f in DOCUMENTS.schema}
    return row | lists | {"doc_id": f"{number:08}", "page_url": f"doc:{number}", "text": text, "digest": ""}


def _stage(texts: Sequence[str], path: Path) -> Stage:
    with StageWriter(path, DOCUMENTS) as writer:
        for start in range(0, len(texts), _BATCH):
            rows = [_document(start + n, text) for n, text in enumerate(texts[start : start + _BATCH])]
            writer.write(pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS.schema))
    return writer.stage()


@dataclass
class Nights:
    """Deduplications over one memo, one a night, on one engine."""

    root: Path
    engines: Engines
    count: int = 0

    def night(self, texts: Sequence[str]) -> tuple[float, Stage]:
        """Seconds that `texts` take, and the documents."""
        self.count += 1
        root = self.root / str(self.count)
        documents = _stage(texts, root / "documents.parquet")
        cores = core_count(EngineSettings())
        with StageWriter(root / "rejects.parquet", REJECTS) as rejects:
            run = Run(
                str(self.count),
                self.root / "memo",
                root / "work",
                root / "stages",
                self.engines,
                rejects,
                1024,
                64,
                cores,
            )
            started = time.perf_counter()
            made = deduplicate(documents, _SETTINGS, run)
            return time.perf_counter() - started, made


def clusters(documents: Stage) -> dict[int, int]:
    """The cluster of each document that is in one with others, named by its keeper."""
    found: dict[int, int] = {}
    for batch in documents.batches(["doc_id", "duplicate_of"]):
        for doc_id, keeper in zip(*(batch.column(n).to_pylist() for n in ("doc_id", "duplicate_of")), strict=True):
            if keeper is not None:
                found |= {int(doc_id): int(keeper), int(keeper): int(keeper)}
    return found


class _Words:
    """The words that Quern takes, as a word tokenizer of datatrove's."""

    def word_tokenize(self, text: str) -> list[str]:
        """Words of `text`."""
        return _WORD.findall(text)


def _peer_signatures(texts: Sequence[str], folder: Path, tasks: int, rank: int) -> None:
    from datatrove.data import Document
    from datatrove.pipeline.dedup import minhash
    from xxhash import xxh64_intdigest

    _silence()
    minhash.load_word_tokenizer = lambda _: _Words()
    step = minhash.MinhashDedupSignature(str(folder / "signatures"), _peer_settings())
    # What it would call gives the text itself to xxhash, which today takes bytes only.
    step._hash_func = lambda shingle: xxh64_intdigest(shingle.encode())
    step.run((Document(text, str(n)) for n, text in enumerate(texts[rank::tasks])), rank, tasks)


def _peer_buckets(folder: Path, rank: int) -> None:
    from datatrove.pipeline.dedup import minhash

    _silence()
    step = minhash.MinhashDedupBuckets(
        str(folder / "signatures"), str(folder / "pairs"), config=_peer_settings(), lines_to_buffer=1000
    )
    step.run(None, rank, _SETTINGS.bands)


def _peer_settings() -> Any:
    from datatrove.pipeline.dedup.minhash import MinhashConfig

    return MinhashConfig(n_grams=_SETTINGS.shingle, num_buckets=_SETTINGS.bands, hashes_per_bucket=_SETTINGS.rows)


def _silence() -> None:
    from loguru import logger

    logger.remove()


def _peer(texts: Sequence[str], folder: Path, tasks: int) -> tuple[float, dict[int, int]]:
    """Seconds that datatrove takes from texts to clusters, and the clusters."""
    from datatrove.pipeline.dedup import minhash

    _silence()
    started = time.perf_counter()
    with multiprocessing.get_context("fork").Pool(tasks) as pool:
        pool.map(partial(_peer_signatures, texts, folder, tasks), range(tasks), 1)
        pool.map(partial(_peer_buckets, folder), range(_SETTINGS.bands), 1)
    step = minhash.MinhashDedupCluster(str(folder / "pairs"), str(folder / "clusters"), _peer_settings(), True)
    step.run()
    seconds = time.perf_counter() - started
    found: dict[int, int] = {}
    for rank in range(tasks):
        path = folder / "clusters" / f"{rank:06d}.clusters"
        if path.exists():
            found |= {row * tasks + rank: root for row, root in struct.iter_unpack("<2I", path.read_bytes())}
    return seconds, found


@contextmanager
def _engine(name: Literal["local", "spark"]) -> Iterator[Engines]:
    """Engines of one kind, started."""
    with Engines(EngineSettings(engine=name)) as engines:
        engines.shuffler(0, 0)
        yield engines


def _metered(work: Callable[[], tuple[float, Any]]) -> tuple[float, Any, float]:
    """What `work` returns, and the largest memory of all processes meanwhile, MiB."""
    with MemoryMeter() as meter:
        seconds, found = work()
    return seconds, found, meter.peak_bytes / (1 << 20)


def _round(texts: Sequence[str], root: Path, spark: Engines, local: Engines, tasks: int) -> dict[str, Any]:
    """Seconds, memory and clusters of one round: each side once, over an empty memo."""
    older = texts[: len(texts) - len(texts) // _NEW_SHARE]
    found: dict[str, Any] = {}
    for name, engines in (("spark", spark), ("in process", local)):
        nights = Nights(root / name, engines)
        found[name], found[f"{name} made"], found[f"{name} MiB"] = _metered(partial(nights.night, texts))
    nights = Nights(root / "incremental", local)
    nights.night(older)
    found["night"], made = nights.night(texts)
    if made.digest != found["spark made"].digest or made.digest != found["in process made"].digest:
        raise AssertionError("engines or nights differ in their result")
    found["clusters"] = clusters(made)
    found["datatrove"], found["datatrove made"], found["datatrove MiB"] = _metered(
        partial(_peer, texts, root / "datatrove", tasks)
    )
    return found


def benchmark_deduplicate(documents: int = 20_000, repeats: int = 3) -> dict[str, float]:
    """Recall and precision on planted pairs, documents a second, memory, and ratios against datatrove.

    Returns:
        `found L-H`: share of the planted pairs of that similarity that end in one cluster. `recall .85`, `recall .80`:
        of those from there. `precision`: share of the pairs of clusters whose true similarity is .8 or more. `crowd
        joined`: share of the documents of one template in its largest cluster. Of each side documents a second and
        MiB. `ratio`: datatrove's seconds over Quern's on Spark, both with all cores; `ratio in process`: over Quern's
        in one process on one core; `night share`: seconds of a night with 1 % new documents over a full one.
        Figures that begin with `datatrove` are the rival's.
    """
    logging.getLogger("jobs").setLevel(logging.WARNING)
    planted, tasks = plant(documents), core_count(EngineSettings())
    with tempfile.TemporaryDirectory() as directory, _engine("spark") as spark, _engine("local") as local:
        # One small night first: Spark compiles its plans and starts its Python workers on first use.
        Nights(Path(directory) / "warm", spark).night(planted.texts[:200])
        rounds = [_round(planted.texts, Path(directory) / str(n), spark, local, tasks) for n in range(repeats)]
    figures = {"documents": float(documents), **judge(planted, rounds[0]["clusters"])}
    rival = judge(planted, rounds[0]["datatrove made"])
    figures |= {f"datatrove {n}": rival[n] for n in ("recall .85", "recall .80", "precision", "crowd joined")}
    for side in ("spark", "in process", "datatrove"):
        figures[f"{side} docs/s"] = documents / statistics.median(r[side] for r in rounds)
        figures[f"{side} MiB"] = max(r[f"{side} MiB"] for r in rounds)
    figures["ratio"] = statistics.median(r["datatrove"] / r["spark"] for r in rounds)
    figures["ratio in process"] = statistics.median(r["datatrove"] / r["in process"] for r in rounds)
    figures["night share"] = statistics.median(r["night"] / r["in process"] for r in rounds)
    return figures
