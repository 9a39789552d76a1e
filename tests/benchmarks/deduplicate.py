"""The benchmark of deduplication, on a synthetic corpus with planted near duplicates, against datatrove's MinHash.

Documents are sentences of Zipf-distributed words around paragraphs that many of them share. Some have an edited copy
whose true Jaccard similarity, from .65 to 1, is worked out on the shingles themselves; a crowd of documents are one
template with a few words changed. The same seed gives the same corpus on every machine.

datatrove is given the same bands, rows and words, and as many tasks as there are cores. It keeps what shares a band,
without verifying it, and has no incremental runs; Quern's time includes writing the documents.
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, run_whole
from quern.jobs.documents.deduplicate import Deduplicate
from quern.jobs.engines import Engines, core_count
from quern.schemas.settings import DeduplicateSettings, EngineSettings
from quern.schemas.tables import DOCUMENTS, REJECTS
from tests.benchmarks import Round, in_turns, is_installed, median, median_ratio
from tests.benchmarks.articles import Vocabulary
from tests.tables import batch_of

_SETTINGS = DeduplicateSettings()
_NEW_SHARE = 100
_BATCH = 1000
_SIZE = 5
_THRESHOLD = 0.8
_CROWD_EDITS = 2
BANDS = (0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)

Pair = tuple[int, int]


@dataclass(frozen=True)
class Planted:
    """The corpus."""

    texts: list[str]  # Its documents.
    pairs: dict[Pair, float]  # Planted pairs of documents, with their Jaccard similarities.
    crowd: list[int]  # The documents made of one template.


def plant(documents: int, seed: int = 1997) -> Planted:
    """A corpus of so many documents: a fifth of them are edited copies, a fiftieth the crowd."""
    rng = random.Random(seed)
    writer = _Writer(rng)
    crowd, copies = documents // 50, documents // 5
    originals = [writer.article() for _ in range(documents - crowd - copies)]
    chosen = rng.sample(range(len(originals)), copies)
    texts = [*originals, *(writer.copy(originals[n], rng.uniform(0.68, 0.99)) for n in chosen)]
    pairs = {(n, len(originals) + m): similarity(texts[n], texts[len(originals) + m]) for m, n in enumerate(chosen)}
    template = writer.words(240)
    texts += [" ".join(writer.replaced(template, _CROWD_EDITS)) for _ in range(crowd)]
    return Planted(texts, pairs, list(range(documents - crowd, documents)))


class _Writer:
    """Writes articles from words, with paragraphs that it uses again and again."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        vocabulary = Vocabulary(rng, 20_000, (1, 2, 2, 3, 4))
        self._words, self.words = vocabulary.words, vocabulary.some
        self._templates = [self.words(rng.randint(20, 80)) for _ in range(150)]

    def article(self) -> str:
        """An article of 100 to 700 words, a third of them in shared paragraphs."""
        parts = [self.words(self._rng.randint(20, 110)) for _ in range(self._rng.randint(4, 6))]
        parts[1:1] = self._rng.sample(self._templates, self._rng.randint(1, 3))
        return "\n".join(" ".join(p).capitalize() + "." for p in parts)

    def copy(self, text: str, wanted: float) -> str:
        """A copy of about that similarity: words replaced, or a run of words left out, or both."""
        words = text.split()
        changed = len(words) * (1 - wanted) / (1 + wanted)
        kind = self._rng.randrange(3)
        if kind:
            dropped = int(len(words) * (1 - wanted) / kind)
            start = self._rng.randrange(len(words) - dropped)
            del words[start : start + dropped]
            changed *= kind - 1
            changed /= 2
        return " ".join(self.replaced(words, round(changed / _SIZE)))

    def replaced(self, words: Sequence[str], count: int) -> list[str]:
        """The words, `count` of them replaced."""
        found = list(words)
        for at in self._rng.sample(range(len(found)), min(count, len(found))):
            found[at] = self._rng.choice(self._words) + "x"
        return found


def similarity(one: str, other: str) -> float:
    """Jaccard similarity of two texts' runs of five words, on the words themselves: no hash takes part."""
    words = [re.findall(r"\w+", text.casefold()) for text in (one, other)]
    a, b = ({tuple(of[n : n + _SIZE]) for n in range(len(of) - _SIZE + 1)} for of in words)
    return len(a & b) / max(1, len(a | b))


def judge(planted: Planted, cluster: Mapping[int, int]) -> dict[str, float]:
    """Recall of planted pairs per band of similarity and from .85, precision, and the share of the crowd joined.

    Args:
        planted: The corpus.
        cluster: The cluster of each document that is in one with others. Precision is over all pairs of a cluster
            outside the crowd: the share whose true similarity is .8 or more.
    """
    joined = {p: cluster.get(p[0], -1) == cluster.get(p[1], -2) for p in planted.pairs}
    figures = {}
    for low, high in pairwise(BANDS):
        inside = [p for p, s in planted.pairs.items() if low <= s < high]
        figures[f"found {low:.2f}-{high:.2f}"] = sum(joined[p] for p in inside) / max(1, len(inside))
    close = [p for p, s in planted.pairs.items() if s >= BANDS[4]]
    figures["recall .85"] = sum(joined[p] for p in close) / max(1, len(close))
    wanted = [p for p, s in planted.pairs.items() if s >= _THRESHOLD]
    figures["recall .80"] = sum(joined[p] for p in wanted) / max(1, len(wanted))
    crowd, members = set(planted.crowd), defaultdict(list)
    for document, root in cluster.items():
        if document not in crowd:
            members[root].append(document)
    pairs = [pair for of in members.values() for pair in combinations(of, 2)]
    true = sum(similarity(planted.texts[a], planted.texts[b]) >= _THRESHOLD for a, b in pairs)
    figures |= {"precision": true / max(1, len(pairs)), "pairs found": float(len(pairs))}
    largest = Counter(cluster[n] for n in planted.crowd if n in cluster).most_common(1)
    figures["crowd joined"] = largest[0][1] / len(planted.crowd) if largest else 0.0
    return figures


