"""The core runs where no extra is installed: ingest, build and ask, with the model written from its weights."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import run_quern

# What starts before the command, and in its child processes: nothing below these names is found.
HIDING = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {extras} else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""
EXTRAS = "pyspark py4j ray torch transformers sentence_transformers scrapy twisted warcio PIL"
PAGES = {
    "ferry.md": "# The ferry Lady Orrin\n\nThe ferry Lady Orrin is 61 metres long.\n",
    "bees.html": "<html><body><article><h1>Bees</h1><p>The beekeepers of Casterby stopped using thyme strips in June"
    " 2023, because the strips did not kill any mites.</p></article></body></html>",
}


@pytest.fixture
def alone(tmp_path: Path) -> Callable[..., Any]:
    """The command line in a process, and children, in which none of the extras can be imported."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "sitecustomize.py").write_text(HIDING.format(extras=EXTRAS.split()))
    path = os.pathsep.join([str(tmp_path / "first"), os.environ.get("PYTHONPATH", "")])
    return partial(run_quern, PYTHONPATH=path, QUERN_CACHE=str(tmp_path / "cache"))


@pytest.mark.long
def test_a_build_and_a_question_need_no_extra(alone, tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    built = alone("build", folder, "-w", tmp_path / "wh", "--engine", "auto")
    assert built.returncode == 0, built.stderr
    assert "engine=local" in built.stderr
    assert "engine=spark" not in built.stderr
    asked = alone("ask", "-w", tmp_path / "wh", "How long is the ferry Lady Orrin?")
    assert "61 metres" in asked.stdout, asked.stderr


def test_what_needs_an_extra_says_so_in_one_sentence(alone, tmp_path):
    (tmp_path / "ferry.md").write_text(PAGES["ferry.md"])
    (tmp_path / "seeds").write_text("https://page.example/\n")
    for arguments, extra in (
        (("build", tmp_path / "ferry.md", "--engine", "spark"), "spark"),
        (("crawl", tmp_path / "seeds", "--set", "crawl.contact=a@page.example"), "crawl"),
    ):
        ended = alone(*arguments, "-w", tmp_path / "wh")
        assert ended.returncode == 2
        assert f"which is not installed: pip install '.[{extra}]' in the folder" in ended.stderr
        assert "Traceback" not in ended.stderr
