"""The facets of a chunk: each of its units said again in words that name what stands around it.

As texts for people they would be poor; as what vectors are made of they find more than the questions that people ask
(recall@5 of `qcg` on LiHua-World .773 with them, .736 with those questions; on MuSiQue .616 and .604).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quern.jobs.queries.rules.chinese_sentences import turn_questions
from quern.jobs.queries.rules.facets import chinese, dialogue, english
from quern.jobs.queries.rules.reading import Reading
from quern.jobs.queries.rules.units import Unit
from quern.jobs.queries.rules.wording import alike, words_of
from quern.schemas.words.spaces import squeeze

_NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w'’.-]+)(?: (?:of |the )?[A-Z][\w'’.-]+){0,3}")
_FORMS = 2  # Most questions of a unit; a third lowers recall.
_OVERVIEW = 4  # Words that say what a chunk is about.
_LEAST_UNITS = 3  # A chunk of fewer units has no question about the whole.


@dataclass(frozen=True)
class _Draft:
    unit: int
    rank: int
    form: str
    question: str
    answer: str
    words: frozenset[str]


@dataclass(frozen=True)
class Facet:
    """A text by which a unit of a chunk is found.

    Attributes:
        unit: Number of the unit.
        text: The text.
    """

    unit: int
    text: str


def facets(reading: Reading, most: int, near_identical: float) -> list[Facet]:
    """At most `most` facets of a chunk, in reading order.

    Args:
        reading: The chunk.
        most: M, the most pairs.
        near_identical: Jaccard similarity of the words of two from which the later one is left out.
    """
    writer = _Writer(reading)
    drafts = [list(writer.drafts(i, unit)) for i, unit in enumerate(reading.units)]
    chosen = _chosen(drafts, writer.overview(), most, near_identical)
    return [Facet(d.unit, f"{d.question} {d.answer}") for d in chosen]


class _Writer:
    """Questions about the units of one chunk."""

    def __init__(self, reading: Reading) -> None:
        self.of = reading
        self.quoted = [squeeze(reading.text[u.start : u.end]) for u in reading.units]

    def drafts(self, number: int, unit: Unit) -> Iterator[_Draft]:
        """The questions of a unit, the first the one that it must have."""
        words = self.of.words[number]
        seen: set[str] = set()
        for form, question in self._questions(number, unit, self.of.said[number]):
            question = squeeze(question)
            if question.lower() not in seen:
                yield _Draft(number, len(seen), form, question, self.quoted[number], words | words_of(question))
                seen.add(question.lower())
            if len(seen) == _FORMS:
                return

    def overview(self) -> _Draft | None:
        """The question about the chunk as a whole; its answer is the unit that says most of what it is about."""
        told = [i for i, unit in enumerate(self.of.units) if unit.kind in ("turn", "sentence")]
        topics = self.of.topics[:_OVERVIEW]
        if self.of.language != "en" or len(self.of.units) < _LEAST_UNITS or not told:
            return None
        if self.of.speakers:
            question = dialogue.conversation(self.of.speakers, topics, self.of.day)
        elif self.of.topic and topics:
            question = english.overview(self.of.topic, topics)
        else:
            return None
        best = max(told, key=lambda i: (len(self.of.words[i].intersection(topics)), -i))
        return _Draft(best, _FORMS, "overview", question, self.quoted[best], self.of.words[best] | words_of(question))

    def _questions(self, number: int, unit: Unit, answer: str) -> Iterator[tuple[str, str]]:
        topic = self.of.topic or unit.heading.rstrip(":：")
        if unit.kind in ("row", "table"):
            yield unit.kind, self._row_question(unit, answer, topic)
        elif self.of.language == "zh":
            yield from self._chinese(number, unit, answer, topic)
        elif self.of.language == "en":
            yield from self._english(number, unit, answer, topic)
        else:
            opening = " ".join(answer.split()[:8]) if " " in answer else answer[:16]
            yield "prompt", f"{topic}: {opening}…?" if topic else f"{opening}…?"

    def _english(self, number: int, unit: Unit, answer: str, topic: str) -> Iterator[tuple[str, str]]:
        if unit.speaker:
            yield from dialogue.turn_questions(answer, unit, self._key(number), self.of.day)
            return
        yield from english.questions(answer, topic, self.of.before(number), self.of.kind)
        names = [n.rstrip(".,") for n in _NAME.findall(answer) if n.rstrip(".,").lower() not in topic.lower()]
        yield "about", english.about(" and ".join(names[:2]) or self._key(number), topic)

    def _chinese(self, number: int, unit: Unit, answer: str, topic: str) -> Iterator[tuple[str, str]]:
        if unit.speaker:
            return turn_questions(answer, unit, self.of.day)
        return chinese.questions(answer, topic, self.of.before(number), self.of.kind)

    def _key(self, number: int) -> str:
        """What a unit is about: the chunk's most frequent words that stand in it."""
        return " and ".join([w for w in self.of.topics if w in self.of.words[number]][:2])

    def _row_question(self, unit: Unit, answer: str, topic: str) -> str:
        if self.of.speakers and unit.label.lower() in ("time", "date", "时间", "日期"):
            return (
                f"When do {' and '.join(self.of.speakers)} talk?"
                if self.of.language == "en"
                else f"{'和'.join(self.of.speakers)}是什么时候谈的？"
            )
        first = answer.split("|")[0].strip() if unit.kind == "table" else unit.label
        if self.of.language == "zh":
            return f"{topic}的{first}是什么？" if topic else f"{first}是什么？"
        if unit.kind == "row":
            return f"What is the {first.lower()} of {topic}?" if topic else f"What is the {first.lower()}?"
        columns = ", ".join(c.strip() for c in unit.label.split("|")[1:] if c.strip())
        asked = f"What are the {columns} of {first}" if columns else f"What does the table say about {first}"
        return f"{asked} ({topic})?" if topic else f"{asked}?"


def _chosen(
    drafts: Sequence[Sequence[_Draft]], overview: _Draft | None, most: int, near_identical: float
) -> list[_Draft]:
    """The first draft of every unit, the overview, then further ones of the forms that are rarest so far.

    None is near-identical to one that was chosen before it.
    """
    chosen: list[_Draft] = []
    forms: Counter[str] = Counter()

    def choose(draft: _Draft) -> None:
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
