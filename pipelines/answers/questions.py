"""Files of questions, one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from quern.schemas.answers import Question
from quern.schemas.errors import QuernError


class QuestionError(QuernError):
    """A file of questions that cannot be used; the message names file and line."""


def read_questions(path: Path) -> list[Question]:
    """The questions of a JSONL file.

    Raises:
        QuestionError: The file cannot be read, is empty, or a line lacks a field; the first such line is named.
    """
    try:
        # Not splitlines: a JSON string may hold U+2028 and others that end a line to Python alone.
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"questions {path} cannot be read: {_cause(error)}") from None
    questions: list[Question] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if line.strip():
            question = _question(line, f"{path}:{number}")
            if question.query_id in seen:
                raise QuestionError(f"{path}:{number}: query_id {question.query_id!r} was used before")
            seen.add(question.query_id)
            questions.append(question)
    if not questions:
        raise QuestionError(f"questions {path} is empty; each line must be like {_EXAMPLE}")
    return questions


def _cause(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else f"not UTF-8 at byte {error.start}"


_EXAMPLE = '{"query_id": "q1", "question": "Who ...?"}'


def _question(line: str, where: str) -> Question:
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise QuestionError(f"{where}: is no JSON object; each line must be like {_EXAMPLE}")
        return Question.model_validate(fields)
    except json.JSONDecodeError as error:
        raise QuestionError(f"{where}: not valid JSON ({error.msg}); each line must be like {_EXAMPLE}") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(p) for p in first["loc"]) or "the line"
        raise QuestionError(f"{where}: {field}: {first['msg'].lower()}; each line must be like {_EXAMPLE}") from None
