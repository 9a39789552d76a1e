"""One trial: a command is killed, what it left is looked at, and the same command is run again, at last to its end."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.kills.host import Host, Process, start_cold

_MARK: Final = "QUERN_TRIAL"
# Seconds for what a killed process leaves running to end by itself, and for a signal to be obeyed: the machine is busy.
_GRACE: Final = 40.0
_LONGEST: Final = 900.0
_STOPPED: Final = 130

Result = Callable[[Path], Any]


@dataclass(frozen=True)
class Scene:
    name: str  # Its name.
    prepare: Callable[[Path], None]  # Puts what it needs into an empty folder.
    command: Callable[[Path], Sequence[str]]  # The arguments of `quern`, with the folder.
    result: Result  # What stands in the folder when it has come to its end.
    published: Result  # What a reader finds while it has not; must be what was there before, or the result.
    left: Callable[[Path], Sequence[str]]  # Files that nobody needs once it has come to its end.


@dataclass(frozen=True)
class Reference:
    """What a command does that nobody kills."""

    before: Any  # What a reader found before.
    result: Any  # What stands in the folder at the end.
    published: Any  # What a reader finds at the end.
    seconds: float  # Time it took.
    said: tuple[str, ...]  # The lines that it said.

    def line(self, beginning: str) -> int:
        """Number of the first line that begins so, from 1 on."""
        return next(n for n, line in enumerate(self.said, 1) if line.startswith(beginning))


@dataclass(frozen=True)
class Kill:
    """When a command is killed, and how."""

    how: str  # `group` and `alone`: SIGKILL of its process group, or of its first process; else the name of a signal.
    seconds: float = 0.0  # After so many seconds.
    line: int = 0  # When it has said so many lines, if not 0: at the end of a job.
    cold: bool = False  # Started as a user does, rather than by the host.

    def __str__(self) -> str:
        when = f"line={self.line}" if self.line else f"seconds={self.seconds:.2f}"
        return f"{self.how} {when}{' cold' if self.cold else ''}"


@dataclass(frozen=True)
class Outcome:
    killed: int  # How often it still ran when it was to be killed.
    survived: bool  # Readers found a whole snapshot each time, and the command came to its end at last.
    equal: bool  # Its result is that of a command that was not killed.
    orphans: tuple[str, ...]  # Command lines of processes that outlived it.
    left: tuple[str, ...]  # Files that it left in the folder for temporary files, or that nobody needs any more.
    problems: tuple[str, ...]  # What else was wrong.

    @property
    def good(self) -> bool:
        return self.survived and self.equal and not (self.orphans or self.left or self.problems)


class Runner:
    """Runs scenes in folders of its own, which have short names: Ray's sockets have no room for long ones."""

    def __init__(self, root: Path, host: Host) -> None:
        self._root, self._host, self._count = root, host, 0

    def made(self, prepare: Callable[[Path], None], commands: Sequence[Callable[[Path], Sequence[str]]]) -> Path:
        """A folder in which `commands` have come to their end, for scenes to begin with."""
        folder = self._folder(prepare)
        for command in commands:
            self._run("preparation", folder, command(folder))
        return folder

    def reference(self, scene: Scene) -> Reference:
        folder = self._folder(scene.prepare)
        before, started = scene.published(folder), time.monotonic()
        said = self._run(scene.name, folder, scene.command(folder))
        seconds = time.monotonic() - started
        return Reference(before, scene.result(folder), scene.published(folder), seconds, tuple(said.splitlines()))

    def trial(self, scene: Scene, reference: Reference, kills: Sequence[Kill]) -> Outcome:
        """Kill `scene` again and again, then let it come to its end."""
        folder, killed = self._folder(scene.prepare), 0
        problems: list[str] = []
        orphans: list[str] = []
        left: list[str] = []
        for kill in kills:
            process = self._start(folder, scene.command(folder), cold=kill.cold)
            if _wait_for(process, kill) and _killed(process, kill.how):
                killed += 1
                problems += _faults_of_end(process, kill.how)
            elif code := process.wait(_GRACE):
                problems.append(f"ended by itself with {code}")
            problems += _faults_of_reader(scene, folder, reference)
            orphans += self._orphans()
            left += self._temporary(folder)
        survived = equal = False
        try:
            self._run(scene.name, folder, scene.command(folder))
            survived = not problems
            equal = scene.result(folder) == reference.result
        except AssertionError as error:
            problems.append(str(error))
        orphans += self._orphans()
        left += [*self._temporary(folder), *(scene.left(folder) if survived else ())]
        outcome = Outcome(killed, survived, equal, tuple(orphans), tuple(left), tuple(problems))
        if outcome.good:
            shutil.rmtree(folder)
        return outcome

    def _folder(self, prepare: Callable[[Path], None]) -> Path:
        self._count += 1
        folder = self._root / f"{self._count}"
        (folder / "t").mkdir(parents=True)
        prepare(folder)
        return folder

    def _start(self, folder: Path, arguments: Sequence[str], *, cold: bool) -> Process:
        environment = {_MARK: str(self._root), "TMPDIR": str(folder / "t")}
        said = folder / "said.txt"
        said.unlink(missing_ok=True)
        return (start_cold if cold else self._host.start)(arguments, environment, said)

    def _run(self, name: str, folder: Path, arguments: Sequence[str]) -> str:
        """Run a command to its end; returns what it said."""
        process = self._start(folder, arguments, cold=False)
        code, said = process.wait(_LONGEST), process.told()
        assert code == 0, f"{name}: `quern {' '.join(arguments[:2])}` ended with {code}: {said[-600:]}"
        return said

    def _orphans(self) -> list[str]:
        """Command lines of the processes of this runner that do not end; they are killed."""
        mark, until = f"{_MARK}={self._root}".encode(), time.monotonic() + _GRACE
        while True:
            alive = {}
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    if mark in (process / "environ").read_bytes().split(b"\0"):
                        command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                        alive[int(process.name)] = command[:200]
            if not alive or time.monotonic() > until:
                break
            time.sleep(0.1)
        for pid in alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return list(alive.values())

    def _temporary(self, folder: Path) -> list[str]:
        return [f"TMPDIR/{path.name}" for path in (folder / "t").iterdir()]


