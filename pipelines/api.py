"""The Python API: `import quern` gives the functions of this module, and what they take and return.

A warehouse is given as a path or as a `Warehouse`, settings as `Settings` or as `{"group.name": value}`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import count
from pathlib import Path

import yaml

from quern.indexes.catalog import Manifest, Warehouse
from quern.pipelines import build as nightly
from quern.pipelines.answers.question_rows import QuestionError
from quern.pipelines.answers.questions import NoQuestionError, question_of
from quern.pipelines.evaluation import recipes as evaluation
from quern.pipelines.inspect.difference import CURRENT, PREVIOUS, difference, snapshot_named
from quern.pipelines.query import answer_questions, settings_to_ask_by
from quern.pipelines.retrieve.filters import condition
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.query import sources_of
from quern.pipelines.timelines.query import asked_timeline, wanted_of
from quern.schemas.answers import Answer, Question
from quern.schemas.differences import SnapshotDifference
from quern.schemas.settings import Settings, load_settings
from quern.schemas.sources import FoundSources
from quern.schemas.timelines import Timeline

Changes = Settings | Mapping[str, object] | None


def build(source: str | Path | None, warehouse: str | Path | Warehouse, settings: Changes = None) -> Manifest:
    """Build an index of the pages at `source`, or of the page store where it is None, and publish it.

    Returns:
        The manifest of the new snapshot: rows and digest of each table, what each job did, what was rejected.

    Raises:
        QuernError: There is nothing to read, another build is writing, or the audit failed; nothing was published.
    """
    opened = warehouse if isinstance(warehouse, Warehouse) else Warehouse.create(Path(warehouse))
    return nightly.build(None if source is None else Path(source), opened, _settings(settings, None))


def ask(
    question: str,
    warehouse: str | Path | Warehouse,
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
    (found,) = answer([question], warehouse, recipe=recipe, settings=settings, snapshot=snapshot, as_of=as_of)
    return found


def answer(
    questions: Iterable[str | Question | Mapping[str, object]],
    warehouse: str | Path | Warehouse,
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
    searcher = _searcher(warehouse, settings, snapshot, as_of)
    return answer_questions(searcher, _questions(questions, searcher.settings), chosen)


def timeline(
    topic: str | None,
    warehouse: str | Path | Warehouse,
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
    best. Days are dates or texts such as 2024, 2024-03 and 2024-03-02. With `as_of`, what was known on that day.

    Raises:
        QuernError: There is no such warehouse or snapshot, it has no events, or what was asked cannot be read.
    """
    wanted = wanted_of(start, end, most)
    return asked_timeline(_searcher(warehouse, settings, snapshot, as_of), topic, entity, wanted)


def sources(
    questions: Iterable[str | Question | Mapping[str, object]],
    warehouse: str | Path | Warehouse,
    *,
    history: bool = False,
    settings: Changes = None,
    snapshot: str | None = None,
) -> Iterator[FoundSources]:
    """The sites that may answer each question, in the order of the questions, each validated by its own pages.

    With `history`, sources of like questions are proposed too, and what is found is kept for later searches.

    Raises:
        QuernError: There is no such warehouse or snapshot, it has no sources, or one of the questions is none that can
            be answered.
    """
    searcher = _searcher(warehouse, settings, snapshot)
    return sources_of(searcher, _questions(questions, searcher.settings), history=history)


def evaluate(
    questions: Iterable[Question | Mapping[str, object]],
    warehouse: str | Path | Warehouse,
    *,
    recipes: Sequence[str] = ("bridge",),
    k: Sequence[int] = (5,),
    answers: bool | None = None,
    by_type: bool = False,
    settings: Changes = None,
    snapshot: str | None = None,
) -> dict[str, dict[str, float]]:
    """Recall@k, all-evidence@k and MRR of each recipe, against the gold evidence, and figures of its answers.

    Answers are measured by all recipes with `answers`, by none without; by default by `bridge`, where it is among them
    and the questions have gold answers. Under `RECIPE TYPE`, with `by_type`, the same for each type of question. A
    figure of answers has its 95 % interval beside it, as `f1_low` and `f1_high`; `docs/howto/measure.md` has a list.

    Raises:
        QuernError: There is nothing to measure, there is no such warehouse, snapshot or recipe, or one of the questions
            is none that can be answered.
    """
    chosen, searcher = find_recipes(",".join(recipes)), _searcher(warehouse, settings, snapshot)
    asked = list(_questions(questions, searcher.settings))
    return evaluation.evaluate(searcher, asked, chosen, list(k), answers=answers, by_type=by_type)


def diff(
    warehouse: str | Path | Warehouse,
    before: str = PREVIOUS,
    after: str = CURRENT,
    *,
    tables: Sequence[str] = (),
    limit: int | None = 20,
) -> SnapshotDifference:
    """How many rows of each table differ between two snapshots, and which: at most `limit` of each kind.

    A snapshot is named by its build id; `current` is the published one, `previous` that which it was built upon.

    Raises:
        QuernError: There is no such warehouse, snapshot or table.
    """
    opened = warehouse if isinstance(warehouse, Warehouse) else Warehouse.open(Path(warehouse))
    return difference(snapshot_named(opened, before), snapshot_named(opened, after), tables, limit)


def _questions(given: Iterable[str | Question | Mapping[str, object]], settings: Settings) -> Iterator[Question]:
    for number, question in zip(count(1), given, strict=False):
        fields = {"query_id": f"{number}", "question": question} if isinstance(question, str) else question
        try:
            yield question_of(fields, settings.question.max_characters, condition)
        except NoQuestionError as error:
            raise QuestionError(f"question {number} cannot be answered: {error.detail}") from None


def _settings(changes: Changes, base: Settings | None) -> Settings:
    if isinstance(changes, Settings):
        return changes
    overrides = [f"{name}={yaml.safe_dump(value, default_flow_style=True)}" for name, value in (changes or {}).items()]
    return load_settings(overrides=overrides, base=base)


def _searcher(
    warehouse: str | Path | Warehouse, changes: Changes, snapshot: str | None, as_of: date | None = None
) -> Searcher:
    """A searcher of a snapshot; its own settings hold but for `changes` and `as_of`."""
    opened = warehouse if isinstance(warehouse, Warehouse) else Warehouse.open(Path(warehouse))
    lease = opened.lease(snapshot)  # Held until the searcher has one of its own.
    settings = _settings(changes, settings_to_ask_by(opened.manifest(lease.build_id)))
    if as_of is not None:
        retrieve = settings.retrieve.model_copy(update={"as_of": as_of})
        settings = settings.model_copy(update={"retrieve": retrieve})
    return _loaded(opened.root, lease.build_id, settings.model_dump_json())


@lru_cache(maxsize=2)
def _loaded(root: Path, build_id: str, settings: str) -> Searcher:
    """A searcher with its model and graph, kept for the next questions."""
    if _loaded.cache_info().currsize:
        # What recipes hold of a searcher refers to it: one that went before would keep its lease until some later day.
        gc.collect()
    return Searcher(Warehouse.open(root).snapshot(build_id), Settings.model_validate_json(settings))
