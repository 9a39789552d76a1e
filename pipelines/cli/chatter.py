"""Keeping the terminal for what Quern says: the engines' own chatter goes to a file."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quern.indexes.disk import is_read_only
from quern.pipelines.cli.common import LOGGERS


@contextmanager
def chatter_to(path: Path) -> Iterator[None]:
    """Send what processes and native code write to standard error to the file `path` while the block runs.

    Spark's Java process and Ray's core write to the file descriptor, past Python. What Python writes to
    `sys.stderr`, and the handlers of `LOGGERS`, still reach the terminal.
    """
    sys.stderr.flush()
    before = sys.stderr
    file = _opened(path)
    saved = os.dup(2)
    os.dup2(file, 2)
    os.close(file)
    with os.fdopen(saved, "w", buffering=1, closefd=False) as terminal:
        sys.stderr = terminal
        moved = [h for h in _stream_handlers(LOGGERS) if h.stream is before]
        for handler in moved:
            handler.setStream(terminal)
        try:
            yield
        finally:
            for handler in moved:
                handler.setStream(before)
            sys.stderr = before
            terminal.flush()
            os.dup2(saved, 2)
    os.close(saved)


def _opened(path: Path) -> int:
    """A descriptor that is appended to `path`; in a warehouse that may not be written, one that leads nowhere."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        if not is_read_only(error):
            raise
        return os.open(os.devnull, os.O_WRONLY)


def _stream_handlers(loggers: Sequence[str]) -> list[logging.StreamHandler[Any]]:
    handlers = [h for name in loggers for h in logging.getLogger(name).handlers]
    return list({id(h): h for h in handlers if type(h) is logging.StreamHandler}.values())
