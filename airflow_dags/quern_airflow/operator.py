"""A task that is one call of the command `quern`."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

from quern_airflow.command import INTERRUPTED, CommandMissingError, GuardedCommand, find_command

# What a build needs to close Spark and Ray.
GRACE_SECONDS = 60.0
RUN_OPTIONS = ("settings", "engine", "spark_master", "ray_address", "set")


class QuernOperator(BaseOperator):
    """Runs `quern ARGUMENTS OPTIONS`; fails with what the command says last, and leaves no process behind.

    Args:
        arguments: The command's name and what follows it.
        options: Options by name, without the dashes; those with an empty value are left out.
        run_options: Parameters of the run that are options too, where `options` has no such; of RUN_OPTIONS.
        skipped_without: Says what is missing where an argument is empty: the task is skipped.
        saved_to: File that standard output is written to, whole or not at all; empty for none.
        event: What the events of the task's outlets tell.
        as_json: Whether the task returns what the command tells with `--json`.
        finished_by: A task whose command may have finished this one's step too, as its JSON tells: nothing is run then.
    """

    template_fields: Sequence[str] = ("arguments", "options", "saved_to", "event")
    ui_color = "#e8dcc0"

    def __init__(
        self,
        *,
        arguments: Sequence[str],
        options: Mapping[str, str] | None = None,
        run_options: Sequence[str] = (),
        skipped_without: str = "",
        saved_to: str = "",
        event: Mapping[str, str] | None = None,
        as_json: bool = False,
        finished_by: str = "",
        grace: float = GRACE_SECONDS,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.arguments, self.options, self.run_options = arguments, dict(options or {}), tuple(run_options)
        self.skipped_without, self.saved_to, self.event = skipped_without, saved_to, dict(event or {})
        self.as_json, self.finished_by, self.grace = as_json, finished_by, grace
        self._running: GuardedCommand | None = None

    def execute(self, context: Context) -> Any:
        """Run the command; returns what it printed, where that is JSON."""
        if self.skipped_without and not all(self.arguments):
            raise AirflowSkipException(self.skipped_without)
        if self.finished_by:
            told = context["ti"].xcom_pull(task_ids=self.finished_by) or {}
            if self.arguments[1] in told.get("finished", ()):
                self.log.info("nothing to do: %s found this finished", self.finished_by)
                return None
        words = self.words(context["params"])
        self._running = guarded(words, self.grace)
        self.log.info("quern %s", shlex.join(words))
        ended = self._running.run(lambda line: self.log.info("%s", line))
        if ended.code == INTERRUPTED:
            raise AirflowException("quern was interrupted; tried again, it goes on from where it stopped")
        if ended.code:
            raise AirflowException(f"quern ended with exit code {ended.code}: {ended.last or 'it said nothing'}")
        if self.saved_to:
            path = Path(self.saved_to)
            path.parent.mkdir(parents=True, exist_ok=True)
            made = path.with_name(f".{path.name}.{os.getpid()}")
            made.write_text(ended.output, "utf-8")
            made.replace(path)
        elif not self.as_json and ended.output.strip():
            self.log.info("%s", ended.output.rstrip())
        if self.event:
            for outlet in self.outlets:
                context["outlet_events"][outlet].extra = dict(self.event)
        return json.loads(ended.output) if self.as_json else None

    def words(self, params: Mapping[str, Any]) -> list[str]:
        """What follows `quern`: elements of an argument list, which no shell and no template reads again."""
        told = {name: params[name] for name in self.run_options if params[name]}
        overrides = [f"engine.{name}={told.pop(name)}" for name in ("spark_master", "ray_address") if name in told]
        overrides += told.pop("set", ())
        options = told | self.options
        return [
            *self.arguments,
            *(["--json"] if self.as_json else []),
            *(f"--{name}={value}" for name, value in options.items() if value),
            *(f"--set={each}" for each in overrides),
        ]

    def on_kill(self) -> None:
        """Airflow ends the task; `execute` goes on when the command has ended."""
        if self._running:
            self._running.stop()


def guarded(words: Sequence[str], grace: float = GRACE_SECONDS) -> GuardedCommand:
    """The command with `words`, not begun; without the command the task fails at once and is not tried again."""
    try:
        return GuardedCommand([*find_command(), *words], grace)
    except CommandMissingError as error:
        raise AirflowFailException(str(error)) from None
