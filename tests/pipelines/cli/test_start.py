"""A start of the command imports nothing that its user did not ask for."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from quern.pipelines.cli.start import start_light
start_light()
import pyarrow as pa
import lancedb
table = pa.table({"a": pa.array(["b", None])})
assert "pandas" not in sys.modules
assert table.to_pandas()["a"].iloc[0] == "b"
import pandas as pd
assert pa.array(pd.Series([1.0, None])).null_count == 1
"""


def test_pyarrow_and_lancedb_bring_pandas_only_where_it_is_wanted() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
