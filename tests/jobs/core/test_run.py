from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any, ClassVar, Literal

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.indexes.checksums import DamagedError
from quern.indexes.memo import Memo, Places
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.jobs.core.contract import Job, Outcome, Reject, outcome
from quern.jobs.core.run import Run, derive
from quern.jobs.core.work import EngineError, stopped
from quern.jobs.engines import Engines
from quern.schemas.digests import Fingerprints
from quern.schemas.errors import MachineFaultError
from quern.schemas.settings import EngineSettings
from quern.schemas.tables import REJECTS, Table
from tests.conftest import Staged

TEXTS = Table(
    "texts", ("key",), pa.schema([pa.field("key", pa.string(), False), pa.field("text", pa.string(), False)]), False
)
WORDS = Table(
    "words",
    ("word_id",),
    pa.schema([pa.field("word_id", pa.string(), False), pa.field("at", pa.timestamp("us", tz="UTC"))]),
    False,
)


@dataclass(frozen=True)
class Split(Job):
    """Words of texts: enough to show what engines and memo do."""

    mark: str = ""

    name: ClassVar[str] = "split"
    version: ClassVar[int] = 1
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("key", "text")
    key: ClassVar[str] = "key"

    @property
    def makes(self) -> Table:
        return WORDS

    def configuration(self) -> Mapping[str, object]:
        return {"mark": self.mark}

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        rows: list[dict[str, object]] = []
        parents: list[int] = []
        rejects: list[Reject] = []
        for n, row in enumerate(batch.to_pylist()):
            if row["text"] == "raise":
                raise RuntimeError("this row cannot be read")
            if row["text"] == "full":
                raise OSError("no space left on device")
            if row["text"] == "kill":
                raise KeyboardInterrupt
            if not row["text"]:
                rejects.append(Reject(n, "empty", "no words"))
            for m, word in enumerate(row["text"].split()):
                rows.append({"word_id": f"{row['key']}-{m}-{self.mark}{word}", "at": None})
                parents.append(n)
        return outcome(WORDS, rows, parents, rejects)


def texts(count: int) -> list[dict[str, Any]]:
    return [{"key": f"k{n:03}", "text": " ".join(["word"] * (n % 3))} for n in range(count)]


def words_of(numbers: range) -> int:
    """Words of the texts with these numbers, of which the eleventh cannot be read."""
    return sum(n % 3 for n in numbers if n != 11)


def words(stage: Stage) -> list[str]:
    return [w for b in stage.batches() for w in b.column("word_id").to_pylist()]


def another(run: Run, tmp_path: Path) -> Run:
    return replace(run, build_id=run.build_id + "1", stages=tmp_path / "stages-2", reports=[])


def test_rows_come_in_the_order_of_their_inputs_and_rejects_keep_their_keys(run: Run, staged: Staged) -> None:
    made = derive(Split(), staged(TEXTS, texts(70)), run)
    assert words(made) == [f"k{n:03}-{m}-word" for n in range(70) for m in range(n % 3)]
    report = run.reports[-1]
    assert (report.rows_in, report.rows_out, report.computed, report.rejected) == (70, 69, 70, 24)
    run.rejects.close()
    rejects = [r for b in run.rejects.stage().batches() for r in b.to_pylist()]
    assert {(r["job"], r["reason"], r["build_id"]) for r in rejects} == {("split", "empty", run.build_id)}
    assert [r["key"] for r in rejects] == [f"k{n:03}" for n in range(0, 70, 3)]


def test_a_second_run_computes_nothing_and_gives_the_same_table_and_one_of_other_settings_computes_all(
    run: Run, staged: Staged, tmp_path: Path
) -> None:
    source = staged(TEXTS, texts(50))
    first = derive(Split(), source, run)
    again = another(run, tmp_path)
    second = derive(Split(), source, again)
    assert (again.reports[-1].computed, again.reports[-1].reused) == (0, 50)
    assert "reused=all" in again.reports[-1].line()
    assert second.digest == first.digest
    derive(Split(mark="x"), source, replace(again, stages=tmp_path / "stages-3"))
    assert again.reports[-1].computed == 50


