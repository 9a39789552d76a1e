"""The recipes: one file or folder a family. To add one, add a file here that names its recipes in `RECIPES`."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Final

from quern.pipelines.retrieve.batch import Recipe
from quern.schemas.errors import QuernError
from quern.schemas.words.meant import no_such


class RecipeError(QuernError):
    """A recipe that does not exist; the message names those that do."""


def _discovered() -> dict[str, Recipe]:
    """The recipes of all files in this folder by name, file by file in the order of the alphabet."""
    families = sorted(module.name for module in pkgutil.iter_modules(__path__))
    recipes: dict[str, Recipe] = {}
    for family in families:
        for recipe in import_module(f"{__name__}.{family}").RECIPES:
            if recipe.name in recipes:
                raise ValueError(f"{family}.py names the recipe {recipe.name}, and so does a file before it")
            recipes[recipe.name] = recipe
    return recipes


RECIPES: Final = _discovered()
DEFAULT: Final = "bridge"


def find_recipes(names: str) -> list[Recipe]:
    """Recipes by their names, separated by commas.

    Raises:
        RecipeError: One of them does not exist.
    """
    wanted = [n.strip() for n in names.split(",") if n.strip()]
    unknown = [n for n in wanted if n not in RECIPES]
    if unknown or not wanted:
        raise RecipeError(no_such("recipe", unknown[0] if unknown else names, RECIPES))
    return [RECIPES[n] for n in dict.fromkeys(wanted)]
