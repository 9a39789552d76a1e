"""`install.sh` ends a failed installation with one sentence that says what is wrong and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

ABSENT = "quern-test-of-a-package-that-no-index-has==1.0\n"
OLD = "#!/bin/sh\ncase $1 in -V) echo Python 3.9.2 ;; *) exit 1 ;; esac\n"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"PYTHON": "{tmp}/python"}, "needs Python 3.11 or later, and {tmp}/python is Python 3.9.2"),
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
