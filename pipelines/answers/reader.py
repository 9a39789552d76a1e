"""The trained reader that answers are chosen with, where settings want it and it is at hand."""

from __future__ import annotations

import logging
from functools import cache

from quern.jobs.models.folders import ModelError
from quern.jobs.models.line_reader import LineReader
from quern.jobs.reasoning.answering.reading import Reader
from quern.schemas.settings import AnswerSettings

log = logging.getLogger(__name__)


def reader_of(settings: AnswerSettings) -> Reader | None:
    """The reader by `settings`; None where they want none, or the model that it changes is not on this machine."""
    model = _model() if settings.reading else None
    return None if model is None else Reader(model, settings.reading)


@cache
def _model() -> LineReader | None:
    """The model, looked for once: where it is missing, that is said once, and the rules choose alone."""
    try:
        return LineReader.load()
    except ModelError as error:
        log.warning("answers are chosen by rules alone: %s", error)
        return None
