"""Names that an option or argument can have: for its help, and for a shell that completes them.

A help text names them as `{engines}`. They are looked up when help or a shell asks: a command that runs imports nothing
for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final


def _recipes() -> Iterable[str]:
    from quern.pipelines.retrieve.recipes import RECIPES

    return RECIPES


def _of_setting(group: str, name: str) -> Iterable[str]:
    from quern.schemas.settings import choices

    return choices(group, name)


def _tables() -> Iterable[str]:
    from quern.schemas.tables import TABLES

    return TABLES


def _rows() -> Iterable[str]:
    from quern.pipelines.inspect.show import CITATION, ENTITY
    from quern.schemas.tables import TABLES

    return [*(table.row for table in TABLES.values() if table.row), CITATION, ENTITY]


def _steps() -> Iterable[str]:
    from quern.pipelines.build.stage import stage_names

    return stage_names()


def _judges() -> Iterable[str]:
    from quern.pipelines.judging.judges import PAIRWISE, SINGLE

    return [*SINGLE, *PAIRWISE]


def _layers() -> Iterable[str]:
    from quern.pipelines.inspect.graph.export import LAYERS

    return LAYERS


def _formats() -> Iterable[str]:
    from quern.jobs.pages.inputs import KINDS

    return KINDS


CHOICES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "recipes": _recipes,
    "engines": lambda: _of_setting("engine", "engine"),
    "audit_engines": lambda: _of_setting("audit", "engine"),
    "scopes": lambda: _of_setting("crawl", "scope"),
    "tables": _tables,
    "rows": _rows,
    "steps": _steps,
    "judges": _judges,
    "layers": _layers,
    "formats": _formats,
}


def with_choices(text: str) -> str:
    """A help text with the names that it asks for."""
    return re.sub(r"\{(\w+)\}", lambda m: ", ".join(CHOICES[m[1]]()) if m[1] in CHOICES else m[0], text)


def completing(kind: str) -> Callable[[], list[str]]:
    """The names of a kind, for a shell."""
    return lambda: list(CHOICES[kind]())
