"""What tests share: the mini-web built once, long builds, the shared datasets, the command line."""

from __future__ import annotations

import gc
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as examples
from typer.main import get_command

from quern.indexes.catalog import Warehouse
from quern.indexes.page_store import PageStore
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, run_whole
from quern.jobs.engines import EngineError, Engines
from quern.jobs.engines.spark import require_java
from quern.jobs.pages.pages import ReadPages
from quern.jobs.tasks.table import GeneratorEngine
from quern.pipelines.build.whole import build
from quern.pipelines.cli.common import LOGGERS
from quern.pipelines.cli.main import app, main
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.settings import EngineSettings, IngestSettings
from quern.schemas.settings.reading import load_settings
from quern.schemas.tables import REJECTS, Table
from tests import workers
from tests.beside import BUILDS, CORPUS, MINI_WEB, ROOT, SHARED, end, start
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Serve
from tests.tables import stage_of

Staged = Callable[[Table, list[dict[str, Any]]], Stage]  # Stages rows as a table: the fixture `staged`.

# How long an example takes is the machine's business: the first imports libraries, and others build beside it.
examples.register_profile("quern", deadline=None)
examples.load_profile("quern")

# `make check` leaves out what builds, starts an engine or a process, or takes seconds: tests that need these fixtures,
_SLOW_FIXTURES = frozenset({"mini_web", "searcher", "long_build", "quern", "shared", "spark"})
# and these, by the beginning of their names.
_SLOW_TESTS = (
    "tests/fuzz/",
    "tests/indexes/test_leases.py",
    "tests/indexes/test_object_stores.py",
    "tests/indexes/test_locks.py",
    "tests/kills/",
    "tests/notebooks/",
    "tests/jobs/audit/test_validation.py",
    "tests/jobs/core/test_run.py::test_the_engine",
    "tests/jobs/crawl/test_wild_site.py",
    "tests/jobs/documents/test_clean.py",
    "tests/jobs/documents/test_deduplicate.py",
    "tests/jobs/engines/",
    "tests/jobs/graph/neighbours/test_change.py::test_partitioned",
    "tests/pipelines/answers/test_concluding.py::test_whatever",
    "tests/pipelines/answers/views/test_report.py::test_answers_are_taken",
    "tests/pipelines/cli/test_start.py",
    "tests/jobs/vectors/test_embed.py",
    "tests/pipelines/retrieve/recipes/",
    "tests/pipelines/images/",
    "tests/pipelines/inspect/test_build_plan.py",
    "tests/pipelines/test_",
    "tests/pipelines/cli/test_paths.py::test_folders",
    "tests/pipelines/timelines/",
    "tests/test_api.py::test_the_example",
    "tests/test_core_alone.py",
)

Quern = Callable[..., subprocess.CompletedProcess[str]]


def start_quern(*arguments: object, cwd: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    """Start the command line in a process of its own, as a user does."""
    return start(os.environ, *arguments, cwd=cwd, **environment)


def run_quern(*arguments: object, timeout: float = 600, cwd: Path = ROOT, **environment: str) -> Any:
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
    is raised. A message that names an option which the command lacks fails the test.
    """

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = ["quern", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", words)
        capfd.readouterr()
        code = 0
        with _as_a_process():
            try:
                main()
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        output, errors = capfd.readouterr()
        assert _unknown_options(words[1:], errors) == []
        return subprocess.CompletedProcess(words, code, output, errors)

    return call


def _unknown_options(arguments: Sequence[str], errors: str) -> list[str]:
    """The options that hints of `quern ARGUMENTS` name and that the command lacks, as `COMMAND OPTION`.

    In backticks a command of Quern is read as one; an option elsewhere is one of the command that was run.
    """
    unknown = []
    for line in (line for line in errors.splitlines() if line.startswith("quern: ")):
        codes = re.findall(r"`([^`]*)`", line)
        own = " ".join([re.sub(r"`[^`]*`", " ", line), *(code for code in codes if code.startswith("-"))])
        commands = [code.split() for code in codes if code.startswith("quern ")]
        for words, text in [(arguments, own), *((words[1:], " ".join(words)) for words in commands)]:
            command: Any = get_command(app)
            name = "quern"
            for word in words:
                if (inner := getattr(command, "commands", {}).get(word)) is None:
                    break
                command, name = inner, f"{name} {word}"
            options = {option for p in command.params for option in (*p.opts, *p.secondary_opts)}
            unknown += [f"{name} {o}" for o in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text) if o not in options]
    return unknown


@contextmanager
def _as_a_process() -> Iterator[None]:
    """Puts back, at the end, the signals and loggers that the command line sets, and lets go of what was made within.

    So a process that ends lets go of its snapshot. What was there before is passed over: to go through the million
    objects of all tests takes half a second.
    """
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()
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
def mini_web(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the mini-web, built as by default; `printed.txt` beside it is what the build printed.

    Tests must not write to it. Each process of tests has a copy, as questions leave answers in the memo.
    """
    built = workers.builds(request.config).warehouse(MINI_WEB)
    copy = shutil.copytree(built.parent, tmp_path_factory.mktemp("mini-web") / "build", symlinks=True)
    return Path(copy) / "warehouse"


@pytest.fixture(scope="session")
def one_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one site of the mini-web, enough for a build of seconds; tests must not write to it."""
    name = "brannock-review.example"
    folder = tmp_path_factory.mktemp("one-site")
    shutil.copytree(CORPUS / "pages" / name, folder / name)
    return folder


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(workers)


def pytest_itemcollected(item: pytest.Item) -> None:
    """What needs more than this process is `slow`."""
    if item.nodeid.startswith(_SLOW_TESTS) or _SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.slow)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test of what runs on torch is skipped where that is not installed."""
    if item.get_closest_marker("torch"):
        pytest.importorskip("torch", reason="needs torch: make test-torch")


@pytest.fixture
def long_build(request: pytest.FixtureRequest) -> Path:
    """The warehouse of the build that the test names, built beside the tests before; it must not be written to."""
    if SHARED in BUILDS[request.param].source.parents:
        request.getfixturevalue("shared")
    return workers.builds(request.config).warehouse(request.param)


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
        spark = self._engines.spark()
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


@pytest.fixture(scope="session")
def java() -> None:
    try:
        require_java()
    except EngineError as error:
        pytest.skip(str(error))


@pytest.fixture
def spark(java: None, _shared_spark: SharedSpark) -> Engines:
    return _shared_spark.engines()


@pytest.fixture
def no_spark(java: None, _shared_spark: SharedSpark) -> None:
    _shared_spark.close()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts endpoints of scripted models, which end with the test."""
    with ExitStack() as running:
        yield lambda script: running.enter_context(Endpoint(script).running())


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
def staged(tmp_path: Path) -> Staged:
    """Stages rows, filled, as a table of their own."""
    count = iter(range(1000))

    def stage(table: Table, rows: list[dict[str, Any]]) -> Stage:
        return stage_of(tmp_path / f"staged-{next(count)}.parquet", table, rows)

    return stage


def read_pages(source: Path | PageStore, settings: IngestSettings, run: Run) -> Stage:
    """The table `pages` of what `source` holds."""
    (pages,) = run_whole(ReadPages(settings), {}, replace(run, source=source)).stages
    return pages


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
