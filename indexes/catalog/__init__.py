"""The catalog: which snapshot of the warehouse is published, and what each one pins.

Write, audit, publish: a build writes new versions of its tables beside the published ones, audits them, and
only then replaces one small file, `current.json`. A reader opens one snapshot and never sees half a build. Every file
that is kept has a checksum (`indexes.checksums`), which is compared before what the file holds is used.

    WAREHOUSE/warehouse.json        what this directory is
    WAREHOUSE/current.json          the published snapshot
    WAREHOUSE/snapshots/ID.json     manifests
    WAREHOUSE/stages/TABLE/ID.parquet, WAREHOUSE/lance/TABLE-N.lance, WAREHOUSE/memo/JOB/FINGERPRINT/*.arrow
    WAREHOUSE/memo/JOB/FINGERPRINT/uses.marks, WAREHOUSE/memo/nights.json      what of the memo which night used
    WAREHOUSE/logs/ID.log           one line per job of each build
    WAREHOUSE/lineage/ID.jsonl      OpenLineage events of each build
    WAREHOUSE/history/ID.CHECKSUM.parquet  the table `builds`, which is never pruned
    WAREHOUSE/audit/ID/index.html   data docs of the audit of each build, of refused ones too
"""

from quern.indexes.catalog.folder import Snapshot, WarehouseFolder
from quern.indexes.catalog.manifest import Manifest, TableVersion, WarehouseError, new_build_id
from quern.indexes.catalog.warehouse import Warehouse

__all__ = ["Manifest", "Snapshot", "TableVersion", "Warehouse", "WarehouseError", "WarehouseFolder", "new_build_id"]
