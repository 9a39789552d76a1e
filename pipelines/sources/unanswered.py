"""Questions that were not answered, as a file of answers tells them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from quern.schemas.answers import Answer
from quern.schemas.errors import QuernError

FILE = "answers.jsonl"


class AnswersError(QuernError):
    """A file of answers that cannot be read; the message names the line."""


def unanswered(path: Path) -> Iterator[Answer]:
    """The answers of a file, or of a folder that `quern answer --out` wrote, that the corpus does not have.

    What was refused for what it asks stays so, whatever is crawled.

    Raises:
        AnswersError: It cannot be read, or a line is no answer.
    """
    file = path / FILE if path.is_dir() else path
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    answer = Answer.model_validate_json(line)
                except ValidationError as error:
                    first = error.errors()[0]
                    field = ".".join(map(str, first["loc"])) or "the line"
                    raise AnswersError(f"{file}:{number}: {field}: {first['msg'].lower()}") from None
                if not answer.found and answer.reason != "refused":
                    yield answer
    except OSError as error:
        raise AnswersError(
            f"{file} cannot be read: {error.strerror}; name the folder that `quern answer --out` wrote"
        ) from None
