"""A child process that parses untrusted bytes under limits of time and memory.

The parent sends a frame (JSON header and raw body), the child answers with a JSON header; nothing is ever
unpickled. A page that hangs, crashes or eats memory costs its child, never the worker. The child is started on
first use and kept; it dies with the thread that started it, which is why each thread has its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from quern.schemas.errors import RejectError

Header = dict[str, Any]
Answer = Callable[[Header, bytes], Header]

_FRAME: Final = struct.Struct(">II")
_CHUNK: Final = 1 << 20
_START_SECONDS: Final = 120.0
_PR_SET_PDEATHSIG: Final = 1
# Shares of the memory allowance: above which a child is replaced after its answer, so that every page finds
# nearly all of it; above which an error is taken for a failed allocation; above which even an answer is.
_WORN: Final = 0.25
_SUSPECT: Final = 0.5
_FULL: Final = 0.9
# Signals that someone else sends, as the system does when memory runs out; a parser's own crash raises others.
_FROM_OUTSIDE: Final = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
_OUT_OF_MEMORY: Final = {
    "failed": "out_of_memory",
    "detail": "parsing needs more memory than clean.memory_per_page allows",
}


@dataclass
class ChildError(Exception):
    """A question that the child did not answer."""

    reason: str  # `timeout`, `out_of_memory`, `parser_crashed`, or the code that the child gave.
    detail: str  # What happened, for a person.
    transient: bool = False  # Whether another try may succeed.


class UnfitError(RejectError):
    """A page or file that makes no document."""


def _frame(header: Mapping[str, object], body: bytes = b"") -> bytes:
    head = json.dumps(header).encode()
    return _FRAME.pack(len(head), len(body)) + head + body


class Child:
    """One child process, started when first asked and started again after it was lost."""

    def __init__(self, module: str, memory_mib: int) -> None:
        """Args: `module` is run with `python -m`; `memory_mib` is what it may add to its address space."""
        self._command = [sys.executable, "-m", module, str(memory_mib)]
        self._running: subprocess.Popen[bytes] | None = None

    def ask(self, header: Mapping[str, object], body: bytes, seconds: float) -> Header:
        """The child's answer; ChildError if there is none in time, for want of memory, or after a crash."""
        running = self._started()
        deadline = time.monotonic() + seconds
        try:
            _send(running, _frame(header, body), deadline)
            answer = _receive(running, deadline)
        except TimeoutError:
            self.stop()
            raise ChildError("timeout", f"no answer within {seconds:g} s", transient=True) from None
        except (BrokenPipeError, EOFError):
            raise self._crash() from None
        if "failed" in answer:
            if answer["failed"] == "out_of_memory":
                self.stop()  # what is left of a heap after a failed allocation is not to be trusted
            raise ChildError(answer["failed"], answer["detail"])
        if answer.pop("worn"):
            self.stop()
        return answer

    @property
    def pid(self) -> int | None:
        """Process id of the child; null when none runs."""
        return self._running.pid if self._running is not None else None

    def stop(self) -> None:
        """Kill the child, if there is one."""
        running, self._running = self._running, None
        if running is not None:
            running.kill()
            running.wait()
            for pipe in (running.stdin, running.stdout):
                if pipe is not None:
                    pipe.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._running is not None and self._running.poll() is None:
            return self._running
        self.stop()
        # The packages must be found wherever the worker found them. A fixed hash seed keeps the order of sets,
        # and with it the output, the same on every run. One thread: a page's vectors are too short to share.
        path = os.pathsep.join(p for p in sys.path if p)
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
        running = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            bufsize=0,
        )
        self._running = running
        try:
            assert running.stdin is not None  # noqa: S101 - for the type checker
            os.set_blocking(running.stdin.fileno(), False)
            # Let the pipe hold a whole page, so that parent and child need not take turns, unless that is refused.
            if hasattr(fcntl, "F_SETPIPE_SZ"):
                with contextlib.suppress(OSError):
                    fcntl.fcntl(running.stdin.fileno(), fcntl.F_SETPIPE_SZ, _CHUNK)
            _receive(running, time.monotonic() + _START_SECONDS)
        except (EOFError, TimeoutError):
            raise ChildError("parser_crashed", f"did not start: {self._crash().detail}", transient=True) from None
        return running

    def _crash(self) -> ChildError:
        """How the child ended; puts away what is left of it."""
        running = self._running
        if running is None:
            return ChildError("parser_crashed", "the child process is gone")
        try:
            code = running.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = None
        self.stop()
        if code is None:
            return ChildError("parser_crashed", "the child process closed its pipe")
        how = f"signal {-code}" if code < 0 else f"code {code}"
        return ChildError("parser_crashed", f"the child process ended with {how}", transient=-code in _FROM_OUTSIDE)


