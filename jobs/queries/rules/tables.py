"""English questions about the lines of tables and registers: a value is asked for by its column and its row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.queries.rules.parts import DATE
from quern.jobs.queries.rules.words import PERSONS
from quern.jobs.reasoning.clauses.words import LASTING_NOUNS, PRONOUNS
from quern.jobs.reasoning.questions.words import is_past

_NUMBER: Final = re.compile(r"[^\w]*[\d.,]+(?:\s?%)?\s*$")
_NUMERIC: Final = re.compile(r"\W*(?:about |over |c\. ?)?[$€£¥]?\d")
_NOTHING: Final = re.compile(r"(?:\W*|none|n/a|nil|unknown|no|yes|—)", re.IGNORECASE)
_DATED: Final = re.compile(r"\b(?:1\d{3}|20\d\d)\b|^\d{1,2} [A-Z][a-z]+|\d{4}-\d\d")
_BY: Final = re.compile(r"(?P<verb>\w+) by$", re.IGNORECASE)
_PLACE: Final = re.compile(r"(?:place|location|address|street|site|venue|where|town|city)$", re.IGNORECASE)
_MEASURES: Final = {
    "height": "How tall",
    "length": "How long",
    "width": "How wide",
    "depth": "How deep",
    "weight": "How heavy",
    "age": "How old",
    "distance": "How far",
}
_PERSON: Final = re.compile(
    rf"(?:[a-z]+ )*(?:{'|'.join(sorted(PERSONS))}|executive|chair|chairman|head|owner|secretary|treasurer|clerk"
    rf"|master|keeper|editor|"
    r"publisher|spouse|wife|husband|parents?|children|[a-z]+(?:ist|ician|woman|man))$"
)
_PLURAL: Final = re.compile(r"[a-z]{2,}(?:[^siu]s|ies|people|children)$")
_LONGEST_KEY: Final = 6  # Words.
_LONGEST_VALUE: Final = 20
_SHORT_NAMES: Final = 12  # Words of what a table is about.
# Columns that a verb heads are no one's: `Leaves Skarrow`, `Crosses`.
_VERBS: Final = frozenset(
    "leaves arrives departs crosses opens closes runs starts ends serves replaces uses flows".split()
)
_MANY: Final = frozenset("number count total quantity amount".split())


@dataclass(frozen=True)
class Line:
    """A line of a table.

    Attributes:
        cells: Its cells.
        head: Those of the line that heads the columns; empty where none does.
        number: How many lines stand before it in its table.
        labels: The first cell with words of each line of the table.
        is_head: It heads the columns itself.
    """

    cells: tuple[str, ...]
    head: tuple[str, ...] = ()
    number: int = 0
    labels: tuple[str, ...] = ()
    is_head: bool = False


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a line of a table."""
    cells = tuple(" ".join(cell.split()) for cell in re.split(r"\||\t", line))
    start = 1 if cells and not cells[0] else 0
    return cells[start : len(cells) - 1 if len(cells) > 1 and not cells[-1] else len(cells)]


def is_number(cell: str) -> bool:
    """Whether a cell is a number alone."""
    return _NUMBER.fullmatch(cell) is not None


def lines_of(rows: Sequence[tuple[int, tuple[str, ...]] | None]) -> list[Line | None]:
    """The lines of tables among the units of a chunk; None for what is no line of one.

    Args:
        rows: Of each unit that is a line the number of the line in the text, and its cells.
    """
    lines: list[Line | None] = [None] * len(rows)
    for table in _tables(rows):
        cells = [rows[n][1] for n in table]  # type: ignore[index]
        head = cells[0] if _heads(cells) else ()
        # A first line that has one cell is the caption of those below.
        labels = tuple(next((cell for cell in row if cell and not _NUMBER.fullmatch(cell)), "") for row in cells)
        for at, n in enumerate(table):
            lines[n] = Line(cells[at], head if at else (), at, labels, bool(head) and at == 0)
    return lines


