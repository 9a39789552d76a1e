"""A night: crawl, then each step of the build's own list, its audit, its publication.

A run is the build that is named after its logical date: a task that is tried again finds what is finished finished, and
a night that is published already is not built again. A night before the published one is skipped, as pages of the past
are no longer to be had. The tasks come from `quern steps`; they depend on each other as their tables do, and run one
after the other, as a warehouse has one writer.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronTriggerTimetable, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowRescheduleException

from quern_airflow.operator import QuernOperator, guarded
from quern_airflow.options import BUILD_ID, DEFAULTS, ENGINE, NIGHT, SETTINGS, SNAPSHOT, WAREHOUSE, option, text_param
from quern_airflow.steps import BuildStep, build_steps

log = logging.getLogger(__name__)

_WAIT = timedelta(minutes=1)
_SEEDS = text_param("seeds", "File of addresses to crawl from, one a line; without one nothing is crawled.")


@task.short_circuit(execution_timeout=timedelta(minutes=10))
def check(build_id: str, warehouse: str) -> bool:
    """Whether this night is to be built: not after it or a later one was, and not beside an earlier one."""
    listing = guarded(["snapshots", "list", f"--warehouse={warehouse}", "--json"])
    if not warehouse:
        raise AirflowFailException(
            "no warehouse is named: set the Variable quern_warehouse, or the parameter warehouse of this run"
        )
    # A backfill minds its own number of runs, and not this DAG's.
    if get_current_context()["ti"].get_previous_dagrun(state="running"):
        log.info("the night before is not over")
        raise AirflowRescheduleException(datetime.now(UTC) + _WAIT)
    listed = listing.run(lambda line: log.info("%s", line))
    if listed.code:  # There is no warehouse yet, or what follows tells more of what is wrong with it.
        return True
    published = [each["build_id"] for each in json.loads(listed.output)["snapshots"] if each["published"]]
    if not published or published[0] < build_id:
        return True
    log.info("%s is published, and this is %s: nothing is built", published[0], build_id)
    return False


@task(retries=0)
def steps_unknown() -> None:
    """Stands for the steps of a build while their list could not be had."""
    raise AirflowFailException(
        "the steps of a build are not known, as `quern steps` did not answer when this file was parsed: see that the "
        "command runs where Airflow parses DAG files, and try again in a minute"
    )


def stage(step: BuildStep, weight: int, first_step: str) -> QuernOperator:
    """The task of one step; the first says of which settings the build is, and tells which steps have nothing to do."""
    first = {} if step.upstream else {"settings": option("settings"), "engine": option("engine")}
    last = {"outlets": [SNAPSHOT], "event": {"warehouse": option("warehouse"), "build_id": BUILD_ID}}
    return QuernOperator(
        task_id=step.name,
        arguments=["stage", step.name],
        options={"build": BUILD_ID, "warehouse": option("warehouse"), **first},
        as_json=step.name == first_step,
        finished_by="" if step.name == first_step else first_step,
        priority_weight=weight,
        # A night without seeds is built of what was ingested.
        trigger_rule="all_success" if step.upstream else "none_failed",
        **(last if step.name == "publish" else {}),
    )


with DAG(
    "nightly_build",
    schedule=CronTriggerTimetable(NIGHT, timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    max_active_tasks=1,
    default_args=DEFAULTS,
    params={**WAREHOUSE, **_SEEDS, **SETTINGS, **ENGINE},
    doc_md=__doc__,
    tags=["quern"],
) as dag:
    night = check(build_id=BUILD_ID, warehouse=option("warehouse"))
    crawl = QuernOperator(
        task_id="crawl",
        arguments=["crawl", option("seeds")],
        options={"warehouse": option("warehouse"), "settings": option("settings"), "engine": option("engine")},
        skipped_without="nothing is crawled: neither the Variable quern_seeds nor the parameter seeds is set",
        execution_timeout=timedelta(hours=12),
    )
    night >> crawl
    listed = build_steps()
    tasks = {step.name: stage(step, len(listed) - n, listed[0].name) for n, step in enumerate(listed)}
    for step in listed:
        tasks[step.name] << ([tasks[name] for name in step.upstream] or crawl)
    if not listed:
        crawl >> steps_unknown()
