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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

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


class Process:
    """`quern` as the leader of a process group of its own, with all that it says in a file."""

    def __init__(self, pid: int, said: Path) -> None:
        self.pid, self.said = pid, said

    def poll(self) -> int | None:
        """Exit code; None while it runs."""
        raise NotImplementedError

    def told(self) -> str:
        """What it said so far."""
        return self.said.read_text("utf-8", "replace") if self.said.exists() else ""

    def lines(self) -> int:
        """Lines that it said so far."""
        return self.told().count("\n")


class ColdProcess(Process):
    """`quern` as a user starts it."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], said: Path) -> None:
        with said.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "quern.pipelines.cli", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**os.environ, **environment},
                cwd=ROOT,
                start_new_session=True,
            )
        super().__init__(self._process.pid, said)

    def poll(self) -> int | None:
        return self._process.poll()


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
        """Start `quern` with `arguments`."""
        assert self._process.stdin
        assert self._process.stdout
        order = {"arguments": list(arguments), "environment": dict(environment), "said": str(said)}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return _WarmProcess(int(self._process.stdout.readline()), said, self._process.stdout)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)


class _WarmProcess(Process):
    def __init__(self, pid: int, said: Path, replies: Any) -> None:
        super().__init__(pid, said)
        self._replies = replies
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None and _ended(self.pid):
            self._code = int(self._replies.readline())
        return self._code


def _ended(pid: int) -> bool:
    """Whether a process is gone, or waits for its parent to see that it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def _become(order: Mapping[str, Any]) -> None:
    """Be `quern`, from here to the end of the process."""
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


def serve() -> None:
    """Take orders until there is none."""
    for module in _IMPORTED:
        importlib.import_module(module)
    for line in sys.stdin:
        if not (pid := os.fork()):
            _become(json.loads(line))
            return
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
