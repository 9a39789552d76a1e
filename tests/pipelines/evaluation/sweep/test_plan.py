from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from quern.pipelines.answers.questions import QuestionError
from quern.pipelines.evaluation.sweep.plan import Plan, plan_sweep
from quern.pipelines.evaluation.sweep.spec import SweepError, read_sweep
from quern.pipelines.retrieve.recipes import RECIPES
from quern.schemas.settings.reading import SettingsError
from tests.conftest import ROOT

QUESTION = '{"query_id": "q", "question": "When?", "evidence_doc_ids": ["d"]}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "documents.jsonl").write_text('{"doc_id": "d", "text": "Tides rise twice a day."}\n')
    (tmp_path / "questions.jsonl").write_text(QUESTION)
    return tmp_path


def tree(**more: Any) -> dict[str, Any]:
    return {
        "datasets": {"tides": {"documents": "documents.jsonl", "questions": "questions.jsonl"}},
        "baseline": {"recipe": "dense"},
        "grids": [{"name": "hops", "recipes": ["qcg"], "settings": {"graph.hops": [0, 1, 2]}}],
        **more,
    }


def plan(folder: Path, **more: Any) -> Plan:
    file = folder / "sweep.yaml"
    file.write_text(yaml.safe_dump(tree(**more), sort_keys=False))
    return plan_sweep(read_sweep(file), folder, "sweep.yaml")


def test_points_that_differ_in_search_alone_share_a_build(folder: Path) -> None:
    grid = {"name": "g", "recipes": ["qcg"], "settings": {"graph.n": [5, 10], "link.k": [2, 3]}}
    made = plan(folder, grids=[grid])
    assert [sorted(p.label for p in b.points) for b in made.builds] == [
        ["qcg graph.n=10 link.k=2", "qcg graph.n=5 link.k=2"],
        ["dense", "qcg graph.n=10", "qcg graph.n=5"],
    ]


def test_a_point_of_two_grids_is_one_point(folder: Path) -> None:
    grids = [
        {"name": "hops", "recipes": ["qcg"], "settings": {"graph.hops": [1, 2]}},
        {"name": "k", "recipes": ["qcg"], "settings": {"link.k": [3]}},
    ]
    made = plan(folder, grids=grids)
    assert sorted(p.label for p in made.points.values()) == ["dense", "qcg", "qcg graph.hops=2"]
    assert [g for g, _ in made.grids] == ["hops", "hops", "k"]


def test_a_point_is_another_when_settings_questions_or_metrics_are(folder: Path) -> None:
    first = set(plan(folder).points)
    assert set(plan(folder).points) == first
    assert not first & set(plan(folder, metrics=["RR"]).points)
    assert not first & set(plan(folder, settings={"retrieve": {"depth": 9}}).points)
    assert set(plan(folder, settings={"engine": {"cores": 1}}).points) == first, "how jobs run changes no result"
    (folder / "questions.jsonl").write_text('{"query_id": "q", "question": "Why?", "evidence_doc_ids": ["d"]}\n')
    assert not first & set(plan(folder).points)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"grid": []}, "there is no key 'grid'; did you mean grids"),
        ({"baseline": {"recipe": "dens"}}, "baseline.recipe: there is no recipe 'dens'; did you mean dense"),
        ({"grids": [{"name": "../g", "recipes": ["qcg"]}]}, "grids.0.name"),
        ({"metrics": ["__import__('os')"]}, "there is no metric"),
        (
            {"grids": [{"name": "g", "recipes": ["qcg"], "settings": {"graph.n": [1] * 101, "link.k": [1] * 100}}]},
            "at most 10,000",
        ),
    ],
)
def test_a_wrong_file_says_what_and_where(folder: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(SweepError) as error:
        plan(folder, **more)
    assert message in str(error.value)
    assert "sweep.yaml" in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"graph.hopps": [1]}, "did you mean graph.hops"),
        ({"engine.cores": [1]}, "engine.cores changes no result"),
        ({"k": [1]}, "link.k=2"),
    ],
)
def test_a_wrong_setting_of_a_grid_names_the_point(folder: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as error:
        plan(folder, grids=[{"name": "g", "recipes": ["qcg"], "settings": settings}])
    assert message in str(error.value)
    assert str(error.value).startswith("sweep.yaml")


def test_a_file_that_is_no_yaml_or_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tag.yaml").write_text("!!python/object/apply:os.system ['true']")
    with pytest.raises(SweepError, match="not valid YAML"):
        read_sweep(tmp_path / "tag.yaml")
    with pytest.raises(SweepError, match="cannot be read"):
        read_sweep(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("name", "points", "recipes"),
    [
        ("paper", 40, set(RECIPES)),
        ("qcg", 20, {"dense", "d2q", "d2q--", "qcg", "global"}),
        ("gratag", 10, {"bridge"}),
    ],
)
def test_packaged_sweeps_can_be_planned(tmp_path: Path, name: str, points: int, recipes: set[str]) -> None:
    sweep = read_sweep(ROOT / "pipelines" / "evaluation" / "sweep" / f"{name}.yaml")
    for dataset in sweep.datasets.values():
        for path in (dataset.documents, dataset.questions):
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(QUESTION)
    made = plan_sweep(sweep, tmp_path, name)
    assert len(made.points) >= points
    assert {p.choice.recipe for p in made.points.values()} >= recipes


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ('{"query_id": "q", "question": "When?"}', "no question of .* has evidence_doc_ids"),
        ("\n".join(json.dumps({**json.loads(QUESTION), "query_id": n, "type": n}) for n in range(31)), "have 31 types"),
    ],
)
def test_questions_that_cannot_be_measured_on_are_an_error_before_any_build(
    folder: Path, questions: str, message: str
) -> None:
    (folder / "questions.jsonl").write_text(questions)
    with pytest.raises((SweepError, QuestionError), match=message):
        plan(folder)
