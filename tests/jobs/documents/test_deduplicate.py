from __future__ import annotations

import random
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quern.indexes.night_state import NightStates
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, run_whole
from quern.jobs.documents import deduplicate as module
from quern.jobs.documents.deduplicate import Deduplicate
from quern.jobs.documents.duplicates.clusters import bucket_pairs
from quern.jobs.documents.duplicates.signatures import jaccard, shingles
from quern.jobs.engines import Engines
from quern.schemas.settings import DeduplicateSettings, EngineSettings
from quern.schemas.tables import DOCUMENTS, REJECTS
from tests.tables import stage_of

Row = dict[str, Any]
SMALL = DeduplicateSettings(bucket=4, neighbours=1, representatives=2)


def document(doc_id: str, text: str, **known: object) -> Row:
    return {"doc_id": doc_id, "page_url": f"doc:{doc_id}", "text": text, "digest": doc_id} | known


def words(seed: int, count: int = 120) -> list[str]:
    rng = random.Random(seed)
    return [letters("w", rng.randrange(400)) for _ in range(count)]


def letters(first: str, number: int) -> str:
    """A made-up word without digits."""
    return first + "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}")


def edited(text: list[str], edits: int, seed: int = 0) -> list[str]:
    """`text` with `edits` words replaced, each of which changes five shingles."""
    rng = random.Random(seed)
    found = list(text)
    for at in rng.sample(range(len(text)), edits):
        found[at] = letters("x", rng.randrange(1000))
    return found


class Nights:
    """Builds over one warehouse, one a night."""

    def __init__(self, root: Path, name: str = "nights") -> None:
        self.root = root / name
        self.count = 0
        self.rejects: dict[str, tuple[str, str]] = {}
        self.reports: list[Any] = []

    def night(self, rows: list[Row], chosen: DeduplicateSettings = SMALL) -> Stage:
        self.count += 1
        root = self.root / str(self.count)
        documents = stage_of(root / "in.parquet", DOCUMENTS, rows)
        rejects = StageWriter(root / "rejects.parquet", REJECTS)
        engines, memo = Engines(EngineSettings(engine="local")), self.root / "memo"
        run = Run(f"2024{self.count:05}", memo, root / "work", root / "stages", engines, rejects, 64, 16, 2)
        run.work.mkdir(parents=True)
        (made,) = run_whole(Deduplicate(chosen), {"normalised": documents}, run).stages
        rejects.close()
        found = pq.read_table(root / "rejects.parquet").to_pylist()
        self.rejects = {r["key"]: (r["reason"], r["detail"]) for r in found if r["job"] == "deduplicate"}
        self.reports = run.reports
        return made


def keepers(stage: Stage) -> dict[str, str | None]:
    rows = [r for b in stage.batches(["doc_id", "duplicate_of"]) for r in b.to_pylist()]
    return {r["doc_id"]: r["duplicate_of"] for r in rows}


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(tmp_path)


def test_near_duplicates_are_linked_at_the_threshold_and_name_their_similarity(nights: Nights) -> None:
    text = words(1)
    near, far = edited(text, 2, 1), edited(text, 6, 2)
    made = nights.night([document("a", " ".join(text)), document("b", " ".join(near)), document("c", " ".join(far))])
    similarity = [jaccard(shingles(" ".join(text), 5), shingles(" ".join(t), 5)) for t in (near, far)]
    assert similarity[0] > 0.8 > similarity[1]
    assert keepers(made) == {"a": None, "b": "a", "c": None}
    assert nights.rejects == {"b": ("near_duplicate", f"of a: Jaccard {similarity[0]:.3f}")}


def test_the_keeper_is_the_oldest_then_the_longest_then_the_least_key(nights: Nights) -> None:
    text = " ".join(words(2))
    day = datetime(2024, 1, 2, tzinfo=UTC)
    dated = [document("a", text), document("b", text + "!", published_at=day), document("c", text)]
    assert keepers(nights.night(dated)) == {"a": "b", "b": None, "c": "b"}
    older = document("d", text, published_at=day.replace(year=1))
    assert keepers(nights.night([*dated, older]))["b"] == "d"
    undated = [document("c", text), document("b", text), document("a", text[:-5]), document("d", text + "?!")]
    assert keepers(nights.night(undated)) == {"a": "d", "b": "d", "c": "d", "d": None}


def test_a_text_with_few_shingles_has_exact_duplicates_only(nights: Nights) -> None:
    made = nights.night([document("a", "one two three four five six"), document("b", "One, two, three four five six!")])
    assert keepers(made) == {"a": None, "b": None}


DELIVERED = (
    "Alice: I am Alice from Hailey's bakery. Your bread has been delivered, please come and pick it up as soon as you "
    "can. Have a good day, and tell your neighbour that the cake is late"
)


def test_a_value_that_differs_is_a_difference(nights: Nights) -> None:
    always = DeduplicateSettings(similarity=0.4, bands=64, rows=2)
    one, other = f"Time: 20260408_08:38\n{DELIVERED}", f"Time: 20260412_08:11\n{DELIVERED}"
    made = nights.night([document("a", one), document("b", other), document("c", one + "!")], always)
    assert keepers(made) == {"a": "c", "b": None, "c": None}


