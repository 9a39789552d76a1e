from __future__ import annotations

from pathlib import Path

from quern.jobs.crawl.frontier import Frontier, Kind, State, refusal_counts, reject_rows
from quern.jobs.crawl.urls import parse_address


def address(path: str, host: str = "a.example") -> object:
    return parse_address(f"http://{host}/{path}")


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
