"""A recipe is one file in the folder of recipes, and nothing else."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from quern.pipelines.retrieve import recipes
from tests.conftest import ROOT, Quern

TOY = '''
"""Chunks in the order of their keys: what no question asks for."""

from typing import Final

import numpy as np

from quern.indexes.lexical import in_order
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.batch import Recipe


def rank_toy(batch: Batch) -> Ranking:
    """The first chunks of the snapshot."""
    chunk = np.arange(3)
    return Ranking(in_order(np.repeat(np.arange(len(batch)), 3), np.tile(chunk, len(batch)), np.zeros(3 * len(batch))))


RECIPES: Final = (Recipe("toy", "A toy, of no paper.", rank_toy),)
'''


@pytest.fixture
def house_with_a_toy(tmp_path: Path) -> Path:
    """The package as it is, and one more file among the recipes."""
    package = tmp_path / "quern"
    for room in ("schemas", "indexes", "jobs", "pipelines"):
        shutil.copytree(ROOT / room, package / room, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text((ROOT / "__init__.py").read_text())
    (package / "pipelines" / "retrieve" / "recipes" / "toy.py").write_text(TOY)
    return tmp_path


def test_a_recipe_in_a_file_of_its_own_is_listed_and_asked(
    house_with_a_toy: Path, mini_web: Path, quern: Quern
) -> None:
    listed = quern("recipes", PYTHONPATH=str(house_with_a_toy), cwd=house_with_a_toy)
    assert "A toy, of no paper." in listed.stdout, listed.stderr
    asked = quern(
        *("ask", "-w", mini_web, "--recipe", "toy", "--json", "Who repaired the bridge?"),
        PYTHONPATH=str(house_with_a_toy),
        cwd=house_with_a_toy,
    )
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert answer["recipe"] == "toy"
    assert len(answer["hits"]) == 3


def test_recipes_come_file_by_file_in_the_order_of_the_alphabet() -> None:
    files = sorted(file.stem for file in Path(recipes.__path__[0]).glob("*.py") if not file.stem.startswith("_"))
    modules = [import_module(f"{recipes.__name__}.{file}") for file in files]
    assert [*recipes.RECIPES] == [recipe.name for module in modules for recipe in getattr(module, "RECIPES", ())]
