"""Builds on real clusters in the middle of which something is killed: they end equal to a local build, or go on to it.

`QUERN_CLUSTER_KILLS` says how many kills each cluster meets.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from quern.schemas.settings.reading import load_settings
from tests.clusters import Daemon, ray_of_two_nodes, spark_standalone
from tests.tiny_models import write_tiny_embedder

pytestmark = [pytest.mark.long, pytest.mark.timeout(600 + 1200 * int(os.environ.get("QUERN_CLUSTER_KILLS", "2")))]

_PAGES = Path(__file__).parents[2] / "corpus" / "domains" / "pumps" / "documents.jsonl"
_KILLS = int(os.environ.get("QUERN_CLUSTER_KILLS", "2"))
_MOMENTS = ("clean", "normalise", "chunk", "doc2query", "find_events", "triplets", "embed")
_LONGEST = 1200.0


@dataclass
class Cluster:
    """A cluster of two nodes.

    Attributes:
        settings: Settings of the engine that runs on it.
        second: The node that may be killed.
        start: What starts another node in its place.
        victims: Of what else may be killed on a node, the beginning of its name or a part of its command line.
    """

    settings: Sequence[str]
    second: Daemon
    start: Callable[[], Daemon]
    victims: Sequence[str]

    def kill(self, victim: str, driver: subprocess.Popen[bytes]) -> bool:
        """Kill a victim with SIGKILL; False where there is none at this moment."""
        if victim == "driver":
            driver.kill()
        elif victim == "node":
            self.second.stop()
            self.second = self.start()
        else:
            there = [process for process in self.second.process_tree() if victim in _named(process)]
            for process in there:
                process.kill()
            return bool(there)
        return True


def _named(process: psutil.Process) -> str:
    try:
        return " ".join([process.name(), *process.cmdline()])
    except psutil.NoSuchProcess:
        return ""


@pytest.fixture(params=["spark", pytest.param("ray", marks=pytest.mark.skipif(os.getuid() != 0, reason="needs root"))])
def cluster(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with ExitStack() as stack:
        if request.param == "spark":
            request.getfixturevalue("no_spark")
            monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
            address, workers, start = stack.enter_context(spark_standalone(tmp_path))
            settings = ["engine.engine=spark", "engine.cluster_seconds=90", f"engine.spark_master={address}"]
            yield Cluster(settings, workers[1], start, ["ExecutorBackend", "pyspark.daemon"])
        else:
            monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
            address, nodes, start = stack.enter_context(ray_of_two_nodes(tmp_path))
            settings = ["engine.engine=ray", "engine.cluster_seconds=90", f"engine.ray_address={address}"]
            yield Cluster(settings, nodes[1], start, ["ray::"])


def _digests(warehouse: Path) -> dict[str, str]:
    return {name: table.digest for name, table in Warehouse.create(warehouse).manifest().tables.items()}


def test_a_build_during_which_something_is_killed_is_equal_to_one_that_was_left_alone(
    cluster: Cluster, tmp_path: Path
) -> None:
    sizes = ["engine.task_rows=8", "engine.file_rows=20", "doc2query.pairs=3"]
    common = [f"embed.model={write_tiny_embedder(tmp_path / 'model')}", *sizes]
    build(_PAGES, Warehouse.create(tmp_path / "here"), load_settings(None, common))
    expected, chance, outcomes = _digests(tmp_path / "here"), random.Random(_KILLS), []
    settings = [word for setting in [*common, *cluster.settings] for word in ("--set", setting)]
    for number in range(_KILLS):
        victim = ("node", "driver", *cluster.victims)[number % (2 + len(cluster.victims))]
        folder, moment, after = tmp_path / f"there{number}", chance.choice(_MOMENTS), chance.uniform(0, 2)
        command = [sys.executable, "-m", "quern.pipelines.cli", "build", str(_PAGES), "-w", str(folder), *settings]
        with (tmp_path / f"log{number}").open("wb") as log:
            driver = subprocess.Popen(command, stdout=log, stderr=log)
            killed = _killed_at(cluster, victim, driver, folder / "memo" / moment, after)
            ended = driver.wait(_LONGEST)
            again = subprocess.run(command, stdout=log, stderr=log, check=False, timeout=_LONGEST) if ended else None
        equal = (again is None or again.returncode == 0) and _digests(folder) == expected
        outcomes.append({"victim": victim, "moment": moment, "killed": killed, "again": bool(ended), "equal": equal})
        sys.stderr.write(f"{json.dumps(outcomes[-1])}\n")
    assert all(outcome["killed"] and outcome["equal"] for outcome in outcomes), outcomes


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_a_build_on_ray_whose_head_is_lost_ends_with_a_sentence_and_goes_on_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    command = [sys.executable, "-m", "quern.pipelines.cli", "build", str(_PAGES), "-w", str(tmp_path / "there")]
    command += ["--set", f"embed.model={write_tiny_embedder(tmp_path / 'model')}", "--set", "doc2query.pairs=3"]
    with ray_of_two_nodes(tmp_path) as (address, nodes, _), (tmp_path / "log").open("wb") as log:
        on_ray = ["engine.engine=ray", f"engine.ray_address={address}", "engine.cluster_seconds=30"]
        settings = [word for setting in on_ray for word in ("--set", setting)]
        driver = subprocess.Popen([*command, *settings], stdout=log, stderr=log)
        while not list((tmp_path / "there" / "memo" / "chunk").glob("*")):
            assert driver.poll() is None
            time.sleep(0.05)
        nodes[0].stop()
        assert driver.wait(180) == 2
    assert f"nothing has answered at {address}" in (tmp_path / "log").read_text()
    assert subprocess.run([*command, "--engine", "local"], check=False, timeout=_LONGEST).returncode == 0


def _killed_at(cluster: Cluster, victim: str, driver: subprocess.Popen[bytes], memo: Path, after: float) -> bool:
    """Kill a victim some seconds after a job has written its first results, or as soon as there is one from then on."""
    while driver.poll() is None and not list(memo.glob("*")):
        time.sleep(0.05)
    time.sleep(after)
    while driver.poll() is None:
        if cluster.kill(victim, driver):
            return True
        time.sleep(0.1)
    return False
