"""Real clusters on this machine: each way to set one up wrongly is one sentence."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from quern.jobs.core.work import EngineError
from quern.jobs.engines import RayEngine, SparkEngine
from quern.jobs.engines.nodes import lost_after, see_that_it_listens
from quern.pipelines.cli.main import sentence
from quern.schemas.settings import EngineSettings
from tests.clusters import ray_of_two_nodes, spark_standalone

_JAVA = 20  # Seconds that Java takes to start on two busy cores.

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may give a node a network and mounts of its own")


@pytest.mark.parametrize(
    ("engine", "address", "told"),
    [
        ("Spark", "spark://127.0.0.1:9", "nothing answers at spark://127.0.0.1:9 (127.0.0.1:9: Connection refused)"),
        ("Spark", "spark://no-such-host.invalid:7077", "nothing answers at spark://no-such-host.invalid:7077"),
        ("Spark", "127.0.0.1", "127.0.0.1 has no host and port"),
        ("Spark", "spark://127.0.0.1:9,127.0.0.1:10", "127.0.0.1:10: Connection refused"),
        ("Spark", "k8s://https://127.0.0.1:9", "nothing answers at k8s://https://127.0.0.1:9"),
        ("Ray", "127.0.0.1:9", "nothing answers at 127.0.0.1:9"),
        ("Ray", "127.0.0.1:port", "has no host and port"),
    ],
)
def test_an_address_where_nothing_answers_is_told_at_once(engine: str, address: str, told: str) -> None:
    with pytest.raises(EngineError) as raised:
        see_that_it_listens(engine, address)
    assert told in str(raised.value)
    assert "--engine local" in str(raised.value)


@contextmanager
def _silent() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []
        threading.Thread(target=lambda: held.extend(iter(server.accept, None)), daemon=True).start()
        yield "{}:{}".format(*server.getsockname())


def test_a_cluster_is_lost_once_nothing_has_answered_for_some_time() -> None:
    with _silent() as address:
        look = lost_after("Ray", address, 0.1, every=0.0)
        time.sleep(0.2)
        look()
    look = lost_after("Ray", "127.0.0.1:9", 0.1, every=0.0)
    time.sleep(0.2)
    look()  # It was not asked meanwhile: it may have been silent for a moment alone.
    time.sleep(0.2)
    with pytest.raises(EngineError, match=r"Ray was lost: nothing has answered at 127.0.0.1:9 for 0 s"):
        look()


def _fault_of(engine: type[SparkEngine | RayEngine], folder: Path, seconds: int = 90, **settings: Any) -> str:
    begun = time.monotonic()
    started = engine(EngineSettings(engine=engine.name, cluster_seconds=seconds, **settings), folder=folder)
    try:
        with pytest.raises(EngineError) as raised:
            started.start()
    finally:
        started.close()
    assert time.monotonic() - begun < seconds + _JAVA
    told = str(sentence(raised.value, []))
    assert "\n" not in told
    return told


def _package(folder: Path) -> Path:
    (folder / "quern").mkdir()
    (folder / "quern" / "__init__.py").touch()
    return folder


@pytest.mark.long
@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("silent", "the master does not accept this program"),
        ("no workers", "no executor came"),
        ("too large", "no executor came"),
        ("no interpreter", "/nowhere/python"),
        ("no package", "has no quern"),
        ("other package", "has another version of quern"),
        pytest.param("no mount", "does not see", marks=needs_root),
        ("configuration", "engine.spark_conf"),
    ],
)
def test_a_spark_cluster_that_is_set_up_wrongly_is_told_in_a_sentence(
    case: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    shared, logs = tmp_path / "shared", tmp_path / "logs"
    shared.mkdir()
    logs.mkdir()
    if case == "silent":
        with _silent() as address:
            assert told in _fault_of(SparkEngine, shared, 5, spark_master=f"spark://{address}")
        return
    workers = {"no workers": (), "no mount": ("true", f"mount -t tmpfs none {shared}")}.get(case, ("true",))
    conf = {"too large": {"spark.executor.memory": "64g"}, "configuration": {"spark.executor.memory": "much"}}
    if case in ("no interpreter", "no package"):
        bare = {"no interpreter": "/nowhere/python", "no package": str(Path(sys.executable).resolve())}[case]
        monkeypatch.setenv("PYSPARK_PYTHON", bare)
    given = conf.get(case, {})
    if case == "other package":
        given = {"spark.executorEnv.PYTHONPATH": str(_package(tmp_path))}
    with spark_standalone(logs, workers) as (address, *_):
        seconds = 25 if told == "no executor came" else 90
        found = _fault_of(SparkEngine, shared, seconds, spark_master=address, spark_conf=given)
    assert told in found


@needs_root
@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "auth", "told"),
    [
        ("mount -t tmpfs none {shared}", "disabled", "node quern-node2 does not see"),
        ("export PYTHONPATH={other}", "disabled", "node quern-node2 has another version of quern"),
        ("true", "token", "one RAY_AUTH_MODE and token"),
    ],
)
def test_a_ray_cluster_that_is_set_up_wrongly_is_told_in_a_sentence(
    before: str, auth: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    command = before.format(shared=shared, other=_package(tmp_path))
    with ray_of_two_nodes(tmp_path, command, auth) as (address, *_):
        assert told in _fault_of(RayEngine, shared, ray_address=address)


@pytest.mark.long
def test_a_ray_that_does_not_answer_is_told_in_a_sentence(tmp_path: Path) -> None:
    with _silent() as address:
        assert f"Ray did not start at {address}" in _fault_of(RayEngine, tmp_path, 5, ray_address=address)
