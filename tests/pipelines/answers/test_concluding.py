"""What follows from a draft through a memo is what follows from it anew, whichever single thing changed since."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from quern.jobs.models.reader import LineReading, Passage, Reading
from quern.jobs.reasoning.answering.draft import Draft, Statement
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence, Fact, ReportedEvent
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.answers.concluding import Concluder, Drafted
from quern.schemas.settings import Settings
from quern.schemas.settings.reading import load_settings

FIRE, REPAIR = "The windmill on Tarn Hill burnt on 3 May 1820.", "On 9 June 1820 Josef Arndt repaired the windmill."
TEXTS = (
    f"{FIRE} {REPAIR} It is 19 metres tall.",
    "The church of Tarn Hill was raised by Maria Lind in 1790. It is not 31 but 33 metres tall, and cost 4,200 crowns.",
    "磨坊建于1811年，由木匠王大力建造。磨坊高19米。",
)
QUESTIONS = (
    "Who repaired the windmill on Tarn Hill?",
    "What happened to the windmill on Tarn Hill after 2 May 1820?",
    "Which is taller, the windmill or the church of Tarn Hill?",
    "When did engine No. 7 reach Port Averil?",
    "磨坊高多少米？",
)


def event(number: int, text: str, day: date) -> ReportedEvent:
    start = TEXTS[0].index(text)
    return ReportedEvent(
        f"e{number}", start, start + len(text), day.isoformat(), day, day, "day", "text", expected=False, title=text
    )


EVENTS = (event(1, FIRE, date(1820, 5, 3)), event(2, REPAIR, date(1820, 6, 9)))
FACT = Fact("Josef Arndt", "repaired", "the windmill", len(FIRE) + 1, len(FIRE) + 1 + len(REPAIR))
EVIDENCE = tuple(
    Evidence(
        text,
        f"Page {n} of Tarn Hill",
        ("Who repaired it? Josef Arndt",),
        (0.3 + n / 10,),
        datetime(2024, 5, 6 + n, tzinfo=UTC),
        f"c{n}",
        f"p{n}",
        () if n else EVENTS,
        () if n else (FACT,),
    )
    for n, text in enumerate(TEXTS)
)
BEFORE = (AskedBefore("How tall is the windmill?", "19 metres", (3,), "19 metres", 0.8),)


@dataclass(frozen=True)
class Prefers:
    """Finds lines of one length likely."""

    length: int

    @property
    def fingerprint(self) -> str:
        return str(self.length)

    def begin(self, question: str, passages: Sequence[Passage]) -> Callable[[], Reading]:
        lines = [[self._line(line, len(question)) for line in passage.lines] for passage in passages]
        return lambda: Reading(lines, {"span": 0.9, "verdict": 0.05, "list": 0.05})

    def _line(self, line: str, asked: int) -> LineReading:
        return LineReading(asked / 9 - abs(len(line) - self.length) / 9, 0.5, 0, len(line) // 2, 0.8)


READERS = (Prefers(20), Prefers(60))


def draft_of(given: AnswerInput, settings: Settings) -> Draft:
    return answer_task(settings.answer).rule(given)


def drafted(given: AnswerInput, settings: Settings) -> Drafted:
    return Drafted(given, draft_of(given, settings))


def concluded(memo: Path | None, settings: Settings, drafts: Sequence[Drafted]) -> list[object]:
    """What follows from each draft: written out, as a part, and what is told of it."""
    with Reasoner(settings.generator, settings.engine, memo=memo) as reasoner:
        concluder = Concluder(reasoner, settings)
        wholes, parts = concluder.of_wholes(drafts), concluder.of_parts(drafts)
    return [
        [whole.model_dump_json(), part, [vars(t) for t in whole.timeline(one.given)], whole.answer(one.draft)]
        for whole, part, one in zip(wholes, parts, drafts, strict=True)
    ]


def other(value: Any, luck: random.Random) -> Iterator[Any]:
    """Other values of the type of `value`."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, max(0, value - 1), value + luck.randrange(2, 9))
    elif isinstance(value, float):
        yield from (value / 2, 0.99 - value / 9, luck.random())
    elif isinstance(value, str):
        words = value.split() or [value]
        yield from (luck.choice(words), " ".join(reversed(words)), f"{value} Averil", "")
    elif isinstance(value, datetime | date):
        yield from (value + timedelta(days=days) for days in (1, -40, 900))
    elif value is None:
        yield luck.random()


def changed(one: Any, luck: random.Random) -> Iterator[Any]:
    """`one` with a single thing in it changed, for each that there is."""
    if isinstance(one, AnswerInput | Evidence | ReportedEvent | AskedBefore | Fact | Drafted):
        for field in fields(one):
            chosen = {"reader": READERS, "header": ["Kind | Price"]}
            values = chosen.get(field.name) or changed(getattr(one, field.name), luck)
            for value in values:
                yield replace(one, **{field.name: value})
    elif isinstance(one, Draft | Statement):
        for name in type(one).model_fields:
            for value in changed(getattr(one, name), luck):
                yield one.model_copy(update={name: value})
    elif isinstance(one, tuple | list):
        for n, value in enumerate(one):
            for member in changed(value, luck):
                yield type(one)([*one[:n], member, *one[n + 1 :]])
            yield type(one)([*one[:n], *one[n + 1 :]])
    else:
        yield from other(one, luck)


def asked(settings: Settings) -> list[Drafted]:
    inputs = [AnswerInput(question, EVIDENCE, BEFORE if "taller" in question else ()) for question in QUESTIONS]
    return [drafted(given, settings) for given in inputs]


def test_whatever_single_thing_changed_what_is_remembered_is_what_follows_anew(tmp_path: Path) -> None:
    settings, luck, differing = Settings(), random.Random(1), 0
    for base in asked(settings):
        (before,) = concluded(tmp_path, settings, [base])
        others = list(changed(base, luck))
        anew = concluded(None, settings, [base, *others])
        kept = concluded(tmp_path, settings, [base, *others])
        for one, fresh, known in zip([base, *others], anew, kept, strict=True):
            assert known == fresh, one
        differing += sum(fresh != before for fresh in anew)
    assert differing > 100  # Else nothing that was changed mattered.


@pytest.mark.parametrize("changed_to", ["answer.risk=0.0001", "align.hits=1", "align.hits=0"])
def test_what_follows_by_other_settings_is_not_what_is_remembered(tmp_path: Path, changed_to: str) -> None:
    settings = load_settings(overrides=[changed_to])
    drafts = asked(Settings())
    before = concluded(tmp_path, Settings(), drafts)
    anew = concluded(None, settings, drafts)
    assert anew != before
    assert concluded(tmp_path, settings, drafts) == anew
    assert concluded(tmp_path, Settings(), drafts) == before
