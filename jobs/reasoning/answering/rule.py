"""An answer by the trained reader: the words that answer, then the lines that carry them.

What rules add is general: the line of a table is shown with the headers of its columns, of lines that say the same the
later one wins, two answers of one dimension are compared, and the items of one list are collected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice, product
from typing import Final

from quern.jobs.reasoning.answering.candidates import Candidate, candidates, latest, said
from quern.jobs.reasoning.answering.course import stages
from quern.jobs.reasoning.answering.draft import MOST_SENTENCES, Draft, Statement, statement
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.lines import MATCH, asked_cell, items_beside, newest_cell, ranked, without_mark
from quern.jobs.reasoning.answering.reading import read, verdict
from quern.jobs.reasoning.questions.plan import Comparison, comparison
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words

# Probability of a span from which it is the short answer; below it the line is. Of 0, .15 and .3 on two visible domains
# the one with the most right answers.
_SURE: Final = 0.15
_FAR: Final = 4.0  # Log odds by which a further line may be less likely than the best and still carry the answer.
_ITEM: Final = 2.5  # The same of an item of a list.
_PAIR: Final = 2  # Cells of a row of a label and its value.
_MOST_ITEMS: Final = 12


def answered(given: AnswerInput, most: int) -> Draft:
    """The answer to a question from its evidence, at most `most` lines behind the short one; empty if there is none."""
    if course := stages(given):
        return Draft(sentences=course)
    likely = latest(given, candidates(given))
    if not likely:
        return Draft(sentences=[])
    if given.before and (draft := _of_parts(given, most)):
        return draft
    if read(given).asks_for("list") and (items := _items(given, likely)):
        text = "; ".join(items.values())
        return Draft(sentences=[statement(text, [*items]), *_carrying(given, [likely[0].line.number], text)])
    best = likely[0]
    if read(given).asks_for("verdict"):
        return _draft("Yes" if verdict(given, best.line) > 0 else "No", [best], likely, most)
    return _draft(_short(given, best), [best], likely, most)


def _of_parts(given: AnswerInput, most: int) -> Draft | None:
    """The answer made of two sides that are compared, or of the answers to all parts; None where one has none."""
    if (sides := comparison(given.question)) is not None:
        if (outcome := _compared(given, sides)) is None:
            return None
        text, numbers = outcome
    elif all(before.answer and before.rests_on for before in given.before):
        text = "; ".join(before.answer.rstrip(".") for before in given.before)
        numbers = list(dict.fromkeys(before.rests_on[0] for before in given.before))
    else:
        return None
    return Draft(sentences=[statement(text, numbers), *_carrying(given, numbers, text)[:most]])


def _carrying(given: AnswerInput, numbers: Sequence[int], short: str) -> list[Statement]:
    """The lines of these numbers, those left out that the short answer repeats."""
    text_of = {line.number: without_mark(line.shown) for line in ranked(given)}
    return [statement(text_of[n], [n]) for n in numbers if n in text_of and text_of[n] not in short]


def _items(given: AnswerInput, likely: Sequence[Candidate]) -> dict[int, str]:
    """The items of what is listed by the numbers of their lines; empty where there is but one.

    They are those of the list that the best line is part of or introduces, else its document's lines that are about as
    likely.
    """
    best = likely[0]
    if beside := items_beside(given, best.line):
        return {line.number: without_mark(line.shown) for line in beside[:_MOST_ITEMS]}
    near = [c for c in likely if c.line.evidence == best.line.evidence and c.score >= best.score - _ITEM]
    items = sorted(near[:_MOST_ITEMS], key=lambda c: c.line.number)
    return {c.line.number: _short(given, c) for c in items} if len(near) > 1 else {}


def _short(given: AnswerInput, candidate: Candidate) -> str:
    """The words that answer; the whole line where they are unsure or the reader does not know the question's language.

    Where the words are the label of a row, its value stands for them. Of a row with a header, the cell of the
    latest time, else that whose column the question names. Words that go on into another cell, or into a bracket that
    they do not close, end before it.
    """
    row, words = candidate.line.row, candidate.words
    if row and row.header and (cell := newest_cell(given, row) or asked_cell(given, row)) is not None:
        return cell
    if row and len(row.cells) == _PAIR and words and words in row.cells[0]:
        return row.cells[1]
    if candidate.sure < _SURE or not words or not read(given).kinds:
        return said(candidate)
    if ")" not in words:
        words = words.split(" (", 1)[0]
    return next((cell for cell in row.cells if cell and cell in words), words) if row and row.header else words


def _draft(short: str, rests_on: Sequence[Candidate], likely: Sequence[Candidate], most: int) -> Draft:
    """An answer of a short one and the lines that carry it, likeliest first."""
    numbers = [c.line.number for c in rests_on]
    return Draft(sentences=[statement(short, numbers), *near(numbers, likely, most, short)])


def near(numbers: Sequence[int], likely: Sequence[Candidate], most: int, short: str) -> list[Statement]:
    """At most `most` lines that carry an answer: those that it rests on, then those nearly as likely as the best.

    None repeats the `short` answer; `likely` are the lines that may answer, likeliest first.
    """
    first = [c for n in numbers for c in likely if c.line.number == n]
    others = [c for c in likely if c.score >= likely[0].score - _FAR]
    lines = {c.line.number: c for c in (*first, *others)}
    carrying_lines = islice((c for c in lines.values() if said(c) != short), min(most, MOST_SENTENCES - 1))
    return [statement(said(c), [c.line.number]) for c in carrying_lines]


_LINES: Final = 40  # Likely lines of each side whose values are looked at.
# Log odds of a line that was not read. With -2 the ferries of the sample corpus are compared by their lengths; of 14
# comparisons of two visible domains as many are right as where unread lines stand behind all others.
_UNREAD: Final = -2.0
_SHARE: Final = 0.5  # Of the words that tell a side from the other, what a line with its title must have.


@dataclass(frozen=True)
class Value:
    """A quantity or a date of a line."""

    text: str  # Its words.
    unit: str  # What it counts; `day` of dates.
    size: float  # Its number; of a date the number of its first day.
    line: Candidate  # The line that has it.


def _compared(given: AnswerInput, comparison: Comparison) -> tuple[str, list[int]] | None:
    """The side that a comparison is true of, with both values, and the numbers of the two lines that it rests on.

    None where no two lines have values of one unit.
    """
    words = [content_words(side) for side in comparison.sides]
    both = (words[0] & words[1], words[0] | words[1])
    values = [[*_values(given, own - both[0] or own, comparison)] for own in words]
    pairs = [(a, b) for a, b in product(*values) if a.unit == b.unit and a.size != b.size and a.text != b.text]
    if not pairs:
        return None
    one, other = max(pairs, key=lambda pair: _fit(pair[0]) + _fit(pair[1]))
    first = (one.size < other.size) == comparison.less
    if comparison.verdict:
        text = f"{'Yes' if first else 'No'}: {one.text} against {other.text}"
    else:
        winner, loser = (one, other) if first else (other, one)
        text = f"{comparison.sides[0 if first else 1]} ({winner.text} against {loser.text})"
    return f"{text[:1].upper()}{text[1:]}", [one.line.line.number, other.line.line.number]


def _fit(value: Value) -> float:
    """The log odds that a line has what is compared: by the reader, and by how well it matches the question."""
    reading, line = value.line.reading, value.line.line
    return (reading.odds if reading else _UNREAD) + MATCH * line.signals.match


def _values(given: AnswerInput, words: frozenset[str], comparison: Comparison) -> Iterator[Value]:
    """The values of the likeliest lines that speak of a side."""
    likely = candidates(given)
    numbers = {c.line.number for c in likely}
    pool = [*likely, *(Candidate(o, _UNREAD, None) for o in ranked(given) if o.number not in numbers)]
    relevant = [c for c in pool if _speaks_of(c, words, given.evidence[c.line.evidence].title or "")]
    # A document may name in one line what it tells of in another.
    relevant += [c for c in pool if _speaks_of(c, words, given.evidence[c.line.evidence].text)]
    for candidate in relevant[:_LINES]:
        text, published = candidate.line.shown, candidate.line.published
        if comparison.in_time and candidate.line.speaker and published:
            # What is said in a conversation happens when it is said.
            yield Value(f"{published}", "day", published.toordinal(), candidate)
        elif comparison.in_time:
            days = ((when.text, when.from_day) for when in dates(text, published))
            yield from (Value(term, "day", day.toordinal(), candidate) for term, day in days if isinstance(day, date))
        else:
            # A bare number may count anything.
            yield from (Value(q.text, q.unit, q.value, candidate) for q in quantities(text) if q.unit)


def _speaks_of(candidate: Candidate, words: frozenset[str], beside: str) -> bool:
    """Whether a line, with what stands beside it, has enough of the words of a side."""
    return len(words & content_words(f"{beside} {candidate.line.shown}")) >= _SHARE * max(1, len(words))
