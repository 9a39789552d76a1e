from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from quern.indexes.catalog import Manifest, Warehouse
from tests.conftest import CORPUS, ROOT, Quern, build_here


def manifest(warehouse: Path) -> Manifest:
    return Warehouse.open(warehouse).manifest()


def digests(warehouse: Path) -> dict[str, str]:
    return {name: table.digest for name, table in manifest(warehouse).tables.items()}


def jobs(warehouse: Path) -> list[dict[str, Any]]:
    return manifest(warehouse).jobs


@pytest.fixture
def copied(mini_web: Path, tmp_path: Path) -> Path:
    """The mini-web's warehouse, free to be written to."""
    shutil.copytree(mini_web, tmp_path / "warehouse")
    return tmp_path / "warehouse"


@pytest.fixture
def site(one_site: Path, tmp_path: Path) -> Path:
    """One site of the mini-web, free to be written to."""
    shutil.copytree(one_site, tmp_path / "site")
    return tmp_path / "site"


def test_a_build_passes_its_audit_and_says_what_it_took(mini_web: Path) -> None:
    built = manifest(mini_web)
    assert all(check["passed"] for check in built.audit)
    assert len(built.audit) > 15
    assert built.tables["documents"].rows >= 75
    mentions = next(j for j in built.jobs if j["job"] == "link")["notes"]["mentions"]
    assert built.tables["edges"].rows == 3 * built.tables["nodes"].rows + mentions
    assert built.rejects["ingest: empty"] == 1
    assert 100 << 20 < built.peak_memory_bytes < 4 << 30
    assert {j["engine"] for j in built.jobs} == {"driver", "local"}
    assert all(i["unindexed_rows"] == 0 for t in built.tables.values() for i in t.indexes.values())


def test_one_changed_page_costs_one_page(copied: Path, tmp_path: Path, quern_here: Quern) -> None:
    before = manifest(copied)
    pages = tmp_path / "pages"
    shutil.copytree(CORPUS / "pages", pages)
    shutil.copytree(CORPUS / "update", pages, dirs_exist_ok=True)
    assert quern_here("build", pages, "-w", copied).returncode == 0
    after = manifest(copied)
    clean = next(j for j in after.jobs if j["job"] == "clean")
    assert (clean["computed"], clean["reused"]) == (1, before.tables["pages"].rows - 1)
    assert after.tables["documents"].rows == before.tables["documents"].rows
    old, new = (
        {r["doc_id"]: r["digest"] for b in s.stage("documents").batches() for r in b.to_pylist()}
        for s in (Warehouse.open(copied).snapshot(before.build_id), Warehouse.open(copied).snapshot())
    )
    assert sum(old[d] != new[d] for d in old) == 1, "the page keeps its id, and its digest says that it changed"
    assert quern_here("snapshots", "rollback", "-w", copied).returncode == 0
    assert manifest(copied).build_id == before.build_id


@pytest.mark.usefixtures("java")
@pytest.mark.parametrize(
    ("long_build", "engine"),
    [("a site by Spark [1] 库 %20", "spark"), ("a site by Ray", "ray")],
    indirect=["long_build"],
)
def test_the_engine_changes_no_digest(long_build: Path, engine: str, tmp_path: Path) -> None:
    assert engine in {j["engine"] for j in jobs(long_build)}
    here = build_here(CORPUS / "pages" / "brannock-review.example", tmp_path / "warehouse", "doc2query.pairs=3")
    assert digests(long_build) == digests(here)


@pytest.mark.usefixtures("java")
@pytest.mark.long
@pytest.mark.parametrize("long_build", ["mini-web by Spark", "mini-web by Ray"], indirect=True)
def test_nor_does_it_on_the_whole_mini_web(mini_web: Path, long_build: Path) -> None:
    assert digests(long_build) == digests(mini_web)


def test_an_interrupted_start_of_spark_leaves_no_process(site: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "quern.pipelines.cli",
            "build",
            str(site),
            "-w",
            str(tmp_path / "wh"),
            "--engine",
            "spark",
        ],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "engine=spark" in line:
            break
    deadline = time.monotonic() + 60
    while not (java := children(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert java
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=90)
    assert process.returncode == 130
    assert not [p for p in java if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def children(pid: int) -> list[psutil.Process]:
    return [p for p in psutil.Process(pid).children(recursive=True) if "java" in p.name()]


def test_a_folder_in_which_nothing_can_be_used_is_refused(tmp_path: Path, quern_here: Quern) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "empty.html").write_bytes(b"")
    refused = quern_here("build", tmp_path / "pages", "-w", tmp_path / "wh", "--engine", "local")
    assert refused.returncode == 2
    assert "no page could be read" in refused.stderr
    assert "empty.html: empty" in refused.stderr
    asked = quern_here("ask", "-w", tmp_path / "wh", "What?")
    assert (asked.returncode, "nothing is published" in asked.stderr) == (2, True)
    assert (len(asked.stderr.splitlines()), asked.stdout) == (1, "")


def test_of_pages_that_name_one_canonical_address_the_page_at_that_address_stays(
    tmp_path: Path, quern_here: Quern
) -> None:
    head = (
        '<html lang="en"><head><title>Tides</title><link rel="canonical" href="https://tides.example/quay.html"></head>'
    )
    host = tmp_path / "pages" / "tides.example"
    host.mkdir(parents=True)
    for name, text in {
        "copy": "The printed copy says only that high water at the quay is at nine.",
        "quay": "High water at the quay is at nine, and low water at three in the afternoon.",
    }.items():
        (host / f"{name}.html").write_text(f"{head}<body><article><p>{text}</p></article></body></html>")
    assert quern_here("build", tmp_path / "pages", "-w", tmp_path / "wh", "--engine", "local").returncode == 0
    (document,) = Warehouse.open(tmp_path / "wh").snapshot().stage("documents").batches(["page_url"])
    assert document.to_pylist() == [{"page_url": "https://tides.example/quay.html"}]
    assert manifest(tmp_path / "wh").rejects["clean: duplicate_key"] == 1
