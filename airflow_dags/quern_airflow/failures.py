"""What is told of a task that failed for good, and of a run that missed its deadline."""

from __future__ import annotations

import logging
import shlex
from pathlib import Path

from airflow.sdk import Context

from quern_airflow.operator import QuernOperator

_LINES = 20
log = logging.getLogger(__name__)


def log_failure(context: Context) -> None:
    """Log the end of the newest log of the warehouse, and the command that repeats the task by hand."""
    task = context.get("task")
    reason = context.get("reason")  # Why a whole run failed.
    if reason or not isinstance(task, QuernOperator):
        told = reason or context.get("exception")
        log.error("dag=%s run=%s failed: %s", context["dag"].dag_id, context["run_id"], told)
        return
    warehouse = task.options.get("warehouse")
    logs = Path(warehouse).glob("logs/*.log") if warehouse else ()
    newest = max(logs, key=lambda file: file.stat().st_mtime, default=None)
    if newest:
        lines = newest.read_text("utf-8", "replace").splitlines()[-_LINES:]
        log.error("the end of %s:\n%s", newest, "\n".join(lines))
    log.error("to repeat it by hand: %s", shlex.join(["quern", *task.words(context["params"])]))
