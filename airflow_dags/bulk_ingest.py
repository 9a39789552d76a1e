"""Many files into the page store: a task for each file that the sources name, one at a time, and a summary.

One at a time, as the page store has one writer; each uses all cores. Files that the store holds unchanged are not read
again, so that a run can be repeated.
"""

from __future__ import annotations

import glob
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from airflow.sdk import DAG, Param, conf, task
from airflow.sdk.exceptions import AirflowException

from quern_airflow.operator import QuernOperator
from quern_airflow.options import DEFAULTS, ENGINE, SETTINGS, TEXTS, WAREHOUSE, option

log = logging.getLogger(__name__)

# Airflow maps a task over so many inputs at most: more files than that share tasks.
_MOST = conf.getint("core", "max_map_length")


@task
def find(params: Mapping[str, Any] | None = None) -> list[list[str]]:
    """The calls to make: patterns as the files that they match, folders and addresses as they are."""
    files = [file for source in (params or {})["sources"] for file in _files(source)]
    share = -(-len(files) // _MOST)
    log.info("files=%d", len(files))
    return [["ingest", *files[n : n + share]] for n in range(0, len(files), share)]


def _files(source: str) -> list[str]:
    if source.startswith("s3://"):
        return [source]
    found = sorted(glob.glob(source, recursive=True)) or [source]  # noqa: PTH207 - Path.glob takes no absolute pattern
    return [f"./{name}" if name.startswith("-") else name for name in found]  # No option of the command.


@task(multiple_outputs=False, trigger_rule="all_done")
def summary(calls: list[list[str]], ti: Any = None) -> dict[str, int]:
    """The sums of what the tasks tell; fails where one of them did."""
    reports = ti.xcom_pull(task_ids="ingest", map_indexes=range(len(calls)))
    told = [report for report in reports if report]
    sums = {name: sum(each[name] for each in told) for name in ("files", "reused", "pages", "rejects")}
    log.info(" ".join(f"{name}={count}" for name, count in sums.items()))
    if failed := len(calls) - len(told):
        raise AirflowException(f"{failed} of {len(calls)} tasks failed: clear them, and what is read stays read")
    return sums


with DAG(
    "bulk_ingest",
    schedule=None,
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    params={
        "sources": Param(
            type="array",
            items=TEXTS,
            minItems=1,
            description="Files, folders, patterns or s3:// addresses; a pattern's files are tasks of their own.",
        ),
        **WAREHOUSE,
        **SETTINGS,
        **ENGINE,
    },
    doc_md=__doc__,
    tags=["quern"],
) as dag:
    calls = find()
    ingest = QuernOperator.partial(
        task_id="ingest",
        options={"warehouse": option("warehouse"), "settings": option("settings"), "engine": option("engine")},
        required=["warehouse"],
        as_json=True,
        max_active_tis_per_dag=1,
        map_index_template="{{ task.arguments[1] }}",
    ).expand(arguments=calls)
    ingest >> summary(calls)
