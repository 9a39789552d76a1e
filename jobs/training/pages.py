"""Pages to train and measure the reader with, and the windows that are made of them.

A file has pages: a title (`# `), its date (`@ `), numbered lines, questions with the numbers of the lines that answer
(`Q 4,7 `) and behind ` => ` the words of the first of them that do, questions whose items stand in several lines
(`L 5,6,7 `), questions that a line answers by yes (`Y 4 `) or no (`X 4 `), and questions that nothing answers (`N `).
Pages behind `== ` form an archive: the questions of each are answered by no other of its pages. Lines numbered `4'`
form the twin of a page, of the same title, on which each yes is a no.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from quern.jobs.models.reader import KINDS, Kind, Passage
from quern.jobs.text.stems import content_words
from quern.jobs.text.tables import rows
from quern.jobs.training.pairs import DataError

_NUMBERED: Final = re.compile(r"(?P<number>\d+)(?P<twin>'?) (?P<line>.+)")
_ASKED: Final = re.compile(r"(?P<kind>[QLYX]) (?P<lines>\d+(?:,\d+)*) (?P<question>.+?)(?: => (?P<answer>.+))?")
_VERDICTS: Final = {"Y": True, "X": False, "yes": True, "no": False}


@dataclass(eq=False)
class Page:
    """A page; `archive` are the pages of its archive, itself among them."""

    title: str
    archive: list[Page]
    date: str = ""
    has_twin: bool = False
    written: list[str] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """Title and date, as the reader sees them."""
        return f"{self.title} ({self.date})" if self.date else self.title

    @cached_property
    def lines(self) -> list[str]:
        """Its lines as the reader sees them: cells of tables behind the headers of their columns."""
        tables = rows(self.written)
        return [tables[n].labelled if n in tables else line for n, line in enumerate(self.written)]

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """The stems of each line."""
        return [content_words(line) for line in self.lines]

    @cached_property
    def title_words(self) -> frozenset[str]:
        """The stems of its title."""
        return content_words(self.title)


@dataclass(frozen=True)
class Question:
    """A question about a page."""

    question: str
    page: Page
    right: frozenset[int]  # The numbers of the lines that answer it, from 0; empty where nothing does.
    kind: Kind | None = None  # What kind of answer it asks for.
    answer: str = ""  # The words of the first right line that answer; empty where they are not known.
    yes: bool | None = None  # Whether the lines say yes; None where that is not asked.


def read_pages(files: Iterable[Path]) -> list[Question]:
    """The questions of all pages in `files`; those of a file that is named twice stand twice, of the same pages.

    Raises:
        DataError: A file cannot be read, or a line is not of the format; the message names it.
    """
    return [q for file, times in Counter(files).items() for q in list(_questions_of(file)) * times]


def pages_of(questions: Iterable[Question]) -> list[Page]:
    """The pages that questions are of, each once."""
    return list({id(q.page): q.page for q in questions}.values())


def _questions_of(file: Path) -> Iterator[Question]:
    page = twin = Page("", [])
    archive: list[Page] | None = None
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("== "):
            archive = []
        elif line.startswith("# "):
            page, twin = Page(line[2:], [] if archive is None else archive), Page(line[2:], [])
            page.archive.append(page)
            twin.archive.append(twin)
        elif line.startswith("@ "):
            page.date = twin.date = line[2:]
        elif match := _NUMBERED.fullmatch(line):
            page.has_twin |= bool(match["twin"])
            (twin if match["twin"] else page).written.append(match["line"])
        elif match := _ASKED.fullmatch(line):
            right = frozenset(int(n) - 1 for n in match["lines"].split(","))
            yes = _VERDICTS.get(match["kind"], _VERDICTS.get(match["answer"] or ""))
            kind: Kind = "verdict" if yes is not None else "list" if match["kind"] == "L" else "span"
            yield Question(match["question"], page, right, kind, "" if yes is not None else match["answer"] or "", yes)
            if page.has_twin and yes is not None:
                yield Question(match["question"], twin, right, kind, yes=not yes)
        elif line.startswith("N "):
            yield Question(line[2:], page, frozenset())
        elif line.strip():
            raise DataError(f"{file}:{number}: not a line of a page: {line[:80]!r}")


@dataclass(frozen=True)
class Target:
    """A window to read and what there is to learn of it."""

    question: str
    passages: Sequence[Passage]  # Its lines.
    right: Sequence[Sequence[bool]]  # Of each passage and line, whether it answers.
    # Passage, line, first and last character of the words that answer; None where they are not known.
    span: tuple[int, int, int, int] | None
    kind: int | None  # Number of the kind of answer among `KINDS`; None where it is not known.
    yes: bool | None  # Whether the right lines say yes; None where that is not asked.


@dataclass(frozen=True)
class Chances:
    """How windows are drawn. None of the numbers was swept; measured windows leave as little to chance as use does."""

    lines: tuple[int, int] = (3, 13)  # Least and most of the lines that share the most words with the question.
    noise: float = 0.5  # What chance adds to shared words.
    others: float = 0.6  # Probability that pages of other archives are among the candidates.
    alone: float = 0.12  # Probability that the other pages of its archive are not.
    before: float = 0.8  # Probability that the line before a likely line is shown.
    left_out: float = 0.15  # Probability that the right lines are left out, so that nothing answers.
    # Probability that the lines are those that come next to the likeliest: mostly none of them answers, as in most
    # windows of a question that is read in several.
    further: float = 0.25
    alone_asked: float = 0.03  # Probability that the question stands alone: its kind is known without any line.
    shuffled: float = 0.3  # Probability that the pages stand in random order.


MEASURED: Final = Chances(
    (12, 12), 0.05, others=1.0, alone=0.0, before=1.0, left_out=0.0, further=0.0, alone_asked=0.0, shuffled=0.0
)
_IN_CONTEXT: Final = 6  # Likely lines that are shown with the line before.
_DRAWN, _BESIDE = 10, 3  # Pages of other archives that are looked at, and that are shown.


def target(question: Question, pages: Sequence[Page], chance: random.Random, by: Chances) -> Target:
    """A window for a question: likely lines of its archive and of other pages, a right one among them."""
    page, right, words = question.page, question.right, content_words(question.question)
    kind = None if question.kind is None else KINDS.index(question.kind)
    if chance.random() < by.alone_asked:
        return Target(question.question, [], [], None, kind, None)
    archive = [page] if chance.random() < by.alone else page.archive
    every = [*archive, *(_beside(words, archive, pages, chance) if chance.random() < by.others else [])]
    own = next(at for at, p in enumerate(every) if p is page)
    scored = [
        (_shared(words, p, n) + by.noise * chance.random(), at, n)
        for at, p in enumerate(every)
        for n in range(len(p.lines))
    ]
    count, further = chance.randint(*by.lines), chance.random() < by.further
    likely = sorted(scored, reverse=True)[count if further else 0 :][:count]
    chosen = {(at, n) for _, at, n in likely}
    if further:
        right = frozenset(n for n in right if (own, n) in chosen)
    elif right and (question.kind == "list" or not any((own, n) in chosen for n in right)):
        chosen |= {(own, n) for n in (right if question.kind == "list" else [chance.choice(sorted(right))])}
    order = list(dict.fromkeys([*(at for _, at, _ in likely), *(at for at, _ in sorted(chosen))]))
    chosen |= {(at, n - 1) for _, at, n in likely[:_IN_CONTEXT] if n and chance.random() < by.before}
    if right and chance.random() < by.left_out:
        chosen, right = {(at, n) for at, n in chosen if at != own or n not in right}, frozenset()
    if chance.random() < by.shuffled:
        chance.shuffle(order)
    shown = [(at, sorted(n for a, n in chosen if a == at)) for at in order]
    shown = [(at, numbers) for at, numbers in shown if numbers]
    return Target(
        question.question,
        [Passage(every[at].heading, [every[at].lines[n] for n in numbers]) for at, numbers in shown],
        [[at == own and n in right for n in numbers] for at, numbers in shown],
        _span(question, shown, own) if right else None,
        kind,
        question.yes if right else None,
    )


def _span(question: Question, shown: Sequence[tuple[int, Sequence[int]]], own: int) -> tuple[int, int, int, int] | None:
    """Where the words that answer stand in a window."""
    first = min(question.right)  # The words of an answer are those of its first line.
    place = next((p for p, (at, numbers) in enumerate(shown) if at == own and first in numbers), None)
    start = question.page.lines[first].rfind(question.answer) if question.answer else -1
    if place is None or start < 0:
        return None
    return place, list(shown[place][1]).index(first), start, start + len(question.answer)


_CONFUSED, _ALL = 4, 7  # Pages of the archive, and pages in all, that are shown with a question's own.


def confusable(question: Question, pages: Sequence[Page], chance: random.Random) -> list[Page]:
    """A question's page among those of its archive and of others that share most words with it, in random order."""
    words, page = content_words(question.question), question.page

    def near(other: Page) -> float:
        return max((len(words & line) for line in other.words), default=0) + 0.3 * chance.random()

    own = sorted((p for p in page.archive if p is not page), key=near, reverse=True)[:_CONFUSED]
    drawn = _drawn(page.archive, pages, chance)
    every = [page, *own, *sorted(drawn, key=near, reverse=True)][:_ALL]
    return chance.sample(every, len(every))


