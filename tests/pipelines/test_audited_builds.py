from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from quern.indexes.catalog import Warehouse
from quern.indexes.checksums import DamagedError
from quern.jobs.audit.validation import audit
from quern.pipelines.audit import audit_snapshot, lost_shares, reject_shares, rows_in, write_docs
from quern.pipelines.build.in_progress import BuildRefusedError
from quern.pipelines.build.steps import STEPS
from quern.pipelines.build.whole import build
from quern.pipelines.cli.snapshots import app
from quern.schemas.contract.expectations import LOST
from quern.schemas.settings import Settings
from quern.schemas.settings.reading import load_settings
from quern.schemas.tables import EDGES, NODES
from tests.conftest import Quern

SENTENCE = "The harbour of {} was dredged in March, and the ferry to the islands runs twice a day since then. "
LOCAL = ("engine.engine=local",)


def corpus(path: Path, count: int) -> Path:
    """A file of documents, and one line that is none."""
    names = ("Marrow Head", "Averil", "Tollen", "Brannock", "Selkirk Sound", "Oster")[:count]
    lines = [{"doc_id": n, "title": n, "text": SENTENCE.format(n) * 2, "language": "en"} for n in names]
    path.write_text("\n".join([*(json.dumps(line) for line in lines), '{"doc_id": "broken"}']), "utf-8")
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Warehouse, Path]:
    """A warehouse with one snapshot of six documents, and its source."""
    folder = tmp_path_factory.mktemp("audited")
    source = corpus(folder / "six.jsonl", 6)
    warehouse = Warehouse.create(folder / "warehouse")
    build(source, warehouse, load_settings(overrides=LOCAL))
    return warehouse, source


def failed(manifest: Any) -> set[str]:
    return {c["expectation"] for c in manifest.audit if not c["passed"]}


def test_the_manifest_holds_every_check_and_the_shares_of_rejects(built: tuple[Warehouse, Path]) -> None:
    manifest = built[0].manifest(built[0].snapshot_ids()[0])
    assert failed(manifest) == set()
    assert {c["table"] for c in manifest.audit} == {*manifest.tables, "reject_share"}
    assert {c["severity"] for c in manifest.audit} == {"critical", "warning"}
    skipped = {c["table"] for c in manifest.audit if c["skipped"]}
    assert skipped == set(manifest.tables)
    shares = dict(manifest.reject_shares)
    assert shares.pop("find_events: no_date") == 1.0, "no document is dated, so that no event is, and nothing is lost"
    assert list(shares.values()) == [pytest.approx(1 / 7)]
    assert manifest.reject_shares.keys() == manifest.rejects.keys()


def test_data_docs_are_pages_that_need_nothing_but_themselves(built: tuple[Warehouse, Path]) -> None:
    warehouse, _ = built
    docs = warehouse.audits / warehouse.snapshot_ids()[0]
    index = (docs / "index.html").read_text("utf-8")
    checks = json.loads((docs / "checks.json").read_text("utf-8"))
    assert {c["table"] for c in checks} == {*warehouse.manifest().tables, "reject_share"}
    for check in checks:
        assert check["expectation"] in index
    for outside in ("<script", "<link", "<img", "http://", "https://", "@import"):
        assert outside not in index


def test_a_critical_failure_publishes_nothing_and_names_the_data_docs(
    built: tuple[Warehouse, Path], tmp_path: Path
) -> None:
    warehouse, _ = built
    before = warehouse.current_id()
    with pytest.raises(BuildRefusedError, match="documents lost since the last build") as refused:
        build(corpus(tmp_path / "two.jsonl", 2), warehouse, load_settings(overrides=LOCAL))
    assert warehouse.current_id() == before
    index = max(warehouse.audits.iterdir()) / "index.html"
    assert str(index) in str(refused.value)
    page = index.read_text("utf-8")
    assert "documents lost since the last build" in page
    assert "A critical expectation failed" in page