class Days(Split):
    """Words, which several texts may make, each with the day that the key of its text names."""

    name: ClassVar[str] = "days"

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        named = [(n, row, word) for n, row in enumerate(batch.to_pylist()) for word in row["text"].split()]
        rows = [{"word_id": word, "at": datetime(2024, 1, int(row["key"]), tzinfo=UTC)} for _, row, word in named]
        return outcome(WORDS, rows, [n for n, _, _ in named])


def test_which_of_equal_rows_stays_does_not_depend_on_the_order_of_inputs(
    run: Run, staged: Staged, tmp_path: Path
) -> None:
    given = [{"key": f"{n:02}", "text": f"w{n % 3} w{n % 4} x{n} x{n}"} for n in range(1, 20)]
    made = [
        derive(Days(), staged(TEXTS, rows), replace(run, stages=tmp_path / name, batch_rows=3))
        for name, rows in {"sorted": given, "backwards": given[::-1]}.items()
    ]
    assert made[0].rows == 4 + 19
    assert made[0].digest == made[1].digest


@pytest.mark.parametrize("file_rows", [1, 7, 19])
def test_a_table_that_workers_write_is_the_same_whatever_was_left_of_another_try(
    file_rows: int, run: Run, staged: Staged, tmp_path: Path
) -> None:
    given = [{"key": f"{n:02}", "text": f"w{n % 3} w{n % 4} x{n} x{n}" if n % 5 else ""} for n in range(1, 20)]
    expected = derive(Days(), staged(TEXTS, given), replace(run, stages=tmp_path / "one"))
    rejected = run.reports[-1].rejected
    apart = replace(run, stages=tmp_path / "several", reports=[], file_rows=file_rows)
    left = apart.stages / "words" / f".tmp-{run.build_id}.parquet" / "_others"
    left.mkdir(parents=True)
    (left / "000000000000-of-another-try.parquet").write_bytes(b"half")
    made = derive(Days(), staged(TEXTS, given), apart)
    assert (made.digest, words(made), apart.reports[-1].rejected) == (expected.digest, words(expected), rejected)
    assert pq.read_table(made.path).num_rows == made.rows, "other readers find each row once"
    assert not list(run.work.rglob("*.keys"))


def test_a_large_table_is_a_folder_of_files_with_checksums(run: Run, staged: Staged) -> None:
    made = derive(Split(), staged(TEXTS, texts(50)), replace(run, file_rows=20))
    assert [rows for _, rows in made.files] == [19, 20, 10]
    assert sorted(path.name for path in made.path.iterdir()) == [
        *(f"00000{n}.parquet" for n in range(3)),
        "_files.json",
    ]
    assert [row for batch in made.slice(17, 24) for row in batch["word_id"].to_pylist()] == words(made)[17:41]
    (made.path / "000002.parquet").write_bytes(b"damaged")
    assert not made.as_written()
    assert len([*made.slice(0, 10)]) == 1, "only files that are wanted are read"
    with pytest.raises(DamagedError):
        list(made.slice(30, 19))


@contextmanager
def results_that_are_lost() -> Iterator[None]:
    """Damages each part of the memo once it is known where its results stand."""
    places = Memo.places

    def then_lost(memo: Memo, prints: Fingerprints) -> Places:
        found = places(memo, prints)
        found.paths[0].write_bytes(b"damaged")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Memo, "places", then_lost)
        yield


def test_a_result_that_is_lost_while_a_table_is_written_ends_the_job(run: Run, staged: Staged) -> None:
    with results_that_are_lost(), pytest.raises(DamagedError):
        derive(Split(), staged(TEXTS, texts(50)), replace(run, file_rows=20))
    assert derive(Split(), staged(TEXTS, texts(50)), replace(run, file_rows=20)).rows == 49


def test_only_new_and_changed_rows_are_computed(run: Run, staged: Staged, tmp_path: Path) -> None:
    rows = texts(40)
    derive(Split(), staged(TEXTS, rows), run)
    rows[7]["text"] = "something else"
    again = another(run, tmp_path)
    derive(Split(), staged(TEXTS, [*rows[5:], {"key": "new", "text": "a"}]), again)
    assert again.reports[-1].computed == 2


