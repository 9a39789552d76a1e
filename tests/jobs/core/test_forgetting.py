"""What the memo forgets: nothing that one of the kept nights used, and in time all else."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quern.indexes.memo_uses import night_of, read_uses, use_again, uses_file
from quern.indexes.memo_vacuum import MOSTLY_UNUSED, PARTLY_UNUSED, MemoFolder
from quern.indexes.stages import Stage
from quern.indexes.storage import Space
from quern.jobs.core.run import Run, derive
from tests.conftest import Staged
from tests.jobs.core.test_run import TEXTS, Split, words


def rows(keys: range | list[int]) -> list[dict[str, Any]]:
    return [{"key": f"k{n}", "text": f"text {n}"} for n in keys]


class Nights:
    """Builds of one table, one after the other, over one memo."""

    def __init__(self, run: Run, staged: Staged) -> None:
        self.run, self.staged = run, staged
        self.names = (f"3{n:03}" for n in count())  # Later than all that a clock says: marks decide.
        self.built: list[tuple[str, list[int], str]] = []

    def build(self, keys: list[int], mark: str = "") -> Stage:
        name = next(self.names)
        self.built.append((name, keys, mark))
        return self._derive(name, keys, mark)

    def _derive(self, name: str, keys: list[int], mark: str) -> Stage:
        run = self.run
        run.build_id, run.stages = name, run.work.parent / name
        return derive(Split(mark=mark), self.staged(TEXTS, rows(keys)), run)

    def forget(self, keep: int, share: float, *, dry_run: bool = False) -> Space:
        cutoff = night_of(self.built[-keep:][0][0])
        return sum((folder.forget(cutoff, share, dry_run=dry_run) for folder in self.folders), Space())

    @property
    def folders(self) -> list[MemoFolder]:
        return [MemoFolder(path) for path in sorted(self.run.memo.glob("split/*"))]

    def computed_again(self, night: int) -> int:
        """Rows that a rebuild of an earlier night's pages would compute; the memo stays as it is."""
        kept = self.run.memo.rename(self.run.memo.with_name("kept"))
        shutil.copytree(kept, self.run.memo)
        _, keys, mark = self.built[night]
        self._derive("4000", keys, mark)
        shutil.rmtree(self.run.memo)
        kept.rename(self.run.memo)
        return self.run.reports[-1].computed


@pytest.fixture
def nights(run: Run, staged: Staged) -> Nights:
    return Nights(replace(run, task_rows=8), staged)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), keep=st.integers(1, 3), share=st.sampled_from([0.0, PARTLY_UNUSED, MOSTLY_UNUSED]))
def test_a_rebuild_reuses_all_that_the_kept_nights_used_whatever_came_and_went(
    nights: Nights, seed: int, keep: int, share: float
) -> None:
    shutil.rmtree(nights.run.memo, ignore_errors=True)
    chance, nights.built = random.Random(seed), []
    for _ in range(6):
        nights.build(sorted(chance.sample(range(40), chance.randrange(1, 40))), chance.choice(["", "", "other"]))
        told = nights.forget(keep, share, dry_run=True)
        assert told.files == nights.forget(keep, share).files
        assert nights.forget(keep, share) == Space(), "nothing is left to forget"
    assert [nights.computed_again(night) for night in range(-keep, 0)] == [0] * keep


def test_what_no_kept_night_used_goes_and_the_memo_shrinks(nights: Nights) -> None:
    nights.build([*range(80)])
    before = nights.folders[0]
    for _ in range(3):
        made = nights.build([*range(20)])
    assert nights.forget(4, PARTLY_UNUSED) == Space()
    freed = nights.forget(3, PARTLY_UNUSED)
    after = nights.folders[0]
    assert (before.rows, after.rows) == (80, 20)
    assert freed.bytes == sum(part.size for part in before.parts) - sum(part.size for part in after.parts) > 0
    assert len(read_uses(after.folder).heads) == 20
    assert nights.computed_again(-1) == 0
    assert nights.build([*range(20)]).digest == made.digest
    assert words(nights.build([*range(80)])) == [
        f"k{n}-{m}-{w}" for n in range(80) for m, w in enumerate(["text", f"{n}"])
    ]


def test_settings_that_no_kept_night_had_take_no_space(nights: Nights) -> None:
    nights.build([*range(30)], "tried")
    for _ in range(2):
        nights.build([*range(30)])
    nights.forget(2, MOSTLY_UNUSED)
    assert sorted(folder.rows for folder in nights.folders) == [0, 30]


def test_without_marks_what_was_committed_of_late_stays_and_marks_begin_anew(nights: Nights) -> None:
    nights.names = (f"2{n:03}" for n in count())  # Before what is committed now.
    nights.build([*range(30)])
    nights.build([*range(10)])
    folder = nights.folders[0].folder
    content = uses_file(folder).read_bytes()
    uses_file(folder).write_bytes(content[:-3])
    assert nights.forget(1, PARTLY_UNUSED) == Space()
    nights.folders[0].mend_marks()
    assert not uses_file(folder).exists(), "also where no build comes to write them"
    use_again(folder, 0, 7)
    assert read_uses(folder).nights.tolist() == [7] * 30, "what a step that is left alone used is not known any more"
    nights.build([*range(10)])
    assert sorted(read_uses(folder).nights.tolist())[:20] == [7] * 20
