"""Steps that would make what they made last night are left alone, and run where what they made is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from quern.indexes.catalog import Warehouse
from quern.indexes.memo import is_damaged
from quern.pipelines.build.in_progress import StagedBuild, StageError
from quern.pipelines.build.records import Begun
from quern.pipelines.build.steps import STEPS
from quern.pipelines.build.whole import make_tables
from quern.pipelines.inspect.verify import kept_files, verify
from quern.pipelines.vacuum import vacuum
from quern.schemas.settings import MemoSettings
from quern.schemas.settings.reading import load_settings
from tests.nights.builds import build_unaudited
from tests.nights.corpus import Corpus


class Nights:
    """Builds of the same pages in one warehouse."""

    def __init__(self, folder: Path) -> None:
        self.pages = Corpus.begin(3, pages=3, documents=1).write(folder / "pages")
        self.warehouse = Warehouse.create(folder / "warehouse")

    def built(self, *changes: str) -> dict[str, str]:
        """The digests of a build's tables."""
        settings = load_settings(None, ["engine.engine=local", "doc2query.pairs=3", *changes])
        return {name: stage.digest for name, stage in build_unaudited(self.pages, self.warehouse, settings).items()}

    @property
    def run(self) -> set[str]:
        """Steps that the last build ran: those that took time."""
        return {step.name for step in self.warehouse.manifest().steps if step.seconds}

    def remembered(self, name: str) -> list[Path]:
        """What the memo holds of a step with the settings of the last build."""
        (folder,) = next(step.memo for step in self.warehouse.manifest().steps if step.name == name)
        return list((self.warehouse.memo / folder).glob("*.arrow"))


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Nights:
    found = Nights(tmp_path_factory.mktemp("nights"))
    found.built()
    return found


def test_of_the_same_pages_nothing_is_made_again_and_all_is_reported(nights: Nights) -> None:
    before = nights.warehouse.manifest()
    digests = nights.built()
    after = nights.warehouse.manifest()
    assert digests == {name: table.digest for name, table in before.tables.items()}
    assert nights.run <= {STEPS[0].name}
    assert "memo" not in vacuum(nights.warehouse, 1, MemoSettings(keep_nights=1)).freed, "all of it was used"
    assert [step.name for step in after.steps] == [step.name for step in STEPS]
    assert {step.name: step.makes for step in after.steps} == {step.name: step.makes for step in before.steps}
    counts = ("job", "rows_in", "rows_out", "rejected")
    reported = [[{key: job[key] for key in counts} for job in of.jobs] for of in (before, after)]
    assert [job for job in reported[0] if job["job"] != "signatures"] == reported[1]
    assert (after.rejects, not any(job["computed"] for job in after.jobs[1:])) == (before.rejects, True)


def test_a_setting_runs_its_step_and_what_that_reads_alone(nights: Nights) -> None:
    first = nights.built()
    nights.built("sources.topics=1")
    assert nights.run - {STEPS[0].name} == {"sources"}
    nights.built("filter.alpha=0.5")
    # Pairs and their vectors went when the last build was done; nothing that reads `nodes` stays as it is.
    assert nights.run >= {"embed_pairs", "filter", "link"}
    assert nights.run.isdisjoint({"find_events", "triplets", "merge_events", "images"})
    assert nights.built() == first


def test_a_setting_that_is_changed_back_finds_its_results_in_the_memo(nights: Nights) -> None:
    first = nights.built()
    assert nights.built("doc2query.pairs=2", "chunk.tokens=60") != first
    assert nights.built() == first
    remembered = {"clean", "normalise", "chunk", "doc2query", "find_events", "triplets", "embed"}
    jobs = [job for job in nights.warehouse.manifest().jobs if job["job"] in remembered]
    assert {job["job"] for job in jobs} == remembered
    assert [job["job"] for job in jobs if job["computed"]] == []


@pytest.mark.parametrize("table", ["documents", "edges", "triplets"])
def test_a_damaged_table_is_made_again(nights: Nights, table: str) -> None:
    first = nights.built()
    path = nights.warehouse.snapshot(leased=False).stage(table).path
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)
    assert nights.built() == first
    assert next(step.name for step in STEPS if table in step.makes) in nights.run
    assert nights.warehouse.snapshot(leased=False).stage(table).as_written()


@pytest.mark.parametrize(
    "step", ["chunk", *(pytest.param(step, marks=pytest.mark.long) for step in ("embed_chunks", "deduplicate"))]
)
def test_a_damaged_memo_is_mended(nights: Nights, step: str) -> None:
    first = nights.built()
    path = min(nights.remembered(step))
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    assert nights.built() == first
    assert step in nights.run
    assert not is_damaged(path.parent)
    nights.built()
    assert step not in nights.run


@pytest.mark.parametrize("step", ["link", pytest.param("deduplicate", marks=pytest.mark.long)])
def test_a_damaged_state_goes_though_nothing_reads_it(nights: Nights, step: str) -> None:
    nights.built()
    (about,) = (nights.warehouse.memo / step).glob("*/*/about.json")
    about.write_bytes(about.read_bytes()[:-1])
    nights.built()
    assert step not in nights.run
    assert verify(kept_files(nights.warehouse)).bad == []


def test_damaged_marks_of_a_step_that_is_left_alone_begin_anew(nights: Nights) -> None:
    nights.built()
    marks = list((nights.warehouse.memo / "chunk").rglob("*.marks"))
    for path in marks:
        path.write_bytes(path.read_bytes()[:-1])
    nights.built()
    assert "chunk" not in nights.run
    assert verify(kept_files(nights.warehouse)).bad == []
    vacuum(nights.warehouse, 1, MemoSettings(keep_nights=1))
    assert nights.remembered("chunk"), "all of it was used"


def test_a_table_that_is_damaged_once_it_was_taken_over_is_not_left_out_of_what_is_published(nights: Nights) -> None:
    first = nights.built()
    warehouse, parent = nights.warehouse, nights.warehouse.manifest()
    begun = Begun(
        build_id=warehouse.next_build_id(), source=nights.pages, parent=parent.build_id, settings=parent.settings
    )
    staged = StagedBuild.begin(warehouse.clear_work(begun.build_id), warehouse, begun)
    with staged.run() as run:
        make_tables(staged, run)
    path = warehouse.snapshot(leased=False).stage("images").path
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StageError, match=r"what images made for build .* is gone or damaged: begin another build"):
        staged.audit()
    assert nights.built() == first