def test_a_row_that_raises_becomes_a_reject_and_the_others_come_through(
    run: Run, staged: Staged, tmp_path: Path
) -> None:
    rows = texts(30)
    rows[11]["text"] = "raise"
    made = derive(Split(), staged(TEXTS, rows), run)
    assert len(words(made)) == sum(n % 3 for n in range(30) if n != 11)
    again = another(run, tmp_path)
    derive(Split(), staged(TEXTS, rows), again)
    assert again.reports[-1].computed == 1, "what failed is tried again, and only that"


def test_a_build_that_is_killed_goes_on_where_it_stopped(run: Run, staged: Staged, tmp_path: Path) -> None:
    rows = texts(60)
    rows[40]["text"] = "kill"
    with pytest.raises(KeyboardInterrupt):
        derive(Split(), staged(TEXTS, rows), run)
    assert not (run.stages / "words" / f"{run.build_id}.parquet").exists()
    again = another(run, tmp_path)
    rows[40]["text"] = "alive now"
    derive(Split(), staged(TEXTS, rows), again)
    # Parts of 16 rows: two were committed before row 40.
    assert (again.reports[-1].reused, again.reports[-1].computed) == (32, 28)


def test_a_fault_of_the_machine_ends_the_job_and_no_row_is_blamed(run: Run, staged: Staged) -> None:
    rows = texts(40)
    rows[20]["text"] = "full"
    with pytest.raises(OSError, match="no space left"):
        derive(Split(), staged(TEXTS, rows), run)
    assert len(list(run.memo.rglob("*.arrow"))) == 1, "the part before the fault is kept"


def test_equal_rows_are_computed_once(run: Run, staged: Staged) -> None:
    made = derive(Split(), staged(TEXTS, [{"key": "a", "text": "one two"}] * 5), run)
    assert run.reports[-1].computed == 1
    assert words(made) == ["a-0-one", "a-1-two"]
    assert run.reports[-1].rejected == 8, "the second to fifth copy make keys that were made before"


def test_an_empty_table_makes_an_empty_table(run: Run, staged: Staged) -> None:
    assert derive(Split(), staged(TEXTS, []), run).rows == 0


class Known(Split):
    """The same job over rows that are known by their keys alone, which is what a digest is for."""

    known_by: ClassVar[tuple[str, ...]] = ("key",)


@pytest.fixture
def grouped(tmp_path: Path) -> Callable[[list[dict[str, Any]], int], Stage]:
    def write(rows: list[dict[str, Any]], size: int) -> Stage:
        with StageWriter(tmp_path / f"grouped-{size}-{len(rows)}.parquet", TEXTS) as writer:
            for start in range(0, len(rows), size):
                writer.write(pa.RecordBatch.from_pylist(rows[start : start + size], schema=TEXTS.schema))
        return writer.stage()

    return write


@pytest.mark.parametrize("size", [1, 7, 200])
def test_rows_known_by_a_digest_make_what_others_make_whatever_the_row_groups(
    size: int, run: Run, grouped: Callable[[list[dict[str, Any]], int], Stage], tmp_path: Path
) -> None:
    rows = texts(150)
    expected = derive(Split(), grouped(rows, 150), replace(run, memo=tmp_path / "memo-2", stages=tmp_path / "copied"))
    assert words(derive(Known(), grouped(rows, size), run)) == words(expected)


def test_of_rows_known_by_a_digest_only_the_missing_are_computed(
    run: Run, grouped: Callable[[list[dict[str, Any]], int], Stage], tmp_path: Path
) -> None:
    rows = texts(90)
    derive(Known(), grouped([row for n, row in enumerate(rows) if n % 9], 80), run)
    again = another(run, tmp_path)
    made = derive(Known(), grouped(rows, 4), again)
    assert again.reports[-1].computed == 10
    assert words(made) == [f"k{n:03}-{m}-word" for n in range(90) for m in range(n % 3)]


@pytest.fixture(scope="module")
def ray() -> Iterator[Engines]:
    with pytest.MonkeyPatch.context() as patch, Engines(EngineSettings(engine="ray")) as engines:
        # Workers must be able to import the job, which lives in this file.
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        yield engines


class AsModel(Split):
    """The same job on the engine of models."""

    engine: ClassVar[Literal["cpu", "model"]] = "model"


