"""The locks have what the package asks for, and `install.sh` says in one sentence why an installation failed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

ABSENT = "quern-test-of-a-package-that-no-index-has==1.0\n"
OLD = "#!/bin/sh\ncase $1 in -V) echo Python 3.9.2 ;; *) exit 1 ;; esac\n"


LOCKS = {"default": ["requirements.lock"], "vllm": ["requirements-vllm.lock"]}
LOCKS["tests"] = [*LOCKS["default"], "requirements-dev.lock"]
LOCKS["torch"] = [*LOCKS["tests"], "requirements-torch.lock"]


@pytest.mark.parametrize(
    ("locks", "extras"),
    [
        ("default", "crawl"),
        ("tests", "spark ray crawl images store dev"),
        ("torch", "torch lm"),
        ("vllm", "spark ray torch crawl images"),
    ],
)
def test_a_lock_has_what_the_package_and_its_extras_ask_for(locks: str, extras: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [line for lock in LOCKS[locks] for line in (ROOT / lock).read_text("utf-8").splitlines()]
    pins = dict(line.split("==") for line in lines if "==" in line)
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    asked = sum((project["optional-dependencies"][extra] for extra in extras.split()), project["dependencies"])
    for requirement in map(Requirement, asked):
        name = canonicalize_name(requirement.name)
        assert name in versions, f"{requirement} is in no lock"
        assert versions[name] in requirement.specifier


@pytest.mark.slow
def test_the_package_of_the_dags_is_installed_with_all_its_modules_and_asks_for_airflow_alone(tmp_path: Path) -> None:
    source = tmp_path / "airflow_dags"
    shutil.copytree(ROOT / "airflow_dags", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    offline = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile"]
    target = tmp_path / "target"
    subprocess.run([sys.executable, "-m", "pip", "install", *offline, "--target", target, source], check=True)
    modules = {path.name for path in (target / "quern_airflow").iterdir()}
    assert modules == {path.name for path in (ROOT / "airflow_dags" / "quern_airflow").glob("*.py")}
    (metadata,) = target.glob("quern_airflow-*.dist-info/METADATA")
    asked = [line for line in metadata.read_text("utf-8").splitlines() if line.startswith("Requires-Dist")]
    assert asked == ["Requires-Dist: apache-airflow>=3.1"]


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"PYTHON": "{tmp}/python"}, "needs Python 3.11, 3.12 or 3.13, and {tmp}/python is Python 3.9.2"),
        ({"PYTHON": "{tmp}/nothing"}, "there is no {tmp}/nothing here"),
        ({"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "1"}, "the package index cannot be reached"),
        ({"PIP_NO_INDEX": "1"}, "the package index has no build of a package above"),
    ],
)
def test_a_failed_installation_says_why(environment: dict[str, str], said: str, tmp_path: Path) -> None:
    (tmp_path / "python").write_text(OLD)
    (tmp_path / "python").chmod(0o755)
    (tmp_path / "lock").write_text(ABSENT)
    done = subprocess.run(
        [ROOT / "install.sh", sys.prefix, tmp_path / "lock"],
        cwd=ROOT,
        env={**os.environ, **{name: value.format(tmp=tmp_path) for name, value in environment.items()}},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert said.format(tmp=tmp_path) in done.stderr.splitlines()[-1]