def decision(question: Question, chance: random.Random) -> Target:
    """The line alone that decides a question of yes or no, sometimes behind the line before."""
    at = chance.choice(sorted(question.right))
    numbers = [at - 1, at] if at and chance.random() < Chances.before else [at]
    page = question.page
    passage = Passage(page.heading, [page.lines[n] for n in numbers])
    right = [[n == at for n in numbers]]
    # Its kind is not told: all such windows are short, and length would be learnt for it.
    return Target(question.question, [passage], right, None, None, question.yes)


def _beside(words: frozenset[str], archive: Sequence[Page], pages: Sequence[Page], chance: random.Random) -> list[Page]:
    """Pages of other archives whose lines share words with the question, more first."""
    drawn = _drawn(archive, pages, chance)
    near = {id(p): max((_shared(words, p, n) for n in range(len(p.lines))), default=0.0) for p in drawn}
    drawn.sort(key=lambda p: -near[id(p)])
    return drawn[: chance.randint(1, _BESIDE)]


def _drawn(archive: Sequence[Page], pages: Sequence[Page], chance: random.Random) -> list[Page]:
    """Pages of other archives, to choose from."""
    return [p for p in chance.sample(pages, min(_DRAWN, len(pages))) if p not in archive]


def _shared(words: frozenset[str], page: Page, n: int) -> float:
    """How many words of a question a line has; those of the line before and of the title count less."""
    before = page.words[n - 1] if n else frozenset()
    shared = len(words & page.words[n]) + 0.3 * len(words & before) + 0.25 * len(words & page.title_words)
    return shared / (1 + math.sqrt(len(words)))
