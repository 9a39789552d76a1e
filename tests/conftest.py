"""What tests share: the mini-web built once by the real engines, the shared datasets, the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from indexes.catalog import Warehouse
from indexes.stages import Stage, StageWriter
from jobs.engines import Engines
from jobs.runner import Run
from pipelines.recipes import Searcher
from schemas.groups import EngineSettings
from schemas.tables import REJECTS, Table

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
SHARED = ROOT.parent / "shared" / "datasets"

Quern = Callable[..., subprocess.CompletedProcess[str]]


def run_quern(*arguments: object, timeout: float = 600, cwd: Path = ROOT, **environment: str) -> Any:
    """Run the command line in a process of its own, as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


@pytest.fixture(scope="session")
def quern() -> Quern:
    return run_quern


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip(f"the benchmark datasets are not at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def mini_web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the mini-web, built by Spark and Ray; tests must not write to it."""
    warehouse = tmp_path_factory.mktemp("mini-web") / "warehouse"
    built = run_quern("build", CORPUS / "pages", "--warehouse", warehouse)
    assert built.returncode == 0, built.stderr
    return warehouse


@pytest.fixture(scope="session")
def searcher(mini_web: Path) -> Searcher:
    snapshot = Warehouse.open(mini_web).snapshot()
    return Searcher(snapshot, snapshot.manifest.known_settings())


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """A run of a build whose missing rows are done in this process."""
    with (
        Engines(EngineSettings(engine="local")) as engines,
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


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
