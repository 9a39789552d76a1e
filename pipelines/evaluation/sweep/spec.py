"""The file of a sweep: datasets, grids of settings, recipes, metrics, a baseline and comparisons.

    datasets:
      lihua: {documents: lihua/documents.jsonl, questions: lihua/queries.jsonl}
    baseline: {recipe: dense}
    grids:
      - {name: hops, recipes: [qcg], settings: {graph.hops: [0, 1, 2]}}

Paths are relative to the file, or to the folder given with `--datasets`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from quern.pipelines.evaluation.answers import PER_QUESTION
from quern.pipelines.retrieve.recipes import RECIPES
from quern.schemas.errors import QuernError
from quern.schemas.settings import Group, Settings, changes_results
from quern.schemas.settings.reading import SettingsError, load_settings
from quern.schemas.words.meant import no_such

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
ACCURACY = "accuracy"
"""Answers that the Task `judge_gold` finds right, 0 or 1, by the point's generator (QCG-RAG, section 4)."""
_METRIC = re.compile(r"(R|P|Success|AllEvidence)@[1-9]\d{0,3}|(nDCG|AP|RR)(@[1-9]\d{0,3})?")


class SweepError(QuernError):
    """A sweep that cannot be run; the message says what is wrong, where, and what to do."""


def _known_recipe(recipe: str) -> str:
    if recipe not in RECIPES:
        raise ValueError(no_such("recipe", recipe, RECIPES))
    return recipe


Recipe = Annotated[str, AfterValidator(_known_recipe)]


class Dataset(Group):
    """Documents and questions with gold evidence."""

    documents: Path = Field(description="What `quern build` reads: JSONL, a folder of pages, WARC files.")
    questions: Path = Field(description="JSONL, Parquet or CSV with query_id, question, evidence, and gold answers.")


class Choice(Group):
    """One point of a sweep, by its recipe and the settings in which it differs from the sweep's."""

    recipe: Recipe
    settings: dict[str, Any] = Field(default_factory=dict)


class Comparison(Group):
    """Two points whose paired difference is measured: what the first is worth over the second."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    of: Choice
    over: Choice


class Grid(Group):
    """All combinations of some settings' values, for some recipes."""

    name: Name
    recipes: tuple[Recipe, ...] = Field(min_length=1)
    settings: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = Field(default_factory=dict)

    @field_validator("recipes", mode="before")
    @classmethod
    def _all(cls, recipes: Any) -> Any:
        return tuple(RECIPES) if recipes == "all" else recipes

    def choices(self) -> Iterator[Choice]:
        """Its points, recipe by recipe within each combination of values."""
        for values in product(*self.settings.values()):
            for recipe in self.recipes:
                yield Choice(recipe=recipe, settings=dict(zip(self.settings, values, strict=True)))


class Sweep(Group):
    """What is measured."""

    datasets: dict[Name, Dataset] = Field(min_length=1)
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings of all points, as a settings file.")
    baseline: Choice = Field(description="The point that all others are compared with, on each dataset.")
    grids: tuple[Grid, ...] = Field(min_length=1)
    comparisons: tuple[Comparison, ...] = ()
    metrics: tuple[str, ...] = Field(("R@5", "R@2", "R@10", "AllEvidence@5", "RR", "nDCG@10"), min_length=1)

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        for metric in metrics:
            if metric not in (*PER_QUESTION, ACCURACY) and not _METRIC.fullmatch(metric):
                of_answers = ", ".join((*PER_QUESTION, ACCURACY))
                raise ValueError(
                    f"there is no metric {metric!r}; there are R@5, AllEvidence@5, RR, nDCG@10, P@5, AP, {of_answers}"
                )
        return tuple(dict.fromkeys(metrics))

    @model_validator(mode="after")
    def _not_too_many(self) -> Sweep:
        sizes = [len(g.recipes) * prod(len(v) for v in g.settings.values()) for g in self.grids]
        if sum(sizes) * len(self.datasets) > 10_000:
            raise ValueError(f"{sum(sizes) * len(self.datasets):,} points; a sweep has at most 10,000")
        names = [g.name for g in self.grids]
        if len(set(names)) < len(names):
            raise ValueError(f"two grids have the name {max(names, key=names.count)}")
        return self


def settings_of(choice: Choice, base: Settings | None, where: str) -> Settings:
    """The settings of a point: `base` with the point's own values.

    Raises:
        SettingsError: A setting is unknown, ill-typed, or changes no result.
    """
    for name in choice.settings if base else ():
        if not changes_results(name):
            raise SettingsError(f"{where}: {name} changes no result, so there is nothing to compare")
    try:
        return load_settings(None, [f"{n}={json.dumps(v, default=str)}" for n, v in choice.settings.items()], base)
    except SettingsError as error:
        raise SettingsError(f"{where}: {str(error).removeprefix('settings: ')}") from None


def base_settings(sweep: Sweep, where: str) -> Settings:
    """The settings that all points of the sweep share; jobs run in process unless the file says otherwise.

    Raises:
        SettingsError: A setting is unknown or ill-typed.
    """
    flat: dict[str, Any] = {"engine.engine": "local"}
    for group, branch in sweep.settings.items():
        if not isinstance(branch, Mapping):
            raise SettingsError(f"{where}: settings: write {group} as a group, for example link: {{k: 2}}")
        flat |= {f"{group}.{name}": value for name, value in branch.items()}
    return settings_of(Choice(recipe=sweep.baseline.recipe, settings=flat), None, where)


def read_sweep(path: Path) -> Sweep:
    """The sweep in the YAML file at `path`.

    Raises:
        SweepError: The file cannot be read, or says something that it cannot say.
    """
    try:
        tree = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise SweepError(f"sweep {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SweepError(f"sweep {path} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(tree, dict):
        raise SweepError(
            f"sweep {path} must hold datasets, baseline and grids; pipelines/evaluation/sweep/paper.yaml is one"
        )
    try:
        return Sweep.model_validate(tree)
    except ValidationError as error:
        raise SweepError("; ".join(_explain(e, str(path)) for e in error.errors()[:3])) from None


def _explain(error: ErrorDetails, where: str) -> str:
    # A union of types puts its alternatives into the place; they mean nothing to a reader.
    parts = [str(p) for p in error["loc"] if not str(p).startswith(("tuple[", "literal["))]
    path = ".".join(parts) or "the sweep"
    if error["type"] == "extra_forbidden":
        fields = {name for model in (Sweep, Grid, Dataset, Choice, Comparison) for name in model.model_fields}
        return f"{where}: {path}: {no_such('key', parts[-1], sorted(fields))}"
    return f"{where}: {path}: {error['msg'].removeprefix('Value error, ')}"
