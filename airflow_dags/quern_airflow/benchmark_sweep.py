"""What each published snapshot is worth: started by its publication, it measures recipes and sweeps settings.

Results lie in a folder of the build's name, and are written again when the run is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, task

from quern_airflow.operator import QuernOperator
from quern_airflow.warehouse import BUILD_ID, Warehouse, option, text_param


def benchmark_sweep(
    dag_id: str, warehouse: Warehouse, *, questions: str = "", sweep: str = "", datasets: str = "", benchmarks: str = ""
) -> DAG:
    """The DAG, started by the warehouse's snapshots.

    Args:
        dag_id: Its name.
        warehouse: The warehouse.
        questions: Questions with gold evidence, for `quern evaluate`; empty for no evaluation.
        sweep: File of a sweep, for `quern sweep`; empty for none.
        datasets: Folder of the sweep's datasets, if it is not the file's own.
        benchmarks: Folder of results; empty for the warehouse's name and `-benchmarks`.
    """
    params = {
        "questions": text_param(questions, "Questions with gold evidence; without them nothing is evaluated."),
        "sweep": text_param(sweep, "File of a sweep; without one nothing is swept."),
        "datasets": text_param(datasets, "Folder of the sweep's datasets, if it is not the file's own."),
        "benchmarks": text_param(benchmarks or f"{warehouse.path}-benchmarks", "Folder of results."),
    }
    with warehouse.dag(dag_id, __doc__ or "", [warehouse.snapshot], params) as dag:
        measured = target(BUILD_ID, option("benchmarks"))
        evaluate = warehouse.task(
            "evaluate",
            arguments=["evaluate", option("questions"), "--json"],
            options={"snapshot": measured["snapshot"]},
            run_options=("settings", "set"),
            saved_to=measured["figures"],
            skipped_without="nothing is evaluated: the parameter questions is not set",
        )
        swept = warehouse.task(
            "sweep",
            arguments=["sweep", option("sweep")],
            options={"warehouse": "", "datasets": option("datasets"), "out": measured["swept"]},
            skipped_without="nothing is swept: the parameter sweep is not set",
        )
        QuernOperator(**evaluate)
        QuernOperator(**swept)
    return dag


@task(multiple_outputs=True)
def target(run: str, benchmarks: str, triggering_asset_events: Mapping[Any, Any] | None = None) -> dict[str, str]:
    """What is measured: the snapshot whose publication started this run, or the one that is published now."""
    events = [event for each in (triggering_asset_events or {}).values() for event in each]
    build = events[-1].extra.get("build_id", "") if events else ""
    folder = Path(benchmarks) / (build or run)
    return {"snapshot": build, "figures": str(folder / "evaluate.json"), "swept": str(folder / "sweep")}