def _cpu_seconds() -> float:
    """CPU seconds of this process and of those it started and ended."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


@dataclass
class Runs:
    """Deduplications over one memo, one after the other, on one engine."""

    root: Path
    engines: Engines
    count: int = 0

    def run(self, texts: Sequence[str]) -> Stage:
        """The documents."""
        self.count += 1
        root = self.root / str(self.count)
        with StageWriter(root / "documents.parquet", DOCUMENTS) as writer:
            for start in range(0, len(texts), _BATCH):
                rows = [
                    {"doc_id": f"{n:08}", "page_url": f"doc:{n}", "text": text}
                    for n, text in enumerate(texts[start : start + _BATCH], start)
                ]
                writer.write(batch_of(DOCUMENTS, rows))
        with StageWriter(root / "rejects.parquet", REJECTS) as rejects:
            paths = (self.root / "memo", root / "work", root / "stages")
            run = Run(str(self.count), *paths, self.engines, rejects, 1024, 64, core_count(EngineSettings()))
            documents = {"normalised": writer.stage()}
            return run_whole(Deduplicate(_SETTINGS), documents, run).stages[0]


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
        """Words of `text`."""
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


def _peer(texts: Sequence[str], folder: Path, tasks: int) -> None:
    """Let datatrove take texts to clusters."""
    with multiprocessing.get_context("fork").Pool(tasks) as pool:
        pool.map(partial(_peer_signatures, texts, folder, tasks), range(tasks), 1)
        pool.map(partial(_peer_buckets, folder), range(_SETTINGS.bands), 1)
        pool.close()
        pool.join()
    minhash, settings = _minhash()
    minhash.MinhashDedupCluster(str(folder / "pairs"), str(folder / "clusters"), settings, True).run()


def _peer_clusters(folder: Path, tasks: int) -> dict[int, int]:
    """The cluster of each document, as datatrove finds them."""
    cluster: dict[int, int] = {}
    for rank in range(tasks):
        path = folder / "clusters" / f"{rank:06d}.clusters"
        if path.exists():
            cluster |= {row * tasks + rank: root for row, root in struct.iter_unpack("<2I", path.read_bytes())}
    return cluster


def benchmark_deduplicate(documents: int = 20_000, repeats: int = 3) -> dict[str, float]:
    """Recall and precision on planted pairs, documents a second of CPU time, and the ratio to datatrove.

    Returns:
        `found L-H`: share of the planted pairs of that similarity that end in one cluster. `recall .85`, `recall .80`:
        of those from there. `precision`: share of the pairs of clusters whose true similarity is .8 or more. `crowd
        joined`: share of the documents of one template in its largest cluster. `quern`: documents a second of CPU time
        of a full run. `night share`: CPU time of an incremental run with 1 % new documents over that of a full one.
        `datatrove`: figures of the peer, by tasks on all cores. `ratio`: its CPU time over Quern's.
    """
    logging.getLogger("quern").setLevel(logging.WARNING)
    planted, tasks = plant(documents), core_count(EngineSettings())
    old = planted.texts[: documents - documents // _NEW_SHARE]
    rounds: list[Round] = []
    has_peer = is_installed("datatrove", "datatrove")
    with tempfile.TemporaryDirectory() as directory, Engines(EngineSettings(engine="local")) as local:
        for n in range(repeats):
            whole = Runs(Path(directory) / f"full {n}", local)
            runs = Runs(Path(directory) / f"incremental {n}", local)
            runs.run(old)
            stages: dict[str, Stage] = {}
            works: dict[str, Callable[[], object]] = {
                "full": lambda: stages.update(full=whole.run(planted.texts)),  # noqa: B023 - called within the round
                "night": lambda: stages.update(night=runs.run(planted.texts)),  # noqa: B023
            }
            if has_peer:
                folder = Path(directory) / f"datatrove {n}"
                works["datatrove"] = partial(_peer, planted.texts, folder, tasks)
            rounds += in_turns(works, 1, _cpu_seconds)
            if stages["full"].digest != stages["night"].digest:
                raise AssertionError("an incremental run differs from a full one")
        figures = {"documents": float(documents), **judge(planted, clusters(stages["full"]))}
        figures |= {"quern": documents / median(rounds, "full"), "night share": median_ratio(rounds, "night", "full")}
        if has_peer:
            peer = judge(planted, _peer_clusters(folder, tasks))
            figures |= {f"datatrove {n}": peer[n] for n in ("recall .85", "recall .80", "precision", "crowd joined")}
            figures["datatrove"] = documents / median(rounds, "datatrove")
            figures["ratio"] = median_ratio(rounds, "datatrove", "full")
    return figures
