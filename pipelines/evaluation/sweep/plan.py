"""What a sweep computes: points, and the builds that they share.

A point is known by the digest of all that its figures depend on: Quern's code, the dataset's content, the settings,
the recipe, the metrics. A finished point with that digest is never computed anew. Points whose build settings are
equal share one build, so that settings of retrieval alone never rebuild; builds of one dataset share a warehouse,
and so its memo.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from quern import schemas
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.evaluation.sweep.spec import (
    Choice,
    Dataset,
    Sweep,
    SweepError,
    base_settings,
    settings_of,
)
from quern.schemas.digests import settings_digest
from quern.schemas.settings import BuildSettings, SearchSettings, Settings, results
from quern.schemas.words.meant import no_such

_MOST_TYPES = 30
_ROOMS = ("schemas", "indexes", "jobs", "pipelines")
# What shows or calls, and computes no figure.
_SHOWS = ("pipelines/cli", "pipelines/inspect", "pipelines/evaluation/sweep")


@dataclass(frozen=True)
class Point:
    """One measurement.

    Attributes:
        id: Digest of all that the figures depend on; name of its file.
        dataset: Name of the dataset.
        choice: Recipe, and settings in which it differs from the sweep's.
        settings: All settings.
    """

    id: str
    dataset: str
    choice: Choice
    settings: Settings

    @property
    def label(self) -> str:
        """Recipe and own settings, as `qcg graph.hops=2`."""
        return label(self.choice)


@dataclass(frozen=True)
class Build:
    """A build that points share.

    Attributes:
        id: Digest of code, documents and the settings that a build depends on.
        dataset: Name of the dataset.
        source: What is built.
        settings: Settings of the build.
        points: The points that search it.
    """

    id: str
    dataset: str
    source: Path
    settings: Settings
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Plan:
    """All points of a sweep.

    Attributes:
        sweep: What was asked for.
        sources: Datasets that are there, with absolute paths.
        absent: Names of datasets that are not there.
        points: Each distinct point once.
        builds: In the order to be built: builds that share most of their work are neighbours.
        grids: (grid, point) for each point of each grid; a point may be of several.
        baseline: Dataset to the id of its baseline point.
        comparisons: (name, dataset, id of the first point, id of the second).
    """

    sweep: Sweep
    sources: dict[str, Dataset]
    absent: list[str]
    points: dict[str, Point]
    builds: list[Build]
    grids: list[tuple[str, str]]
    baseline: dict[str, str]
    comparisons: list[tuple[str, str, str, str]]


def label(choice: Choice) -> str:
    """Recipe and settings of a choice, as one word each."""
    return " ".join([choice.recipe, *(f"{n}={_short(v)}" for n, v in choice.settings.items())])


def value_of(settings: Settings, name: str) -> Any:
    """The value of the setting `group.name`."""
    group, _, leaf = name.partition(".")
    return getattr(getattr(settings, group), leaf)


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


@cache
def code_digest() -> str:
    """Digest of Quern's own code: figures of two versions do not belong into one table."""
    root = Path(schemas.__file__).parents[1]
    digest = blake2b(digest_size=16)
    for path in sorted(p for room in _ROOMS for p in (root / room).rglob("*.py")):
        if path.relative_to(root).as_posix().startswith(_SHOWS):
            continue
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def content_digest(path: Path) -> str:
    """Digest of a file's bytes; of a folder, of its files' names, sizes and times of change."""
    digest = blake2b(digest_size=16)
    if path.is_dir():
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            stat = file.stat()
            digest.update(f"{file.relative_to(path)}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
        return digest.hexdigest()
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def build_key(settings: Settings) -> tuple[str, ...]:
    """The settings that a build's tables depend on, group by group in the order in which a build reads them."""
    return tuple(json.dumps(group, sort_keys=True) for group in results(settings, BuildSettings).values())


def plan_sweep(sweep: Sweep, folder: Path, where: str, only: frozenset[str] = frozenset()) -> Plan:
    """The plan of `sweep`, whose paths are relative to `folder`; of the datasets `only`, where any are named.

    Raises:
        SettingsError: A setting is unknown or ill-typed.
        SweepError: A dataset is named that the sweep does not have, none of them is there, or one has no evidence.
        QuestionError: A file of questions cannot be used.
    """
    if unknown := sorted(only - set(sweep.datasets)):
        raise SweepError(f"{where}: {no_such('dataset', unknown[0], sweep.datasets)}")
    base = base_settings(sweep, where)
    wanted = {n: d for n, d in sweep.datasets.items() if not only or n in only}
    sources = {n: _at(d, folder) for n, d in wanted.items()}
    absent = [n for n, d in sources.items() if not (d.documents.exists() and d.questions.is_file())]
    if len(absent) == len(sources):
        first = sources[absent[0]]
        raise SweepError(
            f"{where}: none of its datasets is at {folder}: {first.documents} and {first.questions} are looked for "
            "first; name the folder with --datasets"
        )
    present = {n: d for n, d in sources.items() if n not in absent}
    for name, dataset in present.items():
        _check_questions(name, dataset)
    planner = _Planner(sweep, present, base, where)
    grids = [(grid.name, id_) for grid in sweep.grids for choice in grid.choices() for id_ in planner.add(choice)]
    baseline = {planner.points[i].dataset: i for i in planner.add(sweep.baseline)}
    comparisons = [
        (c.name, planner.points[of].dataset, of, over)
        for c in sweep.comparisons
        for of, over in zip(planner.add(c.of), planner.add(c.over), strict=True)
    ]
    return Plan(sweep, present, absent, planner.points, planner.builds(), grids, baseline, comparisons)


def _at(dataset: Dataset, folder: Path) -> Dataset:
    places = {
        "documents": (folder / dataset.documents).absolute(),
        "questions": (folder / dataset.questions).absolute(),
    }
    return dataset.model_copy(update=places)


def _check_questions(name: str, dataset: Dataset) -> None:
    """See to it that a dataset can be measured on before anything is built."""
    if not any(q.evidence_doc_ids or q.evidence_urls for q in read_questions(dataset.questions)):
        raise SweepError(f"dataset {name}: no question of {dataset.questions} has evidence_doc_ids or evidence_urls")
    if (types := len(set(question_types(dataset).values()))) > _MOST_TYPES:
        raise SweepError(f"dataset {name}: the field {dataset.type!r} has {types:,} values; a type is shared by many")


def question_types(dataset: Dataset) -> dict[str, str]:
    """Query id to the question's type, where the dataset's questions have its field."""
    found: dict[str, str] = {}
    for line in dataset.questions.read_text("utf-8-sig").split("\n"):
        row: dict[str, Any] = json.loads(line) if line.strip() else {}
        if (value := row.get(dataset.type)) is not None:
            found[str(row["query_id"])] = str(value)
    return found


class _Planner:
    """Collects distinct points and groups them by their builds."""

    def __init__(self, sweep: Sweep, sources: dict[str, Dataset], base: Settings, where: str) -> None:
        self.points: dict[str, Point] = {}
        self._sweep, self._sources, self._base, self._where = sweep, sources, base, where
        self._documents = {n: content_digest(d.documents) for n, d in sources.items()}
        self._questions = {n: [content_digest(d.questions), d.type] for n, d in sources.items()}

    def add(self, choice: Choice) -> list[str]:
        """Ids of the choice's points, one per dataset."""
        settings = settings_of(choice, self._base, f"{self._where}: {label(choice)}")
        own = {n: v for n, v in choice.settings.items() if value_of(settings, n) != value_of(self._base, n)}
        choice = choice.model_copy(update={"settings": own})
        tree = results(settings, BuildSettings, SearchSettings)
        shared = [code_digest(), tree, choice.recipe, self._sweep.metrics, self._sweep.depth]
        ids = []
        for name in self._sources:
            id_ = settings_digest([*shared, name, self._documents[name], *self._questions[name]])
            self.points.setdefault(id_, Point(id_, name, choice, settings))
            ids.append(id_)
        return ids

    def builds(self) -> list[Build]:
        """The builds, each with its points; those that differ in their last tables alone are neighbours."""
        grouped: dict[tuple[str, ...], list[Point]] = {}
        for point in self.points.values():
            grouped.setdefault((point.dataset, *build_key(point.settings)), []).append(point)
        return list(self._ordered(grouped))

    def _ordered(self, grouped: dict[tuple[str, ...], list[Point]]) -> Iterator[Build]:
        first = {key[:n]: at for at, key in reversed(list(enumerate(grouped))) for n in range(1, len(key) + 1)}
        for key in sorted(grouped, key=lambda k: [first[k[:n]] for n in range(1, len(k) + 1)]):
            name = key[0]
            id_ = settings_digest([code_digest(), *key, self._documents[name]])
            points = tuple(grouped[key])
            yield Build(id_, name, self._sources[name].documents, points[0].settings, points)
