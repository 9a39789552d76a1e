from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from quern.jobs.crawl.frontier import Frontier, Kind, Known, Memory, State, refusal_counts, reject_rows, remember
from quern.jobs.crawl.urls import parse_address


def address(path: str, host: str = "a.example") -> object:
    return parse_address(f"http://{host}/{path}")


def known(path: str, etag: str | None = '"1"') -> Known:
    found = parse_address(f"http://a.example/{path}")
    return Known(
        found.key, found.url, etag, None, "sha1:X", "<urn:uuid:1>", "2026-01-01T00:00:00Z", ("http://b.example/",)
    )


def test_what_was_not_committed_is_queued_again_and_what_was_is_not(tmp_path: Path) -> None:
    frontier = Frontier(tmp_path / "f.sqlite")
    for path in ("1", "2", "1#again"):
        frontier.add(address(path), 0, 0, Kind.PAGE)
    first, second = frontier.queue("a.example", 0, 10)
    frontier.settle(first, State.FETCHED)
    frontier.commit()
    frontier.settle(second, State.FETCHED)
    frontier._sql.close()  # as a killed process leaves it
    again = Frontier(tmp_path / "f.sqlite")
    assert [entry.url for entry in again.queue("a.example", 0, 10)] == ["http://a.example/2"]
    assert not again.add(address("1"), 0, 0, Kind.PAGE)
    assert (again.counts[State.FETCHED], again.counts[State.QUEUED]) == (1, 1)
    again.close()


def test_redirects_are_followed_to_their_end_to_tell_a_loop(tmp_path: Path) -> None:
    frontier = Frontier(tmp_path / "f.sqlite")
    places = [address(str(n)) for n in range(4)]
    for place in places:
        frontier.add(place, 0, 0, Kind.PAGE)
    for entry, target in zip(frontier.queue("a.example", 0, 10), places[1:], strict=False):
        frontier.settle(entry, State.REDIRECTED, target)
    assert frontier.leads_to(places[0].key, places[3].key, 5)
    assert not frontier.leads_to(places[0].key, places[3].key, 2)
    assert not frontier.leads_to(places[3].key, places[0].key, 5)


def test_refusals_are_counted_and_the_first_of_a_host_have_rows(tmp_path: Path) -> None:
    frontier = Frontier(tmp_path / "f.sqlite")
    for n in range(50):
        frontier.refuse("max_depth", "a.example", f"http://a.example/{n}", "too deep")
        frontier.refuse("out_of_scope", "b.example")
        if n == 10:
            frontier.commit()
    frontier.close()
    assert len(list(reject_rows(tmp_path / "f.sqlite"))) == 20
    assert refusal_counts(tmp_path / "f.sqlite") == {"max_depth": 50, "out_of_scope": 50}


def test_pages_are_remembered_from_crawl_to_crawl_with_validators_or_without(tmp_path: Path) -> None:
    memory = tmp_path / "memory.sqlite"
    assert Memory(memory).known(known("1").key) is None
    for name, etag in (("f", '"1"'), ("g", '"2"')):
        frontier = Frontier(tmp_path / f"{name}.sqlite")
        frontier.keep_page(known("1", etag))
        frontier.keep_page(known(f"no-validator-{name}", None))
        frontier.close()
        remember(memory, [tmp_path / f"{name}.sqlite"])
    found = Memory(memory)
    assert found.known(known("1").key) == known("1", '"2"')
    assert found.known(known("no-validator-f").key) == known("no-validator-f", None)


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
        *(content[:at] + b"\xff" * 8 + content[at + 8 :] for at in range(24, len(content), len(content) // 40)),
    ):
        memory = tmp_path / "memory.sqlite"
        memory.write_bytes(damaged)
        before = Memory(memory)
        for n in range(200):
            before.known(known(f"{n}").key)
        remember(memory, [tmp_path / "f.sqlite"])
        after = Memory(memory)
        assert [after.known(known(f"{n}").key) for n in range(200)] == [known(f"{n}", f'"{n}"') for n in range(200)]


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
