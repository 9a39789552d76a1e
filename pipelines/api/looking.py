"""Looking at a snapshot and measuring it, by Python: tables, rows, the graph, what changed, figures of recipes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from quern.jobs.pages.originals import Original
from quern.pipelines.api.asking import Changes, Place, opened_of, questions_of, searcher_of
from quern.pipelines.evaluation import recipes as evaluation
from quern.pipelines.evaluation.retrieval import ComparedRecipe, compared
from quern.pipelines.inspect import show as rows
from quern.pipelines.inspect.difference import CURRENT, PREVIOUS, difference, snapshot_named
from quern.pipelines.inspect.graph import GraphDescription, describe_graph
from quern.pipelines.inspect.show import entities_named
from quern.pipelines.retrieve.recipes import find_recipes
from quern.schemas.answers import Question
from quern.schemas.differences import SnapshotDifference
from quern.schemas.errors import QuernError
from quern.schemas.words.meant import no_such


def diff(
    warehouse: Place,
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
    opened = opened_of(warehouse)
    return difference(snapshot_named(opened, before), snapshot_named(opened, after), tables, limit)


def table(
    name: str, warehouse: Place, *, columns: Sequence[str] | None = None, snapshot: str | None = None
) -> pa.Table:
    """A table of a snapshot, whole, as Arrow has it: `.to_pandas()` makes a frame of it.

    `docs/reference/tables.md` says what each column means. Name the `columns` that you want where it is large: all of
    them are read into memory.

    Raises:
        QuernError: There is no such warehouse, snapshot, table or column.
    """
    opened = opened_of(warehouse).snapshot(snapshot)
    if name not in opened.manifest.tables:
        raise QuernError(no_such("table", name, opened.manifest.tables))
    stage = opened.stage(name)
    names = stage.table.schema.names
    if unknown := [column for column in columns or () if column not in names]:
        raise QuernError(no_such(f"column of {name}", unknown[0], names))
    selection = list(columns) if columns is not None else names
    schema = pa.schema([stage.table.schema.field(column) for column in selection])
    return pa.Table.from_batches([batch.select(selection) for batch in stage.batches(selection)], schema)


def show(kind: str, key: str, warehouse: Place, *, snapshot: str | None = None) -> dict[str, Any]:
    """A row and its lineage, as `quern show --json` tells them: `{"row": ..., "from": ..., "to": ...}`.

    A `kind` is what a row is called (page, document, chunk, query, node...), with its id as the key; or `citation`,
    with the key DOC_ID:START-END; or `entity`, with a name, which gives `{"entities": [...]}`.

    Raises:
        QuernError: There is no such warehouse, snapshot, kind or row; of a row that was rejected it says why.
    """
    opened = opened_of(warehouse).snapshot(snapshot)
    if kind == rows.ENTITY:
        return {"entities": entities_named(opened, key)}
    return rows.show(opened, kind, key)


def original(url: str, warehouse: Place, *, snapshot: str | None = None) -> Original:
    """The archived record that the page `url` was made from, byte for byte: its header and its content.

    Raises:
        QuernError: There is no such page, it was read from no archive, or the archive is gone or was changed.
    """
    return rows.original_of(opened_of(warehouse).snapshot(snapshot), url)


def graph(warehouse: Place, *, most: int = 5, snapshot: str | None = None) -> GraphDescription:
    """The query-centric graph: its structure as arrays, its communities, and figures with the `most` greatest hubs.

    Raises:
        QuernError: There is no such warehouse or snapshot.
    """
    return describe_graph(opened_of(warehouse).snapshot(snapshot), most)


def evaluate(
    questions: Iterable[Question | Mapping[str, object]],
    warehouse: Place,
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
    chosen, searcher = find_recipes(",".join(recipes)), searcher_of(warehouse, settings, snapshot)
    asked = list(questions_of(questions, searcher.settings))
    return evaluation.evaluate(searcher, asked, chosen, list(k), answers=answers, by_type=by_type)


def compare(
    questions: Iterable[Question | Mapping[str, object]],
    warehouse: Place,
    *,
    recipes: Sequence[str] = ("bridge",),
    baseline: str = "dense",
    k: Sequence[int] = (5,),
    settings: Changes = None,
    snapshot: str | None = None,
) -> list[ComparedRecipe]:
    """What each recipe finds against a baseline: a row a recipe and figure, each with 95 % intervals.

    Figures are those of `evaluate`: recall@k, all_evidence@k and mrr. Intervals are bootstrapped over questions, and
    paired: a difference is `certain` where its interval leaves out 0. `pandas.DataFrame(rows)` makes a table of them.

    Raises:
        QuernError: As `evaluate`.
    """
    chosen, searcher = find_recipes(",".join([baseline, *recipes])), searcher_of(warehouse, settings, snapshot)
    return compared(searcher, list(questions_of(questions, searcher.settings)), chosen, list(k))
