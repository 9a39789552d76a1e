"""The pages that the reader of lines is trained on, and questions over them with the lines that a reader is given.

A file has pages of our own writing: a title (`# `), numbered lines, questions with the numbers of the lines that answer
(`Q 4,7 `), and questions that the page does not answer (`N `).
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from quern.jobs.models.line_reader import Passage
from quern.jobs.reasoning.answering.sentences import content_words

FOLDER: Final = Path(__file__).parents[1] / "corpus" / "reading"
# Files that are measured on and not trained on: two of each of the seven writers.
_KEPT: Final = ("03", "09")
_SEPARATOR: Final = " | "
_NUMBERED: Final = re.compile(r"(\d+) (.+)")
_ANSWERED: Final = re.compile(r"Q (\d+(?:,\d+)*) (.+)")


@dataclass(eq=False)
class Page:
    """A page: its title, its lines, and what words each line has."""

    title: str
    lines: list[str] = field(default_factory=list)
    words: list[frozenset[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """A question of a page and which of its lines answer it, from 0; none where the page does not."""

    question: str
    page: Page
    right: frozenset[int]


@dataclass(frozen=True)
class Choice:
    """What the reader is given: a question, passages, and of each passage and line whether it answers."""

    question: str
    passages: list[Passage]
    right: list[list[bool]]


def read_pages(*, kept: bool, folder: Path = FOLDER) -> list[Asked]:
    """The questions of all files that are trained on, or of those that are `kept` apart."""
    files = sorted(folder.glob("*.txt"))
    return [one for file in files if file.stem.endswith(_KEPT) == kept for one in _of_file(file)]


def _of_file(file: Path) -> Iterator[Asked]:
    page = Page("")
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("# "):
            page = Page(line[2:])
        elif numbered := _NUMBERED.fullmatch(line):
            page.lines.append(numbered[2])
            page.words.append(content_words(numbered[2]))
        elif answered := _ANSWERED.fullmatch(line):
            yield Asked(answered[2], page, frozenset(int(n) - 1 for n in answered[1].split(",")))
        elif line.startswith("N "):
            yield Asked(line[2:], page, frozenset())


def choice(asked: Asked, others: Sequence[Page], chance: random.Random) -> Choice:
    """Lines as rules would choose them: those that share most words, lines before them, some of other pages.

    The numbers below were not swept.
    """
    page, right, words = asked.page, asked.right, content_words(asked.question)
    likely = [_shared(words, page, n) + 0.6 * chance.random() for n in range(len(page.lines))]
    best = sorted(range(len(page.lines)), key=lambda n: -likely[n])
    chosen = set(best[: chance.randint(2, 7)])
    if right and not chosen & right:
        chosen.add(chance.choice(sorted(right)))
    chosen |= {before for n in sorted(chosen) for before in _context(page, n, chance)}
    if right and chance.random() < 0.1:  # Of a question that has an answer, what does not have it.
        chosen, right = chosen - right, frozenset()
    own = (page, sorted(chosen), right)
    groups = [own] if chance.random() > 0.55 else _beside(own, words, others, chance)
    passages = [Passage(p.title, [p.lines[n] for n in numbers]) for p, numbers, _ in groups]
    return Choice(asked.question, passages, [[n in answers for n in numbers] for _, numbers, answers in groups])


_Group = tuple[Page, list[int], frozenset[int]]


def _beside(own: _Group, words: frozenset[str], others: Sequence[Page], chance: random.Random) -> list[_Group]:
    """The same beside lines of some of twelve other pages; most often its own page comes first, as search finds it."""
    drawn = [page for page in chance.sample(others, min(12, len(others))) if page is not own[0]]
    near = [
        (_shared(words, page, n) + 0.2 * chance.random(), at, n)
        for at, page in enumerate(drawn)
        for n in range(len(page.lines))
    ]
    found: dict[int, set[int]] = {}
    for _, at, n in sorted(near, reverse=True)[: chance.randint(1, 5)]:
        found.setdefault(at, set()).update([n, n - 1] if n and chance.random() < 0.6 else [n])
    groups: list[_Group] = [(drawn[at], sorted(numbers), frozenset()) for at, numbers in found.items()]
    chance.shuffle(groups)
    place = 0 if chance.random() < 0.7 else chance.randint(0, len(groups))
    return [*groups[:place], own, *groups[place:]]


def _context(page: Page, n: int, chance: random.Random) -> Iterator[int]:
    """The line before most lines, and the head of a table."""
    if n and chance.random() < 0.8:
        yield n - 1
    head = n
    while _SEPARATOR in page.lines[n] and head and _SEPARATOR in page.lines[head - 1]:
        head -= 1
    if head != n:
        yield head


def _shared(words: frozenset[str], page: Page, n: int) -> float:
    before = page.words[n - 1] if n else frozenset()
    return (len(words & page.words[n]) + 0.3 * len(words & before)) / (1 + math.sqrt(len(words)))
