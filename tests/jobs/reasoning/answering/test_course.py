"""Events of the evidence that bear on a question, told in the order of time within what the question allows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from quern.jobs.reasoning.answering.course import stages, timeline
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence, ReportedEvent
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.text.date_words import date_words
from quern.schemas.settings import AnswerSettings

TOLD = {
    "The Lady Orrin came back from the yard on 8 May 2024.": ("2024-05-08", date(2024, 5, 8), date(2024, 5, 8)),
    "The Lady Orrin struck a dredger on 2 March 2024.": ("2024-03-02", date(2024, 3, 2), date(2024, 3, 2)),
    "In April 2024 the Lady Orrin lay in the yard.": ("2024-04", date(2024, 4, 1), date(2024, 4, 30)),
    "A court fined the owners of the Lady Orrin in 2025.": ("2025", date(2025, 1, 1), date(2025, 12, 31)),
    "Bread was dear. Milk was dear. The mayor opened a shop in 2024.": ("2024", date(2024, 1, 1), date(2024, 12, 31)),
}


def given(question: str) -> AnswerInput:
    text = " ".join(TOLD)
    events = [
        ReportedEvent(str(n), text.index(s), text.index(s) + len(s), *when, "day", "text", False, s.rstrip("."))
        for n, (s, when) in enumerate(TOLD.items())
    ]
    published = datetime(2026, 1, 1, tzinfo=UTC)
    return AnswerInput(question, [Evidence(text, "News", [], [], published, "c", "d", tuple(events))])


def days(question: str) -> list[str]:
    return [told.event.timex for told in timeline(given(question))]


def test_a_timeline_has_the_events_that_bear_on_the_question_in_order_of_time():
    assert days("Give the timeline of the Lady Orrin.") == ["2024-03-02", "2024-04", "2024-05-08", "2025"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happened to the Lady Orrin after 2 March 2024?", ["2024-04", "2024-05-08", "2025"]),
        ("What happened to the Lady Orrin before 8 May 2024?", ["2024-03-02", "2024-04"]),
        ("What happened to the Lady Orrin between April and June 2024?", ["2024-04", "2024-05-08"]),
        ("What happened to the Lady Orrin after she struck a dredger?", ["2024-04", "2024-05-08", "2025"]),
        ("What happened to the Lady Orrin in 2025?", []),
    ],
)
def test_it_keeps_to_what_the_question_allows_and_one_event_is_none(question, expected):
    assert days(question) == expected


def test_what_asks_for_a_course_of_events_is_answered_by_events_in_their_order_each_on_its_own_sentence():
    asked = given("What was the course of events of the Lady Orrin?")
    draft = answer_task(AnswerSettings()).rule(asked)
    assert [s.text.split(":")[0] for s in draft.sentences] == ["2 March 2024", "April 2024", "8 May 2024", "2025"]
    assert [s.rests_on for s in draft.sentences] == [[2], [3], [1], [4]]
    assert stages(given("Who struck a dredger?")) == []


def test_what_an_answer_is_remembered_under_has_its_events_where_it_tells_them():
    with_events, other = given("What happened to the Lady Orrin?"), given("Who struck a dredger?")
    for asked, same in ((with_events, False), (other, True)):
        bare = AnswerInput(asked.question, [replace(e, events=()) for e in asked.evidence])
        assert (asked.identity == bare.identity) is same


@pytest.mark.parametrize(
    ("timex", "first", "last", "english", "chinese"),
    [
        ("2024-03-02", "2024-03-02", "2024-03-02", "2 March 2024", "2024年3月2日"),
        ("2024-W10", "2024-03-04", "2024-03-10", "week of 4 March 2024", "2024年3月4日起的一周"),
        ("1886-01-01/1949-12-31", "1886-01-01", "1949-12-31", "1886 to 1949", "1886年至1949年"),
    ],
)
def test_dates_in_words(timex, first, last, english, chinese):
    ends = date.fromisoformat(first), date.fromisoformat(last)
    assert date_words(timex, *ends) == english
    assert date_words(timex, *ends, chinese=True) == chinese
