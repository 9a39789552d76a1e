"""Asking, by Python: answers, what is found, timelines, sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from quern.jobs.reasoning.runner import Reasoner
from quern.pipelines.api.given import Asked, Changes, Place, questions_of, searcher_of
from quern.pipelines.images.illustrate import illustrated
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import load_evidence
from quern.pipelines.retrieve.filters import conditions_of, see_that_columns_are_there
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.timelines.query import asked_timeline, wanted_of
from quern.schemas.answers import Answer, Hit
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
    see_that_columns_are_there(searcher, where)
    (asked,) = questions_of([{"query_id": "1", "question": question, "where": list(where)}], searcher.settings)
    with Reasoner(searcher.settings.generator, searcher.settings.engine) as reasoner:
        batch = Batch(searcher, [asked.question], [conditions_of(asked)], reasoner)
        (found,) = load_evidence(batch, chosen.rank(batch))
    return found.hits


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
    (found,) = answer([question], warehouse, recipe=recipe, settings=settings, snapshot=snapshot, as_of=as_of)
    return found


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
    wanted = wanted_of(start, end, most)
    return asked_timeline(searcher_of(warehouse, settings, snapshot, as_of), topic, entity, wanted)


def sources(
    questions: Iterable[Asked],
    warehouse: Place,
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
    from quern.pipelines.sources.query import sources_of  # It can fetch, and so wants the extra `crawl`.

    searcher = searcher_of(warehouse, settings, snapshot)
    return sources_of(searcher, questions_of(questions, searcher.settings), history=history)
