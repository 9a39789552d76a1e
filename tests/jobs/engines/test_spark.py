"""Starting and stopping Spark."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import psutil
import pyarrow as pa
import pytest

from quern.jobs.core.contract import Job
from quern.jobs.core.work import Work
from quern.jobs.engines import EngineError, Engines, SparkEngine
from quern.pipelines.cli.main import sentence
from quern.schemas.settings import EngineSettings

pytestmark = pytest.mark.usefixtures("no_spark")


def javas() -> list[int]:
    return [
        child.pid
        for child in psutil.Process().children()
        if child.name() == "java" and child.status() != psutil.STATUS_ZOMBIE
    ]


class _Asking(Exception):  # noqa: N818 - as py4j's, which asks Java what it has to say
    java = True

    def __str__(self) -> str:
        if not self.java:
            raise ConnectionRefusedError("Connection refused")
        return f"Job aborted: {'at java.base ' * 100} java.io.IOException: No space left on device"


def test_a_disk_that_is_full_is_told_also_once_java_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise _Asking

    engine = SparkEngine(EngineSettings(engine="spark"))
    monkeypatch.setattr(SparkEngine, "begin", lambda _: None)
    monkeypatch.setattr(SparkEngine, "session", lambda _: SimpleNamespace(range=fail))
    work = Work(cast(Job, SimpleNamespace(name="clean")), [Path("a.parquet")], pa.schema([]), Path("memo"), 1)
    with pytest.raises(EngineError) as raised:
        engine.run(work)
    monkeypatch.setattr(_Asking, "java", False)
    assert "no space is left" in str(sentence(raised.value, []))


@pytest.mark.long
def test_an_engine_that_is_closed_leaves_no_java_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = SparkEngine(EngineSettings())
    engine.begin()
    engine.close()  # while it starts
    assert (javas(), list(tmp_path.iterdir())) == ([], [])
    try:
        assert engine.session().range(3).repartition(2).count() == 3
        assert [folder.name[:12] for folder in tmp_path.iterdir()] == ["quern-spark-"]
    finally:
        engine.close()
    assert (javas(), list(tmp_path.iterdir())) == ([], [])


@pytest.mark.long
def test_a_java_that_is_killed_is_told_whatever_was_raised(capfd: pytest.CaptureFixture[str]) -> None:
    def use_killed() -> None:
        with Engines(EngineSettings(engine="spark", cores=2)) as engines:
            session = engines.spark().session()  # type: ignore[union-attr]
            psutil.Process(javas()[0]).kill()
            session.range(3).repartition(2).count()

    with pytest.raises(EngineError, match="Spark stopped: its Java process ended; what was finished is kept"):
        use_killed()
    assert "Traceback" not in capfd.readouterr().err
