"""The rule generator of synthetic queries: extractive question-answer pairs of a chunk, with no model.

Every answer is a span of the chunk. Each unit of the chunk (a sentence, a turn, a row) gets one question, so that
the pairs together cover the chunk; what is left of M goes to further forms of question, the rarest form first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.tasks import doc2query_chinese as chinese
from jobs.tasks import doc2query_dialogue as dialogue
from jobs.tasks import doc2query_english as english
from jobs.tasks.doc2query_units import WORD, Unit, dialogue_speakers, person_name, read_units, squeeze, topic_words
from jobs.tasks.doc2query_words import STOP_WORDS

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w'’.-]+)(?: (?:of |the )?[A-Z][\w'’.-]+){0,3}")
_AMBIGUITY = re.compile(r"\s*[(（][^()（）]*[)）]$")
_NEAR = 0.85  # Share of words that two answers may have in common.
_FORMS = 2  # Most questions of a unit.
_ENGLISH = 0.1  # Least share of English function words in an English text.


@dataclass(frozen=True)
class _Draft:
    unit: int
    rank: int
    form: str
    question: str
    answer: str


def write_pairs(text: str, title: str | None, published_at: datetime | None, most: int) -> list[tuple[str, str]]:
    """At most `most` pairs (question, answer) of a chunk, in reading order; empty if it has no words.

    Args:
        text: The chunk.
        title: Title of its document.
        published_at: When the document was published.
        most: M, the most pairs.
    """
    units = _distinct(text, read_units(text, most))
    topic = _AMBIGUITY.sub("", squeeze(title or ""))
    writer = _Writer(text, topic, published_at)
    drafts = [list(writer.drafts(i, unit)) for i, unit in enumerate(units)]
    return [(d.question, d.answer) for d in _chosen(drafts, most)]


class _Writer:
    """Questions about the units of one chunk."""

    def __init__(self, text: str, topic: str, published_at: datetime | None) -> None:
        self.text = text
        self.topic = topic
        self.day = f"{published_at.day} {published_at:%B %Y}" if published_at else ""
        self.language = language_of(text)
        self.speakers = sorted(person_name(s) for s in dialogue_speakers(text))
        self.topics = topic_words(text) if self.language == "en" else []

    def drafts(self, number: int, unit: Unit) -> Iterator[_Draft]:
        """The questions of a unit, the first the one that it must have."""
        answer = squeeze(self.text[unit.start : unit.end])
        seen: set[str] = set()
        for form, question in self._questions(unit, answer):
            question = squeeze(question)
            if question.lower() not in seen and len(seen) < _FORMS:
                yield _Draft(number, len(seen), form, question, answer)
                seen.add(question.lower())

    def _questions(self, unit: Unit, answer: str) -> Iterator[tuple[str, str]]:
        topic = self.topic or unit.heading.rstrip(":：")
        if unit.kind in ("row", "table"):
            yield unit.kind, self._row_question(unit, answer, topic)
        elif self.language == "zh":
            yield from chinese.turn_questions(answer, unit) if unit.speaker else chinese.questions(answer, topic)
        elif self.language == "en":
            yield from self._english(unit, answer, topic)
        else:
            opening = " ".join(answer.split()[:8]) if " " in answer else answer[:16]
            yield "prompt", f"{topic}: {opening}…?" if topic else f"{opening}…?"

    def _english(self, unit: Unit, answer: str, topic: str) -> Iterator[tuple[str, str]]:
        if unit.speaker:
            yield from dialogue.turn_questions(answer, unit, self._key(answer), self.day)
            return
        names = [n.rstrip(".,") for n in _NAME.findall(answer) if n.rstrip(".,").lower() not in topic.lower()]
        yield from english.questions(answer, topic)
        yield "about", english.about(" and ".join(names[:2]) or self._key(answer), topic)

    def _key(self, answer: str) -> str:
        """What a unit is about: the chunk's most frequent words that stand in it."""
        words = {m[0].lower() for m in WORD.finditer(answer)}
        return " and ".join([w for w in self.topics if w in words][:2])

    def _row_question(self, unit: Unit, answer: str, topic: str) -> str:
        if self.speakers and unit.label.lower() in ("time", "date", "时间", "日期"):
            return (
                f"When do {' and '.join(self.speakers)} talk?"
                if self.language == "en"
                else f"{'和'.join(self.speakers)}是什么时候谈的？"
            )
        first = answer.split("|")[0].strip() if unit.kind == "table" else unit.label
        if self.language == "zh":
            return f"{topic}的{first}是什么？" if topic else f"{first}是什么？"
        if unit.kind == "row":
            return f"What is the {first.lower()} of {topic}?" if topic else f"What is the {first.lower()}?"
        columns = ", ".join(c.strip() for c in unit.label.split("|")[1:] if c.strip())
        asked = f"What are the {columns} of {first}" if columns else f"What does the table say about {first}"
        return f"{asked} ({topic})?" if topic else f"{asked}?"


def language_of(text: str) -> str:
    """`zh`, `en`, or nothing where questions can be worded in neither."""
    if len(_CJK.findall(text)) > 0.3 * len(WORD.findall(text)):
        return "" if len(_KANA.findall(text)) > 0.05 * len(text) else "zh"
    words = [m[0].lower() for m in WORD.finditer(text)]
    known = sum(1 for w in words if w in STOP_WORDS)
    return "en" if (text.isascii() and len(words) < 12) or known > _ENGLISH * len(words) else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(m[0].lower() for m in WORD.finditer(text))


def _distinct(text: str, units: Sequence[Unit]) -> list[Unit]:
    """The units without those that nearly repeat an earlier one."""
    kept: list[tuple[frozenset[str], Unit]] = []
    for unit in units:
        words = _words(text[unit.start : unit.end])
        if words and not any(len(words & w) >= _NEAR * len(words | w) for w, _ in kept):
            kept.append((words, unit))
    return [u for _, u in kept]


def _chosen(drafts: Sequence[Sequence[_Draft]], most: int) -> list[_Draft]:
    """The first draft of every unit, then further ones of the forms that are rarest so far."""
    chosen = [d[0] for d in drafts if d][:most]
    asked = {d.question.lower() + d.answer.lower() for d in chosen}
    forms = Counter(d.form for d in chosen)
    rest = [d for unit in drafts for d in unit[1:]]
    while rest and len(chosen) < most:
        best = min(rest, key=lambda d: (d.rank, forms[d.form], d.unit))
        rest.remove(best)
        if best.question.lower() + best.answer.lower() not in asked:
            chosen.append(best)
            forms[best.form] += 1
    return sorted(chosen, key=lambda d: (d.unit, d.rank))
