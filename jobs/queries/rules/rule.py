"""The rule generator of synthetic queries: extractive question-answer pairs of a chunk, with no model.

Every answer is a span of the chunk, and together the answers cover it. A unit of the chunk (a sentence, a turn, a row)
gets the questions that a person might ask of it; one of which none can be made stands in the answer of its neighbour.
A dialogue as a whole has one more. Answers are whole units: nodes whose answer is a single name or number find less.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice

from quern.jobs.queries.rules import chinese, dialogue, english
from quern.jobs.queries.rules.chinese_sentences import turn_questions
from quern.jobs.queries.rules.facets.rule import facets
from quern.jobs.queries.rules.nouns import key_phrase, leading_phrases
from quern.jobs.queries.rules.reading import Reading
from quern.jobs.queries.rules.shares import shares
from quern.jobs.queries.rules.tables import cells_of, line_question, lines_of, pair_question, record_questions
from quern.jobs.queries.rules.units import WORD, Unit, read_units
from quern.jobs.queries.rules.wording import alike, words_of
from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.sentences import sentences
from quern.schemas.words.spaces import squeeze

_AMBIGUITY = re.compile(r"\s*[(（][^()（）]*[)）]$")
# Raised whenever the rules give other pairs.
RULES_VERSION = 4
NEAR_IDENTICAL = 0.97
_NEAR = 0.85  # Share of words that two units may have in common.
_FORMS = 3  # Most questions of a unit.
_LEAST_UNITS = 3  # A chunk of fewer units has no question about the whole.
_OPENING = 8  # Words of a sentence that stand for it where no question can be worded.


@dataclass(frozen=True)
class _Asked:
    """What is asked of a share of the chunk, the best question first, and what answers it."""

    first: int
    questions: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Written:
    """A pair that a rule wrote.

    Attributes:
        question: What is asked.
        answer: The part of the chunk that answers it.
        searched: What its vector is made of: the facet of the chunk that it stands for.
    """

    question: str
    answer: str
    searched: str


def written_pairs(
    text: str,
    title: str | None,
    published_at: datetime | None,
    most: int,
    near_identical: float = NEAR_IDENTICAL,
    form: SearchForm | None = None,
) -> list[Written]:
    """At most `most` pairs of a chunk, in reading order; empty if it has no words.

    Args:
        text: The chunk.
        title: Title of its document.
        published_at: When the document was published.
        most: M, the most pairs.
        near_identical: Jaccard similarity of the words of two pairs from which the later one is left out.
        form: The form of the sentences that are asked about; answers are quoted as they stand.
    """
    reading = Reading(
        text, topic_of(title), published_at, _distinct(text, read_units(text, most)), form or SearchForm()
    )
    asked = _Writer(reading).questions()
    turn: Counter[int] = Counter()
    written: list[Written] = []
    for facet in facets(reading, most, near_identical):
        # A share with more facets than questions is found by several vectors under one of these.
        share = asked[facet.unit]
        question = share.questions[turn[share.first] % len(share.questions)]
        turn[share.first] += 1
        written.append(Written(question, share.answer, facet.text))
    return written


def topic_of(title: str | None) -> str:
    """What a document with this title is about: the title without what tells it from others of its name."""
    return _AMBIGUITY.sub("", squeeze(title or ""))


class _Writer:
    """Questions about the units of one chunk."""

    def __init__(self, reading: Reading) -> None:
        self.of = reading
        self.lines = lines_of(
            [
                (u.block, cells_of(reading.text[u.start : u.end].split("\n")[0])) if u.kind == "table" else None
                for u in reading.units
            ]
        )

    def questions(self) -> list[_Asked]:
        """Of each unit the share that it is in."""
        asked = [tuple(islice(self._distinct_questions(n, unit), _FORMS)) for n, unit in enumerate(self.of.units)]
        best, overview = self.overview()
        found: list[_Asked] = []
        for share in shares(self.of.units, [bool(a) for a in asked]):
            answer = squeeze(self.of.text[self.of.units[share.first].start : self.of.units[share.last].end])
            more = (overview,) if overview and share.first <= best <= share.last else ()
            given = (asked[share.owner] or (self._prompt(share.owner),)) + more
            found += [_Asked(share.first, given, answer)] * (share.last - share.first + 1)
        return found

    def _distinct_questions(self, number: int, unit: Unit) -> Iterator[str]:
        seen: set[str] = set()
        for question in map(squeeze, self._questions(number, unit, self.of.said[number])):
            if question.lower() not in seen:
                seen.add(question.lower())
                yield question

    def overview(self) -> tuple[int, str]:
        """The question about a dialogue as a whole, and the unit that says most of what it is about; else empty."""
        told = [i for i, unit in enumerate(self.of.units) if unit.kind == "turn"]
        if self.of.language != "en" or len(self.of.units) < _LEAST_UNITS or not told or not self.of.speakers:
            return 0, ""
        topics = frozenset(self.of.topics[:_LEAST_UNITS])
        best = max(told, key=lambda i: (len(self.of.words[i] & topics), -i))
        return best, dialogue.conversation(self.of.speakers, self._spoken_of, self.of.day)

    @cached_property
    def _spoken_of(self) -> tuple[str, ...]:
        """Two phrases that say what a dialogue is about: those of its most frequent words."""
        return leading_phrases(" ".join(self.of.said), self.of.topics)

    def _questions(self, number: int, unit: Unit, said: str) -> Iterator[str]:
        topic = self.of.topic or unit.heading.rstrip(":：")
        if unit.kind in ("row", "table"):
            question = self._row_question(number, unit, said, topic)
            if question:
                yield question
        elif self.of.language == "zh":
            yield from (question for _, question in self._chinese(number, unit, said, topic))
        elif self.of.language == "en":
            yield from (question for _, question in self._english(number, unit, said, topic))

    def _english(self, number: int, unit: Unit, said: str, topic: str) -> Iterator[tuple[str, str]]:
        if unit.speaker:
            yield from dialogue.turn_questions(said, unit, key_phrase(said, self.of.topics))
            return
        if recorded := record_questions(said):
            yield from (("record", question) for question in recorded)
            return
        before = self.of.before(number)
        # A unit may be several sentences; the first of which a question can be made is asked about.
        for sentence in self._sentences(unit):
            found = list(english.questions(sentence, topic, before, self.of.kind))
            yield from found
            if found:
                return
            before = sentence

    def _sentences(self, unit: Unit) -> Iterator[str]:
        """The sentences of a unit; a heading above them is one of its own."""
        for line in self.of.text[unit.start : unit.end].splitlines():
            yield from sentences(squeeze(self.of.form(line)))

    def _chinese(self, number: int, unit: Unit, said: str, topic: str) -> Iterator[tuple[str, str]]:
        if unit.speaker:
            return turn_questions(said, unit, self.of.day)
        return chinese.questions(said, topic, self.of.before(number), self.of.kind)

    def _prompt(self, number: int) -> str:
        """What would be typed to find a unit: what it is about, or how it begins."""
        unit, said = self.of.units[number], self.of.said[number]
        if unit.speaker and self.of.language == "en":
            return (
                f"How does {unit.speaker} reply to {unit.addressee}?"
                if unit.before
                else f"What does {unit.speaker} tell {unit.addressee or 'the others'}?"
            )
        if unit.kind == "table":
            cells = [cell for cell in cells_of(self.of.text[unit.start : unit.end].split("\n")[0]) if WORD.search(cell)]
            return " ".join(cells[:2]) or said[:40]
        if self.of.language == "en" and (phrase := key_phrase(said, self.of.topics)):
            return phrase[:1].upper() + phrase[1:]
        if self.of.language == "zh":
            opening = next(
                (part for part in re.split("[，。；：！？“”]", said) if len(part) > _OPENING), said[: 2 * _OPENING]
            )
            return opening[: 3 * _OPENING]
        words = said.split()
        return " ".join(words[:_OPENING]).strip(" ,.;:…!?-|") or said if " " in said else said[:16]

    def _row_question(self, number: int, unit: Unit, said: str, topic: str) -> str:
        if self.of.speakers and unit.label.lower() in ("time", "date", "时间", "日期"):
            about = " and ".join(self._spoken_of[:1])
            return (
                f"When do {dialogue.listed(self.of.speakers)} talk{f' about {about}' if about else ''}?"
                if self.of.language == "en"
                else f"{'和'.join(self.of.speakers)}是什么时候谈的？"
            )
        if unit.kind == "row":
            value = re.sub(r"^[^:：]*[:：]\s*", "", said)
            if self.of.language == "zh":
                return f"{topic}的{unit.label}是什么？" if topic else f"{unit.label}是什么？"
            return pair_question(unit.label, value, topic)
        line = self.lines[number]
        if self.of.language == "zh":
            named = next(filter(None, line.cells), "") if line and not line.is_head else ""
            return f"{topic}的{named}是什么？" if topic and named else ""
        return line_question(line, topic) if line else ""


def _distinct(text: str, units: Sequence[Unit]) -> list[Unit]:
    """The units without those that nearly repeat an earlier one."""
    kept: list[tuple[frozenset[str], Unit]] = []
    for unit in units:
        words = words_of(text[unit.start : unit.end])
        if words and not any(alike(words, w, _NEAR) for w, _ in kept):
            kept.append((words, unit))
    return [u for _, u in kept]
