"""Building and asking, by Python: snapshots, answers, what is found, timelines, sources."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import count
from pathlib import Path

import yaml

from quern.indexes.catalog import Manifest, Warehouse
from quern.indexes.catalog.object_store import working_folder
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.answers.questions import NoQuestionError, QuestionError, question_of
from quern.pipelines.build import whole
from quern.pipelines.images.illustrate import illustrated
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import load_evidence
from quern.pipelines.retrieve.filters import check_columns, conditions_in, conditions_of
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.pipelines.timelines.query import asked_timeline, wanted_of
from quern.schemas.addresses import page_source, warehouse_place
from quern.schemas.answers import Answer, Hit, Question
from quern.schemas.settings import Settings
from quern.schemas.settings.reading import load_settings
from quern.schemas.sources import FoundSources
from quern.schemas.timelines import Timeline


def search(
    question: str,
    warehouse: Place,
    *,
    top_k: int | None = None,
    recipe: str = "bridge",
    where: Sequence[str] = (),
    settings: Changes = None,
    snapshot: str | None = None,
    as_of: date | None = None,
) -> list[Hit]:
    """The chunks that a recipe finds for a question, best first, without an answer made of them.

    The question is taken as it stands: nothing is rewritten or taken apart. `top_k` is `retrieve.top_k` by default;
    `where` are conditions such as `site=example.org` and `published_at>=2024-05`.

    Raises:
        QuernError: There is no such warehouse, snapshot, recipe or column, or the question is blank or too long.
    """
    (chosen,) = find_recipes(recipe)
    searcher = searcher_of(warehouse, settings, snapshot, as_of, top_k)
    check_columns(searcher, where)
    (query,) = questions_of([{"query_id": "1", "question": question, "where": list(where)}], searcher.settings)
    with Reasoner(searcher.settings.generator, searcher.settings.engine) as reasoner:
        batch = Batch(searcher, [query.question], [conditions_of(query)], reasoner)
        (result,) = load_evidence(batch, chosen.rank(batch))
    return result.hits


def ask(
    question: str,
    warehouse: Place,
    *,
    recipe: str = "bridge",
    settings: Changes = None,
    snapshot: str | None = None,
    as_of: date | None = None,
) -> Answer:
    """Answer one question from a snapshot, by default the published one.

    With `as_of`, only what was published until that day is evidence, and relative times count from it.

    Raises:
        QuernError: There is no such warehouse, snapshot or recipe, or the question cannot be answered: it is blank, too
            long or no text.
    """
    (result,) = answer([question], warehouse, recipe=recipe, settings=settings, snapshot=snapshot, as_of=as_of)
    return result


def answer(
    questions: Iterable[Asked],
    warehouse: Place,
    *,
    recipe: str = "bridge",
    settings: Changes = None,
    snapshot: str | None = None,
    as_of: date | None = None,
) -> Iterator[Answer]:
    """Answers in the order of the questions, computed in batches; memory does not grow with their number.

    A question is a text, a `Question`, or a mapping with its fields; a text gets its number as `query_id`.
    With `as_of`, only what was published until that day is evidence; a question's own `as_of` can but be earlier.

    Raises:
        QuernError: There is no such warehouse, snapshot or recipe; or, when its batch is reached, one of the questions
            is none that can be answered.
    """
    (chosen,) = find_recipes(recipe)
    searcher = searcher_of(warehouse, settings, snapshot, as_of)
    return answer_questions(searcher, questions_of(questions, searcher.settings), chosen, present=illustrated)


def timeline(
    topic: str | None,
    warehouse: Place,
    *,
    entity: str | None = None,
    start: str | date | None = None,
    end: str | date | None = None,
    most: int | None = None,
    settings: Changes = None,
    snapshot: str | None = None,
    as_of: date | None = None,
) -> Timeline:
    """What happened, in order of time: of a topic, or of an entity where `topic` is None or a name that events have.

    A topic's timeline has one event of each document about it, an entity's all that name it; `most` those that fit
    best. Of neither, all that happened in the days, at most 100 events. Days are dates or texts such as 2024, 2024-03
    and 2024-03-02. With `as_of`, what was known on that day.

    Raises:
        QuernError: There is no such warehouse or snapshot, it has no events, or what was asked cannot be read.
    """
    selection = wanted_of(start, end, most)
    return asked_timeline(searcher_of(warehouse, settings, snapshot, as_of), topic, entity, selection)


def sources(
    questions: Iterable[Asked], warehouse: Place, *, settings: Changes = None, snapshot: str | None = None
) -> Iterator[FoundSources]:
    """The sites that may answer each question, in the order of the questions, each validated by its own pages.

    Raises:
        QuernError: There is no such warehouse or snapshot, it has no sources, or one of the questions is none that can
            be answered.
    """
    from quern.pipelines.sources.seek import sources_of  # It can fetch, and so wants the extra `crawl`.

    searcher = searcher_of(warehouse, settings, snapshot)
    return sources_of(searcher, questions_of(questions, searcher.settings))


Place = str | Path | Warehouse
"""A warehouse: its folder, its address in an object store, or what `quern.Warehouse.open` gives."""
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
    """The warehouse, opened if it is named by its folder, or by its address in an object store."""
    return warehouse if isinstance(warehouse, Warehouse) else Warehouse.open(working_folder(warehouse_place(warehouse)))


def searcher_of(
    warehouse: Place, changes: Changes, snapshot: str | None, as_of: date | None = None, top_k: int | None = None
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


def build(source: str | Path | None, warehouse: Place, settings: Changes = None) -> Manifest:
    """Build an index of the pages at `source` (a path or an s3:// address; None for the page store), and publish it.

    Returns:
        The manifest of the new snapshot: rows and digest of each table, what each job did, what was rejected.

    Raises:
        QuernError: There is nothing to read, another build is writing, or the audit failed; nothing was published.
    """
    if not isinstance(warehouse, Warehouse):
        warehouse = Warehouse.create(working_folder(warehouse_place(warehouse)))
    return whole.build(None if source is None else page_source(source), warehouse, settings_of(settings, None))
