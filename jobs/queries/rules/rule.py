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

from quern.jobs.queries.rules import chinese, dialogue, english
from quern.jobs.queries.rules.reading import Reading, alike, words_of
from quern.jobs.queries.rules.units import Unit, read_units
from quern.jobs.text.names import ASIDE
from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.lines import squeeze

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

    Args:
        text: The chunk.
        title: Title of its document.
        published_at: When the document was published.
        most: M, the most pairs.
        near_identical: Jaccard similarity of the words of two pairs from which the later one is left out.
        form: The form of the sentences that are asked about; answers are quoted as they stand.
    """
    # `Mercury (planet)` is about Mercury.
    topic = ASIDE.sub("", squeeze(title or ""))
    reading = Reading(text, topic, published_at, _distinct(text, read_units(text, most)), form or SearchForm())
    writer = _Writer(reading)
    drafts = [list(writer.drafts(n)) for n in range(len(reading.units))]
    return _chosen(drafts, writer.overview(), most, near_identical)


class _Writer:
    """Questions about the units of one chunk."""

    def __init__(self, reading: Reading) -> None:
        self.of = reading

    def drafts(self, number: int) -> Iterator[Draft]:
        """The pairs of a unit, the first the one that it must have."""
        seen: set[str] = set()
        for form, question in self._questions(number, self.of.units[number], self.of.said[number]):
            asked = squeeze(question)
            if asked.lower() not in seen:
                yield self._draft(number, len(seen), form, asked)
                seen.add(asked.lower())
            if len(seen) == _FORMS:
                return

    def overview(self) -> Draft | None:
        """The pair about the chunk as a whole; its answer is the unit that says most of what it is about."""
        told = [n for n, unit in enumerate(self.of.units) if unit.kind in ("turn", "sentence")]
        topics = self.of.topics[:4]  # Words that say what a chunk is about.
        # A chunk of fewer units has no question about the whole.
        if self.of.language != "en" or len(self.of.units) < 3 or not told:
            return None
        if self.of.speakers:
            question = dialogue.conversation(self.of.speakers, topics, self.of.day)
        elif self.of.topic and topics:
            question = english.overview(self.of.topic, topics)
        else:
            return None
        best = max(told, key=lambda n: (len(self.of.words[n].intersection(topics)), -n))
        return self._draft(best, _FORMS, "overview", question)

    def _draft(self, number: int, rank: int, form: str, question: str) -> Draft:
        unit = self.of.units[number]
        answer = squeeze(self.of.text[unit.start : unit.end])
        return Draft(number, rank, form, question, answer, self.of.words[number] | words_of(question))

    def _questions(self, number: int, unit: Unit, said: str) -> Iterator[tuple[str, str]]:
        topic = self.of.topic or unit.heading.rstrip(":：")
        if unit.kind in ("row", "table"):
            yield unit.kind, self._row_question(unit, said, topic)
        elif self.of.language == "zh":
            yield from (
                chinese.turn_questions(said, unit, self.of.day) if unit.speaker else chinese.questions(said, topic)
            )
        elif self.of.language == "en" and unit.speaker:
            yield from dialogue.turn_questions(said, unit, self._key(number), self.of.day)
        elif self.of.language == "en":
            yield from english.questions(said, topic)
            names = [n.rstrip(".,") for n in _NAME.findall(said) if n.rstrip(".,").lower() not in topic.lower()]
            yield "about", english.about(" and ".join(names[:2]) or self._key(number), topic)
        else:
            opening = " ".join(said.split()[:8]) if " " in said else said[:16]
            yield "prompt", f"{topic}: {opening}…?" if topic else f"{opening}…?"

    def _key(self, number: int) -> str:
        """What a unit is about: the chunk's most frequent words that stand in it."""
        return " and ".join([w for w in self.of.topics if w in self.of.words[number]][:2])

    def _row_question(self, unit: Unit, said: str, topic: str) -> str:
        if self.of.speakers and unit.label.lower() in ("time", "date", "时间", "日期"):
            return (
                f"When do {' and '.join(self.of.speakers)} talk?"
                if self.of.language == "en"
                else f"{'和'.join(self.of.speakers)}是什么时候谈的？"
            )
        first = said.split("|")[0].strip() if unit.kind == "table" else unit.label
        if self.of.language == "zh":
            return f"{topic}的{first}是什么？" if topic else f"{first}是什么？"
        if unit.kind == "row":
            return f"What is the {first.lower()} of {topic}?" if topic else f"What is the {first.lower()}?"
        columns = ", ".join(c.strip() for c in unit.label.split("|")[1:] if c.strip())
        asked = f"What are the {columns} of {first}" if columns else f"What does the table say about {first}"
        return f"{asked} ({topic})?" if topic else f"{asked}?"


def _distinct(text: str, units: Sequence[Unit]) -> list[Unit]:
    """The units without those that nearly repeat an earlier one."""
    kept: list[tuple[frozenset[str], Unit]] = []
    for unit in units:
        words = words_of(text[unit.start : unit.end])
        # Share of words that two units may have in common.
        if words and not any(alike(words, w, 0.85) for w, _ in kept):
            kept.append((words, unit))
    return [u for _, u in kept]


def _chosen(drafts: Sequence[Sequence[Draft]], overview: Draft | None, most: int, near_identical: float) -> list[Draft]:
    """The first draft of every unit, the overview, then further ones of the forms that are rarest so far.

    None is near-identical to one that was chosen before it.
    """
    chosen: list[Draft] = []
    forms: Counter[str] = Counter()

    def choose(draft: Draft) -> None:
        if len(chosen) < most and not any(alike(draft.words, c.words, near_identical) for c in chosen):
            chosen.append(draft)
            forms[draft.form] += 1

    for draft in [*(d[0] for d in drafts if d), *([overview] if overview else [])]:
        choose(draft)
    rest = [d for unit in drafts for d in unit[1:]]
    while rest and len(chosen) < most:
        best = min(rest, key=lambda d: (d.rank, forms[d.form], d.unit))
        rest.remove(best)
        choose(best)
    return sorted(chosen, key=lambda d: (d.unit, d.rank))
