"""Many files into the page store: a task for each file that the sources name, one at a time, and a summary.

One at a time, as the page store has one writer; each uses all cores. Files that the store holds unchanged are not read
again, so that a run can be repeated.
"""

from __future__ import annotations

import glob
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from airflow.sdk import DAG, Param, conf, task
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from quern_airflow.operator import RUN_OPTIONS, QuernOperator
from quern_airflow.warehouse import SOURCES, Warehouse

log = logging.getLogger(__name__)


def bulk_ingest(dag_id: str, warehouse: Warehouse, *, sources: Sequence[str] = (), schedule: Any = None) -> DAG:
    """The DAG; a run ingests `sources`, or what its parameter of that name says."""
    with warehouse.dag(dag_id, __doc__ or "", schedule, {"sources": Param(list(sources), **SOURCES)}) as dag:
        ingest_files(warehouse)
    return dag


def ingest_files(warehouse: Warehouse) -> None:
    """The tasks that ingest what the parameter `sources` names."""
    calls = find()
    files = warehouse.task(
        "files",
        run_options=RUN_OPTIONS,
        as_json=True,
        **warehouse.alone,
        max_active_tis_per_dag=1,
        map_index_template="{{ task.arguments[1] }}",
    )
    QuernOperator.partial(**files).expand(arguments=calls) >> summary(calls)


@task
def find(params: Mapping[str, Any] | None = None) -> list[list[str]]:
    """The calls to make: patterns as the files that they match, folders and addresses as they are."""
    files: list[str] = []
    for source in (params or {})["sources"]:
        # Path.glob takes no absolute pattern.
        found = [] if source.startswith("s3://") else sorted(glob.glob(source, recursive=True))  # noqa: PTH207
        # What begins with a dash would be an option of the command.
        files += [f"./{name}" if name.startswith("-") else name for name in found or [source]]
    # Airflow maps a task over so many inputs at most: more files than that share tasks.
    share = -(-len(files) // conf.getint("core", "max_map_length")) or 1
    log.info("files=%d", len(files))
    return [["ingest", *files[n : n + share]] for n in range(0, len(files), share)]


@task(multiple_outputs=False, trigger_rule="all_done")
def summary(calls: list[list[str]] | None, ti: Any = None) -> dict[str, int]:
    """The sums of what the tasks tell; fails where one of them did."""
    if calls is None:
        raise AirflowException("the files were not found, as the task before failed")
    if not calls:
        raise AirflowSkipException("nothing is ingested: the parameter sources is empty")
    files = f"{ti.task_id.removesuffix('summary')}files"  # In the same group.
    told = [report for report in ti.xcom_pull(task_ids=files, map_indexes=range(len(calls))) if report]
    sums = {name: sum(each[name] for each in told) for name in ("files", "reused", "pages", "rejects")}
    log.info(" ".join(f"{name}={count}" for name, count in sums.items()))
    if failed := len(calls) - len(told):
        raise AirflowException(f"{failed} of {len(calls)} tasks failed: clear them, and what is read stays read")
    return sums