def _wait(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError


def _send(running: subprocess.Popen[bytes], frame: bytes, deadline: float) -> None:
    assert running.stdin is not None  # noqa: S101
    descriptor, view = running.stdin.fileno(), memoryview(frame)
    while view:
        _wait(descriptor, select.POLLOUT, deadline)
        try:
            view = view[os.write(descriptor, view[:_CHUNK]) :]
        except BlockingIOError:  # the pipe has room for less than one atomic write: ask again
            time.sleep(0.001)


def _take(descriptor: int, size: int, deadline: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        _wait(descriptor, select.POLLIN, deadline)
        part = os.read(descriptor, min(_CHUNK, size - len(data)))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def _receive(running: subprocess.Popen[bytes], deadline: float) -> Header:
    assert running.stdout is not None  # noqa: S101
    descriptor = running.stdout.fileno()
    head, _ = _FRAME.unpack(_take(descriptor, _FRAME.size, deadline))
    answer: Header = json.loads(_take(descriptor, head, deadline))
    return answer


_LOCAL = threading.local()


def child(module: str, memory_mib: int) -> Child:
    """This thread's child for `module`.

    A forked process inherits the parent's children but must not talk to them, hence the process id.
    """
    key = (os.getpid(), module, memory_mib)
    children: dict[tuple[int, str, int], Child] = _LOCAL.__dict__.setdefault("children", {})
    return children.setdefault(key, Child(module, memory_mib))


# ---- the child's side ------------------------------------------------------------------------------------


def serve(answer: Answer) -> None:
    """Answer frames from standard input until it ends; the last argument is the memory limit in MiB."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write into the protocol
    # On Linux the kernel kills the child when its parent goes; elsewhere it ends on the end of its input.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends by the signal, which tells the parent that no page caused it
    memory = _Memory(int(sys.argv[-1]))
    _write(answers, {"ready": True})
    while head := questions.read(_FRAME.size):
        header_size, body_size = _FRAME.unpack(head)
        header = json.loads(questions.read(header_size))
        _write(answers, _answered(answer, header, questions, body_size, memory))


def _answered(answer: Answer, header: Header, questions: BinaryIO, body_size: int, memory: _Memory) -> Header:
    try:
        reply = answer(header, questions.read(body_size))
    except MemoryError:
        return dict(_OUT_OF_MEMORY)
    except UnfitError as fault:
        return {"failed": fault.reason, "detail": str(fault)}
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a parser raises becomes a reject
        # libxml2 says `unknown error` where an allocation failed.
        if memory.share() > _SUSPECT:
            return dict(_OUT_OF_MEMORY)
        return {"failed": "parse_error", "detail": f"{type(error).__name__}: {error}"[:500]}
    share = memory.share()
    if share > _FULL:  # a library may have met a failed allocation and gone on with half of the page
        return dict(_OUT_OF_MEMORY)
    return reply | {"worn": share > _WORN}


def _write(stream: BinaryIO, header: Header) -> None:
    stream.write(_frame(header))
    stream.flush()


class _Memory:
    """The limit on the address space: what the imports took plus an allowance, where the system tells the first."""

    def __init__(self, allowance_mib: int) -> None:
        self._allowance = allowance_mib * (1 << 20)
        self._status = Path("/proc/self/status")
        self._start = self._read("VmSize")
        if self._start:
            limit = self._start + self._allowance
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    def share(self) -> float:
        """Largest share of the allowance that was ever in use."""
        return (self._read("VmPeak") - self._start) / self._allowance

    def _read(self, field: str) -> int:
        try:
            status = self._status.read_bytes()
        except FileNotFoundError:
            return 0
        match = re.search(rb"^%s:\s*(\d+) kB" % field.encode(), status, re.M)
        return int(match[1]) << 10 if match else 0
