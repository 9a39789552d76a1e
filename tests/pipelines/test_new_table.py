"""A table takes its declaration, the job that makes it and a line in the build; a recipe takes one file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import CORPUS, ROOT, Quern, run_quern

DECLARATION = '''
"""Table `headlines`: how long the titles of documents are."""

import pyarrow as pa

from quern.schemas.contract.expectations import Between
from quern.schemas.contract.table import Table, column

HEADLINES = Table(
    "headlines",
    ("doc_id",),
    pa.schema(
        [
            column("doc_id", pa.string(), "The document."),
            column("characters", pa.int64(), "Characters of its title."),
        ]
    ),
    doc="The length of a title.",
    row="headline",
    references={"doc_id": "documents"},
    expects=(Between("characters", 0),),
)
'''

JOB = '''
"""How long the titles of documents are."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.jobs.core.contract import Job, Outcome
from quern.schemas.tables.headlines import HEADLINES


class Headline(Job):
    """The length of each title."""

    name = "headline"
    version = 1
    engine = "cpu"
    reads = ("doc_id", "title")
    key = "doc_id"
    makes = HEADLINES

    def configuration(self):
        return {}

    def apply(self, batch):
        length = pc.fill_null(pc.utf8_length(batch.column("title")), 0).cast(pa.int64())
        rows = pa.RecordBatch.from_arrays([batch.column("doc_id"), length], schema=HEADLINES.schema)
        return Outcome(rows, np.arange(batch.num_rows))
'''

RECIPE = '''
"""The first chunk for every question."""

import numpy as np

from quern.indexes.lexical import in_order
from quern.pipelines.retrieve.batch import Recipe
from quern.pipelines.retrieve.ranking import Ranking


def rank_toy(batch):
    question = np.arange(len(batch))
    return Ranking(in_order(question, np.zeros_like(question), np.ones(len(batch), np.float32)))


RECIPES = (Recipe("toy", "A toy, of no paper.", rank_toy),)
'''

LINE = '    Step("headline", Headline, needs=(), reads=("documents",), makes=("headlines",)),\n'


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with a new table and a new recipe."""
    folder = tmp_path_factory.mktemp("house")
    package = folder / "quern"
    for name in ("schemas", "indexes", "jobs", "pipelines"):
        shutil.copytree(ROOT / name, package / name, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text((ROOT / "__init__.py").read_text())
    (package / "schemas" / "tables" / "headlines.py").write_text(DECLARATION)
    (package / "jobs" / "documents" / "headlines.py").write_text(JOB)
    (package / "pipelines" / "retrieve" / "recipes" / "toy.py").write_text(RECIPE)
    build = package / "pipelines" / "build" / "steps.py"
    head, steps, rest = build.read_text().partition("STEPS: Final = (\n")
    listed, end, rest = rest.partition("\n)\n")
    line = f"{listed}\n{LINE}".rstrip("\n")
    build.write_text(f"{head}from quern.jobs.documents.headlines import Headline\n\n{steps}{line}{end}{rest}")
    return folder


@pytest.fixture(scope="module")
def warehouse(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of a few pages, built in the house with the new table."""
    pages = CORPUS / "pages" / "brannock-review.example" / "2024" / "02"
    folder = tmp_path_factory.mktemp("built") / "warehouse"
    built = run_quern("build", pages, "-w", folder, "--engine", "local", cwd=house, PYTHONPATH=str(house))
    assert built.returncode == 0, built.stderr
    assert "job=headline in=" in built.stderr
    return folder


def test_a_table_and_a_recipe_are_planned_built_audited_published_shown_and_asked(
    house: Path, warehouse: Path, quern: Quern
) -> None:
    def ask(*words: object) -> dict[str, Any]:
        asked = quern(*words, "-w", warehouse, "--json", cwd=house, PYTHONPATH=str(house))
        assert asked.returncode == 0, asked.stderr
        answer: dict[str, Any] = json.loads(asked.stdout)
        return answer

    manifest = json.loads(next((warehouse / "snapshots").glob("*.json")).read_text())
    rows = manifest["tables"]["headlines"]["rows"]
    assert rows == manifest["tables"]["documents"]["rows"] > 0
    audited = [check["expectation"] for check in manifest["audit"] if "headlines" in check["expectation"]]
    assert len(audited) > 2
    assert any("characters" in name for name in audited)
    plan = ask("plan", CORPUS / "pages" / "brannock-review.example" / "2024" / "02")
    step = next(step for step in plan["steps"] if step["name"] == "headline")
    assert (step["upstream"], step["compute"], step["reuse"]) == (["deduplicate"], 0, rows)
    row = pq.read_table(warehouse / manifest["tables"]["headlines"]["file"]).to_pylist()[0]
    shown = ask("show", "headline", row["doc_id"])
    assert shown["row"] == row
    answer = ask("ask", "--recipe", "toy", "Who repaired the bridge?")
    assert (answer["recipe"], len(answer["hits"])) == ("toy", 1)


def test_a_table_is_listed_in_the_reference(house: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.reference", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": f"{house}{os.pathsep}{ROOT}"}, check=True)
    assert "`characters`" in (tmp_path / "tables.md").read_text()
    assert "documents -->|headline| headlines" in (tmp_path / "build.md").read_text()
