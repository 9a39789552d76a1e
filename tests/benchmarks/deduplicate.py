"""The benchmark of deduplication, on a synthetic corpus with planted near duplicates, against datatrove's MinHash.

Documents are sentences of Zipf-distributed words around paragraphs that many of them share. Some have an edited copy
whose true Jaccard similarity, from .65 to 1, is worked out on the shingles themselves; a crowd of documents are one
template with a few words changed. The same seed gives the same corpus on every machine.

datatrove is given the same bands, rows and words, and as many tasks as there are cores. It keeps what shares a band,
without verifying it; Quern's time includes writing the documents.
"""

from __future__ import annotations

import logging
import multiprocessing
import random
import re
import resource
import struct
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.jobs.core.run import run_whole
from quern.jobs.documents.deduplicate import Deduplicate
from quern.jobs.engines import core_count
from quern.schemas.settings import DeduplicateSettings, EngineSettings
from quern.schemas.tables import DOCUMENTS
from tests.benchmarks import Figures, in_turns, job_run, median
from tests.benchmarks.articles import SYLLABLES
from tests.tables import batch_of

_SETTINGS = DeduplicateSettings()
_BATCH = 1000
_SIZE = 5
_THRESHOLD = 0.8
_CROWD_EDITS = 2


@dataclass(frozen=True)
class Planted:
    """The corpus."""

    texts: list[str]  # Its documents.
    pairs: dict[tuple[int, int], float]  # Planted pairs of documents, with their Jaccard similarities.
    crowd: list[int]  # The documents made of one template.


def plant(documents: int, seed: int = 1997) -> Planted:
    """A corpus of so many documents: a fifth of them are edited copies, a fiftieth the crowd."""
    rng = random.Random(seed)
    vocabulary = sorted({"".join(rng.choices(SYLLABLES, k=rng.choice((1, 2, 2, 3, 4)))) for _ in range(20_000)})
    rng.shuffle(vocabulary)
    weights = list(accumulate(1 / rank for rank in range(2, len(vocabulary) + 2)))

    def words(count: int) -> list[str]:
        return rng.choices(vocabulary, cum_weights=weights, k=count)

    shared = [words(rng.randint(20, 80)) for _ in range(150)]

    def article() -> str:
        """An article of 100 to 700 words, a third of them in shared paragraphs."""
        parts = [words(rng.randint(20, 110)) for _ in range(rng.randint(4, 6))]
        parts[1:1] = rng.sample(shared, rng.randint(1, 3))
        return "\n".join(" ".join(p).capitalize() + "." for p in parts)

    def replaced(of: Sequence[str], count: int) -> str:
        """The words, `count` of them replaced."""
        edited = list(of)
        for at in rng.sample(range(len(edited)), min(count, len(edited))):
            edited[at] = rng.choice(vocabulary) + "x"
        return " ".join(edited)

    def copy(text: str, wanted: float) -> str:
        """A copy of about that similarity: words replaced, or a run of words left out, or both."""
        of = text.split()
        changed = len(of) * (1 - wanted) / (1 + wanted)
        kind = rng.randrange(3)
        if kind:
            dropped = int(len(of) * (1 - wanted) / kind)
            start = rng.randrange(len(of) - dropped)
            del of[start : start + dropped]
            changed *= (kind - 1) / 2
        return replaced(of, round(changed / _SIZE))

    crowd, copies = documents // 50, documents // 5
    originals = [article() for _ in range(documents - crowd - copies)]
    chosen = rng.sample(range(len(originals)), copies)
    texts = [*originals, *(copy(originals[n], rng.uniform(0.68, 0.99)) for n in chosen)]
    pairs = {(n, len(originals) + m): similarity(texts[n], texts[len(originals) + m]) for m, n in enumerate(chosen)}
    template = words(240)
    texts += [replaced(template, _CROWD_EDITS) for _ in range(crowd)]
    return Planted(texts, pairs, list(range(documents - crowd, documents)))


def similarity(one: str, other: str) -> float:
    """Jaccard similarity of two texts' runs of five words, on the words themselves: no hash takes part."""
    words = [re.findall(r"\w+", text.casefold()) for text in (one, other)]
    a, b = ({tuple(of[n : n + _SIZE]) for n in range(len(of) - _SIZE + 1)} for of in words)
    return len(a & b) / max(1, len(a | b))


def judge(planted: Planted, cluster: Mapping[int, int]) -> Figures:
    """Recall of planted pairs, precision, and the share of the crowd in its largest cluster.

    Args:
        planted: The corpus.
        cluster: The cluster of each document that is in one with others. Precision is over all pairs of a cluster
            outside the crowd: the share whose true similarity is .8 or more.
    """
    figures = {}
    for name, least in (("recall .85", 0.85), ("recall .80", _THRESHOLD)):
        wanted = [(a, b) for (a, b), s in planted.pairs.items() if s >= least]
        joined = sum(cluster.get(a, -1) == cluster.get(b, -2) for a, b in wanted)
        figures[name] = joined / max(1, len(wanted))
    crowd, members = set(planted.crowd), defaultdict(list)
    for document, root in cluster.items():
        if document not in crowd:
            members[root].append(document)
    pairs = [pair for of in members.values() for pair in combinations(of, 2)]
    true = sum(similarity(planted.texts[a], planted.texts[b]) >= _THRESHOLD for a, b in pairs)
    largest = Counter(cluster[n] for n in planted.crowd if n in cluster).most_common(1)
    return {
        **figures,
        "precision": true / max(1, len(pairs)),
        "pairs found": float(len(pairs)),
        "crowd joined": largest[0][1] / len(planted.crowd) if largest else 0.0,
    }


