"""The laws that an answer must meet to stand, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.task import Draft
from quern.jobs.reasoning.confidence.fits.chosen import Chosen
from quern.jobs.reasoning.confidence.fits.little import little_said
from quern.jobs.reasoning.confidence.fits.persons import named_already, names_nobody, speaks_of_it
from quern.jobs.reasoning.confidence.fits.rows import other_row
from quern.jobs.reasoning.confidence.fits.sides import one_side
from quern.jobs.reasoning.confidence.fits.things import (
    other_counted,
    other_number,
    other_owner,
    other_place,
    other_priced,
    other_role,
    other_subject,
)
from quern.jobs.reasoning.confidence.fits.times import only_planned, other_time, own_time, written_before
from quern.jobs.reasoning.confidence.fits.values import no_name, no_value
from quern.jobs.reasoning.confidence.reasons import Reason

Law = Callable[[Chosen], Reason | None]
_OF_ONE: Final[tuple[Law, ...]] = (
    other_time,
    written_before,
    own_time,
    other_counted,
    other_number,
    other_role,
    other_owner,
    other_subject,
    other_place,
    other_priced,
    other_row,
    only_planned,
    named_already,
    speaks_of_it,
    no_value,
    no_name,
    names_nobody,
    little_said,
)


def misfit(given: AnswerInput, draft: Draft) -> Reason | None:
    """Why a drafted answer does not fit what was asked; None where nothing speaks against it.

    An answer made of those of its parts is held against the law of comparisons alone: its parts met the others.
    """
    chosen = Chosen.of(given, draft)
    if chosen is None:
        return None
    laws: tuple[Law, ...] = (one_side,) if given.before else _OF_ONE
    return next((reason for law in laws if (reason := law(chosen)) is not None), None)
