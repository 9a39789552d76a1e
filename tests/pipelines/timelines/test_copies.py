"""Entries of a timeline that tell one thing are one, and are shown with their sources."""

from __future__ import annotations

from datetime import UTC, date, datetime

from quern.pipelines.timelines.query import one_each
from quern.pipelines.timelines.view import render_timeline
from quern.schemas.timelines import Timeline, TimelineEvent, TimelineSource

SAID = "said {} that the Lady Orrin would have to be repaired in dry dock at Dunmere"


def event(document: str, day: date, summary: str, *, title: str = "", expected: bool = False) -> TimelineEvent:
    published = datetime(2024, 3, 5, tzinfo=UTC)
    source = TimelineSource(
        chunk_id=document, doc_id=document, site="Courier", published_at=published, start=0, end=len(summary)
    )
    return TimelineEvent(
        event_id=document,
        timex=day.isoformat(),
        from_day=day,
        to_day=day,
        precision="day",
        date_from="text",
        expected=expected,
        title=title or summary.rstrip("."),
        summary=summary,
        entities=["Tollen Bridge"],
        sources=[source],
    )


def test_a_reprint_is_told_with_its_original_whose_date_does_not_hang_by_that_of_the_report() -> None:
    clipping = event("clipping", date(2024, 3, 4), f"The owners {SAID.format('yesterday')}.")
    original = event("original", date(2024, 3, 5), f"The owners {SAID.format('on Tuesday')}.")
    other = event("other", date(2024, 3, 5), "The council said on Tuesday that water buses would run to the island.")
    found = one_each([clipping, original, other])
    assert [(e.event_id, [s.doc_id for s in e.sources]) for e in found] == [
        ("original", ["original", "clipping"]),
        ("other", ["other"]),
    ]


def test_what_was_expected_is_told_where_it_happened() -> None:
    day = date(2025, 6, 14)
    plan = event("plan", day, "The Tollen Bridge will be opened to the public on 14 June.", expected=True)
    came = event("came", day, "At eleven on Saturday the Tollen Bridge was opened by a tram.")
    later = event("later", date(2025, 6, 15), "The Tollen Bridge will be opened to lorries.", expected=True)
    assert [(e.event_id, e.expected) for e in one_each([plan, came, later])] == [("came", False), ("later", True)]


def test_an_entry_shows_its_sentence_once_and_where_and_when_it_was_told() -> None:
    long = event("d1", date(2024, 3, 2), "The Tollen Bridge was opened by the mayor on Saturday.")
    years = long.model_copy(update={"timex": "1886/1949", "title": "A chain ferry"})
    shown = render_timeline(Timeline(topic="t", kind="topic", snapshot="s", events=[long, years]))
    assert shown.count("was opened by the mayor") == 2
    assert "d1  (Courier, 2024-03-05)" in shown
    assert "1886 to 1949  A chain ferry" in shown
