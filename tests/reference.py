"""The pages of docs/reference: tables, settings and commands, written from their declarations.

`make reference` writes them anew; a test holds them to the declarations.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from typer.main import get_command

from quern.jobs.core.contract import Job
from quern.jobs.core.step import Step
from quern.pipelines.build.steps import STEPS
from quern.pipelines.cli.common import examples, with_choices
from quern.pipelines.cli.main import app
from quern.schemas.contract.expectations import Limits, References
from quern.schemas.settings import AuditSettings, Group, Settings
from quern.schemas.settings.build import BuildSettings
from quern.schemas.settings.reading import describe, group_doc
from quern.schemas.settings.run import RunSettings
from quern.schemas.settings.search import SearchSettings
from quern.schemas.tables import TABLES, VECTOR, Table

_NOTE = "<!-- Written by `make reference`, not by hand. -->"
_ANY_DAY = datetime(2026, 1, 1, tzinfo=UTC)  # an expectation's name does not depend on the day
_PHASES: dict[str, type[Group]] = {"Build": BuildSettings, "Search": SearchSettings, "Run": RunSettings}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")


def pages() -> dict[str, str]:
    return {
        "build.md": build_page(STEPS),
        "tables.md": tables_page(TABLES),
        "settings.md": settings_page(),
        "commands.md": commands_page(),
    }


def build_page(steps: Sequence[Step]) -> str:
    head = _page(
        "The build",
        "A build is a list of steps (`pipelines/build/steps.py`). A row-wise step computes only rows that the memo",
        "lacks; a whole-table step reuses its tables from the last build if the tables that it reads",
        "did not change. Tables with round ends are deleted when the build is done. `quern plan` shows what each step",
        "would do, and `quern stage` runs one step.",
    )
    # Tables that go when the build is done have round ends.
    flow = ["source{{files or page store}}"]
    flow += [f"{name}([{name}])" if step.scratch else f"{name}[{name}]" for step in steps for name in step.makes]
    flow += [
        f"{read} -->|{step.name}| {made}" for step in steps for made in step.makes for read in step.reads or ("source",)
    ]
    table = ["| step | reads | makes | settings | kind | what it makes |", "|---|---|---|---|---|---|"]
    for step in steps:
        job = step.job(Settings())
        lists = (", ".join(names) for names in (step.reads, step.makes, step.needs))
        kind, doc = "row-wise" if isinstance(job, Job) else "whole table", inspect.getdoc(type(job)) or ""
        table.append(f"| {' | '.join(map(_cell, (step.name, *lists, kind, doc.partition(chr(10))[0])))} |")
    drawing = ["```mermaid", "flowchart LR", *(f"    {line}" for line in flow), "```", ""]
    return "\n".join([*head, *drawing, *table]) + "\n"


def tables_page(tables: Mapping[str, Table]) -> str:
    head = _page(
        "Tables",
        "Every table of a warehouse. A field may be null only where its type ends with `?`. Times are UTC. Keys are",
        "stable: the same content gets the same key on every build and every machine. *Served* tables are opened",
        "through LanceDB, *staged* ones are Parquet files alone; one that is *never pruned* belongs to no snapshot.",
        "See [how a snapshot is read](../howto/operate.md).",
    )
    lines: list[str] = []
    for table in tables.values():
        key = ", ".join(f"`{column}`" for column in table.key)
        shown = f" `quern show {table.row} ID` shows a row." if table.row else ""
        kind = "Served" if table.served else "Staged" if table.pinned else "Never pruned"
        lines += [f"## {table.name}", "", f"{table.doc} Key: {key}. {kind}.{shown}", ""]
        lines += ["| field | type | meaning |", "|---|---|---|"]
        for field in table.schema:
            kind = "vector" if field.type == VECTOR else str(field.type)
            to = table.references.get(field.name)
            meaning = _cell(table.meaning(field.name)) + (f" A key of [{to}](#{to})." if to else "")
            lines.append(f"| `{field.name}` | `{_cell(kind)}{'?' if field.nullable else ''}` | {meaning} |")
        lines.append("")
        expected = [e for e in table.expectations(Limits(AuditSettings(), _ANY_DAY)) if not isinstance(e, References)]
        for severity in ("critical", "warning"):
            if names := [f"`{e.name(table.name)}`" for e in expected if e.severity == severity]:
                lines += [f"Expected, {severity}: {', '.join(names)}.", ""]
    return "\n".join([*head, *_index(tables), *lines]) + "\n"


def settings_page() -> str:
    head = _page(
        "Settings",
        "Every setting with its default. `--set group.name=value` sets one, `--settings FILE.yaml` many; an unknown",
        "name is an error that suggests the nearest. `quern settings` prints the current values.",
    )
    rows = {group: list(of) for group, of in groupby(describe(Settings()), lambda row: row[0])}
    lines: list[str] = []
    for phase, groups in _PHASES.items():
        lines += [f"## {phase}", "", inspect.cleandoc(groups.__doc__ or ""), ""]
        for group in groups.model_fields:
            lines += [f"### {group}", "", group_doc(group), "", "| setting | default | meaning |", "|---|---|---|"]
            for _, name, value, meaning in rows[group]:
                default = json.dumps(value, ensure_ascii=False)
                lines.append(f"| `{group}.{name}` | `{_cell(default)}` | {_cell(meaning)} |")
            lines.append("")
    return "\n".join([*head, *_index(Settings.model_fields), *lines]) + "\n"


def commands_page() -> str:
    head = _page(
        "Commands",
        "Every command, as `quern COMMAND --help` shows it. Exit codes: 0 for success, 2 with one sentence on standard",
        "error for an error that the user can fix, 130 for an interruption. With `--json` a command prints one JSON",
        "object on standard output, and nothing else.",
    )
    sections = dict(_commands(get_command(app), "quern"))
    return "\n".join([*head, *_index(sections), *(line for lines in sections.values() for line in lines)]) + "\n"


def _page(title: str, *introduction: str) -> list[str]:
    return [_NOTE, "", f"# {title}", "", *introduction, ""]


def _index(names: Iterable[str]) -> list[str]:
    return [" · ".join(f"[{name}](#{name.replace(' ', '-')})" for name in names), ""]


def _commands(command: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """The lines of each command below one, by its name."""
    context = command.context_class(command, info_name=name)
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    for below in names:
        yield from _commands(command.get_command(context, below), f"{name} {below}")
    if not names:
        lines = [f"## {name}", "", _cell(command.help or ""), "", "| argument or option | meaning |", "|---|---|"]
        records = filter(None, (parameter.get_help_record(context) for parameter in command.params))
        lines += [f"| `{_cell(option)}` | {_cell(with_choices(meaning))} |" for option, meaning in records]
        yield name, [*lines, "", "```sh", *examples(command.epilog or ""), "```", ""]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
