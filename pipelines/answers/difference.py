"""What changed between two runs over the same questions: which answers, and which pages made them change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from quern.pipelines.answers.questions import problem_of
from quern.schemas.answers import Answer
from quern.schemas.digests import text_digest
from quern.schemas.errors import QuernError


class DifferenceError(QuernError):
    """Answers that cannot be compared; the message names the file."""


@dataclass(frozen=True)
class PageChange:
    """A page whose part in the evidence changed."""

    page: str  # Its URL; its `doc_id` where it has none.
    what: Literal["new", "gone", "changed"]  # `new` in the evidence, `gone` from it, or its text there `changed`.
    cited: bool  # Whether the old answer or the new one cites it.


@dataclass(frozen=True)
class AnswerChange:
    """A question whose answer is not what it was."""

    query_id: str
    question: str
    before: str | None  # The answer as text; None where the question was not asked.
    after: str | None  # The same of the new run.
    # Pages whose part in the evidence changed, cited ones first; none where something else made the change.
    pages: tuple[PageChange, ...]
    # What made it: `evidence`; `question`, asked in other words or in one run only; else `settings`, by which are meant
    # the settings, the model and the version that answered.
    why: Literal["evidence", "question", "settings"]


def differences(old: Path, new: Path) -> Iterator[AnswerChange]:
    """The answers that changed from the run `old` to that in `new`, in the order of `new`.

    Of the old run only where each answer stands is held in memory: some 150 bytes a question.

    Raises:
        DifferenceError: A folder holds no answers, or a line of them is damaged.
    """
    place = {a.query_id: at for at, a in answers_in(old)}
    with _file(old).open("rb") as before:
        for _, after in answers_in(new):
            at = place.pop(after.query_id, None)
            if at is None:
                yield _only(after, new=True)
                continue
            before.seek(at)
            earlier = Answer.model_validate_json(before.readline())
            asked_otherwise = earlier.question != after.question
            if asked_otherwise or earlier.answer != after.answer:
                old_evidence, new_evidence = _evidence(earlier), _evidence(after)
                cited = {c.url or c.doc_id for a in (earlier, after) for c in a.citations}
                every = dict.fromkeys([*new_evidence, *old_evidence])
                changed = [p for p in every if old_evidence.get(p) != new_evidence.get(p)]
                pages = tuple(
                    PageChange(
                        page,
                        "new" if page not in old_evidence else "gone" if page not in new_evidence else "changed",
                        page in cited,
                    )
                    for page in sorted(changed, key=lambda p: p not in cited)
                )
                why: Literal["evidence", "question", "settings"] = "evidence" if pages else "settings"
                why = "question" if asked_otherwise else why
                yield AnswerChange(after.query_id, after.question, earlier.answer, after.answer, pages, why)
        for at in place.values():
            before.seek(at)
            yield _only(Answer.model_validate_json(before.readline()), new=False)


def answers_in(path: Path) -> Iterator[tuple[int, Answer]]:
    """The answers of a run, by its folder or `answers.jsonl`, each with the byte at which its line begins.

    Raises:
        DifferenceError: They cannot be read, or a line is no answer.
    """
    path, at = _file(path), 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    if line.strip():
                        yield at, Answer.model_validate_json(line)
                except ValidationError as error:
                    raise DifferenceError(f"{path}:{number}: {problem_of(error)}") from None
                at += len(line)
    except OSError as error:
        raise DifferenceError(
            f"{path} cannot be read: {error.strerror}; name the folder that `quern answer --out` wrote"
        ) from None


def _file(run: Path) -> Path:
    return run / "answers.jsonl" if run.is_dir() else run


def _only(answer: Answer, *, new: bool) -> AnswerChange:
    before, after = (None, answer.answer) if new else (answer.answer, None)
    return AnswerChange(answer.query_id, answer.question, before, after, (), "question")


def _evidence(answer: Answer) -> dict[str, frozenset[str]]:
    """Digests of what each page says in the evidence, and when."""
    texts: dict[str, set[str]] = {}
    for hit in answer.hits:
        texts.setdefault(hit.url or hit.doc_id, set()).add(text_digest(hit.title, hit.text, str(hit.published_at)))
    return {page: frozenset(digests) for page, digests in texts.items()}
