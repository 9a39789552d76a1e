"""A process that has imported what `quern` needs, and becomes `quern` again and again: the imports take seconds.

`python -m tests.kills.host` reads orders, a line of JSON each, and writes for each the process id, then the exit code.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.beside import ROOT

_IMPORTED: Final = (
    "quern.pipelines.cli.main",
    "quern.pipelines.build.whole",
    "quern.pipelines.build.stage",
    "quern.pipelines.pages.ingest",
    "quern.pipelines.pages.crawl",
    "quern.pipelines.query",
    "lancedb",
    "lxml.etree",
    "openvino",
    "tokenizers",
)


@dataclass(frozen=True)
class Process:
    """`quern` as the leader of a process group of its own, with all that it says in a file."""

    pid: int
    said: Path
    poll: Callable[[], int | None]  # Exit code; None while it runs.

    def told(self) -> str:
        return self.said.read_text("utf-8", "replace") if self.said.exists() else ""

    def wait(self, seconds: float) -> int | None:
        until = time.monotonic() + seconds
        while (code := self.poll()) is None and time.monotonic() < until:
            time.sleep(0.03)
        return code


def start_cold(arguments: Sequence[str], environment: Mapping[str, str], said: Path) -> Process:
    with said.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "quern.pipelines.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env={**os.environ, **environment},
            cwd=ROOT,
            start_new_session=True,
        )
    return Process(process.pid, said, process.poll)


class Host:
    """The process that becomes `quern`; one at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            text=True,
        )

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], said: Path) -> Process:
        assert self._process.stdin
        assert self._process.stdout
        order = {"arguments": list(arguments), "environment": dict(environment), "said": str(said)}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        replies, stat = self._process.stdout, Path(f"/proc/{int(self._process.stdout.readline())}/stat")
        code: list[int] = []

        def poll() -> int | None:
            """Exit code, once the process is gone, or waits for its parent to see that it ended."""
            try:
                ended = stat.read_text().rpartition(")")[2].split()[0] == "Z"
            except (FileNotFoundError, ProcessLookupError):
                ended = True
            if ended and not code:
                code.append(int(replies.readline()))
            return code[0] if code else None

        return Process(int(stat.parent.name), said, poll)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)


def serve() -> None:
    for module in _IMPORTED:
        importlib.import_module(module)
    for line in sys.stdin:
        if not (pid := os.fork()):
            order = json.loads(line)
            os.setsid()
            os.environ.update(order["environment"])
            tempfile.tempdir = None
            said = os.open(order["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            nothing = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((nothing, 0), (said, 1), (said, 2)):
                os.dup2(source, target)
            sys.argv = ["quern", *order["arguments"]]
            from quern.pipelines.cli.entry import main

            main()
            return
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
