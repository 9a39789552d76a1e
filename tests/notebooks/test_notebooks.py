"""The notebooks: committed without outputs, and run from the first cell to the last over the shared warehouse."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from tests.conftest import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_committed_without_outputs_and_listed(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    assert f"notebooks/{path.name})" in (ROOT / "docs" / "howto" / "notebooks.md").read_text("utf-8")


@pytest.fixture(scope="module")
def kernel(mini_web: Path) -> Iterator[KernelManager]:
    """One process for all notebooks, which imports libraries and loads the model once."""
    # Where Matplotlib has no list of fonts yet, it warns on a slow machine that it makes one.
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True, capture_output=True)
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(FOLDER), env={**os.environ, "QUERN_WAREHOUSE": str(mini_web)})
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(
    ("name", "tables", "pictures"),
    [
        pytest.param("1_quickstart", 7, 0, marks=pytest.mark.long),
        pytest.param("2_graph", 8, 0, marks=pytest.mark.long),
        pytest.param("3_comparing_recipes", 5, 1, marks=pytest.mark.long),
        pytest.param("4_timelines", 3, 1, marks=pytest.mark.long),
        pytest.param("5_why_this_answer", 4, 0, marks=pytest.mark.long),
        ("explore_graph", 5, 2),
    ],
)
def test_a_notebook_runs_from_the_first_cell_to_the_last(
    name: str, tables: int, pictures: int, kernel: KernelManager
) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    # It sees no name of one that ran before.
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    NotebookClient(notebook, km=kernel, timeout=300).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
    shown = Counter(kind for output in outputs for kind in output.get("data", {}))
    assert shown["text/html"] >= tables
    assert shown["image/png"] + shown["image/svg+xml"] == pictures


def test_every_notebook_is_run() -> None:
    marks = test_a_notebook_runs_from_the_first_cell_to_the_last.pytestmark
    assert {getattr(row, "values", row)[0] for row in marks[0].args[1]} == {path.stem for path in NOTEBOOKS}
