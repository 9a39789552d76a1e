"""What tests share: the mini-web built once by the real engines, long builds, the shared datasets, the command line."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings as examples

from quern.indexes.catalog import Warehouse
from quern.indexes.page_store import PageStore
from quern.indexes.stages import Stage, StageWriter
from quern.jobs.core.run import Run
from quern.jobs.core.table_job import run_whole
from quern.jobs.engines import Engines
from quern.jobs.pages.pages import ReadPages
from quern.jobs.reasoning.table import GeneratorEngine
from quern.pipelines.build import build
from quern.pipelines.cli.common import LOGGERS
from quern.pipelines.cli.main import main
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import EngineSettings, IngestSettings, load_settings
from quern.schemas.tables import REJECTS, Table
from tests.beside import LongBuilds, end

# How long an example takes is the machine's business: the first imports libraries, and others build beside it.
examples.register_profile("quern", deadline=None)
examples.load_profile("quern")

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
SHARED = ROOT.parent / "shared" / "datasets"

# Builds that run beside the tests, in this order, by the name that a test gives to the fixture `long_build`.
# A page may wait for a core for long there, so that its time limit, which counts waiting, is set high.
_PATIENT = ("--set", "clean.seconds_per_page=300")
LONG_BUILDS: dict[str, tuple[Path, *tuple[str, ...]]] = {
    "mini-web in one process": (CORPUS / "pages", "--engine", "local", *_PATIENT),
    # The name is a path that Spark would take for a pattern.
    "all by Spark [1] 库 %20": (CORPUS / "pages" / "brannock-review.example", "--engine", "spark", *_PATIENT),
    "lihua_world": (SHARED / "lihua_world" / "documents.jsonl", "--engine", "local"),
    "musique_train100": (SHARED / "musique_train100" / "documents.jsonl", "--engine", "local"),
    # What is lost is lost before there are queries: few of them are enough.
    "real pages": (
        SHARED / "article_extraction_benchmark" / "html",
        *("--engine", "local", "--set", "doc2query.pairs=2", *_PATIENT),
    ),
}

# `make check` leaves out what builds, starts an engine or a process, or takes seconds: tests that need these fixtures,
_SLOW_FIXTURES = frozenset({"mini_web", "searcher", "long_build", "quern", "shared", "spark"})
# and these, by the beginning of their names.
_SLOW_TESTS = (
    "tests/benchmarks/",
    "tests/fuzz/",
    "tests/notebooks/",
    "tests/with_lm/",
    "tests/jobs/audit/test_validation.py",
    "tests/jobs/core/test_run.py::test_the_engine",
    "tests/jobs/crawl/test_wild_site.py",
    "tests/jobs/documents/test_boilerplate.py::test_spark",
    "tests/jobs/documents/test_clean.py",
    "tests/jobs/documents/test_deduplicate.py",
    "tests/jobs/engines/",
    "tests/jobs/graph/neighbours/test_change.py::test_partitioned",
    "tests/jobs/graph/test_link.py::test_partitions",
    "tests/jobs/reasoning/generators/test_constrained.py",
    "tests/jobs/reasoning/generators/test_local.py",
    "tests/pipelines/answers/views/test_report.py::test_answers_are_taken",
    "tests/jobs/vectors/test_embed.py",
    "tests/pipelines/evaluation/sweep/test_sweep_run.py",
    "tests/pipelines/retrieve/recipes/",
    "tests/pipelines/test_",
    "tests/pipelines/timelines/",
    "tests/test_api.py::test_the_example",
)

Quern = Callable[..., subprocess.CompletedProcess[str]]


# Long builds start at any time, also while a test has changed the environment for itself.
_ENVIRONMENT = dict(os.environ)


def start_quern(*arguments: object, cwd: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    """Start the command line in a process of its own, as a user does."""
    return _start_quern(os.environ, *arguments, cwd=cwd, **environment)


def _start_quern(
    inherited: Mapping[str, str], *arguments: object, cwd: Path = ROOT, **environment: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "quern.pipelines.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**inherited, **environment},
    )


def run_quern(*arguments: object, timeout: float = 600, cwd: Path = ROOT, **environment: str) -> Any:
    """Run the command line in a process of its own, as a user does."""
    with start_quern(*arguments, cwd=cwd, **environment) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except BaseException:
            end(process)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def build_here(source: Path, warehouse: Path, *overrides: str) -> Path:
    """Build `source` in this process, without the time that a process takes to start; returns the warehouse."""
    build(source, Warehouse.create(warehouse), load_settings(None, ["engine.engine=local", *overrides]))
    return warehouse


@contextmanager
def _disposed(action: signal.Handlers) -> Iterator[None]:
    before = {number: signal.signal(number, action) for number in (signal.SIGINT, signal.SIGHUP)}
    yield
    for number, was in before.items():
        signal.signal(number, was)


@pytest.fixture
def in_background() -> Iterator[None]:
    """What a shell's `&`, `nohup` and cron hand down: SIGINT and SIGHUP are ignored."""
    with _disposed(signal.SIG_IGN):
        yield


@pytest.fixture
def in_foreground() -> Iterator[None]:
    """What a terminal hands down, whatever the tests were started by."""
    with _disposed(signal.SIG_DFL):
        yield


@pytest.fixture(scope="session")
def quern() -> Quern:
    return run_quern


