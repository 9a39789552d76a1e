"""The list of steps is asked for again when what declares it has changed or gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.with_airflow.environment import DAGS

COMMAND = """#!/bin/sh
cat {listed}
"""


def test_the_list_is_asked_for_anew_when_the_file_that_declares_it_has_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(DAGS))
    from quern_airflow.steps import build_steps

    command, listed = tmp_path / "quern", tmp_path / "listed"
    command.write_text(COMMAND.format(listed=listed))
    command.chmod(0o755)
    monkeypatch.setenv("QUERN_COMMAND", str(command))
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "home"))
    for name in ("old", "new"):
        declared = tmp_path / f"{name}.py"
        declared.touch()
        steps = [{"name": name, "upstream": []}]
        listed.write_text(json.dumps({"steps": steps, "declared_in": str(declared)}))
        assert [step.name for step in build_steps()] == [name]
        declared.unlink()
