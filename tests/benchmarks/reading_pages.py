"""The pages that the reader of lines is trained on, and questions over them with the lines that a reader is given.

A file has pages of our own writing: a title (`# `), numbered lines, questions with the numbers of the lines that answer
(`Q 4,7 `), and questions that nothing answers (`N `). Behind ` => ` may stand what of the line answers, or `yes` or
`no`; `Y 4 ` and `X 4 ` are questions that line 4 answers by yes, or by no. Pages behind `== ` are of one archive, and
its questions are answered by no other of its pages. Lines numbered `4'` are of the twin of a page, of the same title:
what its line says turns the answer round, so that nothing but the line tells yes from no.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from quern.jobs.models.line_reader import Passage
from quern.jobs.reasoning.answering.reading import IN_CONTEXT, LIKELY
from quern.jobs.text.stems import content_words
from quern.jobs.training.turned import names_of, turned

FOLDER: Final = Path(__file__).parents[1] / "corpus" / "reading"
# Files that are measured on and not trained on: two of each writer.
_KEPT: Final = ("03", "09")
_SEPARATOR: Final = " | "
_NUMBERED: Final = re.compile(r"(?P<number>\d+)(?P<twin>'?) (?P<line>.+)")
_ANSWERED: Final = re.compile(r"(?P<kind>[QYX]) (?P<lines>\d+(?:,\d+)*) (?P<question>.+?)(?: => (?P<said>.+))?")
_YES: Final = {"Y": True, "X": False, "yes": True, "no": False}
_MOST_PAGES: Final = 3  # Beside those of its archive.
_BEFORE_DECIDING: Final = 0.6
# Of shares of words, at each of which yes and no are made equally frequent; the rarer one counts so many times at most.
_SHARES: Final = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.8)
_RAREST: Final = 5.0


@dataclass(eq=False)
class Page:
    """A page.

    Attributes:
        title: Its title.
        archive: The pages of its archive, itself among them.
        has_twin: Whether another page answers its questions the other way round.
        lines: Its lines.
        words: What words each line has.
    """

    title: str
    archive: list[Page]
    has_twin: bool = False
    lines: list[str] = field(default_factory=list)
    words: list[frozenset[str]] = field(default_factory=list)

    @cached_property
    def title_words(self) -> frozenset[str]:
        """What words its title has."""
        return content_words(self.title)


@dataclass(frozen=True)
class Asked:
    """A question of a page.

    Attributes:
        right: Which of its lines answer it, from 0; none where nothing does.
        yes: Whether they say yes; None where that is not asked.
    """

    question: str
    page: Page
    right: frozenset[int]
    yes: bool | None = None


@dataclass(frozen=True)
class Decided:
    """A question of yes or no, and the lines of a page that decide it, each alone.

    Attributes:
        shared: The share of its words that one of them has.
    """

    question: str
    page: Page
    right: tuple[int, ...]
    yes: bool
    shared: float

    def passage(self, chance: random.Random | None = None) -> Passage:
        """A line as a reader is given it, mostly behind the one before; by no chance the first one, and always so."""
        at = self.right[0] if chance is None else chance.choice(self.right)
        before = at > 0 and (chance is None or chance.random() < _BEFORE_DECIDING)
        return Passage(self.page.title, self.page.lines[at - before : at + 1])


@dataclass(frozen=True)
class Choice:
    """What the reader is given: a question, passages, of each passage and line whether it answers, and if by yes."""

    question: str
    passages: list[Passage]
    right: list[list[bool]]
    yes: bool | None


def read_pages(*, kept: bool, folder: Path = FOLDER) -> list[Asked]:
    """The questions of all files that are trained on, or of those that are `kept` apart."""
    files = sorted(folder.glob("*.txt"))
    return [one for file in files if file.stem.endswith(_KEPT) == kept for one in _of_file(file)]


def pages_of(asked: Sequence[Asked]) -> list[Page]:
    """The pages that questions are of, each once."""
    return list({id(one.page): one.page for one in asked}.values())


def decided(asked: Sequence[Asked]) -> list[Decided]:
    """The questions of yes or no among them that are answered."""
    return [_decided(o.question, o.page, sorted(o.right), yes=o.yes) for o in asked if o.right and o.yes is not None]


def turned_round(asked: Sequence[Asked]) -> list[Decided]:
    """Sentences of their pages as questions; see `tests.benchmarks.turned`."""
    chance, found = random.Random(0), list[Decided]()
    for page in pages_of(asked):
        names = names_of(page.lines)
        for n, line in enumerate(page.lines):
            found += [_decided(question, page, [n], yes=yes) for question, yes in turned(line, names, chance)]
    return found


def evened(questions: Sequence[Decided]) -> npt.NDArray[np.float64]:
    """What each counts so that the share of words that are shared tells nothing of yes and no."""
    yes = np.array([one.yes for one in questions])
    share = np.digitize([one.shared for one in questions], _SHARES)
    counts = np.zeros(len(questions))
    for at in range(len(_SHARES) + 1):
        for says in (False, True):
            these = (share == at) & (yes == says)
            counts[these] = min(_RAREST, 0.5 * (share == at).sum() / max(1, these.sum()))
    return counts


def verdicts_on_pages_kept(say_yes: Callable[[Sequence[Decided]], Sequence[float]]) -> dict[str, float]:
    """How often the log odds of yes tell it from no, of questions that were written and of sentences turned round.

    Also of the first as they would be if shared words told nothing, which by themselves tell much of them.
    """
    asked = read_pages(kept=True)
    written, twins = by_twins(decided(asked))
    parts = (written, twins, turned_round(asked))
    told = [[(odds > 0) == one.yes for odds, one in zip(say_yes(of), of, strict=True)] for of in parts]
    return {
        "pages kept apart, of yes or no": len(written),
        "pages kept apart, yes or no told": float(np.mean(told[0])),
        "pages kept apart, yes or no told, evened": float(np.average(told[0], weights=evened(written))),
        "pages kept apart, of twins": len(twins),
        "pages kept apart, yes or no told of twins": float(np.mean(told[1])),
        "pages kept apart, sentences turned round": len(parts[2]),
        "pages kept apart, yes or no told of those": float(np.mean(told[2])),
    }


def by_twins(questions: Sequence[Decided]) -> tuple[list[Decided], list[Decided]]:
    """Those of pages without a twin, and those of pages with one."""
    return [o for o in questions if not o.page.has_twin], [o for o in questions if o.page.has_twin]


def _decided(question: str, page: Page, right: Sequence[int], *, yes: bool) -> Decided:
    words = content_words(question)
    shared = max(len(words & page.words[n]) / max(1, len(words)) for n in right)
    return Decided(question, page, tuple(right), yes, shared)


def _of_file(file: Path) -> Iterator[Asked]:
    page = twin = Page("", [])
    archive: list[Page] | None = None
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("== "):
            archive = []
        elif line.startswith("# "):
            page, twin = Page(line[2:], [] if archive is None else archive), Page(line[2:], [])
            page.archive.append(page)
            twin.archive.append(twin)
        elif numbered := _NUMBERED.fullmatch(line):
            of = twin if numbered["twin"] else page
            page.has_twin = twin.has_twin = page.has_twin or of is twin
            of.lines.append(numbered["line"])
            of.words.append(content_words(numbered["line"]))
        elif found := _ANSWERED.fullmatch(line):
            right = frozenset(int(n) - 1 for n in found["lines"].split(","))
            yes = _YES.get(found["kind"], _YES.get(found["said"] or ""))
            yield Asked(found["question"], page, right, yes)
            if page.has_twin and yes is not None:
                yield Asked(found["question"], twin, right, not yes)
        elif line.startswith("N "):
            yield Asked(line[2:], page, frozenset())


@dataclass(frozen=True)
class _Chances:
    """What is left to chance in a choice; see `choice`."""

    lines: tuple[int, int]
    noise: float
    others: float
    alone: float
    before: float
    left_out: float
    shuffled: float


# Not swept. What is measured leaves as little to chance as what the reader is given later.
_IN_TRAINING: Final = _Chances((3, 13), 0.5, others=0.6, alone=0.12, before=0.8, left_out=0.12, shuffled=0.3)
_MEASURED: Final = _Chances((LIKELY, LIKELY), 0.05, others=1.0, alone=0.0, before=1.0, left_out=0.0, shuffled=0.0)


def choice(asked: Asked, pages: Sequence[Page], chance: random.Random, *, measured: bool = False) -> Choice:
    """Lines as rules would choose them, of its page, the others of its archive and some beside.

    Those that share most words, with the lines before them; of a few questions in training what answers is left out,
    or the rest of the archive.
    """
    by = _MEASURED if measured else _IN_TRAINING
    page, right, words = asked.page, asked.right, content_words(asked.question)
    archive = [page] if chance.random() < by.alone else page.archive
    beside = _beside(words, [p for p in chance.sample(pages, min(10, len(pages))) if p not in archive], chance)
    every = [*archive, *(beside if chance.random() < by.others else [])]
    likely = sorted(
        (
            (_shared(words, p, n) + by.noise * chance.random(), at, n)
            for at, p in enumerate(every)
            for n in range(len(p.lines))
        ),
        reverse=True,
    )[: chance.randint(*by.lines)]
    chosen = {(at, n) for _, at, n in likely}
    own = next(at for at, p in enumerate(every) if p is page)
    if right and not any((own, n) in chosen for n in right):
        chosen.add((own, chance.choice(sorted(right))))
    order = list(dict.fromkeys([*(at for _, at, _ in likely), *(at for at, _ in sorted(chosen))]))
    chosen |= {(at, b) for _, at, n in likely[:IN_CONTEXT] for b in _context(every[at], n, by.before, chance)}
    if right and chance.random() < by.left_out:
        chosen, right = {(at, n) for at, n in chosen if at != own or n not in right}, frozenset()
    if chance.random() < by.shuffled:
        chance.shuffle(order)
    found = [(at, sorted(n for a, n in chosen if a == at)) for at in order]
    passages = [Passage(every[at].title, [every[at].lines[n] for n in numbers]) for at, numbers in found if numbers]
    answers = [[at == own and n in right for n in numbers] for at, numbers in found if numbers]
    return Choice(asked.question, passages, answers, asked.yes if right else None)


def _beside(words: frozenset[str], drawn: Sequence[Page], chance: random.Random) -> list[Page]:
    """Some of other pages, those whose lines share most words first."""
    near = [
        max((_shared(words, p, n) for n in range(len(p.lines))), default=0.0) + 0.1 * chance.random() for p in drawn
    ]
    best = sorted(range(len(drawn)), key=lambda at: -near[at])
    return [drawn[at] for at in best[: chance.randint(1, _MOST_PAGES)]]


def _context(page: Page, n: int, before: float, chance: random.Random) -> Iterator[int]:
    """The line before most lines, and the head of a table."""
    if n and chance.random() < before:
        yield n - 1
    head = n
    while _SEPARATOR in page.lines[n] and head and _SEPARATOR in page.lines[head - 1]:
        head -= 1
    if head != n:
        yield head


def _shared(words: frozenset[str], page: Page, n: int) -> float:
    before = page.words[n - 1] if n else frozenset()
    shared = len(words & page.words[n]) + 0.3 * len(words & before) + 0.25 * len(words & page.title_words)
    return shared / (1 + math.sqrt(len(words)))
