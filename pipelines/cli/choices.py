"""Names that an option or argument can have: for its help, and for a shell that completes them.

A help text names them as `{engines}`. They are looked up when help or a shell asks: a command that runs imports nothing
for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Final


def _in(module: str) -> Any:
    return import_module(f"quern.{module}")


def _of_setting(group: str, name: str) -> Iterable[str]:
    from quern.schemas.settings.reading import choices

    return choices(group, name)


def _rows() -> Iterable[str]:
    from quern.pipelines.inspect.show import CITATION, ENTITY
    from quern.schemas.tables import TABLES

    return [*(table.row for table in TABLES.values() if table.row), CITATION, ENTITY]


CHOICES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "recipes": lambda: _in("pipelines.retrieve.recipes").RECIPES,
    "engines": lambda: _of_setting("engine", "engine"),
    "audit_engines": lambda: _of_setting("audit", "engine"),
    "scopes": lambda: _of_setting("crawl", "scope"),
    "search_servers": lambda: _of_setting("elasticsearch", "kind"),
    "exported": lambda: _in("indexes.served.search_layout").EXPORTABLE,
    "tables": lambda: [name for name, table in _in("schemas.tables").TABLES.items() if table.pinned],
    "rows": _rows,
    "steps": lambda: _in("pipelines.build.stage").stage_names(),
    "judges": lambda: [*_in("pipelines.judging.judges").SINGLE, *_in("pipelines.judging.judges").PAIRWISE],
    "formats": lambda: _in("jobs.pages.inputs").KINDS,
}


def with_choices(text: str) -> str:
    """A help text with the names that it asks for."""
    return re.sub(r"\{(\w+)\}", lambda m: ", ".join(CHOICES[m[1]]()) if m[1] in CHOICES else m[0], text)


def completing(kind: str) -> Callable[[], list[str]]:
    """The names of a kind, for a shell."""
    return lambda: list(CHOICES[kind]())
