"""The sentences of the evidence in the order in which they may answer, by rules and by what reads them beside.

An input holds what was made of it: who answers and who judges ask for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from quern.jobs.models.line_reader import Passage
from quern.jobs.reasoning.answering.idioms import asks_events
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.reading import LinesRead, LineToRead, told_of
from quern.jobs.reasoning.answering.relevance import Line, by_signals, is_conversation
from quern.jobs.reasoning.answering.tables import SEPARATOR
from quern.jobs.reasoning.answering.without_context import without_context
from quern.jobs.text.stems import content_words

# What the rules' log odds count beside a reader: both say the same in part. Fitted together with the reader's weight
# (`answer.reading`): .96 and .60 on four sets over the sample corpus, whose words rules were written for, .48 and .75
# on 405 questions of pages kept apart from its training, which no rule had seen, .71 and .69 on both; between them.
_BESIDE_READER: Final = 0.85
# Share of the weight of lines that a reader's word on yes or no has. Of 79 questions that people wrote, and that were
# read, 68 were right by rules alone, 66, 65 and 64 with .5, .75 and 1.0; of 200 literal ones 144, 164, 177 and 180.
_OF_VERDICTS: Final = 0.75
_AHEAD: Final = 8  # Questions whose sentences are read before they are answered.


def lines(given: AnswerInput, kind: Kind) -> list[Line]:
    """The sentences of the evidence, best first; an input holds them, who answers and who judges need the same."""
    return _ranked(given, kind).lines


def reading(given: AnswerInput, kind: Kind) -> LinesRead:
    """What the reader made of the best of them; an input holds it too."""
    return _ranked(given, kind).read


def says_yes(given: AnswerInput, kind: Kind, line: Line) -> float:
    """By what log odds a line answers a question by yes, as far as the reader's word counts; 0 where it reads nothing.

    A verdict by rules counts one beside it; see `_OF_VERDICTS`.
    """
    if given.reader is None or given.reader.of_verdicts is None or not reading(given, kind).lines:
        return 0.0
    own = {o.number: _to_read(o) for o in lines(given, kind) if o.evidence == line.evidence}
    before = own[line.number].behind(own.values())
    texts = [own[n].text for n in (before, line.number) if n in own]
    evidence = given.evidence[line.evidence]
    passage = Passage(evidence.title or "", [" ".join(text.split()) for text in texts])
    question = without_context(given.question, line.text, _known_of(evidence))
    return _OF_VERDICTS * given.reader.weight * given.reader.of_verdicts.says_yes(question, passage)


def _known_of(evidence: Evidence) -> frozenset[str]:
    """Stems of what is known of all lines of a chunk: its words, its title, its site and the year of its page.

    Of numbers that year alone: others are those of some line.
    """
    words = content_words(f"{evidence.title or ''} {evidence.text} {evidence.site.replace('.', ' ')}")
    year = {str(evidence.published_at.year)} if evidence.published_at else set[str]()
    return frozenset(w for w in words if not any(c.isdigit() for c in w)) | year


def by_rules(given: AnswerInput) -> AnswerInput:
    """The same question and evidence without the reader; what rules made of it is known."""
    alone = replace(given, reader=None)
    if (ruled := vars(given).get("ruled")) is not None:
        vars(alone)["ruled"] = ruled
    return alone


@dataclass(frozen=True)
class _Ranked:
    """The sentences of the evidence, best first, and what the reader made of those that rules find likeliest."""

    lines: list[Line]
    read: LinesRead


def reading_ahead(given: Sequence[AnswerInput]) -> Iterator[AnswerInput]:
    """Each of `given` in turn, while the likeliest sentences of some that come next are read.

    Not of those whose parts were answered before: they are read only where their parts do not answer the whole.
    """
    begun = 0
    for at, one in enumerate(given):
        while begun < min(len(given), at + _AHEAD):
            if given[begun].reader is not None and not given[begun].before:
                _begin(given[begun], kind_of(given[begun].question))
            begun += 1
        yield one


def _begin(given: AnswerInput, kind: Kind) -> None:
    held = vars(given)
    if held.get("ranked", (None,))[0] != kind and held.get("begun", (None,))[0] != kind:
        held["begun"] = (kind, _begun(given, _ruled(given, kind)))


def _ranked(given: AnswerInput, kind: Kind) -> _Ranked:
    held = vars(given)
    if held.get("ranked", (None,))[0] != kind:
        likely = _ruled(given, kind)
        begun = held.pop("begun", (None,))
        held["ranked"] = (kind, _as_read(given, likely, begun[1] if begun[0] == kind else _begun(given, likely)))
    ranked: _Ranked = held["ranked"][1]
    return ranked


def _ruled(given: AnswerInput, kind: Kind) -> list[Line]:
    """The sentences of the evidence, those first that rules find likeliest."""
    held = vars(given)
    if held.get("ruled", (None,))[0] != kind:
        held["ruled"] = (kind, by_signals(given, kind))
    ruled: list[Line] = held["ruled"][1]
    return ruled


def _begun(given: AnswerInput, likely: list[Line]) -> Callable[[], LinesRead]:
    # In conversations it is of no use: with it 289, not 293, of 572 questions of lihua_world are answered rightly.
    if given.reader is None or is_conversation([line for line in likely if line.evidence == likely[0].evidence]):
        return LinesRead
    if asks_events(given.question):  # Many lines tell a course of events, and the reader knows of one.
        return LinesRead
    return given.reader.begin(given.question, given.evidence, [_to_read(line) for line in likely])


def _to_read(line: Line) -> LineToRead:
    return LineToRead(line.number, line.evidence, line.text, SEPARATOR.join(line.row.header) if line.row else "")


def _as_read(given: AnswerInput, likely: list[Line], reading: Callable[[], LinesRead]) -> _Ranked:
    read = reading()
    if given.reader is None or not read.lines:
        return _Ranked(likely, read)
    odds = told_of(read, [(line.number, line.evidence) for line in likely])
    told = [given.reader.weight * value for value in odds]
    both = [replace(o, score=_BESIDE_READER * o.score + t, told=t) for o, t in zip(likely, told, strict=True)]
    return _Ranked(sorted(both, key=lambda line: (-line.score, line.number)), read)
