"""A warehouse as its DAGs see it: where it is, how its commands run, its pool and its asset, parameters of its runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict

from airflow.sdk import DAG, Asset, Context, Param

from quern_airflow.failures import log_failure

# The build's name is its night: names of builds sort by night, and a run that is tried again is the same build.
BUILD_ID = "{{ (dag_run.logical_date or dag_run.run_after).strftime('%Y%m%dT%H%M%S%f')[:-3] }}"

DEFAULTS: dict[str, Any] = {
    "retries": 3,
    "retry_delay": timedelta(minutes=1),
    "retry_exponential_backoff": 2,
    "max_retry_delay": timedelta(minutes=30),
    "execution_timeout": timedelta(hours=6),
    "weight_rule": "absolute",
}

# No control characters, and nothing that a command would take for an option.
_TEXT = r"^[^\x00-\x1f\x7f-][^\x00-\x1f\x7f]*$"
_TEXTS = {"type": "string", "pattern": _TEXT, "maxLength": 4096}

SOURCES: dict[str, Any] = {
    "type": "array",
    "items": _TEXTS,
    "description": "Files, folders, patterns or s3:// addresses; a pattern's files are tasks of their own.",
}
SET: dict[str, Any] = {
    "type": "array",
    "items": {**_TEXTS, "pattern": r"^[a-z_]+\.[^\x00-\x1f\x7f=]+=[^\x00-\x1f\x7f]*$"},
    "description": "Single settings, each as `--set`: `link.k=2`.",
}
ENGINES = {
    "settings": "YAML file of settings.",
    "spark_master": "Spark master, such as `spark://host:7077`.",
    "ray_address": "Address of a Ray cluster.",
}


def option(name: str) -> str:
    """The template of the run's parameter `name`, or of nothing."""
    return f"{{{{ params.{name} or '' }}}}"


def text_param(default: str, description: str) -> Param:
    """A parameter that may be left out."""
    return Param(default or None, type=["null", "string"], pattern=_TEXT, maxLength=4096, description=description)


Callback = Callable[[Context], None]


class TaskOptions(TypedDict, total=False):
    """What one task has of its own: the engine of its command, else arguments of Airflow's operators."""

    engine: str  # Of `crawl`, `files` and the steps of a build.
    queue: str
    pool: str
    pool_slots: int
    executor: str
    executor_config: dict[str, Any]
    execution_timeout: timedelta
    retries: int


@dataclass(frozen=True)
class Warehouse:
    """A warehouse and how its DAGs run."""

    # Its directory, absolute, as workers may start anywhere. settings, engine, spark_master, ray_address, overrides:
    # Defaults of a run's parameters; `overrides` is `set`.
    path: str
    settings: str = ""
    engine: str = ""
    spark_master: str = ""
    ray_address: str = ""
    overrides: Sequence[str] = ()
    # What single tasks have of their own, by step (`doc2query`) or task (`crawl`, `files`, `answer`, `evaluate`,
    # `sweep`).
    tasks: Mapping[str, TaskOptions] = field(default_factory=dict)
    # The pool of the tasks that write; empty for one named after the path. It must exist.
    pool: str = ""
    # Its slots: steps of a build that may run side by side, each with the memory and the engine of one. What has to run
    # alone takes all of them.
    slots: int = 1
    # Called with the context of a task that failed for good, and of a run that missed its deadline.
    on_failure: Callback = log_failure
    deadline: timedelta = timedelta(days=1)  # After this time a run fails, and what still runs is stopped.

    def __post_init__(self) -> None:
        if not Path(self.path).is_absolute():
            raise ValueError(f"name the warehouse by its absolute path, not {self.path!r}")
        object.__setattr__(self, "path", str(Path(self.path)))
        object.__setattr__(self, "pool", self.pool or re.sub(r"[^\w-]+", ".", f"quern{self.path}", flags=re.ASCII))

    @property
    def pool_command(self) -> str:
        """What makes the pool. In a pool that is missing tasks wait for ever, and only the scheduler's log says so."""
        return f"airflow pools set {self.pool} {self.slots} {shlex.quote(self.path)}"

    @property
    def alone(self) -> dict[str, Any]:
        """Arguments of the operator of a task that writes, and that nothing may write beside."""
        return {"pool": self.pool, "pool_slots": self.slots}

    @property
    def snapshot(self) -> Asset:
        """What publishing a snapshot updates; its events name the warehouse and the build."""
        return Asset(Path(self.path).as_uri(), group="quern")

    def dag(self, dag_id: str, doc: str, schedule: Any, params: Mapping[str, Param]) -> DAG:
        """A DAG of this warehouse, with no tasks yet."""
        texts = {name: text_param(getattr(self, name), told) for name, told in ENGINES.items()}
        engine = Param(
            self.engine or None,
            type=["null", "string"],
            enum=[None, "auto", "local", "spark", "ray"],
            description="What runs the jobs, as `--engine`; else what the settings say.",
        )
        needs = f"Warehouse `{self.path}`. Its pool must exist: `{self.pool_command}`."
        return DAG(
            dag_id,
            schedule=schedule,
            start_date=datetime(2026, 1, 1, tzinfo=UTC),
            catchup=False,
            max_active_runs=1,
            dagrun_timeout=self.deadline,
            on_failure_callback=self._late,
            default_args={**DEFAULTS, "on_failure_callback": self.on_failure},
            params={**params, "engine": engine, **texts, "set": Param(list(self.overrides), **SET)},
            doc_md=f"{doc}\n\n{needs}",
            tags=["quern"],
        )

    def _late(self, context: Context) -> None:
        if context.get("reason") != "task_failure":  # The callback of that task was called already.
            self.on_failure(context)

    def task(self, name: str, *, options: Mapping[str, str] | None = None, **settings: Any) -> dict[str, Any]:
        """Arguments of the operator of one task, with what `tasks` says of it."""
        own: dict[str, Any] = dict(self.tasks.get(name, {}))
        engine = {"engine": own.pop("engine")} if "engine" in own else {}
        if "pool" in own:  # The slots are those of the warehouse's pool.
            settings.pop("pool_slots", None)
        return {"task_id": name, "options": {"warehouse": self.path, **(options or {}), **engine}, **settings, **own}
