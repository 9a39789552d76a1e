"""The benchmark of deduplication, on a synthetic corpus with planted near duplicates, against datatrove's MinHash.

datatrove is given the same bands, rows and words, and as many tasks as there are cores. It keeps what shares a band,
without verifying it, and has no incremental runs; Quern's time includes writing the documents.
"""

from __future__ import annotations

import logging
import multiprocessing
import re
import resource
import statistics
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.jobs.core.progress import MemoryMeter
from quern.jobs.core.run import Run, run_whole
from quern.jobs.documents.deduplicate import Deduplicate
from quern.jobs.engines import Engines, core_count
from quern.schemas.settings import DeduplicateSettings, EngineSettings
from quern.schemas.tables import DOCUMENTS, REJECTS
from tests.benchmarks.near_duplicates import judge, plant
from tests.tables import batch_of

_WORD = re.compile(r"\w+")
_NEW_SHARE = 100
_SETTINGS = DeduplicateSettings()
_BATCH = 1000
_Result = TypeVar("_Result")


def _document(number: int, text: str) -> dict[str, object]:
    return {"doc_id": f"{number:08}", "page_url": f"doc:{number}", "text": text}


def _stage(texts: Sequence[str], path: Path) -> Stage:
    with StageWriter(path, DOCUMENTS) as writer:
        for start in range(0, len(texts), _BATCH):
            rows = [_document(start + n, text) for n, text in enumerate(texts[start : start + _BATCH])]
            writer.write(batch_of(DOCUMENTS, rows))
    return writer.stage()


@dataclass(frozen=True)
class Cost:
    """Seconds, CPU seconds of this process and of those it started and ended, and bytes beyond those at the start."""

    seconds: float
    cpu: float
    memory: int


def _metered(work: Callable[[], _Result]) -> tuple[Cost, _Result]:
    """What `work` costs, and what it returns."""
    before, cpu, started = _memory(), _cpu_seconds(), time.perf_counter()
    with MemoryMeter() as meter:
        found = work()
        seconds = time.perf_counter() - started
    return Cost(seconds, _cpu_seconds() - cpu, max(0, meter.peak_bytes - before)), found


def _memory() -> int:
    """Bytes of this process and all that it started, now."""
    with MemoryMeter() as meter:
        pass
    return meter.peak_bytes


def _cpu_seconds() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


@dataclass
class Nights:
    """Deduplications over one memo, one a night, on one engine."""

    root: Path
    engines: Engines
    count: int = 0

    def night(self, texts: Sequence[str]) -> tuple[Cost, Stage]:
        """What `texts` cost, and the documents."""
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
            return _metered(lambda: run_whole(Deduplicate(_SETTINGS), {"normalised": documents}, run).stages[0])


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


def _peer(texts: Sequence[str], folder: Path, tasks: int) -> None:
    """Let datatrove take texts to clusters."""
    from datatrove.pipeline.dedup import minhash

    _silence()
    with multiprocessing.get_context("fork").Pool(tasks) as pool:
        pool.map(partial(_peer_signatures, texts, folder, tasks), range(tasks), 1)
        pool.map(partial(_peer_buckets, folder), range(_SETTINGS.bands), 1)
        pool.close()
        pool.join()
    step = minhash.MinhashDedupCluster(str(folder / "pairs"), str(folder / "clusters"), _peer_settings(), True)
    step.run()


def _peer_clusters(folder: Path, tasks: int) -> dict[int, int]:
    """The clusters that datatrove found."""
    found: dict[int, int] = {}
    for rank in range(tasks):
        path = folder / "clusters" / f"{rank:06d}.clusters"
        if path.exists():
            found |= {row * tasks + rank: root for row, root in struct.iter_unpack("<2I", path.read_bytes())}
    return found


@dataclass(frozen=True)
class _Round:
    """What each side cost, over an empty memo, and the clusters of both."""

    costs: dict[str, Cost]
    found: dict[int, int]
    rival: dict[int, int]


def _round(texts: Sequence[str], root: Path, local: Engines, tasks: int) -> _Round:
    """Each side once; a full and an incremental night must come to one result."""
    costs: dict[str, Cost] = {}
    made: dict[str, Stage] = {}
    costs["in process"], made["in process"] = Nights(root / "in process", local).night(texts)
    nights = Nights(root / "incremental", local)
    nights.night(texts[: len(texts) - len(texts) // _NEW_SHARE])
    costs["night"], made["night"] = nights.night(texts)
    if len({stage.digest for stage in made.values()}) > 1:
        raise AssertionError("nights differ in their result")
    costs["datatrove"], _ = _metered(lambda: _peer(texts, root / "datatrove", tasks))
    return _Round(costs, clusters(made["night"]), _peer_clusters(root / "datatrove", tasks))


def benchmark_deduplicate(documents: int = 20_000, repeats: int = 3) -> dict[str, float]:
    """Recall and precision on planted pairs, documents a second, memory, and ratios against datatrove.

    Returns:
        `found L-H`: share of the planted pairs of that similarity that end in one cluster. `recall .85`, `recall .80`:
        of those from there. `precision`: share of the pairs of clusters whose true similarity is .8 or more. `crowd
        joined`: share of the documents of one template in its largest cluster. Of each side documents a second, and
        MiB beyond the corpus. `ratio in process`: datatrove's seconds with all cores over Quern's in one process, on
        one core; `ratio cpu`: the same in CPU seconds, which other work on the machine disturbs least. `night share`:
        seconds of a night with 1 % new documents over a full one. Figures that begin with `datatrove` are the rival's.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    planted, tasks = plant(documents), core_count(EngineSettings())
    with tempfile.TemporaryDirectory() as directory, Engines(EngineSettings(engine="local")) as local:
        rounds = [_round(planted.texts, Path(directory) / str(n), local, tasks) for n in range(repeats)]
    figures = {"documents": float(documents), **judge(planted, rounds[0].found)}
    rival = judge(planted, rounds[0].rival)
    figures |= {f"datatrove {n}": rival[n] for n in ("recall .85", "recall .80", "precision", "crowd joined")}
    for side in ("in process", "datatrove"):
        figures[f"{side} docs/s"] = documents / statistics.median(r.costs[side].seconds for r in rounds)
        figures[f"{side} MiB"] = max(r.costs[side].memory for r in rounds) / (1 << 20)
    ratios = (r.costs["datatrove"].seconds / r.costs["in process"].seconds for r in rounds)
    figures["ratio in process"] = statistics.median(ratios)
    figures["ratio cpu"] = statistics.median(r.costs["datatrove"].cpu / r.costs["in process"].cpu for r in rounds)
    figures["night share"] = statistics.median(r.costs["night"].seconds / r.costs["in process"].seconds for r in rounds)
    return figures
