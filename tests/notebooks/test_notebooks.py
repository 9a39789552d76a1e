from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


def test_the_notebook_explores_the_graph_of_the_sample_corpus(mini_web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERN_WAREHOUSE", str(mini_web))
    notebook = nbformat.read(ROOT / "notebooks" / "explore_graph.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT / "notebooks")}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert shown.count("image/png") == 2, "two plots"
    assert shown.count("text/html") >= 5, "five tables"
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
