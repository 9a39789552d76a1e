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


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        (Wanted(job="ingest"), ["a.html", "b.html"]),
        (Wanted(reason="too_long"), ["https://quay.example/"]),
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


def test_the_command_prints_shares_of_each_jobs_input_then_rows_on_one_line_each(snapshot: Snapshot) -> None:
    words = ["rejects", "-w", str(snapshot.warehouse.root)]
    lines = CliRunner().invoke(app, [*words, "--limit", "2"]).output.splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["clean", "no_text", "4", "50.00%"],
        ["ingest", "empty", "2", "20.00%"],
        ["clean", "too_long", "1", "12.50%"],
    ]
    assert lines[-3:] == [
        "ingest: empty: a.html: why a.html",
        "ingest: empty: b.html: why b.html",
        "... and 5 more; --limit 0 shows all",
    ]
    found = json.loads(CliRunner().invoke(app, [*words, "--job", "clean", "--limit", "1", "--json"]).output)
    key = "https://tides.example/0"
    assert (found["snapshot"], found["summary"][0]["count"]) == ("1", 4)
    assert found["rows"] == [{"job": "clean", "key": key, "reason": "no_text", "detail": f"why\n{key}"}]
    told = CliRunner().invoke(app, [*words, "--reason", "timeout"]).output
    assert "no reject --reason timeout; there are clean: no_text (4), ingest: empty (2)" in told
