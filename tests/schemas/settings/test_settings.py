from __future__ import annotations

from pathlib import Path

import pytest

from quern.schemas.settings import (
    BuildSettings,
    DeduplicateSettings,
    NeighbourSettings,
    RunSettings,
    SearchSettings,
    Settings,
    changes_results,
)
from quern.schemas.settings.reading import SettingsError, describe, load_settings, setting_names


def test_a_file_is_overridden_by_set(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("link: {k: 5}\ngraph: {hops: 2}\n")
    loaded = load_settings(file, ["link.k=2"])
    assert (loaded.link.k, loaded.graph.hops) == (2, 2)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("link.kk=2", "did you mean link.k?"),
        ("grph.k=2", "did you mean graph"),
        ("link.k=two", "link.k is 'two'"),
        ("link.k=0", "greater than or equal to 1"),
        ("link.k", "group.name=value"),
        ("k=2", "group.name=value"),
        ("filter.scope=page", "filter.scope"),
        ("link.k=[", "not a valid value"),
    ],
)
def test_a_wrong_override_says_what_is_wrong(override: str, message: str) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(None, [override])
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["graph: [", "- 1\n", "graph: 3\n", "nonsense: {}\n", "graph: {mentions: 3}\n"])
def test_a_wrong_file_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"s\.yaml"):
        load_settings(file)


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.yaml cannot be read"):
        load_settings(tmp_path / "absent.yaml")


def test_every_setting_is_documented() -> None:
    rows = list(describe(Settings()))
    assert len(rows) > 30
    assert [f"{g}.{n}" for g, n, _, doc in rows if len(doc) < 15] == []


def test_a_base_holds_where_nothing_else_is_said(tmp_path: Path) -> None:
    base = load_settings(None, ["link.k=7", "graph.hops=2"])
    file = tmp_path / "s.yaml"
    file.write_text("graph: {hops: 3}\n")
    loaded = load_settings(file, ["graph.n=4"], base)
    assert (loaded.link.k, loaded.graph.hops, loaded.graph.n) == (7, 3, 4)


def test_settings_are_listed_by_phase_and_are_of_one_phase() -> None:
    phases = [list(phase.model_fields) for phase in (BuildSettings, SearchSettings, RunSettings)]
    assert list(Settings.model_fields) == [group for phase in phases for group in phase]


def test_a_setting_of_how_work_is_done_changes_no_result() -> None:
    default, other = NeighbourSettings(), NeighbourSettings(spare=5)
    assert default != other
    assert default.results() == other.results()
    assert DeduplicateSettings().results() != DeduplicateSettings(bands=21).results()
    told = [name for name in setting_names() if not changes_results(name)]
    assert {"neighbours.spare", "engine.cores", "audit.engine"} <= set(told)
    assert not {"link.k", "graph.hops", "no.such", "link.no"} & set(told)