def test_short_texts_published_on_different_days_are_no_near_duplicates(nights: Nights) -> None:
    day = datetime(2024, 5, 3, 9, tzinfo=UTC)
    chats = [document(f"d{n}", DELIVERED + "!" * n, published_at=day.replace(day=3 + n // 2)) for n in range(4)]
    assert keepers(nights.night(chats)) == {"d0": "d1", "d1": None, "d2": "d3", "d3": None}
    undated = document("u", DELIVERED + "?")
    assert keepers(nights.night([chats[0], undated])) == {"d0": None, "u": "d0"}
    # The same texts, known from the night before, of one day now.
    same = [row | {"published_at": day} for row in chats]
    assert keepers(nights.night(same)) == {"d0": "d3", "d1": "d3", "d2": "d3", "d3": None}
    equal = [row | {"text": DELIVERED} for row in chats]
    assert keepers(nights.night(equal)) == {"d0": None, "d1": "d0", "d2": "d0", "d3": "d0"}


def test_a_cluster_falls_apart_when_the_document_between_goes(nights: Nights) -> None:
    text = words(3, 200)
    bridge, far = edited(text, 3, 1), edited(edited(text, 3, 1), 3, 2)
    rows = [document(n, " ".join(t)) for n, t in (("a", text), ("b", bridge), ("c", far))]
    ends = jaccard(shingles(rows[0]["text"], 5), shingles(rows[2]["text"], 5))
    assert ends < 0.8
    assert keepers(nights.night(rows)) == {"a": None, "b": "a", "c": "a"}
    assert "nearest of the copies between" in nights.rejects["c"][1]
    assert keepers(nights.night([rows[0], rows[2]])) == {"a": None, "c": None}
    assert keepers(nights.night(rows)) == {"a": None, "b": "a", "c": "a"}


def corpus(count: int = 60) -> list[Row]:
    """Families of near duplicates, among them one of 30, with exact copies."""
    rows = []
    for n in range(count):
        family = 0 if n < count // 2 else n // 3
        text = " ".join(edited(words(family), n % 5, seed=n % 17))
        day = datetime(2024, 1, 1 + n % 7, tzinfo=UTC) if n % 3 else None
        rows.append(document(f"d{n * 7919 % 1000:03}-{n}", text, published_at=day))
    return rows


DAYS = [datetime(2024, 5, day, tzinfo=UTC) for day in (3, 4, 5)]
CORPUS = [
    *corpus(),
    *(document(f"chat-{n}", DELIVERED + "!" * n, published_at=DAYS[n % 3]) for n in range(7)),
    # Of 49 to 52 words, on three days: some are short, some are not.
    *(document(f"note-{n}", " ".join([*words(9, 46 + n % 4), f"May {1 + n % 3}, 2026"])) for n in range(9)),
]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sets(st.integers(0, len(CORPUS) - 1), max_size=40), min_size=2, max_size=4))
def test_an_incremental_night_gives_what_a_full_run_gives(tmp_path: Path, sequence: list[set[int]]) -> None:
    base = Path(tempfile.mkdtemp(dir=tmp_path))
    kept = Nights(base)
    for n, chosen in enumerate(sequence):
        rows = [CORPUS[i] for i in sorted(chosen)]
        made = kept.night(rows)
        fresh = Nights(base, f"fresh-{n}")
        assert keepers(made) == keepers(fresh.night(rows))
        assert kept.rejects == fresh.rejects


def test_a_night_computes_only_what_is_new(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    nights.night(CORPUS[:-1])
    compared = []
    real = module.find_duplicates.__globals__["jaccard"]
    monkeypatch.setitem(module.find_duplicates.__globals__, "jaccard", lambda a, b: compared.append(1) or real(a, b))
    nights.night(CORPUS)
    signatures, report = nights.reports
    assert (signatures.rows_in, report.computed, report.reused) == (1, 1, len(CORPUS) - 1)
    assert len(compared) < 10
    compared.clear()
    nights.night(CORPUS)
    assert not compared


def test_a_damaged_state_costs_a_full_run(nights: Nights, tmp_path: Path) -> None:
    first = keepers(nights.night(CORPUS))
    states = next((nights.root / "memo" / "deduplicate").iterdir())
    state = NightStates(states).newest(lambda path, _: path)
    assert state is not None
    (state / "signatures.parquet").write_bytes(b"PAR1")
    assert NightStates(states).newest(lambda path, _: path) is None
    assert keepers(nights.night(CORPUS)) == first


def test_a_huge_bucket_gives_a_few_pairs_per_member() -> None:
    rule = DeduplicateSettings()
    earlier, later = bucket_pairs(np.zeros(20_000, dtype=np.int64), rule)
    assert len(earlier) == len(later) <= rule.bucket**2 / 2 + 20_000 * (rule.neighbours + rule.representatives)
