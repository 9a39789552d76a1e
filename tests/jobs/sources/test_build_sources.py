"""The table `sources` over nights: whatever comes, goes or is renamed, it is what a full run makes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Made
from quern.jobs.core.run import Run
from quern.jobs.sources.build import BuildSources
from quern.schemas.digests import text_digest
from quern.schemas.settings import SourceSettings
from quern.schemas.tables import DOCUMENTS, EVENTS, NODES, PAGES
from tests.conftest import Staged
from tests.jobs.nights_of_a_job import Nights, rows_of

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


class Doc(NamedTuple):
    """A document: its site, the name that it gives that, its title, whom its event names, and its nodes."""

    site: str | None
    name: str | None
    title: str | None
    names: tuple[str, ...] = ()
    nodes: int = 1
    fetched: datetime = NOON
    text: str = ""


DAY = {
    "a1": Doc("a.example", "The A", "Ferry sinks off Dunmere", ("Lady Orrin",)),
    "a2": Doc("a.example", "The A", "Ferry raised", ("Lady Orrin",)),
    "b1": Doc("b.example", None, "Harvest of barley"),
    "c1": Doc("c.example", "C", None, (), 0),
    "n1": Doc(None, None, "Of no site"),
    "k1": Doc("A key, of no host", None, ""),
}
NIGHTS = [
    DAY | {"a3": Doc("a.example", "The B", "Captain fined", ("Edda Marsh",))},
    {key: doc for key, doc in DAY.items() if key not in ("a2", "c1")},
    DAY | {"b1": DAY["b1"]._replace(title="Harvest of rye")},
    DAY | {"b1": DAY["b1"]._replace(site="b2.example")},
    DAY | {"c1": DAY["c1"]._replace(fetched=NOON.replace(hour=13))},
    DAY | {"b1": DAY["b1"]._replace(nodes=5, names=("Lady Orrin",))},
    {},
]


def given(docs: dict[str, Doc], stage: Staged) -> dict[str, Stage]:
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("documents", "nodes", "events", "pages")}
    for key, doc in docs.items():
        url = f"https://{doc.site}/{key}" if doc.site else f"doc:{key}"
        said = {"title": doc.title, "text": doc.text, "digest": text_digest(doc.title, doc.text)}
        named = {"site": doc.site, "site_name": doc.name}
        rows["documents"].append({"doc_id": key, "page_url": url, "url": url} | said | named)
        rows["nodes"] += [{"query_id": f"{key}{n}", "chunk_id": f"{key}-0", "text": ""} for n in range(doc.nodes)]
        rows["pages"].append({"url": url, "fetched_at": doc.fetched})
        if doc.names:
            at = {"chunk_id": f"{key}-0", "doc_id": key, "start": 0, "end": 1}
            source = {**dict.fromkeys(EVENTS.schema.field("sources").type.value_type.names), **at}
            days = {"from_day": NOON, "to_day": NOON, "precision": "day"}
            days |= {"timex": "", "date_from": "text", "expected": False}
            told = {"title": "", "summary": "", "entities": [*doc.names], "sources": [source]}
            rows["events"].append({"event_id": text_digest(key, *doc.names)} | at | days | told)
    tables = (DOCUMENTS, NODES.without("vector"), EVENTS.without("vector"), PAGES)
    return {name: stage(table, rows[name]) for name, table in zip(rows, tables, strict=True)}


def test_a_night_makes_what_a_full_run_makes_and_reads_anew_the_sites_that_changed_alone(
    run: Run, staged: Staged
) -> None:
    nights = Nights(BuildSources(SourceSettings()), run)

    def made(docs: dict[str, Doc], published: Stage | None = None) -> Made:
        return nights.made(given(docs, staged), published)

    first = made(DAY)
    by_site = {row["site"]: row for row in rows_of(first)}
    assert by_site["a.example"]["topics"][0] == "Lady Orrin"
    assert by_site["A key, of no host"]["topics"] == []
    assert len(by_site) == 4
    for docs in NIGHTS:
        night, whole = made(docs, first.stages[0]), made(dict(reversed(docs.items())))
        assert rows_of(night) == rows_of(whole) != rows_of(first)
        assert night.counts.computed <= 1
    edited = made(DAY | {"a1": DAY["a1"]._replace(text="Another text, under the same title.")}, first.stages[0])
    assert (rows_of(edited), edited.counts.computed) == (rows_of(first), 0)
