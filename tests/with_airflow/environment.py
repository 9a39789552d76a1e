"""What Airflow reads when it is imported: a home that goes with the tests; import this first."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
DAGS = ROOT / "airflow_dags"
QUERN = shlex.split(os.environ.get("QUERN_COMMAND", "")) or [str(ROOT / ".venv" / "bin" / "quern")]
HOME = Path(tempfile.mkdtemp(prefix="quern-airflow-"))

sys.path.insert(0, str(DAGS))  # As Airflow does.
os.environ |= {
    "AIRFLOW_HOME": str(HOME),
    "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
}
