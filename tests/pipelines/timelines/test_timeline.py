"""Events and timelines of whole builds: what is read of pages, what a night changes, what is shown."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import quern
from quern.indexes.catalog import Warehouse
from quern.pipelines.answers.files import write_answers
from quern.pipelines.answers.gate import gated
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.timelines.page import write_timeline
from quern.pipelines.timelines.view import render_timeline
from quern.schemas.answers import Answer
from tests.benchmarks.timelines import gold_timelines
from tests.conftest import CORPUS, Quern
from tests.floors import FLOORS, broken

FERRY = "The ferry Lady Orrin struck the dredger Marl Hopper in thick fog on Saturday."
TOMORROW = (datetime.now(UTC).date() + timedelta(1)).isoformat()
DOCUMENTS = [
    ("d1", "2024-03-04", FERRY + "\nCaptain Edda Marsh said that the bell had been heard."),
    ("d2", "2024-03-05", "The master of the Lady Orrin was heard on Tuesday.\n" + FERRY),
    ("d3", "2024-05-08", "The Lady Orrin came back from the yard at Dunmere on Wednesday."),
    ("d4", "2025-02-11", "A court fined the owners of the Lady Orrin on Tuesday, and Captain Edda Marsh was cleared."),
    ("d5", TOMORROW, "The Lady Orrin was sold yesterday.\nThe Lady Orrin sailed to Skarrow on 8 May 2024."),
    ("d6", None, "The owners have told nobody of it."),
    ("d7", "2024-06-14", "The mayor opened the Tollen Bridge on Friday."),
    ("d8", "2025-01-09", "A tram crossed the Tollen Bridge for the first time."),
]
OF_THE_BRIDGE = ("d7", "d8")
SETTINGS = {"engine.engine": "local"}


def write(path: Path, documents: list[tuple[str, str | None, str]]) -> Path:
    site = {key: "bridge.example" if key in OF_THE_BRIDGE else "courier.example" for key, _, _ in documents}
    rows = [{"doc_id": key, "site": site[key], "published_at": day, "text": text} for key, day, text in documents]
    path.write_text("".join(json.dumps({k: v for k, v in row.items() if v}) + "\n" for row in rows))
    return path


def rows(warehouse: Path, table: str) -> list[dict[str, Any]]:
    return [r for b in Warehouse.open(warehouse).snapshot().stage(table).batches() for r in b.to_pylist()]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events")
    quern.build(write(folder / "documents.jsonl", DOCUMENTS), folder / "warehouse", SETTINGS)
    return folder / "warehouse"


def test_events_quote_documents_and_reports_of_one_event_are_one_row(built: Path) -> None:
    texts = {row["doc_id"]: row["text"] for row in rows(built, "documents")}
    events = rows(built, "events")
    assert all(texts[e["doc_id"]][e["start"] : e["end"]] == e["summary"] for e in events)
    for event in events:
        for source in event["sources"]:
            assert texts[source["doc_id"]][source["start"] : source["end"]].strip()
    (struck,) = (e for e in events if "struck" in e["summary"])
    assert [source["doc_id"] for source in struck["sources"]] == ["d1", "d2"], "the earlier report is kept"
    assert struck["timex"] == "2024-03-02"


def test_a_page_of_tomorrow_is_told_and_dates_nothing(built: Path) -> None:
    assert [e["timex"] for e in rows(built, "events") if e["doc_id"] == "d5"] == ["2024-05-08"]
    rejected = {r["reason"]: r["key"] for r in rows(built, "rejects")}
    assert rejected["no_date"] == "d6-0"
    assert "published_later" in rejected


def test_timelines_are_by_entity_and_site_in_order_of_time(built: Path) -> None:
    timelines = {(t["kind"], t["topic"]): t for t in rows(built, "timelines")}
    ferry = timelines["entity", "Lady Orrin"]
    day = {e["event_id"]: e["from_day"] for e in rows(built, "events")}
    days = [day[key] for key in ferry["event_ids"]]
    assert days == sorted(days)
    assert len(days) == ferry["event_count"] == len(ferry["titles"]) >= 4
    assert ("site", "courier.example") in timelines
    assert ("entity", "Dunmere") not in timelines, "one event is no timeline"


def test_after_a_night_tables_are_those_of_a_full_build(built: Path, tmp_path: Path) -> None:
    changed = [*DOCUMENTS[1:], ("d9", "2024-05-09", "The Lady Orrin came back from the yard at Dunmere on Wednesday.")]
    changed[0] = (changed[0][0], changed[0][1], changed[0][2].replace("heard", "asked"))
    pages = write(tmp_path / "documents.jsonl", changed)
    shutil.copytree(built, tmp_path / "night")
    night = quern.build(pages, tmp_path / "night", SETTINGS)
    full = quern.build(pages, tmp_path / "full", SETTINGS)
    for table in ("events", "timelines", "triplets", "entities", "sources"):
        assert night.tables[table].digest == full.tables[table].digest
    jobs = {job["job"]: job for job in night.jobs}
    assert 0 < jobs["merge_events"]["computed"] < jobs["merge_events"]["rows_in"]
    assert jobs["timelines"]["reused"] > 0
    assert (jobs["sources"]["reused"], jobs["sources"]["computed"]) == (1, 1)
    assert jobs["entities"]["reused"] > 0
    assert jobs["triplets"]["computed"] == 1, "one chunk changed, and the new page repeats another"


def test_a_timeline_is_shown_of_topic_and_entity(built: Path, quern_here: Quern) -> None:
    shown = quern_here("timeline", "-w", built, "lady orrin", "--from", "2024-03", "--to", "2024-05-31", "--json")
    found = json.loads(shown.stdout)
    assert (found["kind"], found["topic"]) == ("entity", "Lady Orrin")
    assert [e["timex"][:7] for e in found["events"]] == sorted(e["timex"][:7] for e in found["events"])
    assert {e["timex"][:4] for e in found["events"]} == {"2024"}
    plain = quern_here("timeline", "-w", built, "the court and the owners of the ferry").stdout
    assert "2025-02-11" in plain
    assert len(quern.timeline(None, built, entity="Edda Marsh", most=1).events) == 1
    span = quern.timeline(None, built, start="2024-03", end="2024-03")
    assert (span.kind, {e.timex[:7] for e in span.events}) == ("span", {"2024-03"})
    known = quern.timeline(None, built, start="2024-03-03", most=2, settings={"retrieve.as_of": "2024-06-01"})
    assert len(known.events) == 2, "what was told later takes no place of theirs"
    answer = quern.ask("What happened in March 2024?", built)
    told = [sentence.text for sentence in answer.sentences]
    assert len(told) >= 2
    assert all("March 2024" in text for text in told)
    assert [e.from_day for e in answer.timeline] == sorted(e.from_day for e in answer.timeline)
    for wrong, told in (
        ((), "name a topic"),
        (("x", "--entity", "y"), "not both"),
        ((" ",), "blank"),
        (("\u202e?",), "blank"),
        (("x", "--from", "2024-02-30"), "write a date"),
        (("Lady Orrin", "--html", "timeline.png"), "name a file that ends in .html"),
        (("x", "--from", "2025", "--to", "2024"), "the first is after the last"),
    ):
        stopped = quern_here("timeline", "-w", built, *wrong)
        assert (stopped.returncode, told in stopped.stderr) == (2, True), stopped.stderr


def test_an_entity_is_shown_with_its_facts_their_sources_and_dates(built: Path, quern_here: Quern) -> None:
    texts = {row["doc_id"]: row["text"] for row in rows(built, "documents")}
    for triplet in rows(built, "triplets"):
        for part in ("subject", "relation", "object"):
            span = slice(triplet[f"{part}_start"], triplet[f"{part}_end"])
            assert texts[triplet["doc_id"]][span] == triplet[part]
    (one,) = json.loads(quern_here("show", "entity", "lady orrin", "-w", built, "--json").stdout)["entities"]
    assert one["row"]["name"] == "Lady Orrin"
    back = next(fact for fact in one["to"]["facts"] if fact["relation"].startswith("came back"))
    assert (back["date"], back["source"], back["citation"][:3]) == ("2024-05-08", "d3", "d3:")
    stopped = quern_here("show", "entity", "Lady Orin", "-w", built)
    assert (stopped.returncode, "did you mean Lady Orrin" in stopped.stderr) == (2, True), stopped.stderr


def test_as_of_a_day_a_timeline_has_only_what_was_published_until_then(built: Path, quern_here: Quern) -> None:
    first = quern.timeline(None, built, entity="Lady Orrin", as_of=date(2024, 3, 4))
    assert [{s.doc_id for s in e.sources} for e in first.events] == [{"d1"}]
    later = quern.timeline(None, built, entity="Lady Orrin", as_of=date(2024, 12, 31))
    known = {s.doc_id for e in later.events for s in e.sources}
    assert {"d1", "d2", "d3"} <= known <= {"d1", "d2", "d3", "d7"}
    shown = quern_here("timeline", "-w", built, "--as-of", "2024-12-31", "--json", "what became of the Lady Orrin")
    assert {s["doc_id"] for e in json.loads(shown.stdout)["events"] for s in e["sources"]} <= {"d1", "d2", "d3", "d7"}


def test_an_answer_carries_the_events_of_its_evidence_with_what_leads_to_them(built: Path, tmp_path: Path) -> None:
    asked = [{"query_id": "q", "question": "What happened to the Lady Orrin after 3 March 2024?"}]
    write_answers(quern.answer(asked, built), tmp_path, "Answers", {})
    (line,) = (tmp_path / "answers.jsonl").read_text().splitlines()
    (answer,) = map(Answer.model_validate, pq.read_table(tmp_path / "answers.parquet").to_pylist())
    assert answer.timeline == Answer.model_validate_json(line).timeline
    assert [e.timex for e in answer.timeline] == sorted(e.timex for e in answer.timeline)
    assert {e.timex for e in answer.timeline} >= {"2024-05-08", "2025-02-11"}
    hits = {hit.chunk_id: hit for hit in answer.hits}
    for event in answer.timeline:
        hit = hits[event.chunk_id]
        assert hit.rank == event.rank
        assert hit.text[event.start - hit.start : event.end - hit.start] == event.quote
    cited = {c.number: c.quote for c in answer.citations}
    told = {e.timex: cited[e.citation] for e in answer.timeline if e.citation}
    assert "came back" in told["2024-05-08"]
    assert answer.answer.index("8 May 2024") < answer.answer.index("11 February 2025")
    earlier = quern.ask(asked[0]["question"], built, as_of=date(2024, 6, 1))
    assert "2025-02-11" not in {e.timex for e in earlier.timeline}
    false = answer.timeline[0].model_copy(update={"quote": "The Lady Orrin sank."})
    gate = gated(
        [answer.model_copy(update={"timeline": [false, *answer.timeline[1:]]})], Warehouse.open(built).snapshot()
    )
    assert gate[0].timeline == (answer.timeline[1:] if len(answer.timeline) > 2 else [])


HOSTILE = "</title><script>document.title='ran'</script>\x07\u202e \ud800" + "very long " * 200


@pytest.fixture(scope="module")
def hostile(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of a timeline whose titles and topic are hostile."""
    folder = tmp_path_factory.mktemp("pages")
    snapshot = Warehouse.open(built).snapshot()
    found = quern.timeline(None, built, entity="Lady Orrin")
    first, second, *others = found.events
    month = {"timex": "2024-03", "from_day": date(2024, 3, 1), "to_day": date(2024, 3, 31), "precision": "month"}
    events = [first.model_copy(update={"title": HOSTILE}), second.model_copy(update=month), *others]
    wrong = first.model_copy(update={"summary": "The ferry sank."})
    timeline = found.model_copy(update={"topic": HOSTILE, "events": [*events, wrong]})
    write_timeline(timeline, snapshot, folder / "timeline.html")
    return folder