@pytest.mark.long
@pytest.mark.parametrize(("name", "job"), [("spark", Split()), ("spark", Known()), ("ray", AsModel())])
def test_the_engine_changes_nothing(
    name: str, job: Job, run: Run, staged: Staged, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    engines: Engines = request.getfixturevalue(name)
    rows = texts(150)
    rows[11]["text"] = "raise"
    expected = derive(Split(), staged(TEXTS, rows), run)

    with StageWriter(tmp_path / "rejects-2.parquet", REJECTS) as rejects:
        other = replace(
            run,
            engines=engines,
            memo=tmp_path / "memo-2",
            stages=tmp_path / name,
            reports=[],
            rejects=rejects,
            file_rows=40,
        )
        made = derive(job, staged(TEXTS, rows), other)
    assert [rows for _, rows in made.files] == [words_of(range(at, min(at + 40, 150))) for at in range(0, 150, 40)]
    assert other.reports[-1].engine == name
    assert made.digest == expected.digest
    assert words(made) == words(expected)
    assert other.reports[-1].rejected == run.reports[-1].rejected == 51
    assert all(address.is_loopback for address in listening()), "nobody outside this machine can reach an engine"


@pytest.mark.long
@pytest.mark.parametrize(("name", "job"), [("spark", Split()), ("ray", AsModel())])
def test_what_stopped_an_engine_is_told_without_its_frames(
    name: str, job: Job, run: Run, staged: Staged, request: pytest.FixtureRequest
) -> None:
    engines: Engines = request.getfixturevalue(name)
    rows = texts(150)
    rows[140]["text"] = "full"  # Spark's first files are done by this process, which needs no frames.
    with pytest.raises(EngineError) as raised:
        derive(job, staged(TEXTS, rows), replace(run, engines=engines))
    told = str(raised.value)
    assert "could not finish the job split: OSError: no space left on device; what was computed is kept" in told
    assert told.isprintable()


@pytest.mark.long
@pytest.mark.parametrize(("name", "job"), [("spark", Split()), ("ray", AsModel())])
def test_what_workers_find_damaged_is_told(
    name: str, job: Job, run: Run, staged: Staged, request: pytest.FixtureRequest
) -> None:
    engines: Engines = request.getfixturevalue(name)
    told = pytest.raises(MachineFaultError, match=r"arrow is damaged \(it is too short\): the next build")
    with results_that_are_lost(), told:
        derive(job, staged(TEXTS, texts(50)), replace(run, file_rows=20, engines=engines))


SPARK = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 times, most recent \
failure: Lost task 0.0 in stage 0.0 (TID 0) (localhost executor driver): java.lang.OutOfMemoryError: Java heap space
\tat java.base/java.util.Arrays.copyOf(Arrays.java:3537)

Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2844)"""
PYTHON = 'Traceback:\r\n  File "a.py", line 3, in f\r\n    g()\r\nValueError: a\r\n\r\n\tat a.X(X.scala:1)'


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (SPARK, "java.lang.OutOfMemoryError: Java heap space"),
        (PYTHON, "ValueError: a"),
        ("Task was killed.\nMemory was 15 GB of 16 GB.", "Task was killed. Memory was 15 GB of 16 GB."),
        ("\x1b[36mThe worker\x1b[2K died\r\x07 at\u202e once", "The worker died at once"),
        ("", "RuntimeError"),
        ("\n" * 1_000_000, "RuntimeError"),
    ],
)
def test_what_stopped_an_engine_is_one_printable_line(said: str, told: str) -> None:
    message = str(stopped("Spark", "the job split", RuntimeError(said)))
    assert message.startswith(f"Spark could not finish the job split: {told}; what was computed is kept"), message
    assert message.isprintable()


def listening() -> list[IPv4Address | IPv6Address]:
    """Addresses that this process and its children wait for connections on."""
    here, found = psutil.Process(), []
    for process in (here, *here.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            sockets = process.net_connections("tcp")
            found += [ip_address(s.laddr.ip) for s in sockets if s.status == psutil.CONN_LISTEN]
    return [getattr(address, "ipv4_mapped", None) or address for address in found]