def _tables(rows: Sequence[tuple[int, tuple[str, ...]] | None]) -> list[list[int]]:
    """Numbers of the units of each table: lines that follow each other and are as wide."""
    tables: list[list[int]] = []
    before: tuple[int, tuple[str, ...]] | None = None
    for n, row in enumerate(rows):
        if row is not None:
            follows = before is not None and len(before[1]) == len(row[1]) and tables and tables[-1][-1] == n - 1
            if follows:
                tables[-1].append(n)
            else:
                tables.append([n])
        before = row
    return tables


def _heads(cells: Sequence[tuple[str, ...]]) -> bool:
    """Whether the first line of a table heads its columns: it names them, where those below have values."""
    first, below = cells[0], cells[1:]
    if not below or len(set(first)) < len(first) or not all(first):
        return False
    plain = not any(_NUMERIC.match(cell) for cell in first[1:])
    if len(first) == 2:
        return plain and all(_NUMERIC.match(row[1]) for row in below)
    return plain and len(first) > 2 and max(len(cell.split()) for cell in first) <= _LONGEST_KEY


def line_question(line: Line, topic: str) -> str:
    """The question that a line of a table answers; empty where it heads others, or has nothing to ask for."""
    if line.is_head or any("[" in cell for cell in line.cells[:1]):
        return ""
    if not line.head:
        return pair_question(line.cells[0], line.cells[1], topic) if len(line.cells) == 2 else ""
    label_at = _label(line)
    if label_at is None:
        return ""
    label = line.cells[label_at]
    places = [
        n for n, key in enumerate(line.head) if n < len(line.cells) and n != label_at and _PLACE.search(key.lower())
    ]
    where = (
        next((line.cells[n] for n in places if not _NOTHING.fullmatch(line.cells[n])), "")
        if line.labels.count(label) > 1
        else ""
    )
    named = _the(f"{label} at {where}" if where else label)
    asked = [
        n
        for n, (key, value) in enumerate(zip(line.head, line.cells, strict=False))
        if n != label_at
        and key
        and not _NOTHING.fullmatch(value)
        and not value.startswith("[")
        and not (where and n in places)
        and key.lower() not in ("entry", "no", "no.", "#")
    ]
    # Another column for each line, so that a table is not asked one thing throughout.
    for turn in range(len(asked)):
        n = asked[(line.number + turn) % len(asked)]
        if question := _value_question(line.head[n], line.cells[n], named, label):
            return question
    return ""


def pair_question(key: str, value: str, topic: str) -> str:
    """The question that `Key | value` or `Key: value` answers about `topic`; empty where there is none to be asked."""
    words = key.split()
    if (
        not words
        or len(words) > _LONGEST_KEY
        or _NOTHING.fullmatch(value)
        or value.startswith("[")
        or _NUMERIC.match(key)
        or not key[0].isalpha()
        or len(key) == 1
        or any(word.lower() in PRONOUNS for word in words)
        or (len(words) == 1 and key.endswith("ing") and key.lower() not in LASTING_NOUNS)
    ):
        return ""
    if len(value.split()) > _LONGEST_VALUE or len(topic.split()) > _SHORT_NAMES:
        return ""
    if not topic:
        return ""
    return _value_question(key, value, topic, topic)


def _value_question(key: str, value: str, named: str, label: str) -> str:
    low = _lowered(key)
    if not low:
        return ""
    last = low.split()[-1]
    if by := _BY.search(low):
        verb = by["verb"]
        return (
            f"Who {verb} {named}?"
            if verb.endswith("ed") and " " not in low.removesuffix(" by")
            else f"Who was {named} {low}?"
        )
    if is_past(low) and " " not in low:
        return (
            f"When was {named} {low}?"
            if _DATED.search(value)
            else f"Where was {named} {low}?"
            if low in ("born", "held", "buried")
            else ""
        )
    if low.split()[0] in _VERBS or re.search(r"\b(?:19|20)\d\d\b", low):
        return f"{named[:1].upper()}{named[1:]} {low}"
    if low in ("date", "when", "year", "time"):
        return f"When is {named}?" if low == "when" else f"What is the {low} of {named}?"
    if low in _MEASURES and _NUMERIC.match(value):
        return f"{_MEASURES[low]} is {named}?"
    if low in ("price", "cost", "fee", "fare") and _NUMERIC.match(value):
        return f"How much does {named} cost?"
    if _PLACE.fullmatch(low):
        return f"Where is {named}?" if low not in ("town", "city") else f"In which {low} is {named}?"
    if low in _MANY and _NUMERIC.match(value):
        return (
            f"How many {_lowered(label)} are there?"
            if _PLURAL.search(_lowered(label).partition(" ")[0])
            else f"What is the {low} of {named}?"
        )
    if _PERSON.fullmatch(low) and not _NUMERIC.match(value) and value[:1].isupper():
        return f"Who {'are' if low in ('parents', 'children') else 'is'} the {low} of {named}?"
    if _NUMERIC.match(value) and _PLURAL.search(low.split()[0] if " in " in low or " of " in low else last):
        return f"How many {low.split(',')[0]} does {named} have?"
    be = "are" if _PLURAL.search(last) and "," not in low else "is"
    return f"What {be} the {low.split(',')[0]} of {named}?"


