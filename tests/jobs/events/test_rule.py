from __future__ import annotations

from datetime import date

import pytest

from quern.jobs.events.find import ChunkEvent, ChunkEvents, EventInput, event_task
from quern.jobs.events.passage import Passage
from quern.jobs.events.rule import Report, read_reports
from quern.schemas.settings import GeneratorSettings

DAY = date(2024, 3, 5)


def found(text: str, published: date | None = DAY, title: str = "") -> tuple[Report, ...]:
    return read_reports(Passage(text, title, published, 0), 4, 20).reports


def dates(text: str, published: date | None = DAY) -> list[tuple[str, str, bool]]:
    return [(r.dating.timex, r.dating.date_from, r.dating.expected) for r in found(text, published)]


def test_an_event_has_its_own_date_else_that_of_the_report_else_it_is_counted() -> None:
    text = "The ferry struck a dredger on 2 March 2024. Divers have looked at the hull."
    assert dates("The ferry struck a dredger on 2 March 2024.") == [("2024-03-02", "text", False)]
    assert dates("Divers have looked at the hull.") == [("2024-03-05", "document", False)]
    assert dates(text)[1] == ("2024-03-02", "text", False), "what follows in a paragraph is of the same day"
    nothing = read_reports(Passage("Divers have looked at the hull.", "", None, 0), 4, 20)
    assert (nothing.reports, nothing.undated) == ((), 1)
    assert found("2 March 2024\n5 March 2024\n8 May 2024") == ()


def test_a_day_to_come_is_taken_only_from_plans() -> None:
    assert dates("The bridge will be opened by the mayor on 14 June 2025.") == [("2025-06-14", "text", True)]
    assert dates("The master wrote of 14 June 2025 as a fine day.") == [("2024-03-05", "document", False)]
    past = "Shareholders agreed on 14 March, and the bureau followed."
    assert dates(past) == [("2023-03-14", "text", False)], "a year that is left open is the last one"


@pytest.mark.parametrize(
    "day", ["on 31 February 2024", "on 31 December 9999", "on Monday, 3 March 2024,", "on 4/5/2016", "30.02.2024"]
)
def test_a_date_that_is_wrong_or_unsure_dates_nothing(day: str) -> None:
    assert dates(f"The dam was opened {day} by the mayor.") == []


def test_a_sentence_that_only_points_back_is_no_event_but_where_the_page_is_named_for_what_it_is_about() -> None:
    text = "It was first held in 1982 to thank the crews."
    assert found(text, title="Ferry strikes a dredger in thick fog") == ()
    assert found("One was found on Monday in the mill race.", title="How the lanterns were made") == ()
    assert [only.dating.timex for only in found(text, None, "Lantern Tide")] == ["1982"]
    assert found("The board named the radar as a cause.", title="Lady Orrin") == (), "and tells no news"


def test_summaries_are_spans_and_titles_are_short() -> None:
    clauses = ", and the Lady Orrin was towed to Port Averil by two tugs" * 3
    text = f"However, the Skarrow ferry struck a dredger on Saturday in the Narrows{clauses}."
    (only,) = found(text)
    assert text[only.sentence.start : only.sentence.end] == only.sentence.text == text
    assert only.title == "The Skarrow ferry struck a dredger on Saturday in the Narrows"
    assert (only.dating.timex, "Lady Orrin" in only.entities) == ("2024-03-02", True)
    assert len(read_reports(Passage("The old ferry sank there. " * 30, "", DAY, 0), 4, 20).reports) == 4


def test_what_a_model_says_is_held_to_the_sentences_and_the_dates_of_the_passage() -> None:
    task = event_task(4, 20)
    passage = Passage("The ferry struck a dredger on 2 March 2024. It sank.", "Fog </passage>", DAY, 0)
    given = EventInput(passage)
    assert "[1] The ferry" in task.render(given)
    assert task.render(given).count("</passage>") == 1

    def event(sentence: int, day: str, title: str = "The ferry strikes a dredger") -> ChunkEvent:
        return ChunkEvent(sentence=sentence, date=day, title=title, entities=["ferry"])

    # What a small model repeats comes once.
    twice = [event(1, "2024-03-02"), event(1, "2024-03-02", "The ferry  strikes a dredger")]
    wrong = [event(9, ""), event(2, "2024-03-09"), event(2, "", "x " * 30)]
    checked = event_task(9, 20).check(given, ChunkEvents(events=[*twice, event(2, ""), *wrong]))
    assert checked.good is not None
    dated = [(e.sentence, e.date, e.date_from) for e in checked.good.events]
    assert dated == [(1, "2024-03-02", "text"), (2, "2024-03-05", "document")]
    assert [p.reason for p in checked.problems] == ["no_such_sentence", "no_such_date", "long_title"]
    assert task.check(given, ChunkEvents(events=[])).good == ChunkEvents(events=[])
    assert task.configuration(GeneratorSettings())["generator"] == "rules"
