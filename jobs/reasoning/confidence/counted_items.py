"""Whether an answer lists as many things as its question says that there are."""

from __future__ import annotations

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.series import SEPARATOR
from quern.jobs.reasoning.answering.task import Draft
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words


def counted_items(given: AnswerInput, draft: Draft) -> bool:
    """Whether a question for a list says how many there are, and the short answer has so many items.

    `Who were the three bidders` by three; not where two are asked for, of which a sentence may have any.
    """
    kind = kind_of(given.question)
    if kind.name != "list" or given.before or not draft.sentences:
        return False
    items = draft.short.split(SEPARATOR)
    counted = (q for q in quantities(given.question) if content_words(q.unit) & kind.noun)
    return len(items) > 2 and any(q.value == len(items) for q in counted)