def deduplicated(texts: Sequence[str], root: Path) -> Stage:
    """The documents of `texts`, deduplicated."""
    with StageWriter(root / "documents.parquet", DOCUMENTS) as writer:
        for start in range(0, len(texts), _BATCH):
            rows = [
                {"doc_id": f"{n:08}", "page_url": f"doc:{n}", "text": text}
                for n, text in enumerate(texts[start : start + _BATCH], start)
            ]
            writer.write(batch_of(DOCUMENTS, rows))
    with job_run(root, EngineSettings(engine="local")) as run:
        return run_whole(Deduplicate(_SETTINGS), {"normalised": writer.stage()}, run).stages[0]


def clusters(documents: Stage) -> dict[int, int]:
    """The cluster of each document that is in one with others, named by its keeper."""
    cluster: dict[int, int] = {}
    for batch in documents.batches(["doc_id", "duplicate_of"]):
        for doc_id, keeper in zip(*(batch.column(n).to_pylist() for n in ("doc_id", "duplicate_of")), strict=True):
            if keeper is not None:
                cluster |= {int(doc_id): int(keeper), int(keeper): int(keeper)}
    return cluster


class _Words:
    """The words that Quern compares, as a word tokenizer of datatrove's."""

    def word_tokenize(self, text: str) -> list[str]:
        return re.findall(r"\w+", text)


def _minhash() -> tuple[Any, Any]:
    """datatrove's module of MinHash, which logs nothing, and Quern's settings as its own."""
    from datatrove.pipeline.dedup import minhash
    from loguru import logger

    logger.remove()
    minhash.load_word_tokenizer = lambda _: _Words()
    settings = {"n_grams": _SETTINGS.shingle, "num_buckets": _SETTINGS.bands, "hashes_per_bucket": _SETTINGS.rows}
    return minhash, minhash.MinhashConfig(**settings)


def _peer_signatures(texts: Sequence[str], folder: Path, tasks: int, rank: int) -> None:
    from datatrove.data import Document
    from xxhash import xxh64_intdigest

    minhash, settings = _minhash()
    step = minhash.MinhashDedupSignature(str(folder / "signatures"), settings)
    # What it would call gives the text itself to xxhash, which today takes bytes only.
    step._hash_func = lambda shingle: xxh64_intdigest(shingle.encode())
    step.run((Document(text, str(n)) for n, text in enumerate(texts[rank::tasks])), rank, tasks)


def _peer_buckets(folder: Path, rank: int) -> None:
    minhash, settings = _minhash()
    folders = str(folder / "signatures"), str(folder / "pairs")
    minhash.MinhashDedupBuckets(*folders, config=settings, lines_to_buffer=1000).run(None, rank, _SETTINGS.bands)


def _peer(texts: Sequence[str], folder: Path, tasks: int) -> dict[int, int]:
    """The cluster of each document, as datatrove finds them."""
    with multiprocessing.get_context("fork").Pool(tasks) as pool:
        pool.map(partial(_peer_signatures, texts, folder, tasks), range(tasks), 1)
        pool.map(partial(_peer_buckets, folder), range(_SETTINGS.bands), 1)
        pool.close()
        pool.join()
    minhash, settings = _minhash()
    minhash.MinhashDedupCluster(str(folder / "pairs"), str(folder / "clusters"), settings, True).run()
    cluster: dict[int, int] = {}
    for path in (folder / "clusters").glob("*.clusters"):
        rank = int(path.stem)
        cluster |= {row * tasks + rank: root for row, root in struct.iter_unpack("<2I", path.read_bytes())}
    return cluster


def _cpu_seconds() -> float:
    """CPU seconds of this process and of those it started and ended."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def benchmark_deduplicate(documents: int = 20_000, repeats: int = 3) -> Figures:
    """Recall and precision on planted pairs, documents a second of CPU time, and the ratio to datatrove.

    Returns:
        The figures of `judge`, of the peer too. `quern`, `datatrove`: documents a second of CPU time, of the peer by
        tasks on all cores. `ratio`: datatrove's CPU time over Quern's.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    planted, tasks = plant(documents), core_count(EngineSettings())
    found: dict[str, dict[int, int]] = {}

    def quern() -> None:
        with tempfile.TemporaryDirectory() as folder:
            found["quern"] = clusters(deduplicated(planted.texts, Path(folder) / "run"))

    def datatrove() -> None:
        with tempfile.TemporaryDirectory() as folder:
            found["datatrove"] = _peer(planted.texts, Path(folder), tasks)

    rounds = in_turns({"quern": quern, "datatrove": datatrove}, repeats, _cpu_seconds)
    figures = {"documents": float(documents), **judge(planted, found["quern"])}
    figures |= {f"datatrove {name}": value for name, value in judge(planted, found["datatrove"]).items()}
    figures |= {name: documents / median(rounds, name) for name in found}
    return figures | {"ratio": median(rounds, "datatrove", "quern")}
