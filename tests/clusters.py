"""Clusters on this machine for tests: Spark standalone with workers, Ray with a second node."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pyspark

_LOOPBACK = "127.0.0.1"
_REGISTERED = "Successfully registered with master"


class Daemon:
    """A process that runs until it is stopped, and what it wrote."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self.log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=out, env={**os.environ, **environment}, start_new_session=True
            )

    def says(self, pattern: str, seconds: float = 60.0) -> re.Match[str]:
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            if found := re.search(pattern, self.log.read_text("utf-8", "replace")):
                return found
            time.sleep(0.1)
        raise AssertionError(f"it did not say {pattern}: {self.log.read_text('utf-8', 'replace')[-2000:]}")

    def stop(self) -> None:
        for process in (*self.process_tree(), self.process):
            with suppress(psutil.NoSuchProcess, ProcessLookupError):
                process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def process_tree(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []


@contextmanager
def spark_standalone(
    folder: Path, workers: Sequence[str] = ("true", "true")
) -> Iterator[tuple[str, list[Daemon], Callable[[], Daemon]]]:
    """A master and workers: the master's address, the workers, and what starts another.

    Args:
        folder: For logs and what workers write.
        workers: For each worker a command of the shell that it runs first, in a mount namespace of its own.
    """
    java = Path(pyspark.__file__).parent
    run = [str(java / "bin" / "spark-class")]
    known = {"SPARK_LOCAL_IP": _LOOPBACK, "SPARK_HOME": str(java), "PYSPARK_PYTHON": sys.executable}
    named = "org.apache.spark.deploy.{}"
    master = Daemon(
        [*run, named.format("master.Master"), "--host", _LOOPBACK, "--port", "0", "--webui-port", "0"],
        folder / "master.log",
        known,
    )
    started = [master]
    try:
        address = master.says(r"Starting Spark master at (spark://\S+)")[1]
        limits = ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / "work")]
        command = " ".join([*run, named.format("worker.Worker"), *limits, "--host", _LOOPBACK, address])

        def start(before: str = "true") -> Daemon:
            apart = ["unshare", "--mount"] if before.startswith("mount") else []
            log = folder / f"worker{len(started)}.log"
            started.append(Daemon([*apart, "sh", "-c", f"{before} && exec {command}"], log, known))
            return started[-1]

        for worker in [start(before) for before in workers]:
            worker.says(_REGISTERED)
        yield address, started[1:], start
    finally:
        for daemon in started[::-1]:
            daemon.stop()


_NAMESPACE, _HEAD, _NODE = "quern-node", "10.123.9.1", "10.123.9.2"
_LINK = (
    f"ip netns add {_NAMESPACE}",
    f"ip link add quern0 type veth peer name quern1 netns {_NAMESPACE}",
    f"ip addr add {_HEAD}/24 dev quern0",
    "ip link set quern0 up",
    f"ip -n {_NAMESPACE} addr add {_NODE}/24 dev quern1",
    f"ip -n {_NAMESPACE} link set quern1 up",
    f"ip -n {_NAMESPACE} link set lo up",
)


@contextmanager
def ray_of_two_nodes(
    folder: Path, before: str = "true", auth: str = "disabled"
) -> Iterator[tuple[str, list[Daemon], Callable[[], Daemon]]]:
    """A head and a second node, which has a network and a host name of its own.

    Gives the head's address, both, and what starts the second node again.

    Args:
        folder: For logs.
        before: A command of the shell that the second node runs first, in a mount namespace of its own.
        auth: Ray's mode of authentication.
    """
    ray = str(Path(sys.executable).with_name("ray"))
    known = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": auth, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1"}
    limits = "--num-cpus 1 --object-store-memory 80000000 --block --disable-usage-stats"
    head = f"{ray} start --head --node-ip-address {_HEAD} --port 6399 --include-dashboard false {limits}"
    join = f"{ray} start --address {_HEAD}:6399 --node-ip-address {_NODE} {limits}"
    node = f"hostname quern-node2 && {before} && exec {join}"
    started = []
    short = tempfile.mkdtemp(prefix="qr-", dir="/tmp")  # The paths of Ray's sockets may have 107 bytes.
    _unlink()
    try:
        for command in _LINK:
            subprocess.run(command.split(), check=True, timeout=10)
        started.append(Daemon([*head.split(), "--temp-dir", short], folder / "head.log", known))
        started[0].says("Ray runtime started")
        apart = ["ip", "netns", "exec", _NAMESPACE, "unshare", "--uts", "--mount", "sh", "-c", node]

        def start() -> Daemon:
            started.append(Daemon(apart, folder / f"node{len(started)}.log", known))
            started[-1].says("Ray runtime started")
            return started[-1]

        start()
        yield f"{_HEAD}:6399", started[:2], start
    finally:
        for daemon in started[::-1]:
            daemon.stop()
        _unlink()
        shutil.rmtree(short, ignore_errors=True)


def _unlink() -> None:
    for command in (f"ip netns del {_NAMESPACE}", "ip link del quern0"):
        subprocess.run(command.split(), check=False, capture_output=True, timeout=10)
