"""Copies and what they were made from."""

from __future__ import annotations

from datetime import UTC, datetime

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.originals import originals


def test_a_copy_is_told_from_the_page_that_had_it_first() -> None:
    said = "{} 23,400 people came to Long Field over three nights for the {} fair away from the sea."
    texts = {"copy": said.format("About", "first"), "source": said.format("Some", "first"), "other": said.replace(
        "23,400", "31,000").format("Some", "first")}  # fmt: skip
    days = {"copy": 27, "source": 26, "other": 25}
    pages = [
        Evidence(text, None, [], [], datetime(2024, 8, days[page], tzinfo=UTC), page=page)
        for page, text in texts.items()
    ]
    given = AnswerInput("How many came?", pages)
    assert originals(given, [1, 2, 3]) == [2, 3]
    assert originals(AnswerInput("How many came?", pages[::2]), [1]) == [1], "another number is another report"


def test_the_first_day_of_the_calendar_that_pages_give_for_none_ends_nothing() -> None:
    text = "About 23,400 people came to Long Field over three nights for the first fair away from the sea."
    pages = [Evidence(text, None, [], [], datetime(year, 1, 1, tzinfo=UTC), page=str(year)) for year in (1, 9999)]
    assert originals(AnswerInput("How many came?", pages), [1, 2]) == [1, 2]
