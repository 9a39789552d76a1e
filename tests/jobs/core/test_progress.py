"""What is told while a long step runs."""

from __future__ import annotations

import io
import time

import pytest

from quern.jobs.core.progress import watched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("total", "shown"), [(40, "20/40"), (None, "20/?")])
def test_a_terminal_shows_how_far_a_step_is_and_its_rate(total: int | None, shown: str) -> None:
    terminal = Terminal()
    with watched("answer", total, lambda: 20, terminal):
        time.sleep(0.6)
    text = terminal.getvalue()
    assert "answer" in text
    assert shown in text
    assert "rows/s" in text


def test_nothing_is_shown_elsewhere() -> None:
    stream = io.StringIO()
    with watched("answer", 40, lambda: 20, stream):
        time.sleep(0.3)
    assert stream.getvalue() == ""
