from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quern.indexes.catalog import Snapshot, Warehouse
from quern.pipelines.cli.rows import app
from quern.pipelines.inspect.rejects import RejectsError, Wanted, rows, summary
from quern.schemas.tables import PAGES, REJECTS
from tests.tables import publish

Reject = tuple[str, str, str]


def snapshot_of(root: Path, rejects: list[Reject]) -> Snapshot:
    """A published snapshot of eight pages (four of them documents) that holds these rejects: job, key, reason."""
    rows = [
        {"job": job, "key": key, "reason": reason, "detail": f"why\n{key}", "build_id": "1"}
        for job, key, reason in rejects
    ]
    jobs = [{"job": "ingest", "rows_in": 9}, {"job": "clean", "rows_in": 8}]
    tables = {PAGES: [{"url": str(i)} for i in range(8)], REJECTS: rows}
    return publish(Warehouse.create(root), "1", tables, jobs=jobs)


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    left_out = [("ingest", "a.html", "empty"), ("ingest", "b.html", "empty")]
    left_out += [("clean", f"https://tides.example/{i}", "no_text") for i in range(4)]
    return snapshot_of(tmp_path / "wh", [*left_out, ("clean", "https://quay.example/", "too_long")])


def test_the_summary_counts_by_job_and_reason_as_shares_of_the_jobs_input(snapshot: Snapshot) -> None:
    assert summary(snapshot, Wanted()) == [
        {"job": "clean", "reason": "no_text", "count": 4, "share": 0.5},
        {"job": "ingest", "reason": "empty", "count": 2, "share": 0.2},
        {"job": "clean", "reason": "too_long", "count": 1, "share": 0.125},
    ]


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        (Wanted(job="ingest"), ["a.html", "b.html"]),
        (Wanted(reason="too_long"), ["https://quay.example/"]),
        (Wanted(key="https://tides.example/3"), ["https://tides.example/3"]),
        (Wanted(job="clean", key="https://quay"), ["https://quay.example/"]),
        (Wanted(key="why\na.html"), ["a.html"]),
    ],
)
def test_filters_narrow_rows_and_summary_alike(wanted: Wanted, keys: list[str], snapshot: Snapshot) -> None:
    assert [r["key"] for r in rows(snapshot, wanted)] == keys
    assert sum(r["count"] for r in summary(snapshot, wanted)) == len(keys)


def test_a_job_that_there_is_not_is_an_error_that_names_the_jobs(snapshot: Snapshot) -> None:
    with pytest.raises(RejectsError, match=r"no job .clan.; did you mean clean"):
        summary(snapshot, Wanted(job="clan"))


def test_a_filter_that_matches_nothing_is_no_error_and_is_told_what_there_is(snapshot: Snapshot) -> None:
    told = CliRunner().invoke(app, ["rejects", "-w", str(snapshot.warehouse.root), "--reason", "timeout"])
    assert told.exit_code == 0
    assert "no reject --reason timeout; there are clean: no_text (4), ingest: empty (2)" in told.output


def test_the_command_prints_summary_then_rows_on_one_line_each_and_says_what_it_left_out(snapshot: Snapshot) -> None:
    told = CliRunner().invoke(app, ["rejects", "-w", str(snapshot.warehouse.root), "--limit", "2"])
    lines = told.output.splitlines()
    assert told.exit_code == 0
    assert lines[1].split() == ["clean", "no_text", "4", "50.00%"]
    assert lines[-3:] == [
        "ingest: empty: a.html: why a.html",
        "ingest: empty: b.html: why b.html",
        "... and 5 more; --limit 0 shows all",
    ]


def test_the_command_prints_one_json_object(snapshot: Snapshot) -> None:
    words = ["rejects", "-w", str(snapshot.warehouse.root), "--job", "clean", "--limit", "1", "--json"]
    found = json.loads(CliRunner().invoke(app, words).output)
    assert (found["snapshot"], found["summary"][0]["count"]) == ("1", 4)
    key = "https://tides.example/0"
    assert found["rows"] == [{"job": "clean", "key": key, "reason": "no_text", "detail": f"why\n{key}"}]


def test_a_snapshot_that_left_nothing_out_says_so(tmp_path: Path) -> None:
    empty = snapshot_of(tmp_path / "empty", [])
    told = CliRunner().invoke(app, ["rejects", "-w", str(empty.warehouse.root)])
    assert (told.exit_code, told.output) == (0, "snapshot 1 has no reject; it left nothing out\n")
