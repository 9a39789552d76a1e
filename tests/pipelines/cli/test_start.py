"""A start of the command imports nothing that its user did not ask for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from quern.pipelines.cli.entry import start_light
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


BUILD = """
import json, sys
from pathlib import Path
from quern.indexes.catalog import Warehouse
from quern.pipelines.build.whole import build
from quern.schemas.settings.reading import load_settings
page, warehouse = Path(sys.argv[1]) / "a.jsonl", Warehouse.create(Path(sys.argv[1]) / "wh")
page.write_text(json.dumps({"doc_id": "a", "text": "The ferry of Tollen sails at noon from the quay. " * 5}))
for _ in range(2):
    build(page, warehouse, load_settings(None, ["engine.engine=local"]))
assert not {"great_expectations", "pyspark", "ray"} & set(sys.modules)
"""


def test_a_build_on_this_machine_loads_neither_engines_nor_great_expectations(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", BUILD, tmp_path], check=True)


def test_what_modules_close_at_the_end_is_closed_before_the_process_ends() -> None:
    """The code is that of the command, and what was registered or buffered is not lost for the sake of a quick end."""
    program = (
        "import atexit, sys\n"
        "sys.argv = ['quern', *sys.argv[1:]]\n"
        "import quern.pipelines.cli.main as commands\n"
        "run = commands.main\n"
        "def registering():\n"
        "    atexit.register(print, 'closed at the end')\n"
        "    run()\n"
        "commands.main = registering\n"
        "from quern.pipelines.cli.entry import main\n"
        "main()\n"
    )
    for arguments, code in ((["--version"], 0), (["show", "documents", "-w", "/nowhere"], 2)):
        done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert "closed at the end" in done.stdout


@pytest.mark.parametrize("closed", ["", "<&-", ">&-", "2>&-"])
def test_a_command_ends_without_freeing_what_it_loaded_whatever_streams_it_was_given(closed: str) -> None:
    program = (
        "import os, sys\n"
        "class Loaded:\n"
        "    def __del__(self, write=os.write, to=os.dup(int(sys.argv[1]))):\n"
        "        write(to, b'freed')\n"
        "loaded = Loaded()\n"
        "sys.argv = ['quern', '--version']\n"
        "from quern.pipelines.cli.entry import main\n"
        "main()\n"
    )
    reading, writing = os.pipe()
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", program, str(writing)]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as told:
        assert (done.returncode, done.stderr, told.read()) == (0, "", "")
    assert (done.stdout == "") == (closed == ">&-")