def test_an_entity_that_is_misspelt_has_no_events_and_names_that_are_near(built: Path) -> None:
    found = quern.timeline(None, built, entity="lady orin")
    assert (found.events, found.near[:1]) == ([], ["Lady Orrin"])
    assert "Did you mean Lady Orrin" in render_timeline(found)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_page_of_a_timeline_fits_is_accessible_and_zooms(hostile: Path, width: int, scheme: str) -> None:
    from tests.pipelines.answers.views.test_report_in_browser import shown

    with shown(hostile / "timeline.html", width, scheme) as page:
        page.locator("details.whole > summary").first.click()
        assert "struck the dredger" in page.locator("mark").first.inner_text()
        scale = page.locator(".scale")
        assert (scale.locator("circle").count() > 0, scale.locator("rect").count()) == (True, 1)
        every = page.locator("li[data-when]").count()
        for _ in range(4):
            scale.press("+")
        scale.press("Home")
        assert 0 < page.locator("li[data-when]:visible").count() < every
        page.get_by_role("button", name="Show all events").click()
        assert page.locator("li[data-when]:visible").count() == every


def test_gold_timelines_keep_their_floors(searcher: Searcher) -> None:
    measured = gold_timelines(searcher)
    events = sum(len(topic["events"]) for topic in json.loads((CORPUS / "timelines.json").read_text("utf-8")))
    assert broken(measured, {"at least": FLOORS["mini_web"]["timelines"]}, events) == {}, measured
