"""A night: crawl and ingest, each step of the build's own list, its audit, its publication, then answers.

A run is the build that is named after its logical date: a task that is tried again finds what is finished finished, and
a night that is published already is not built again. A night before the published one is skipped, as pages of the past
are no longer to be had. The tasks of the build come from `quern steps` and depend on each other as their tables do.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import DAG, CronTriggerTimetable, Param, TaskGroup, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowRescheduleException

from quern_airflow.bulk_ingest import ingest_files
from quern_airflow.operator import RUN_OPTIONS, QuernOperator, guarded
from quern_airflow.steps import BuildStep, build_steps
from quern_airflow.warehouse import BUILD_ID, SOURCES, Warehouse, option, text_param

log = logging.getLogger(__name__)

_RECHECK = timedelta(minutes=1)
# How long a step waits where another command writes to the warehouse, beside this DAG.
_WAIT_SECONDS = "1800"
_OTHERS = {"crawl", "files", "answer", "evaluate", "sweep"}


def nightly_build(
    dag_id: str,
    warehouse: Warehouse,
    *,
    schedule: Any = "0 2 * * *",
    seeds: str = "",
    sources: Sequence[str] = (),
    questions: str = "",
    answers: str = "",
) -> DAG:
    """The DAG of a warehouse that is built regularly.

    Args:
        dag_id: Its name.
        warehouse: The warehouse.
        schedule: A cron expression, in UTC, or any schedule of Airflow.
        seeds: File of addresses to crawl; empty for no crawl.
        sources: Files, folders, patterns or s3:// addresses to ingest.
        questions: Questions that are answered from the new snapshot; empty for none.
        answers: Folder of the answers; empty for the warehouse's name and `-answers`.

    Raises:
        ValueError: `warehouse.tasks` names a task that no DAG has.
    """
    params = {
        "seeds": text_param(seeds, "File of addresses to crawl from, one a line; without one nothing is crawled."),
        "sources": Param(list(sources), **SOURCES),
        "questions": text_param(questions, "Questions to answer from the new snapshot; without them none is answered."),
        "answers": text_param(answers or f"{warehouse.path}-answers", "Folder of the answers."),
    }
    timetable = CronTriggerTimetable(schedule, timezone="UTC") if isinstance(schedule, str) else schedule
    steps = build_steps()
    names = {step.name for step in steps} | _OTHERS
    if steps and (unknown := sorted(warehouse.tasks.keys() - names)):
        raise ValueError(f"there is no task {', '.join(unknown)}; there are {', '.join(sorted(names))}")
    with warehouse.dag(dag_id, __doc__ or "", timetable, params) as dag:
        begun = check(build_id=BUILD_ID, warehouse=warehouse.path, pool=warehouse.pool_command)
        with TaskGroup("crawl") as crawl:
            settings = warehouse.task(
                "crawl",
                arguments=["crawl", option("seeds")],
                # A crawl does not run on Spark.
                options={"engine": "{{ 'local' if params.engine == 'spark' else params.engine or '' }}"},
                run_options=RUN_OPTIONS,
                skipped_without="nothing is crawled: the parameter seeds is not set",
                **warehouse.alone,
            )
            QuernOperator(**{"execution_timeout": timedelta(hours=12), **settings})
        with TaskGroup("ingest") as ingest:
            ingest_files(warehouse)
        with TaskGroup("build") as build:
            if not steps:
                steps_unknown()
            tasks = {step.name: _step(warehouse, step, len(steps) - n, steps[0].name) for n, step in enumerate(steps)}
            for step in steps:
                tasks[step.name] << [tasks[name] for name in step.upstream]
        with TaskGroup("answers") as answered:
            settings = warehouse.task(
                "answer",
                arguments=["answer", option("questions")],
                options={"snapshot": BUILD_ID, "out": option("answers")},
                run_options=("settings", "set"),
                skipped_without="nothing is answered: the parameter questions is not set",
            )
            QuernOperator(**settings)
        begun >> [crawl, ingest] >> build >> answered
    return dag


@task.short_circuit(execution_timeout=timedelta(minutes=10))
def check(build_id: str, warehouse: str, pool: str) -> bool:
    """Whether this night is to be built: not after it or a later one was, and not beside an earlier one."""
    listing = guarded(["snapshots", "list", f"--warehouse={warehouse}", "--json"])
    # A backfill minds its own number of runs, and not this DAG's.
    if get_current_context()["ti"].get_previous_dagrun(state="running"):
        log.info("the night before is not over")
        raise AirflowRescheduleException(datetime.now(UTC) + _RECHECK)
    listed = listing.run(lambda line: log.info("%s", line))
    # Without a list there is no warehouse yet, or what follows tells more of what is wrong with it.
    snapshots = [] if listed.code else json.loads(listed.output)["snapshots"]
    published = max((each["build_id"] for each in snapshots if each["published"]), default="")
    if published >= build_id:
        log.info("%s is published, and this is %s: nothing is built", published, build_id)
        return False
    log.info("if the next tasks stay in the state scheduled, their pool is missing; make it: %s", pool)
    return True


@task(retries=0)
def steps_unknown() -> None:
    """Stands for the steps of a build while their list could not be had."""
    raise AirflowFailException(
        "the steps of a build are not known, as `quern steps` did not answer when this file was parsed: see that the "
        "command runs where Airflow parses DAG files, and try again in a minute"
    )


def _step(warehouse: Warehouse, step: BuildStep, weight: int, first: str) -> QuernOperator:
    """The task of one step; the first says of which settings the build is, and tells which steps have nothing to do."""
    settings = warehouse.task(
        step.name,
        arguments=["stage", step.name],
        options={"build": BUILD_ID, "wait": _WAIT_SECONDS},
        **(warehouse.alone if step.name in (first, "audit", "publish") else {"pool": warehouse.pool}),
        run_options=RUN_OPTIONS if step.name == first else (),
        as_json=step.name == first,
        finished_by="" if step.name == first else f"build.{first}",
        priority_weight=weight,
        # A night without seeds and sources is built of what was ingested.
        trigger_rule="all_success" if step.upstream else "none_failed",
    )
    if step.name == "publish":
        settings |= {"outlets": [warehouse.snapshot], "event": {"warehouse": warehouse.path, "build_id": BUILD_ID}}
    return QuernOperator(**settings)
