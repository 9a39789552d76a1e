"""The rule generator of synthetic queries: extractive question-answer pairs of a chunk, with no model.

A unit of the chunk (a sentence, a turn, a row) is an answer; its question says in other words what the unit is about,
and names its document and its speakers. A vector is made of both. A dialogue, and a chunk of a document with a title,
has one more question about the whole. Templates that find much read poorly: on LiHua-World recall@5 of `qcg` is .773
with them and .736 with the questions that people would ask; on MuSiQue .616 and .604.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from quern.jobs.queries.rules import chinese, english
from quern.jobs.queries.rules.units import (
    STOP_WORDS,
    WORD,
    Unit,
    alike,
    dialogue_speakers,
    person_name,
    read_units,
    topic_words,
    words_of,
)
from quern.jobs.text.names import ASIDE
from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.lines import squeeze
from quern.schemas.words.scripts import HAN_CHARACTER, KANA_OR_HANGUL

# Raised whenever the rules give other pairs.
RULES_VERSION = 8
NEAR_IDENTICAL = 0.97
_NAME: Final = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w'’.-]+)(?: (?:of |the )?[A-Z][\w'’.-]+){0,3}")
_FORMS: Final = 2  # Most questions of a unit; a third lowers recall.


@dataclass(frozen=True)
class Draft:
    """A pair that a rule wrote."""

    unit: int  # Number of the unit that is the answer.
    rank: int  # How many questions of the unit come before this one.
    form: str  # What is asked for: `when`, `where`, `about`.
    question: str  # The question.
    answer: str  # The unit as it stands in the chunk.
    words: frozenset[str]  # Words of both.


def written_pairs(
    text: str,
    title: str | None,
    published_at: datetime | None,
    most: int,
    near_identical: float = NEAR_IDENTICAL,
    form: SearchForm | None = None,
) -> list[Draft]:
    """At most `most` pairs of a chunk, in reading order; empty if it has no words.

    Of two pairs whose words have a Jaccard similarity of `near_identical` the later is left out. Sentences are asked
    about in `form`; answers are quoted as they stand.
    """
    # Of units that nearly repeat each other the first is asked about; the share is of words that two have in common.
    unit_words: list[frozenset[str]] = []
    units: list[Unit] = []
    for unit in read_units(text, most):
        words = words_of(text[unit.start : unit.end])
        if words and not any(alike(words, other, 0.85) for other in unit_words):
            unit_words.append(words)
            units.append(unit)
    # `Mercury (planet)` is about Mercury.
    writer = _Writer(text, ASIDE.sub("", squeeze(title or "")), published_at, units, form or SearchForm())
    drafts = [list(writer.drafts(n)) for n in range(len(units))]
    selection: list[Draft] = []
    forms: Counter[str] = Counter()

    def choose(draft: Draft) -> None:
        if len(selection) < most and not any(alike(draft.words, c.words, near_identical) for c in selection):
            selection.append(draft)
            forms[draft.form] += 1

    # The first draft of every unit, the overview, then further ones of the forms that are rarest so far.
    overview = writer.overview()
    for draft in [*(d[0] for d in drafts if d), *([overview] if overview else [])]:
        choose(draft)
    rest = [d for unit_drafts in drafts for d in unit_drafts[1:]]
    while rest and len(selection) < most:
        best = min(rest, key=lambda d: (d.rank, forms[d.form], d.unit))
        rest.remove(best)
        choose(best)
    return sorted(selection, key=lambda d: (d.unit, d.rank))


class _Writer:
    """Questions about the units of one chunk."""

    def __init__(
        self, text: str, topic: str, published_at: datetime | None, units: Sequence[Unit], form: SearchForm
    ) -> None:
        self.text, self.units = text, units
        self.topic = squeeze(form(topic))
        self.texts = [squeeze(form(text[u.start : u.end])) for u in units]
        self.words = [words_of(unit_text) for unit_text in self.texts]
        self.language, self.day = wording_language(text), ""
        if day := published_at:
            chinese_day = f"{day.year}年{day.month}月{day.day}日"
            self.day = chinese_day if self.language == "zh" else f"{day.day} {day:%B %Y}"
        self.speakers = sorted(person_name(s) for s in dialogue_speakers(text))
        speaker_words = {w for s in self.speakers for w in (*s.lower().split(), s.lower().replace(" ", ""))}
        self.topics = [w for w in topic_words(text) if w not in speaker_words] if self.language == "en" else []

    def drafts(self, number: int) -> Iterator[Draft]:
        """The pairs of a unit, the first the one that it must have."""
        seen: set[str] = set()
        for form, question in self._questions(number, self.units[number], self.texts[number]):
            wording = squeeze(question)
            if wording.lower() not in seen:
                yield self._draft(number, len(seen), form, wording)
                seen.add(wording.lower())
            if len(seen) == _FORMS:
                return

    def overview(self) -> Draft | None:
        """The pair about the chunk as a whole; its answer is the unit that says most of what it is about."""
        candidates = [n for n, unit in enumerate(self.units) if unit.kind in ("turn", "sentence")]
        topics = self.topics[:4]  # Words that say what a chunk is about.
        # A chunk of fewer units has no question about the whole.
        if self.language != "en" or len(self.units) < 3 or not candidates:
            return None
        if self.speakers:
            question = english.conversation(self.speakers, topics, self.day)
        elif self.topic and topics:
            question = english.overview(self.topic, topics)
        else:
            return None
        best = max(candidates, key=lambda n: (len(self.words[n].intersection(topics)), -n))
        return self._draft(best, _FORMS, "overview", question)

    def _draft(self, number: int, rank: int, form: str, question: str) -> Draft:
        unit = self.units[number]
        answer = squeeze(self.text[unit.start : unit.end])
        return Draft(number, rank, form, question, answer, self.words[number] | words_of(question))

    def _questions(self, number: int, unit: Unit, text: str) -> Iterator[tuple[str, str]]:
        topic = self.topic or unit.heading.rstrip(":：")
        if unit.kind in ("row", "table"):
            yield unit.kind, self._row_question(unit, text, topic)
        elif self.language == "zh":
            yield from (
                chinese.turn_questions(text, unit, self.day) if unit.speaker else chinese.questions(text, topic)
            )
        elif self.language == "en" and unit.speaker:
            yield from english.turn_questions(text, unit, self._key(number), self.day)
        elif self.language == "en":
            yield from english.questions(text, topic)
            names = [n.rstrip(".,") for n in _NAME.findall(text) if n.rstrip(".,").lower() not in topic.lower()]
            yield "about", english.about(" and ".join(names[:2]) or self._key(number), topic)
        else:
            opening = " ".join(text.split()[:8]) if " " in text else text[:16]
            yield "prompt", f"{topic}: {opening}…?" if topic else f"{opening}…?"

    def _key(self, number: int) -> str:
        """What a unit is about: the chunk's most frequent words that stand in it."""
        return " and ".join([w for w in self.topics if w in self.words[number]][:2])

    def _row_question(self, unit: Unit, text: str, topic: str) -> str:
        if self.speakers and unit.label.lower() in ("time", "date", "时间", "日期"):
            return (
                f"When do {' and '.join(self.speakers)} talk?"
                if self.language == "en"
                else f"{'和'.join(self.speakers)}是什么时候谈的？"
            )
        first = text.split("|")[0].strip() if unit.kind == "table" else unit.label
        if self.language == "zh":
            return f"{topic}的{first}是什么？" if topic else f"{first}是什么？"
        if unit.kind == "row":
            return f"What is the {first.lower()} of {topic}?" if topic else f"What is the {first.lower()}?"
        columns = ", ".join(c.strip() for c in unit.label.split("|")[1:] if c.strip())
        question = f"What are the {columns} of {first}" if columns else f"What does the table say about {first}"
        return f"{question} ({topic})?" if topic else f"{question}?"


def wording_language(text: str) -> str:
    """`zh`, `en`, or nothing where questions can be worded in neither."""
    if len(HAN_CHARACTER.findall(text)) > 0.3 * len(WORD.findall(text)):
        return "" if len(KANA_OR_HANGUL.findall(text)) > 0.05 * len(text) else "zh"
    words = WORD.findall(text.lower())
    known = sum(map(STOP_WORDS.__contains__, words))
    # Least share of English function words in an English text.
    return "en" if (text.isascii() and len(words) < 12) or known > 0.1 * len(words) else ""
