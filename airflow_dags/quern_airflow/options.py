"""What a run of the DAGs is told: parameters of the run, else Variables of Airflow."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from airflow.sdk import Asset, Param

# What publishing a snapshot emits; its events name the warehouse and the build.
SNAPSHOT = Asset("quern_snapshot")

# The build's name is its night: names of builds sort by night, and a run that is tried again is the same build.
BUILD_ID = "{{ (dag_run.logical_date or dag_run.run_after).strftime('%Y%m%dT%H%M%S%f')[:-3] }}"

NIGHT = os.environ.get("QUERN_NIGHT", "0 2 * * *")

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
TEXTS = {"type": "string", "pattern": _TEXT, "maxLength": 4096}


def option(name: str) -> str:
    """The template of an option: the run's parameter, else the Variable `quern_NAME`, else nothing."""
    return f"{{{{ params.{name} or var.value.get('quern_{name}', '') }}}}"


def text_param(name: str, description: str) -> dict[str, Param]:
    """A parameter that the Variable `quern_NAME` stands in for."""
    told = f"{description} Default: the Variable `quern_{name}`."
    return {name: Param(None, type=["null", "string"], pattern=_TEXT, maxLength=4096, description=told)}


ENGINE = {
    "engine": Param(
        None,
        type=["null", "string"],
        enum=[None, "auto", "local", "spark", "ray"],
        description="What runs the jobs, as `--engine`. Default: the Variable `quern_engine`, else the settings.",
    )
}
WAREHOUSE = text_param("warehouse", "Directory of the warehouse.")
SETTINGS = text_param("settings", "YAML file of settings.")