def _label(line: Line) -> int | None:
    """Which cell of a line says what the line is about: the first with words, not a running number or a date."""
    for n, cell in enumerate(line.cells[: len(line.head)]):
        if (
            cell
            and not _NUMBER.fullmatch(cell)
            and not _NOTHING.fullmatch(cell)
            and not DATE.match(f" {cell}")
            and not _DATED.match(cell)
        ):
            return n if len(cell.split()) <= _LONGEST_KEY + 2 else None
    return None


_LINKS: Final = frozenset("of in on for with and at by from to".split())


def _the(label: str) -> str:
    """The label as what is spoken of: `the Scots pine`, but `Table Bay` and `Novels`."""
    words = label.split()
    name = all(
        word[:1].isupper() or not word[:1].isalpha() or word in ("of", "the", "and", "de", "&") for word in words
    )
    if name or words[0].lower() in ("the", "a", "an") or label[:1].isdigit():
        return label if words[0].lower() not in ("the", "a", "an") else f"{label[:1].lower()}{label[1:]}"
    plain = (
        label[:1].lower() + label[1:]
        if len(words) > 1 and words[1] in _LINKS and words[0][1:].islower() and _PLURAL.search(words[0].lower())
        else label
    )
    return f"the {plain}"


def _lowered(key: str) -> str:
    """A column's name within a sentence: in small letters but for abbreviations and names."""
    words = key.strip(" :").split()
    return " ".join(word if len(word) > 1 and word[1:] != word[1:].lower() else word.lower() for word in words)


_RECORD: Final = re.compile(
    r"(?:[A-Z]\w+ (?:no\. ?)?\d+[.:] )?(?P<where>[A-Z][^:.;]{2,50}): (?P<what>(?:an? "
    r"|the )?[a-z][a-z’'-]*(?: [a-z’'-]+){0,3}), (?P<rest>.+)"
)
_DONE_BY: Final = re.compile(r"(?:^|, )(?P<verb>[a-z]+ed) by (?P<who>[A-Z]|the )")
_DONE_ON: Final = re.compile(
    r"(?:^|, )(?P<verb>[a-z]+ed|built|made) (?:on |in )?(?=\d{1,2} [A-Z]|\d{4}|[A-Z][a-z]+ \d)"
)
_MEASURED: Final = re.compile(
    r"(?:^|, )(?P<key>height|length|width|depth|weight|age|price|cost)(?P<when> (?:at|when) [a-z]+)? (?=\d)"
)


def record_questions(sentence: str) -> list[str]:
    """Questions about an entry of a register: of `Mill Lane: oak, planted 3 May 1990, adopted by Ann Lee` two."""
    found = _RECORD.match(sentence)
    if found is None:
        return []
    thing = re.sub(r"^(?:an?|the) ", "", found["what"])
    named = f"the {thing} at {found['where'].split(',')[0]}"
    asked = []
    if by := _DONE_BY.search(found["rest"]):
        asked.append(f"Who {by['verb']} {named}?")
    if on := _DONE_ON.search(found["rest"]):
        asked.append(f"When was {named} {on['verb']}?")
    if measured := _MEASURED.search(found["rest"]):
        asked.append(f"What was the {measured['key']}{measured['when'] or ''} of {named}?")
    return asked
