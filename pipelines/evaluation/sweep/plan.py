"""What a sweep computes: points, and the builds that they share.

A point is known by the digest of all that its figures depend on: Quern's code, the dataset's content, the settings,
the recipe, the metrics. A finished point with that digest is never computed anew. Points whose build settings are
equal share one build, so that settings of retrieval alone never rebuild; builds of one dataset share a warehouse,
and so its memo.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b, file_digest
from operator import attrgetter
from pathlib import Path

from quern import schemas
from quern.pipelines.answers.questions import read_questions
from quern.pipelines.evaluation.sweep.spec import Choice, Dataset, Sweep, SweepError, base_settings, settings_of
from quern.schemas.digests import settings_digest
from quern.schemas.settings import BuildSettings, SearchSettings, Settings, results


@dataclass(frozen=True)
class Point:
    """One measurement."""

    id: str  # Digest of all that the figures depend on; name of its file.
    dataset: str
    choice: Choice  # Recipe, and settings in which it differs from the sweep's.
    settings: Settings

    @property
    def label(self) -> str:
        """Recipe and own settings, as `qcg graph.hops=2`."""
        return label(self.choice)


@dataclass(frozen=True)
class Build:
    """A build that points share."""

    id: str  # Digest of code, documents and the settings that a build depends on.
    dataset: str
    source: Path
    points: tuple[Point, ...]  # They search it, and their settings differ in the search alone.

    @property
    def settings(self) -> Settings:
        """Settings of the build."""
        return self.points[0].settings


@dataclass(frozen=True)
class Plan:
    """All points of a sweep."""

    sweep: Sweep
    sources: dict[str, Dataset]  # Datasets that are there, with absolute paths.
    absent: list[str]  # Names of datasets that are not there.
    points: dict[str, Point]  # By id, each distinct point once.
    builds: list[Build]  # In the order to be built: those that share most of their work are neighbours.
    grids: list[tuple[str, str]]  # (grid, point) for each point of each grid; a point may be of several.
    baseline: dict[str, str]  # Dataset to the id of its baseline point.
    comparisons: list[tuple[str, str, str, str]]  # (name, dataset, id of the first point, id of the second).


def label(choice: Choice) -> str:
    """Recipe and settings of a choice, as one word each."""
    values = {n: v if isinstance(v, str) else json.dumps(v, default=str) for n, v in choice.settings.items()}
    return " ".join([choice.recipe, *(f"{name}={value}" for name, value in values.items())])


@cache
def code_digest() -> str:
    """Digest of Quern's own code: figures of two versions do not belong into one table."""
    root = Path(schemas.__file__).parents[1]
    digest = blake2b(digest_size=16)
    shown = ("pipelines/cli", "pipelines/inspect", "pipelines/evaluation/sweep")  # These compute no figure.
    for path in sorted(p for room in ("schemas", "indexes", "jobs", "pipelines") for p in (root / room).rglob("*.py")):
        if path.relative_to(root).as_posix().startswith(shown):
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
        return file_digest(stream, lambda: digest).hexdigest()


def plan_sweep(sweep: Sweep, folder: Path, where: str) -> Plan:
    """The plan of `sweep`, whose paths are relative to `folder`.

    Raises:
        SettingsError: A setting is unknown or ill-typed.
        SweepError: None of the datasets is there, or one has no evidence.
        QuestionError: A file of questions cannot be used.
    """
    base = base_settings(sweep, where)
    every = {
        n: d.model_copy(update={of: (folder / getattr(d, of)).absolute() for of in ("documents", "questions")})
        for n, d in sweep.datasets.items()
    }
    sources = {n: d for n, d in every.items() if d.documents.exists() and d.questions.is_file()}
    if not sources:
        first = next(iter(every.values()))
        raise SweepError(
            f"{where}: none of its datasets is at {folder}: {first.documents} and {first.questions} are looked for "
            "first; name the folder with --datasets"
        )
    for name, dataset in sources.items():  # Before anything is built.
        questions = read_questions(dataset.questions)
        if not any(q.evidence_doc_ids or q.evidence_urls for q in questions):
            raise SweepError(
                f"dataset {name}: no question of {dataset.questions} has evidence_doc_ids or evidence_urls"
            )
        if (types := len({q.type for q in questions})) > 30:
            raise SweepError(f"dataset {name}: its questions have {types:,} types; a type is shared by many")
    documents = {n: content_digest(d.documents) for n, d in sources.items()}
    digests = {n: content_digest(d.questions) for n, d in sources.items()}
    points: dict[str, Point] = {}

    def add(choice: Choice) -> list[str]:
        """Ids of the choice's points, one per dataset."""
        settings = settings_of(choice, base, f"{where}: {label(choice)}")
        own = {n: v for n, v in choice.settings.items() if attrgetter(n)(settings) != attrgetter(n)(base)}
        choice = choice.model_copy(update={"settings": own})
        tree = results(settings, BuildSettings, SearchSettings)
        shared = [code_digest(), tree, choice.recipe, sweep.metrics]
        ids = {n: settings_digest([*shared, n, documents[n], digests[n]]) for n in sources}
        for name, id_ in ids.items():
            points.setdefault(id_, Point(id_, name, choice, settings))
        return list(ids.values())

    grids = [(grid.name, id_) for grid in sweep.grids for choice in grid.choices() for id_ in add(choice)]
    baseline = {points[id_].dataset: id_ for id_ in add(sweep.baseline)}
    comparisons = [
        (c.name, points[of].dataset, of, over)
        for c in sweep.comparisons
        for of, over in zip(add(c.of), add(c.over), strict=True)
    ]
    # Points by what their builds depend on: the dataset, then groups of settings in the order in which a build reads
    # them. In this order builds that differ in their last tables alone are neighbours.
    by_build: dict[tuple[str, ...], list[Point]] = {}
    for point in points.values():
        groups = results(point.settings, BuildSettings).values()
        by_build.setdefault((point.dataset, *(json.dumps(g, sort_keys=True) for g in groups)), []).append(point)
    builds = [
        Build(settings_digest([code_digest(), *key, documents[key[0]]]), key[0], sources[key[0]].documents, tuple(of))
        for key, of in sorted(by_build.items())
    ]
    return Plan(sweep, sources, [n for n in every if n not in sources], points, builds, grids, baseline, comparisons)
