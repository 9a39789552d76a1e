"""What the trained reader makes of the likeliest lines of the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Final, Protocol

import numpy as np

from quern.jobs.models.reader import LineReading, Passage, Reading
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.lines import Line, is_conversation, is_unread, ranked
from quern.jobs.text.language import language_of

# What the log odds of shared words count beside the reader's.
BESIDE_READER: Final = 0.12
LINES: Final = 12  # Likely lines of a window...
IN_CONTEXT: Final = 6  # ...of which the first are shown with the line before them...
_CHARACTERS: Final = 1500  # ...as far as all have so many characters, about what there is room for...
_LINE, _TITLE = 350, 130  # ...of which the model reads so many of a line, and of a title with its date.
# The log odds at which yes and no are as frequent: the reader leans to no, for many of its training questions were
# turned round to be answered so. The best threshold of six for 168 visible questions of the sample corpus, half of them
# answered by yes (.69 right rather than .55); of 24 of two other visible domains .67 rather than .62.
_EVEN: Final = -1.4
_AHEAD: Final = 8  # Questions whose lines are read before they are answered.
_UNKNOWN: Final = partial(Reading, (), {})  # What is read of the kind of a question in another language.


class Model(Protocol):
    """What reads a window; see `jobs.models.reader.Reader`."""

    @property
    def fingerprint(self) -> str:
        """What tells it from others."""

    def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Reading]:
        """Start to read; the result waits for it."""


@dataclass(frozen=True)
class Read:
    """What was read beside a question."""

    lines: Mapping[int, LineReading] = field(default_factory=dict)  # Of each line that was read, by its number.
    # Probability of each kind of answer that the question may ask for; empty where it was not read.
    kinds: Mapping[str, float] = field(default_factory=dict)

    @property
    def odds_of_any(self) -> float:
        """Log odds that any line answers against that none does; minus infinity where nothing was read."""
        odds = [line.odds for line in self.lines.values()]
        return float(np.logaddexp.reduce(odds)) if odds else -np.inf

    def asks_for(self, kind: str) -> bool:
        """Whether the question asks for an answer of this kind more likely than not."""
        return self.kinds.get(kind, 0.0) > 0.5


def read(given: AnswerInput) -> Read:
    """What the reader makes of an input; the input holds it."""
    memo = vars(given)
    if "read" not in memo:
        memo["read"] = (memo.pop("begun", None) or _begin(given))()
    result: Read = memo["read"]
    return result


def reading_ahead(inputs: Sequence[AnswerInput]) -> Iterator[AnswerInput]:
    """Each of `inputs` in turn, while the lines of some that come next are read."""
    position = 0
    for at, one in enumerate(inputs):
        while position < min(len(inputs), at + _AHEAD):
            if "read" not in vars(inputs[position]):
                vars(inputs[position])["begun"] = _begin(inputs[position])
            position += 1
        yield one


def verdict(given: AnswerInput, line: Line) -> float:
    """The log odds that a line answers a question by yes, read alone behind the line before; 0 without a reader."""
    if given.reader is None or is_unread(given.question):
        return 0.0
    texts = {o.number: o.shown for o in ranked(given) if o.number in (line.before, line.number)}
    passage = Passage(heading(given.evidence[line.evidence]), [texts[number] for number in sorted(texts)])
    alone = given.reader.begin(given.question, [passage])().lines[0][-1]
    return 0.0 if alone is None else alone.yes - _EVEN


def heading(evidence: Evidence) -> str:
    """Title and date of a document, as the reader sees them."""
    day = f"{evidence.published_at.date()}" if evidence.published_at else ""
    return f"{evidence.title or ''} ({day})" if day else evidence.title or ""


def kind_of(given: AnswerInput) -> str:
    """What kind of answer a question asks for; `other` where it was not read."""
    kinds = read(given).kinds
    return max(kinds, key=kinds.__getitem__) if kinds else "other"


def _begin(given: AnswerInput) -> Callable[[], Read]:
    if given.reader is None or is_unread(given.question):
        return Read
    # The kind of answer is read of the question alone: lines beside it mislead. The reader knows English alone.
    is_english = language_of(given.question)[0] in (None, "en")
    kinds = given.reader.begin(given.question, []) if is_english else _UNKNOWN
    if not given.evidence or not ranked(given):
        return lambda: Read({}, kinds().kinds)
    # Turns of a conversation are short: a second window was worth nothing in lihua_world (.33 right as with one).
    windows = [*islice(_windows(ranked(given), given), 1 if is_conversation(given) else None)]
    model = given.reader
    readings = [_begin_window(given, model, window) for window in windows]

    def together() -> Read:
        first = [reading() for reading in readings]
        if len(first) == 1:
            return Read(first[0].lines, kinds().kinds)
        # The likeliest lines of several windows are read once more in one: there they are weighed against each other.
        odds = {number: line.odds for result in reversed(first) for number, line in result.lines.items()}
        likely = [line for line in ranked(given) if line.number in odds]
        likely.sort(key=lambda line: -(odds[line.number] + BESIDE_READER * line.score))
        return Read(_begin_window(given, model, next(_windows(likely, given)))().lines, kinds().kinds)

    return together


def _begin_window(given: AnswerInput, model: Model, window: Mapping[int, Sequence[int]]) -> Callable[[], Read]:
    texts = {line.number: line.shown for line in ranked(given)}
    passages = [Passage(heading(given.evidence[at]), [texts[number] for number in mine]) for at, mine in window.items()]
    wait = model.begin(given.question, passages)

    def by_number() -> Read:
        reading = wait()
        pairs = zip(chain(*window.values()), chain(*reading.lines), strict=True)
        return Read({number: line for number, line in pairs if line is not None}, reading.kinds)

    return by_number


def _windows(lines: Sequence[Line], given: AnswerInput) -> Iterator[dict[int, list[int]]]:
    """The numbers of the lines of each window by their evidence, the likeliest lines first."""
    by_number = {line.number: line for line in ranked(given)}
    for _ in range(given.windows):
        if not lines:
            return
        window: dict[int, set[int]] = {}
        length, took = 0, 0
        for rank, line in enumerate(lines[:LINES]):
            beside = {line.before} - {0} if rank < IN_CONTEXT else set()
            numbers = ({line.number} | beside) - window.get(line.evidence, set())
            longer = sum(min(_LINE, len(by_number[number].shown)) for number in numbers)
            longer += 0 if line.evidence in window else min(_TITLE, len(heading(given.evidence[line.evidence])))
            if window and length + longer > _CHARACTERS:
                break
            window.setdefault(line.evidence, set()).update(numbers)
            length, took = length + longer, took + 1
        yield {at: sorted(mine) for at, mine in window.items()}
        lines = lines[took:]
