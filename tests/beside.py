"""Builds beside the tests: the warehouses that tests share, built one after the other while tests run that need none.

One process builds: that of the tests or, with pytest-xdist, the one that hands the tests out to workers. It tells the
others by files which builds have ended and how.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
SHARED = ROOT.parent / "shared" / "datasets"

_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.1

# Builds start at any time, also while a test has changed the environment for itself.
_ENVIRONMENT = dict(os.environ)


@dataclass(frozen=True)
class Build:
    """What is built, as fast as the tests run: else they would wait at the end, on one core, for what is left."""

    source: Path
    options: Sequence[str] = ()


MINI_WEB = "mini-web"

# A page may wait for a core for long there, so that its time limit, which counts waiting, is set high.
_PATIENT = ("--set", "clean.seconds_per_page=300")
# So few rows a file that workers write tables.
_FEW = ("--set", "doc2query.pairs=3", "--set", "engine.file_rows=60", *_PATIENT)
# In the order in which they are built: first what most tests wait for, then what takes longest to evaluate.
BUILDS: dict[str, Build] = {
    MINI_WEB: Build(CORPUS / "pages"),
    # The name is a path that Spark would take for a pattern.
    "a site by Spark [1] 库 %20": Build(CORPUS / "pages" / "brannock-review.example", ("--engine", "spark", *_FEW)),
    "a site by Ray": Build(CORPUS / "pages" / "brannock-review.example", ("--engine", "ray", *_FEW)),
    "lihua_world": Build(SHARED / "lihua_world" / "documents.jsonl", ("--engine", "local")),
    "musique_train100": Build(SHARED / "musique_train100" / "documents.jsonl", ("--engine", "local")),
    "mini-web by Spark": Build(CORPUS / "pages", ("--engine", "spark", *_PATIENT)),
    "mini-web by Ray": Build(CORPUS / "pages", ("--engine", "ray", *_PATIENT)),
    # What is lost is lost before there are queries and vectors: few of them, of the beginnings of texts, are enough.
    "real pages": Build(
        SHARED / "article_extraction_benchmark" / "html",
        ("--engine", "local", "--set", "doc2query.pairs=2", "--set", "embed.max_tokens=16", *_PATIENT),
    ),
}


def start(environment: Mapping[str, str], *arguments: object, cwd: Path, **more: str) -> subprocess.Popen[str]:
    """Start the command line in a process of its own, as a user does."""
    return subprocess.Popen(
        [sys.executable, "-m", "quern.pipelines.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**environment, **more},
    )


def end(process: subprocess.Popen[str]) -> None:
    """End a process as an orchestrator does, so that a build closes its engines; kill it if that takes too long."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_SECONDS)
    process.kill()


class Builds:
    """The builds that tests of a session want, under one folder, which all processes of the session share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._stopped = False
        self._running: subprocess.Popen[str] | None = None
        self._queue: ThreadPoolExecutor | None = None

    def want(self, names: Iterable[str]) -> None:
        """Say what the tests need, before `start`; every worker says the same."""
        wanted = sorted({name for name in names if BUILDS[name].source.exists()})
        _write(self.folder / "wanted", wanted)

    def _wanted(self) -> list[str]:
        wanted = json.loads((self.folder / "wanted").read_text("utf-8"))
        return [name for name in BUILDS if name in wanted]

    def start(self) -> None:
        """Begin, in a thread of this process, unless it has begun; all builds end with `stop`."""
        if not self._queue:
            self._queue = ThreadPoolExecutor(max_workers=1)
            for name in self._wanted():
                self._queue.submit(self._build, name)

    def _build(self, name: str) -> None:
        build, folder = BUILDS[name], self.folder / name
        folder.mkdir()
        # By relative paths, as users name them; workers of the engines run elsewhere.
        arguments = ("build", os.path.relpath(build.source, folder), "--warehouse", "warehouse", *build.options)
        with self._lock:
            if self._stopped:
                return
            try:
                running = self._running = start(_ENVIRONMENT, *arguments, cwd=folder)
            except OSError as error:
                _write(self._ended(name), [1, str(error)])
                return
        output, errors = running.communicate()
        (folder / "printed.txt").write_text(errors + output, "utf-8")
        _write(self._ended(name), [running.returncode, errors])

    def _ended(self, name: str) -> Path:
        return self.folder / f"{name}.ended"

    def warehouse(self, name: str) -> Path:
        """The warehouse of the build `name`, once it is built; `printed.txt` beside it is what the build printed."""
        assert name in self._wanted(), f"no test said before the first that it needs the build {name}"
        while not self._ended(name).exists():
            time.sleep(_POLL_SECONDS)
        code, errors = json.loads(self._ended(name).read_text("utf-8"))
        assert code == 0, f"the build {name} ended with {code}:\n{errors}"
        return self.folder / name / "warehouse"

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            running = self._running
        if self._queue:
            self._queue.shutdown(wait=False, cancel_futures=True)
        if running:
            end(running)


def _write(path: Path, content: object) -> None:
    made = path.with_name(f"{path.name}.{os.getpid()}")
    made.write_text(json.dumps(content), "utf-8")
    made.replace(path)
