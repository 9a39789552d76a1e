"""The trained reader that answers are read with, where settings want it and it is at hand."""

from __future__ import annotations

import logging
from functools import cache

from quern.jobs.models.folders import ModelError
from quern.jobs.models.reader import Reader
from quern.schemas.settings import AnswerSettings

log = logging.getLogger(__name__)


def reader_of(settings: AnswerSettings) -> Reader | None:
    """The reader by `settings`; None where they want none, or the model that it is trained from is not at hand."""
    return _reader() if settings.windows else None


@cache
def _reader() -> Reader | None:
    """The packaged reader; where it is missing, that is said once, and lines are chosen by shared words."""
    try:
        return Reader.load()
    except ModelError as error:
        log.warning("answers are chosen by shared words alone: %s", error)
        return None
