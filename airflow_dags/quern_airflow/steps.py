"""The build's own list of steps, as `quern steps --json` prints it, remembered between parses of the DAG files.

Airflow parses a DAG file every half a minute, and the command takes longer than a parse may. So what it printed is kept
in a file, for as long as neither the command nor the file that declares the steps has changed. A list that is out of
date does no harm either: `quern stage` refuses a step that it does not know, and the audit one that was left out.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quern_airflow.command import CommandMissingError, find_command

# Airflow gives up a DAG file after 30 seconds (`core.dagbag_import_timeout`).
_SECONDS = 25
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BuildStep:
    """A step of a build as an orchestrator sees it."""

    name: str  # As `quern stage` takes it.
    upstream: tuple[str, ...]  # The steps that must be finished before.


def build_steps() -> tuple[BuildStep, ...]:
    """The steps, in the order of the list; where the command cannot be asked the list last known, else none."""
    file = Path(os.environ.get("AIRFLOW_HOME") or "~/airflow").expanduser() / "quern" / "steps.json"
    known: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        kept = json.loads(file.read_text("utf-8"))
        known = kept if isinstance(kept, dict) else {}
    try:
        command = find_command()
        if known.get("command") != command or known.get("files") != _signatures(known.get("files", ())):
            done = subprocess.run(
                [*command, "steps", "--json"], capture_output=True, timeout=_SECONDS, check=True, encoding="utf-8"
            )
            told = json.loads(done.stdout)
            files = _signatures([command[0], told["declared_in"]])
            known = {"command": list(command), "files": files, "steps": told["steps"]}
            with suppress(OSError):  # Where nothing can be written the command is asked again.
                file.parent.mkdir(parents=True, exist_ok=True)
                # The file is replaced whole: several processes of Airflow parse at once.
                with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as made:
                    json.dump(known, made)
                Path(made.name).replace(file)
    except CommandMissingError as error:
        log.warning("%s", error)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        log.warning("the steps of a build could not be asked for: %s", error)
    return tuple(BuildStep(step["name"], tuple(step["upstream"])) for step in known.get("steps", ()))


def _signatures(files: Sequence[str] | Mapping[str, Any]) -> dict[str, list[int]]:
    """Of each file the time of its last change and its size; nothing of one that is gone, as after an upgrade."""
    found = {}
    for name in files:
        with suppress(OSError):
            stat = Path(name).stat()
            found[name] = [stat.st_mtime_ns, stat.st_size]
    return found