def test_a_corpus_without_text_is_refused_by_its_cause_first(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    for n in range(3):
        (tmp_path / "pages" / f"{n}.html").write_text("<html><body><nav>Home</nav></body></html>")
    with pytest.raises(BuildRefusedError) as refused:
        build(tmp_path / "pages", Warehouse.create(tmp_path / "wh"), load_settings(overrides=LOCAL))
    cause, *rest = str(refused.value).partition("was not published: ")[2].split("; ")
    assert cause.startswith("3 of 3 rows lost by clean: no_text, the first ")
    assert rest[0] == "pages rejected share: observed 1, expected 0 to 0.5 (audit.max_reject_share)"
    assert "documents not_empty: observed 0 rows, expected at least 1" in rest
    assert not [told for told in rest if "text_length" in told or "language" in told]


def test_a_warning_is_published_and_told(built: tuple[Warehouse, Path]) -> None:
    warehouse, source = built
    manifest = build(source, warehouse, load_settings(overrides=[*LOCAL, "audit.languages=[fr]"]))
    assert warehouse.current_id() == manifest.build_id
    assert failed(manifest) == {"documents.language in_set"}
    assert [s.name for s in manifest.steps] == [s.name for s in STEPS], "also of tables that did not change"
    assert not [c for c in manifest.audit if c["skipped"]]
    page = (warehouse.audits / manifest.build_id / "index.html").read_text("utf-8")
    assert "6 of 6 unexpected, such as en, en, en (audit.max_other_language)" in page


def test_a_snapshot_is_audited_again_with_its_own_settings_unless_told_otherwise(
    built: tuple[Warehouse, Path], quern_here: Quern
) -> None:
    warehouse, _ = built
    oldest = warehouse.snapshot_ids()[0]
    done = CliRunner().invoke(app, ["audit", "-w", str(warehouse.root), "--snapshot", oldest])
    assert done.exit_code == 0
    assert f"data docs: {warehouse.audits / oldest / 'index.html'}" in done.output
    assert "documents" in done.output
    told = quern_here("audit", "-w", warehouse.root, "--set", "audit.max_reject_share=0", "--json")
    warned = {c["expectation"] for c in json.loads(told.stdout)["checks"] if not c["passed"]}
    assert (told.returncode, warned >= {"pages rejected share", "ingest rejected share"}) == (0, True)


def test_a_first_build_of_mostly_broken_rows_is_published_and_one_that_loses_many_more_is_not(
    tmp_path: Path, quern_here: Quern
) -> None:
    source, warehouse = corpus(tmp_path / "three.jsonl", 3), tmp_path / "warehouse"
    run = ("build", source, "-w", warehouse, "--engine", "local")
    source.write_text(source.read_text("utf-8") + '\n{"doc_id": "broken"}' * 8, "utf-8")
    built = quern_here(*run)
    assert built.returncode == 0, built.stderr
    assert "  warning: lost documents: 9 by ingest: missing_field; `quern rejects` shows each" in built.stdout
    assert "  left out without loss: 3 by find_events: no_date" in built.stdout
    assert failed(Warehouse.open(warehouse).manifest()) == {"pages rejected share", "ingest rejected share"}
    source.write_text(source.read_text("utf-8") + '\n{"doc_id": "broken"}' * 60, "utf-8")
    refused = quern_here(*run)
    assert refused.returncode == 2
    assert "was not published: 69 of 72 rows lost by ingest: missing_field, the first " in refused.stderr
    assert "pages rejected share: observed 0.9583, expected 0 to 0.875 (audit.max_reject_share)" in refused.stderr
    assert quern_here(*run, "--set", "audit.max_reject_share=1").returncode == 0
    told = quern_here("audit", "-w", warehouse, "--set", "audit.max_reject_share=0.5", "--json")
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert not json.loads(told.stdout)["passed"]


def test_a_damaged_snapshot_is_told_from_a_failed_one(built: tuple[Warehouse, Path]) -> None:
    warehouse, _ = built
    snapshot = warehouse.snapshot()
    path = snapshot.stage("edges").path
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DamagedError, match="is damaged"):
            audit_snapshot(snapshot, Settings())
        path.unlink()
        with pytest.raises(DamagedError, match="is damaged"):
            audit_snapshot(snapshot, Settings())
    finally:
        path.write_bytes(whole)


def test_what_pages_say_cannot_act_in_the_data_docs(tmp_path: Path) -> None:
    from tests.jobs.audit.test_validation import SOUND, limits, stage_of

    hostile = SOUND["edges"][0] | {"target": "<script>alert(1)</script><img src=x>", "kind": "</td><b>"}
    nodes = stage_of(tmp_path / "nodes", NODES.with_dimension(2), SOUND["nodes"])
    edges = stage_of(tmp_path / "edges", EDGES, [hostile])
    assert pq.read_metadata(edges.path).num_rows == 1
    index = write_docs(audit({"nodes": nodes, "edges": edges}, {}, limits()), "run", tmp_path / "docs")
    text = index.read_text("utf-8")
    assert "alert(1)" in text
    for markup in ("<script", "<img", "<b>"):
        assert markup not in text
    assert "&amp;lt;" not in text


def test_shares_count_losses_only_and_take_reading_and_cleaning_together() -> None:
    reasons = Counter({("ingest", "empty"): 2, ("ingest", "duplicate_url"): 5, ("clean", "no_text"): 4})
    reasons[("deduplicate", "near_duplicate")] = 3
    reports = [{"job": j, "rows_in": n} for j, n in (("ingest", 9), ("clean", 8), ("deduplicate", 4), ("embed", 1))]
    given = rows_in([*reports, {"job": "embed", "rows_in": 9}], reasons, pages=8)
    assert given == {"ingest": 10, "clean": 8, "deduplicate": 4, "embed": 10}
    jobs = ["ingest", "clean", "normalise", "deduplicate"]
    shares = {"ingest": 0.2, "clean": 0.5, "deduplicate": 0.0, "embed": 0.0}
    assert lost_shares(given, reasons, jobs) == {LOST: 0.6, **shares}
    assert reject_shares(given, reasons) == {
        "clean: no_text": 0.5,
        "deduplicate: near_duplicate": 0.75,
        "ingest: duplicate_url": 1 / 3,
        "ingest: empty": 2 / 15,
    }
    reasons[("ingest", "bad_date")] = 3
    assert reject_shares(given, reasons)["ingest: bad_date"] == 1 / 5
    assert lost_shares({}, Counter(), jobs)[LOST] == 1.0
