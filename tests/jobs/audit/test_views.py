"""Tables of several files, as the audit sees them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.checksums import write_sealed
from quern.indexes.stages import INDEX
from quern.jobs.audit.views import View


def test_a_column_whose_type_differs_between_files_has_neither(tmp_path: Path) -> None:
    for name, kind in (("a.parquet", pa.int32()), ("b.parquet", pa.int64())):
        pq.write_table(pa.table({"rank": pa.array([1], kind), "url": ["u"]}), tmp_path / name)
    write_sealed(tmp_path / INDEX, {"files": {f"{n}.parquet": {"rows": 1, "checksum": ""} for n in "ab"}})
    view = View("pages", tmp_path)
    assert view.types() == {"rank": "int32 and int64", "url": "string"}
    assert view.rows == 2