@pytest.fixture
def quern_here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Quern:
    """The command line in this process: for what starts no engine, without the time that a process takes to start.

    Output is that of the file descriptors, as of a process; an error that `quern` would end with a traceback
    is raised.
    """

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = ["quern", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", words)
        capfd.readouterr()
        code = 0
        with _as_it_was():
            try:
                main()
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        return subprocess.CompletedProcess(words, code, *capfd.readouterr())

    return call


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Puts back the signals and loggers that the command line sets."""
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    try:
        yield
    finally:
        for number, action in signals.items():
            signal.signal(number, action)
        for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
            logger.handlers[:] = handlers
            logger.setLevel(level)
            logger.propagate = propagate


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip(f"the benchmark datasets are not at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def mini_web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the mini-web, built by Spark and Ray; `printed.txt` beside it is what the build printed.

    Tests must not write to it.
    """
    folder = tmp_path_factory.mktemp("mini-web")
    # By a relative path, as users name it; workers run elsewhere.
    built = run_quern("build", os.path.relpath(CORPUS / "pages", folder), "--warehouse", "warehouse", cwd=folder)
    assert built.returncode == 0, built.stderr
    (folder / "printed.txt").write_text(built.stderr + built.stdout, "utf-8")
    return folder / "warehouse"


@pytest.fixture(scope="session")
def one_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one site of the mini-web, enough for a build of seconds; tests must not write to it."""
    name = "brannock-review.example"
    folder = tmp_path_factory.mktemp("one-site")
    shutil.copytree(CORPUS / "pages" / name, folder / name)
    return folder


def pytest_itemcollected(item: pytest.Item) -> None:
    """What needs more than this process is `slow`."""
    if item.nodeid.startswith(_SLOW_TESTS) or _SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits for long builds goes last, in the order in which they are built."""
    order = [None, *LONG_BUILDS]
    items.sort(key=lambda item: order.index(_long_build_of(item)))


def _long_build_of(item: pytest.Item) -> str | None:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("long_build")


@pytest.fixture(scope="session", autouse=True)
def _long_builds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongBuilds]:
    """The builds that the selected tests wait for; they begin with the first test."""
    asked = {_long_build_of(item) for item in request.session.items}
    wanted = {name: a for name, a in LONG_BUILDS.items() if name in asked and a[0].exists()}
    builds = LongBuilds(partial(_start_quern, _ENVIRONMENT), tmp_path_factory.mktemp("long-builds"), wanted)
    yield builds
    builds.stop()


@pytest.fixture
def long_build(request: pytest.FixtureRequest, _long_builds: LongBuilds) -> Path:
    """The warehouse of the long build that the test names, built beside the tests before; it must not be written to."""
    if SHARED in LONG_BUILDS[request.param][0].parents:
        request.getfixturevalue("shared")
    return _long_builds.warehouse(request.param)


@pytest.fixture(scope="session")
def searcher(mini_web: Path) -> Searcher:
    snapshot = Warehouse.open(mini_web).snapshot()
    return Searcher(snapshot, snapshot.manifest.known_settings())


class SharedSpark:
    """A Spark that starts for the first test that needs one and serves those after it: Java takes seconds to start."""

    def __init__(self) -> None:
        self._engines = Engines(EngineSettings(engine="spark", cores=2))

    def engines(self) -> Engines:
        """Engines that do all by Spark, with Spark started."""
        spark = self._engines.spark(0, 0)
        assert spark is not None
        with pytest.MonkeyPatch.context() as patch:
            # Workers must be able to import the job that a test there declares.
            patch.setenv("PYTHONPATH", str(ROOT / "tests" / "jobs" / "core"), prepend=os.pathsep)
            spark.start()
        return self._engines

    def close(self) -> None:
        """Stop it, before a test that starts and stops a Spark of its own: a process can have only one."""
        self._engines.close()


@pytest.fixture(scope="session")
def _shared_spark() -> Iterator[SharedSpark]:
    shared = SharedSpark()
    yield shared
    shared.close()


@pytest.fixture
def spark(_shared_spark: SharedSpark) -> Engines:
    return _shared_spark.engines()


@pytest.fixture
def no_spark(_shared_spark: SharedSpark) -> None:
    _shared_spark.close()


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """A run of a build whose missing rows are done in this process."""
    with (
        Engines(EngineSettings(engine="local"), GeneratorEngine) as engines,
        StageWriter(tmp_path / "rejects.parquet", REJECTS) as rejects,
    ):
        work = tmp_path / "work"
        work.mkdir()
        yield Run("20240101T000000000", tmp_path / "memo", work, tmp_path / "stages", engines, rejects, 256, 16, 2)


@pytest.fixture
def staged(tmp_path: Path) -> Callable[[Table, list[dict[str, Any]]], Stage]:
    """Stages rows as a table of their own."""
    count = iter(range(1000))

    def stage(table: Table, rows: list[dict[str, Any]]) -> Stage:
        with StageWriter(tmp_path / f"staged-{next(count)}.parquet", table) as writer:
            writer.write(pa.RecordBatch.from_pylist(rows, schema=table.schema))
        return writer.stage()

    return stage


def read_pages(source: Path | PageStore, settings: IngestSettings, run: Run) -> Stage:
    """The table `pages` of what `source` holds."""
    (pages,) = run_whole(ReadPages(settings), {}, replace(run, source=source)).stages
    return pages


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