def _wait_for(process: Process, kill: Kill) -> bool:
    """Wait for the moment to kill; returns whether it came before the end."""
    until = time.monotonic() + (_LONGEST if kill.line else kill.seconds)
    while time.monotonic() < until:
        if process.poll() is not None:
            return False
        if kill.line and process.told().count("\n") >= kill.line:
            break
        time.sleep(0.01)
    return True


def _killed(process: Process, how: str) -> bool:
    """Whether it was there to be killed."""
    try:
        if how == "group":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            os.kill(process.pid, signal.SIGKILL if how == "alone" else signal.Signals[how])
    except ProcessLookupError:
        return False
    return True


def _faults_of_end(process: Process, how: str) -> Iterator[str]:
    """Wait for the end of a process that was killed; what was wrong with how it ended."""
    code = process.wait(_GRACE)
    if code is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_GRACE)
        yield f"did not end by {how}"
    elif how not in ("group", "alone"):
        said = process.told()
        # It may have come to its end; before Python can take a signal, that ends it, and nothing was begun.
        begun = "interrupted" in said if code == _STOPPED else code == 0 or (code == -signal.Signals[how] and not said)
        if not begun or "Traceback" in said:
            yield f"{how} ended it with {code}: {said[-600:]}"


def _faults_of_reader(scene: Scene, folder: Path, reference: Reference) -> Iterator[str]:
    """What is wrong with what a reader finds."""
    try:
        published = scene.published(folder)
    except Exception as error:  # noqa: BLE001 - whatever a reader meets is what is looked for
        yield f"a reader fails: {type(error).__name__}: {error}"
        return
    if published not in (reference.before, reference.published):
        yield f"a reader finds neither what was nor what will be: {published}"
