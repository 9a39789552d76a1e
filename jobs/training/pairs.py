"""Training data in JSON Lines, questions with texts that answer them and texts that do not, and the check for leaks.

A file of pairs has FlagEmbedding's format: `{"query": ..., "pos": [...], "neg": [...]}`.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from quern.jobs.reasoning.entailment.inputs import Passage
from quern.schemas.digests import text_digest
from quern.schemas.errors import QuernError
from quern.schemas.tables.training_pairs import NEGATIVE, POSITIVE

_ASKED: Final = ("question", "query", "input", "claim")  # Fields of what a model is asked.
Row = TypeVar("Row")


class DataError(QuernError):
    """Training data that cannot be read or used; the message names file and line."""


def read_rows(file: Path, parse: Callable[[Any], Row], form: str) -> Iterator[Row]:
    """The rows of a JSON Lines file, each as `parse` makes it; what that raises says why it is no `form`.

    Raises:
        DataError: The file cannot be read, or a row is wrong.
    """
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        yield parse(json.loads(line))
                    except (ValueError, TypeError, KeyError, AttributeError, SyntaxError) as error:
                        cause = f"it has no {error}" if isinstance(error, KeyError) else str(error)
                        raise DataError(f"{file}, line {number} is no {form}: {cause}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error


@dataclass(frozen=True)
class Pair:
    """A question and a text; the columns of the table `training_pairs`."""

    question: str
    text: str
    label: str
    source: str
    origin: str
    votes: int | None = None

    @property
    def pair_id(self) -> str:
        """Digest of the normalised question and text."""
        return text_digest(normalised(self.question), normalised(self.text))

    def row(self) -> dict[str, Any]:
        """The pair as a row of the table."""
        return {"pair_id": self.pair_id, **vars(self)}


@dataclass
class Group:
    """A question with its texts."""

    question: str
    positives: list[str] = field(default_factory=list)
    negatives: list[str] = field(default_factory=list)


def normalised(text: str) -> str:
    """A text without case, punctuation and spacing, by which equal content is told."""
    words = "".join(c if c.isalnum() else " " for c in unicodedata.normalize("NFKC", text).casefold())
    return " ".join(words.split())


def distinct(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Each question and text once, as the first pair of them says."""
    seen: set[str] = set()
    for pair in pairs:
        if (key := pair.pair_id) not in seen:
            seen.add(key)
            yield pair


def grouped(pairs: Iterable[Pair]) -> list[Group]:
    """The questions of pairs that have a positive, in the order of their first pairs."""
    groups: dict[str, Group] = {}
    for pair in pairs:
        group = groups.setdefault(normalised(pair.question), Group(pair.question))
        (group.positives if pair.label == POSITIVE else group.negatives).append(pair.text)
    return [group for group in groups.values() if group.positives]


def read_pairs(file: Path) -> list[Pair]:
    """The pairs of a labelled set in FlagEmbedding's format.

    Raises:
        DataError: The file cannot be read, or a line is not of the format.
    """

    def parse(row: Any) -> list[Pair]:
        question, positives, negatives = row["query"], row["pos"], row.get("neg", [])
        lists = positives and isinstance(positives, list) and isinstance(negatives, list)
        if not lists or not all(isinstance(t, str) and t.strip() for t in [question, *positives, *negatives]):
            raise ValueError('write {"query": "...", "pos": ["..."], "neg": ["..."]}, with a text in pos')
        labels = [(POSITIVE, text) for text in positives] + [(NEGATIVE, text) for text in negatives]
        return [Pair(question, text, label, "labelled", file.name) for label, text in labels]

    return [pair for pairs in read_rows(file, parse, "question with texts") for pair in pairs]


@dataclass(frozen=True)
class HeldOut:
    """Questions and texts that a model is to be measured with, as normalised texts' digests."""

    questions: frozenset[str]
    texts: frozenset[str]

    @staticmethod
    def read(files: Iterable[Path]) -> HeldOut:
        """What evaluation sets hold: questions (`question`, `query`, `input`) and texts (`text`, `pos`, `passages`).

        Of sets of claims (ExpertQA) also each `claim` and each sentence of its `evidence`.

        Raises:
            DataError: A file cannot be read or has none of them.
        """
        questions, texts = set[str](), set[str]()

        def parse(row: Any) -> None:
            questions.update(str(row[key]) for key in _ASKED if row.get(key))
            passages = [p.get("text") if isinstance(p, dict) else p for p in row.get("passages") or []]
            texts.update(text for text in [row.get("text"), *(row.get("pos") or []), *passages] if text)
            for passage in map(Passage.read, row.get("evidence") or []):
                # A sentence that is quoted has four words; fewer stand anywhere.
                texts.update(s for s in (passage.text, *passage.sentences) if len(normalised(s).split()) >= 4)

        for file in files:
            before = len(questions) + len(texts)
            for _ in read_rows(file, parse, "question or text"):
                pass
            if len(questions) + len(texts) == before:
                raise DataError(
                    f"--held-out {file} has neither a question, query, input or claim, nor a text, pos, passages or "
                    "evidence"
                )
        return HeldOut(*(frozenset(text_digest(normalised(t)) for t in some) for some in (questions, texts)))

    def refuse(self, questions: Iterable[str]) -> None:
        """See that none of the questions to train on is held out.

        Raises:
            DataError: Some are; the message shows one.
        """
        if leaks := [q for q in questions if text_digest(normalised(q)) in self.questions]:
            raise DataError(
                f"{len(leaks)} questions to train on are in the held-out sets, as {leaks[0][:80]!r}: remove them"
            )

    def has(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts is held out, as a question or as a text."""
        return not (self.questions | self.texts).isdisjoint(map(text_digest, filter(None, map(normalised, texts))))

    def leaks(self, pair: Pair) -> bool:
        """Whether the question of a pair is held out, or its text, with or without the title in its first line."""
        texts = {text_digest(normalised(text)) for text in (pair.text, pair.text.partition("\n")[2]) if text}
        return text_digest(normalised(pair.question)) in self.questions or not texts.isdisjoint(self.texts)
