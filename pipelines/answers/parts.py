"""Answers kept while a run is not done: a run that was killed goes on where it stopped.

    OUT/.parts/run.json        what the answers depend on beside the questions: snapshot, settings, recipe
    OUT/.parts/000001.jsonl    a part: the digest and number of its questions, then their answers, one a line
    OUT/.parts/lock            held by the run that writes

A part appears whole or not at all. It stands for its questions by their content: a part whose questions are no longer
those of the file is dropped with all after it, and a file that has grown is gone on with.
"""

from __future__ import annotations

import json
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path

from quern.indexes.storage import exclusive, write_text
from quern.schemas.answers import Answer, Question
from quern.schemas.errors import QuernError

# Of a run that was killed while it wrote its files, the last its report; what else is there is not ours.
_LEFT_OVER = (".tmp-answers.*", ".tmp-rejects.jsonl", f".tmp-{'[a-z0-9_]' * 8}.html")


class OutputError(QuernError):
    """Answers cannot be written where they should; the message says why."""


@dataclass
class Parts:
    """The parts of a run in its output directory."""

    folder: Path  # Where they are.
    resumed: int = 0  # Answers that were taken from parts of a run before.
    anew: str = ""  # Why parts of a run before were not used; empty where they were, or there are none.

    def begin(self, run: Mapping[str, object]) -> None:
        """Keep the parts of a run of the same kind, and no others."""
        config = {"format": 1, **run}
        header = self.folder / "run.json"
        try:
            before = json.loads(header.read_text("utf-8"))
        except (OSError, ValueError):
            before = None
        if before == config:
            return
        files = self._files()
        if files and isinstance(before, dict):
            self.anew = " and ".join(k for k in config if before.get(k) != config[k]) or "format"
        for part in files:
            part.unlink()
        write_text(header, json.dumps(config) + "\n")

    def answered(
        self, questions: Iterable[Question], answer: Callable[[Iterator[Question]], Iterable[Answer]], size: int
    ) -> Iterator[Answer]:
        """Answers to `questions`, those of parts first; others come from `answer`, in the order of what it is given.

        `size` of them make a part; parts end where batches of `answer` do, so that a batch is whole or not at all.
        """
        stream = iter(questions)
        number, left = 0, list[Question]()
        for number, part in enumerate(self._files(), 1):
            try:
                head, *lines = part.read_text("utf-8").split("\n")[:-1]
                header = json.loads(head)
                kept = [Answer.model_validate_json(line) for line in lines]
                digest, count = header["digest"], header["questions"]
            except (OSError, ValueError, KeyError, TypeError):  # The part is damaged.
                kept, digest, count = [], "", 0
            left = list(islice(stream, count))
            if len(kept) != count or digest != _digest(left):  # Or it is of other questions, now read in vain.
                for other in self._files()[number - 1 :]:
                    other.unlink()
                number -= 1
                break
            left = []
            self.resumed += len(kept)
            yield from kept
        queue: deque[Question] = deque()

        def noted() -> Iterator[Question]:
            for question in chain(left, stream):
                queue.append(question)
                yield question

        answers = iter(answer(noted()))
        while part_answers := list(islice(answers, size)):
            number += 1
            digest = _digest([queue.popleft() for _ in part_answers])
            head = json.dumps({"digest": digest, "questions": len(part_answers)})
            lines = [head, *(a.model_dump_json() for a in part_answers)]
            write_text(self.folder / f"{number:06}.jsonl", "".join(f"{line}\n" for line in lines))
            yield from part_answers

    def end(self) -> None:
        """Remove the parts of a run that is done."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("[0-9]*.jsonl"))


@contextmanager
def parts_of(directory: Path) -> Iterator[Parts]:
    """The parts in an output directory, which this run alone writes to; they stay if it does not come to its end.

    Raises:
        OutputError: The directory cannot be written to, or another run writes there.
    """
    folder = directory / ".parts"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"--out {directory} cannot be made a directory: {error.strerror}") from None
    busy = OutputError(f"another quern answer is writing to {directory}; wait for it or stop it")
    with exclusive(folder / "lock", busy):
        for left_over in (path for name in _LEFT_OVER for path in directory.glob(name)):
            if left_over.is_file():
                left_over.unlink()
        parts = Parts(folder)
        yield parts
        parts.end()


def _digest(questions: Sequence[Question]) -> str:
    digest = blake2b(digest_size=16)
    for question in questions:
        digest.update(question.model_dump_json().encode() + b"\n")
    return digest.hexdigest()
