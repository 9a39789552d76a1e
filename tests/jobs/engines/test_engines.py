"""Which engine does a job."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from quern.jobs.core.contract import Job
from quern.jobs.engines import EngineError, Engines
from quern.schemas.settings import EngineSettings

RATES = {"clean": 0.1, "embed": 0.02}


def chosen(name: str, kind: str, missing: int, **settings: Any) -> str:
    job = cast("Job", SimpleNamespace(name=name, engine=kind, by_model=False, gpus=0))
    return Engines(EngineSettings(**settings), rates=RATES).choose(job, missing).name


def test_this_machine_does_all_by_default() -> None:
    assert chosen("clean", "cpu", 10_000_000) == "local"
    assert chosen("embed", "model", 10_000_000) == "local"


def test_auto_starts_an_engine_where_the_builds_before_say_that_it_pays() -> None:
    assert chosen("clean", "cpu", 700, engine="auto") == "local"
    assert chosen("clean", "cpu", 900, engine="auto") == "spark"
    assert chosen("embed", "model", 7_000, engine="auto") == "local"
    assert chosen("embed", "model", 9_000, engine="auto") == "ray"
    assert chosen("unknown", "cpu", 10_000_000, engine="auto") == "local"


def test_an_address_selects_its_engine_for_its_jobs() -> None:
    addresses = {"spark_master": "spark://host:7077", "ray_address": "host:6379"}
    for engine in ("local", "auto"):
        assert chosen("clean", "cpu", 1, engine=engine, **addresses) == "spark"
        assert chosen("embed", "model", 1, engine=engine, **addresses) == "ray"
    assert chosen("embed", "model", 1, spark_master="spark://host:7077") == "local"


def test_without_java_spark_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    for home, where in ((None, "in PATH"), ("/opt/none", "in JAVA_HOME=/opt/none")):
        monkeypatch.setenv("JAVA_HOME", home) if home else monkeypatch.delenv("JAVA_HOME", raising=False)
        with pytest.raises(EngineError, match=f"no java was found {where}: .*openjdk-17.*--engine local"):
            Engines(EngineSettings(engine="spark"))
