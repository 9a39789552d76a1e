"""The trained reader that answers are chosen with, where settings want it and it is at hand."""

from __future__ import annotations

import logging
from functools import cache

from quern.jobs.models.folders import ModelError
from quern.jobs.models.line_reader import OF_VERDICTS, LineReader
from quern.jobs.reasoning.answering.reading import Reader
from quern.schemas.settings import AnswerSettings

log = logging.getLogger(__name__)


def reader_of(settings: AnswerSettings) -> Reader | None:
    """The reader by `settings`; None where they want none, or the model that it changes is not on this machine."""
    models = _models() if settings.reading else None
    return None if models is None else Reader(models[0], settings.reading, models[1])


@cache
def _models() -> tuple[LineReader, LineReader] | None:
    """What reads lines, and verdicts, looked for once: where it is missing, that is said once, and rules choose."""
    try:
        return LineReader.load(), LineReader.load(OF_VERDICTS)
    except ModelError as error:
        log.warning("answers are chosen by rules alone: %s", error)
        return None
