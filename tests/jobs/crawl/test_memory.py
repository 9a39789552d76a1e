"""What crawls remember of pages is there for the next, and costs only requests where it is damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from quern.jobs.crawl.frontier import Frontier
from quern.jobs.crawl.memory import Known, Memory, remember
from quern.jobs.crawl.urls import parse_address


def known(path: str, etag: str | None = '"1"') -> Known:
    found = parse_address(f"http://a.example/{path}")
    return Known(
        found.key, found.url, etag, None, "sha1:X", "<urn:uuid:1>", "2026-01-01T00:00:00Z", ("http://b.example/",)
    )


def test_damage_to_what_is_remembered_costs_requests_and_nothing_else(tmp_path: Path) -> None:
    frontier = Frontier(tmp_path / "f.sqlite")
    for n in range(200):
        frontier.keep_page(known(f"{n}", f'"{n}"'))
    frontier.close()
    whole = tmp_path / "whole.sqlite"
    remember(whole, [tmp_path / "f.sqlite"])
    content = whole.read_bytes()
    for damaged in (
        b"",
        content[:100],
        content[: len(content) // 2],
        b"no database" + content[11:],
        # Every so many bytes; and in what the file says of its tables, and in a key, which is then out of order.
        *(content[:at] + b"\xff" * 8 + content[at + 8 :] for at in range(24, len(content), len(content) // 40)),
        *(content[:at] + b"\xff" * 8 + content[at + 8 :] for at in _tender(content)),
    ):
        memory = tmp_path / "memory.sqlite"
        memory.write_bytes(damaged)
        before = Memory(memory)
        for n in range(200):
            before.known(known(f"{n}").key)
        remember(memory, [tmp_path / "f.sqlite"])
        after = Memory(memory)
        assert [after.known(known(f"{n}").key) for n in range(200)] == [known(f"{n}", f'"{n}"') for n in range(200)]


def _tender(content: bytes) -> tuple[int, ...]:
    return content.index(b"CREATE"), content.index(b"etag"), content.index(b"_at TEXT"), content.index(known("174").key)


def test_a_frontier_that_is_damaged_costs_nothing_of_what_earlier_crawls_remember(tmp_path: Path) -> None:
    frontier = Frontier(tmp_path / "f.sqlite")
    frontier.keep_page(known("1"))
    frontier.close()
    memory = tmp_path / "memory.sqlite"
    remember(memory, [tmp_path / "f.sqlite"])
    (tmp_path / "f.sqlite").write_bytes(b"no database")
    with pytest.raises(sqlite3.DatabaseError):
        remember(memory, [tmp_path / "f.sqlite"])
    assert Memory(memory).known(known("1").key) == known("1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.sqlite", "memory.sqlite"]
