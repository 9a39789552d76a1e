"""The table `sources`: what the corpus knows of each site, for the search of sources (Know Where to Go).

Needs whole tables: a site's row is made of all its documents. In memory are the site of each document (some 200 bytes
a document) and a few counts of each site. A source of which nothing changed since the previous build is taken over;
only of the others are titles and names read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.events.leaders import documents_of
from quern.jobs.graph.mentions import document_of
from quern.jobs.text.names import name_key
from quern.schemas.digests import text_digest
from quern.schemas.settings import SourceSettings
from quern.schemas.tables import SOURCES, Table
from quern.schemas.words.terms import STOP_WORDS, search_terms

_MASK: Final = (1 << 128) - 1


@dataclass
class Site:
    """What is counted of a site."""

    documents: int = 0
    names: Counter[str] = field(default_factory=Counter)  # How often it calls itself what.
    origins: Counter[str] = field(default_factory=Counter)  # How many of its documents have an address of each origin.
    evidence: int = 0  # Nodes of its documents.
    reachable_at: datetime | None = None  # The newest fetch of a page of it.
    # Sum of the digests of all that its topics are made of, titles and names of events, and of nothing else: a page
    # whose text alone changed leaves the row as it was. A sum, so that no order need be kept.
    stated: int = 0

    def tell(self, *parts: str) -> None:
        """Add something that its topics are made of."""
        self.stated = (self.stated + int(text_digest(*parts), 16)) & _MASK

    def home_url(self, site: str) -> str | None:
        """Its home page: of the origins that bear its name, or else of all, the commonest."""
        own = Counter({o: n for o, n in self.origins.items() if host_of(o).removeprefix("www.") == site})
        return _commonest(own or self.origins)

    def digest(self) -> str:
        """Digest of all that its row is made of."""
        counted = [sorted(self.names.items()), sorted(self.origins.items())]
        return text_digest(*map(str, [f"{self.stated:x}", self.documents, self.evidence, self.reachable_at, *counted]))


@dataclass(frozen=True)
class BuildSources(TableJob):
    """The sources of a corpus."""

    settings: SourceSettings  # How many topics they have.

    name: ClassVar[str] = "sources"
    version: ClassVar[int] = 4
    incremental: ClassVar[bool] = True
    tables: ClassVar[tuple[Table, ...]] = (SOURCES,)

    def configuration(self) -> Mapping[str, object]:
        """The settings."""
        return self.settings.results()

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """The sources of the `documents`, with the `nodes`, `events` and `pages` of these."""
        published = self.of_last_night(SOURCES.name, run)
        before = {row["site"]: row for batch in published.batches() for row in batch.to_pylist()} if published else {}
        sites = read_sites(inputs)
        digests = {site: facts.digest() for site, facts in sites.items()}
        changed = {site for site, digest in digests.items() if before.get(site, {}).get("digest") != digest}
        # Titles and names of the sites that changed.
        names, words = ({site: Counter[str]() for site in changed} for _ in range(2))
        site_of = {}
        for row in _rows(inputs["documents"], ["doc_id", "site", "title"]) if changed else ():
            if row["site"] in changed:
                site_of[row["doc_id"]] = row["site"]
                words[row["site"]].update(title_words(row["title"] or ""))
        for entities, documents in _events(inputs["events"]) if changed else ():
            for site in {site_of[document] for document in documents if document in site_of}:
                names[site].update(set(entities))
        with run.writer(SOURCES) as writer:
            for site in sorted(sites):
                if site not in changed:
                    writer.add(before[site])
                    continue
                facts = sites[site]
                writer.add(
                    {
                        "site": site,
                        "name": _commonest(facts.names),
                        "home_url": facts.home_url(site),
                        "topics": topics(names[site], words[site], self.settings.topics),
                        "documents": facts.documents,
                        "evidence": facts.evidence,
                        "reachable_at": facts.reachable_at,
                        "digest": digests[site],
                    }
                )
        counts = Counts(inputs["documents"].rows, len(sites), len(sites) - len(changed), len(changed), 0)
        return Made((writer.stage(),), counts)


def read_sites(inputs: Mapping[str, Stage]) -> dict[str, Site]:
    """What is counted of each site; documents without one are of none."""
    sites: dict[str, Site] = {}
    site_of: dict[str, Site] = {}
    site_of_page: dict[str, Site] = {}
    for row in _rows(inputs["documents"], ["doc_id", "page_url", "url", "site", "site_name", "title"]):
        if not row["site"]:
            continue
        site = sites.setdefault(row["site"], Site())
        site.documents += 1
        site.tell("title", row["title"] or "")
        if row["site_name"]:
            site.names[row["site_name"]] += 1
        if origin := origin_of(row["url"] or ""):
            site.origins[origin] += 1
        site_of[row["doc_id"]] = site_of_page[row["page_url"]] = site
    for batch in inputs["nodes"].batches(["chunk_id"]):
        counts = document_of(batch.column(0)).value_counts()
        for document, count in zip(*(counts.field(name).to_pylist() for name in ("values", "counts")), strict=True):
            if (known := site_of.get(document)) is not None:
                known.evidence += count
    for entities, documents in _events(inputs["events"]):
        owners = {id(one): one for document in documents if (one := site_of.get(document)) is not None}
        for owner in owners.values():
            owner.tell("event", *sorted(set(entities)))
    for row in _rows(inputs["pages"], ["url", "fetched_at"]):
        if (found := site_of_page.get(row["url"])) is not None and row["fetched_at"] is not None:
            found.reachable_at = max(filter(None, (found.reachable_at, row["fetched_at"])))
    return sites


def origin_of(url: str) -> str | None:
    """The home page of an address's site: scheme, host and port of a web address; None where it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    authority = parts.netloc.rpartition("@")[2].lower()  # A name and a password are of nobody's home page.
    return f"{parts.scheme}://{authority}/" if parts.scheme in ("http", "https") and parts.hostname else None


def host_of(url: str) -> str:
    """The host name of an address, in lower case; empty where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _events(events: Stage) -> Iterator[tuple[list[str], list[str]]]:
    """Names and documents of each event."""
    for batch in events.batches(["entities", "sources"]):
        yield from zip(batch.column("entities").to_pylist(), documents_of(batch.column("sources")), strict=True)


def _rows(stage: Stage, columns: list[str]) -> Iterator[dict[str, Any]]:
    for batch in stage.batches(columns):
        yield from batch.to_pylist()


def _commonest(counted: Counter[str]) -> str | None:
    return min(counted, key=lambda one: (-counted[one], one), default=None)


def title_words(title: str) -> set[str]:
    """The words of a title that may be a topic."""
    words = set(search_terms(title).split()) - STOP_WORDS
    # Of Chinese, pairs of characters count.
    return {w for w in words if not w.isdigit() and (len(w) >= 4 or not w.isascii())}


def topics(names: Counter[str], words: Counter[str], most: int) -> list[str]:
    """Names that several events have, then words of titles, commonest first; equal counts by alphabet."""
    shared = [name for name, count in _ranked(names) if count > 1]
    said = {part for name in shared for part in name_key(name).split()}
    return [*shared, *(word for word, _ in _ranked(words) if word not in said)][:most]


def _ranked(counted: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda known: (-known[1], known[0]))
