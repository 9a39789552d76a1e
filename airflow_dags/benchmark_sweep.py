"""What each published snapshot is worth: started by its publication, it measures recipes and sweeps settings.

Results lie in a folder of the build's name, and are written again when the run is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowFailException

from quern_airflow.operator import QuernOperator
from quern_airflow.options import BUILD_ID, DEFAULTS, SNAPSHOT, WAREHOUSE, option, text_param

_PARAMS = {
    **WAREHOUSE,
    **text_param("questions", "Questions with gold evidence, for `quern evaluate`; without them nothing is evaluated."),
    **text_param("sweep", "File of a sweep, for `quern sweep`; without one nothing is swept."),
    **text_param("datasets", "Folder of the sweep's datasets, if it is not the file's own."),
    **text_param("benchmarks", "Folder of results; without one it is the warehouse's name and `-benchmarks`."),
}


@task(multiple_outputs=True)
def target(
    warehouse: str, run: str, benchmarks: str, triggering_asset_events: Mapping[Any, Any] | None = None
) -> dict[str, str]:
    """What is measured: the snapshot whose publication started this run, or the one that is published now."""
    events = [event for each in (triggering_asset_events or {}).values() for event in each]
    told = events[-1].extra if events else {}
    warehouse = told.get("warehouse") or warehouse
    if not warehouse:
        raise AirflowFailException(
            "no warehouse is named: set the Variable quern_warehouse, or the parameter warehouse of this run"
        )
    build = told.get("build_id", "")
    folder = Path(benchmarks or f"{warehouse.rstrip('/')}-benchmarks") / (build or run)
    files = {"figures": str(folder / "evaluate.json"), "swept": str(folder / "sweep")}
    return {"warehouse": warehouse, "snapshot": build, **files}


with DAG(
    "benchmark_sweep",
    schedule=[SNAPSHOT],
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    max_active_tasks=1,
    default_args=DEFAULTS,
    params=_PARAMS,
    doc_md=__doc__,
    tags=["quern"],
) as dag:
    measured = target(option("warehouse"), BUILD_ID, option("benchmarks"))
    QuernOperator(
        task_id="evaluate",
        arguments=["evaluate", option("questions"), "--json"],
        options={"warehouse": measured["warehouse"], "snapshot": measured["snapshot"]},
        saved_to=measured["figures"],
        skipped_without="nothing is evaluated: neither the Variable quern_questions nor the parameter is set",
    )
    QuernOperator(
        task_id="sweep",
        arguments=["sweep", option("sweep")],
        options={"datasets": option("datasets"), "out": measured["swept"]},
        skipped_without="nothing is swept: neither the Variable quern_sweep nor the parameter is set",
    )
