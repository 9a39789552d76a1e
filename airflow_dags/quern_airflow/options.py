"""Parameters of a run, and what all tasks have in common."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import Param

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
