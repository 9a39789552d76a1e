"""What the functions of the API are given, as what they work with: warehouses, settings, questions."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from itertools import count
from pathlib import Path

import yaml

from quern.indexes.catalog import Warehouse
from quern.pipelines.answers.question_rows import QuestionError
from quern.pipelines.answers.questions import NoQuestionError, question_of
from quern.pipelines.retrieve.filters import conditions_in
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.schemas.addresses import local_path
from quern.schemas.answers import Question
from quern.schemas.settings import Settings, load_settings

Place = str | Path | Warehouse
"""A warehouse: its folder, or what `quern.Warehouse.open` gives."""
Asked = str | Question | Mapping[str, object]
"""A question: a text, a `Question`, or a mapping with its fields."""
Changes = Settings | Mapping[str, object] | None
"""Settings: all of them, or `{"group.name": value}` for those that differ."""


def questions_of(given: Iterable[Asked], settings: Settings) -> Iterator[Question]:
    """The questions as models; a text gets its number as `query_id`.

    Raises:
        QuestionError: One is none that can be answered; the message says which and why.
    """
    for number, question in zip(count(1), given, strict=False):
        fields = {"query_id": f"{number}", "question": question} if isinstance(question, str) else question
        try:
            yield question_of(fields, settings.question.max_characters, conditions_in)
        except NoQuestionError as error:
            raise QuestionError(f"question {number} cannot be answered: {error.detail}") from None


def settings_of(changes: Changes, base: Settings | None) -> Settings:
    """The settings given, or `base` with these changes.

    Raises:
        SettingsError: A setting is unknown or ill-typed.
    """
    if isinstance(changes, Settings):
        return changes
    overrides = [f"{name}={yaml.safe_dump(value, default_flow_style=True)}" for name, value in (changes or {}).items()]
    return load_settings(overrides=overrides, base=base)


def opened_of(warehouse: Place) -> Warehouse:
    """The warehouse, opened if it is named by its folder."""
    return warehouse if isinstance(warehouse, Warehouse) else Warehouse.open(local_path(warehouse))


def searcher_of(
    warehouse: Place,
    changes: Changes,
    snapshot: str | None,
    as_of: date | None = None,
    top_k: int | None = None,
) -> Searcher:
    """A searcher of a snapshot; its own settings hold but for `changes`, `as_of` and `top_k`.

    Raises:
        QuernError: There is no such warehouse or snapshot, or a setting is unknown or ill-typed.
    """
    opened = opened_of(warehouse)
    lease = opened.lease(snapshot)  # Held until the searcher has one of its own.
    settings = settings_of(changes, settings_to_ask_by(opened.manifest(lease.build_id)))
    told = {name: value for name, value in (("retrieve.as_of", as_of), ("retrieve.top_k", top_k)) if value is not None}
    return _loaded(opened.root, lease.build_id, settings_of(told, settings).model_dump_json())


@lru_cache(maxsize=2)
def _loaded(root: Path, build_id: str, settings: str) -> Searcher:
    """A searcher with its model and graph, kept for the next questions."""
    if _loaded.cache_info().currsize:
        # What recipes hold of a searcher refers to it: one that went before would keep its lease until some later day.
        gc.collect()
    return Searcher(Warehouse.open(root).snapshot(build_id), Settings.model_validate_json(settings))
