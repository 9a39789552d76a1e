"""The rule generator of synthetic queries: extractive question-answer pairs of a chunk, with no model.

Every answer is a span of the chunk, and together the answers cover it. A unit of the chunk (a sentence, a turn, a row)
gets the questions that a person might ask of it; one of which none can be made stands in the answer of its neighbour.
A dialogue as a whole has one more. Answers are whole units: nodes whose answer is a single name or number find less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, islice

from quern.jobs.queries.rules import chinese, chinese_standing, dialogue, english
from quern.jobs.queries.rules.asking import Asked
from quern.jobs.queries.rules.chinese_sentences import turn_questions
from quern.jobs.queries.rules.facets.rule import facets
from quern.jobs.queries.rules.nouns import key_phrase, leading_phrases
from quern.jobs.queries.rules.quotations import spoken
from quern.jobs.queries.rules.reading import Reading
from quern.jobs.queries.rules.running import is_tokenised, running_text
from quern.jobs.queries.rules.shares import Share, shares
from quern.jobs.queries.rules.subjects import about, subjects_of
from quern.jobs.queries.rules.tables import (
    cells_of,
    is_number,
    line_question,
    lines_of,
    pair_question,
    record_questions,
)
from quern.jobs.queries.rules.units import WORD, Unit, read_units
from quern.jobs.queries.rules.wording import alike, words_of
from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.sentences import sentences
from quern.schemas.words.spaces import squeeze

_AMBIGUITY = re.compile(r"\s*[(（][^()（）]*[)）]$")
_SITE = re.compile(r"(?<=\w{3}[\w?!.’”\"')]) (?:[|·»]|[–—-](?= [A-Z])) [^|·»–—]{2,40}$")
_SPOKEN = re.compile(r"[,.?!][\"”’'] ?(?:[\w’'-]+ ){0,3}(?:said|cried|asked|answered|replied|thought)\b")
_PERSONS = re.compile(r"\b(?:he|she|him|her)\b")
_DATED = re.compile(r"\b(?:1\d{3}|20\d\d)\b|[%$€£]")
_QUOTES = re.compile('["“”]')
_PART = re.compile(r"[:;|]? [–—|-] |[:;|] ")
# Words: of a longer title its first part is named, if that has more than the shorter number.
_LONG_TITLE, _SHORT_TITLE = 12, 2
_ENDS = re.compile(r"[.!?][”\"’')]* ")
# Raised whenever the rules give other pairs.
RULES_VERSION = 6
NEAR_IDENTICAL = 0.97
# Questions about what is said of a phrase, of a share that has no other question, one, or more: they are poorer, but
# the same question twice is poorer still.
_ABOUT = (4, 1, 0)
_NEAR = 0.85  # Share of words that two units may have in common.
_FORMS = 6  # Most questions of a unit.
_LEAST_UNITS = 3  # A chunk of fewer units has no question about the whole.
_LONGEST_CELLS = 60  # Characters of the cells that name a line.
_OPENING = 8  # Words of a sentence that stand for it where no question can be worded.


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
    asked = _Writer(reading, shown_title(title)).questions()
    return [
        Written(asked[facet.unit].next(), asked[facet.unit].answer, facet.text)
        for facet in facets(reading, most, near_identical)
    ]


def topic_of(title: str | None) -> str:
    """What a document with this title is about: the title without what tells it from others of its name."""
    return _AMBIGUITY.sub("", squeeze(title or ""))


def shown_title(title: str | None) -> str:
    """The title as a question names it: without the name of the site behind it."""
    named = _QUOTES.sub("’", _SITE.sub("", running_text(topic_of(title))).strip())
    first = _PART.split(named, maxsplit=1)[0]
    return first if len(named.split()) > _LONG_TITLE and len(first.split()) > _SHORT_TITLE else named


class _Writer:
    """Questions about the units of one chunk."""

    def __init__(self, reading: Reading, title: str) -> None:
        self.of, self.title = reading, title
        self.lines = lines_of(
            [
                (u.block, cells_of(reading.text[u.start : u.end].split("\n")[0])) if u.kind == "table" else None
                for u in reading.units
            ]
        )

    def questions(self) -> list[Asked]:
        """Of each unit the share that it is in."""
        written = [self._questions(n, unit, self.of.said[n]) for n, unit in enumerate(self.of.units)]
        firsts = [next(questions, "") for questions in written]
        best, overview = self.overview()
        found: list[Asked] = []
        for share in shares(self.of.units, [bool(first) for first in firsts]):
            answer = squeeze(self.of.text[self.of.units[share.first].start : self.of.units[share.last].end])
            own = (question for question in (firsts[share.owner],) if question)
            more = (overview,) if overview and share.first <= best <= share.last else ()
            forms = islice(chain(own, written[share.owner]), _FORMS)
            source = self._in_turn(share, chain(forms, more))
            found += [Asked(answer, source)] * (share.last - share.first + 1)
        return found

    def _spoken_about(self, share: Share) -> Iterator[str]:
        """Questions that ask what is said about the phrases of a share of prose."""
        if self.of.language != "en":
            return
        for number in range(share.first, share.last + 1):
            if self.of.units[number].kind == "sentence":
                said = self._running(self.of.said[number])
                for phrase in subjects_of(said, self.title, self.of.topics, story=self._story):
                    if question := about(phrase, self.title, said, story=self._story):
                        yield question

    def _in_turn(self, share: Share, forms: Iterator[str]) -> Iterator[str]:
        """The questions of a share: those of a form, what is said about a phrase where they are few, or a prompt."""
        seen = set()
        for question in forms:
            seen.add(question.lower())
            yield question
        missing = _ABOUT[min(len(seen), len(_ABOUT) - 1)]
        for question in islice(self._spoken_about(share), missing):
            seen.add(question)
            yield question
        if not seen:
            yield self._prompt(share.owner)

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
        before = self._running(self.of.before(number))
        if _ENDS.search(before):
            before = next(reversed(sentences(before)), "")
        for sentence in self._sentences(number, unit):
            if recorded := record_questions(sentence):
                yield from (("record", question) for question in recorded)
                continue
            yield from english.questions(sentence, topic, before, self.of.kind, names_topic=self._names_topic)
            yield from (("said", question) for question in spoken(sentence, self.title))
            before = sentence

    @cached_property
    def _story(self) -> bool:
        """Whether the chunk tells a story: people speak in it, nothing is dated, and its title is a name."""
        told = bool(_SPOKEN.search(self.of.text)) and len(_PERSONS.findall(self.of.text)) > 1
        return told and not _DATED.search(self.of.text) and bool(english.NAMED.fullmatch(self.title))

    @cached_property
    def _names_topic(self) -> bool:
        """Whether the chunk names what its document is about."""
        words = self.of.topic.split()
        return bool(words) and re.search(rf"\b{re.escape(words[-1])}(?!\w)", self.of.text) is not None

    def _sentences(self, number: int, unit: Unit) -> Iterator[str]:
        """The sentences of a unit; a heading above them is one of its own."""
        text = self.of.text[unit.start : unit.end]
        # A unit of one line is read in its form already.
        lines = [squeeze(self.of.form(line)) for line in text.splitlines()] if "\n" in text else [self.of.said[number]]
        for line in lines:
            yield from sentences(self._running(line))

    def _running(self, text: str) -> str:
        """The text as it would be printed."""
        return running_text(text) if self._tokenised else text

    @cached_property
    def _tokenised(self) -> bool:
        return is_tokenised(self.of.text)

    def _chinese(self, number: int, unit: Unit, said: str, topic: str) -> Iterator[tuple[str, str]]:
        if unit.speaker:
            return turn_questions(said, unit, self.of.day)
        return self._chinese_prose(number, unit, topic or self._entry)

    def _chinese_prose(self, number: int, unit: Unit, topic: str) -> Iterator[tuple[str, str]]:
        before = self.of.before(number)
        for sentence in self._sentences(number, unit):
            yield from chinese.questions(sentence, topic, before, self.of.kind)
            before = sentence

    @cached_property
    def _entry(self) -> str:
        """What a Chinese text without a title defines at its head."""
        return chinese_standing.entry_name(self.of.text) if self.of.language == "zh" else ""

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
            line = self.of.text[unit.start : unit.end].split("\n")[0]
            cells = [cell for cell in cells_of(line) if WORD.search(cell)][:3]
            named = ", ".join(cell for cell in cells if not is_number(cell))
            if self.of.language == "en" and self.title and 2 < len(named) < _LONGEST_CELLS:
                return f"What does “{self.title}” list for {named}?"
            return " ".join(cells[:2]) or said[:40]
        if self.of.language == "en" and (phrase := next(subjects_of(self._running(said), ""), "")):
            return about(phrase, self.title, said, story=self._story) or f"What is said about {phrase}?"
        if (
            self.of.language == "en"
            and unit.kind == "sentence"
            and (phrase := _plain(key_phrase(said, self.of.topics)))
        ):
            return about(phrase, self.title, said, story=self._story) or f"What is said about {phrase}?"
        if self.of.language == "zh":
            known = self.of.topic or self._entry
            if unit.kind == "sentence" and (asked := chinese_standing.about(said, self.title, known)):
                return asked
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
            return pair_question(unit.label, value, self.title if self.of.topic else topic)
        line = self.lines[number]
        if self.of.language == "zh":
            named = next(filter(None, line.cells), "") if line and not line.is_head else ""
            return f"{topic}的{named}是什么？" if topic and named else ""
        return line_question(line, topic) if line else ""


def _plain(phrase: str) -> str:
    """The phrase without a word that says whose it is of somebody; empty for a single word."""
    first, _, rest = phrase.partition(" ")
    return f"the {rest}" if first in ("their", "his", "her", "its") else phrase if rest else ""


def _distinct(text: str, units: Sequence[Unit]) -> list[Unit]:
    """The units without those that nearly repeat an earlier one."""
    kept: list[tuple[frozenset[str], Unit]] = []
    for unit in units:
        words = words_of(text[unit.start : unit.end])
        if words and not any(alike(words, w, _NEAR) for w, _ in kept):
            kept.append((words, unit))
    return [u for _, u in kept]
