"""Pages that are not in the index, visited to see whether they answer (Know Where to Go, validator)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from quern.jobs.crawl.visit import visit
from quern.jobs.documents.clean import Clean
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.sources.build import origin_of
from quern.jobs.sources.evidence import verdict
from quern.pipelines.pages.crawl import check_settings, user_agent
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.access import AT_ONCE, asked_homes, batched
from quern.pipelines.sources.validate import weighed_by_rule
from quern.schemas.page_times import publication
from quern.schemas.tables import PAGES

_WINDOW: Final = 2000  # Characters that are weighed together: about a chunk.
_MOST_WINDOWS: Final = 5


@dataclass(frozen=True)
class Visited:
    """What a visit says of a page and a question.

    Attributes:
        why_not: Why the page cannot be had; empty where it can.
        score: `1 + P(yes)`, or `1 - P(no)`, of its best windows.
        answers: Whether that is valid.
    """

    why_not: str = ""
    score: float = 0.0
    answers: bool = False


def visited(searcher: Searcher, asked: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Visited]:
    """For each address and question what its page says; a site that answers everything is not believed.

    Raises:
        CrawlError: `crawl` settings do not allow a crawl.
    """
    if not asked:
        return {}
    crawl = searcher.settings.crawl
    check_settings(crawl)
    origins = {url: origin_of(url) or url for url, _ in asked}
    homes = asked_homes({origin: origin for origin in origins.values()}, crawl)
    everything = {site for site, reached in homes.items() if reached.why_not.startswith("answers_everything")}
    why_nots, windows = dict[str, str](), dict[str, list[Evidence]]()
    for some in batched(origins, AT_ONCE):
        visits = visit(some, crawl, user_agent(crawl))
        why_nots |= {url: seen.why_not for url, seen in visits.items()}
        windows |= _windows(searcher, {url: seen.body for url, seen in visits.items() if not seen.why_not})
    found: dict[tuple[str, str], Visited] = {}
    inputs: dict[tuple[str, str], AnswerInput] = {}
    for url, question in asked:
        why_not = homes[origins[url]].why_not if origins[url] in everything else why_nots[url]
        found[url, question] = Visited(why_not)
        if not why_not and url in windows:
            inputs[url, question] = AnswerInput(question, windows[url])
    weighed = weighed_by_rule(list(inputs.values()), [0.0] * len(inputs))
    for key, one in zip(inputs, weighed, strict=True):
        score = round(verdict(one).score, 4)
        found[key] = Visited("", score, score > searcher.settings.sourcing.valid)
    return found


def _windows(searcher: Searcher, bodies: Mapping[str, bytes]) -> dict[str, list[Evidence]]:
    """The first windows of the main text of each page that has one, read in a child process as a build does."""
    rows = [{"url": url, "content_type": "text/html", "charset": None, "body": body} for url, body in bodies.items()]
    schema = pa.schema([PAGES.schema.field(name) for name in Clean.reads])
    made = Clean(searcher.settings.clean).apply(pa.RecordBatch.from_pylist(rows, schema=schema))
    found = {}
    for row in made.rows.select(["page_url", "title", "text", "published_at", "utc_offset"]).to_pylist():
        text, url = row["text"], row["page_url"]
        cuts = range(0, min(len(text), _WINDOW * _MOST_WINDOWS), _WINDOW)
        found[url] = [
            Evidence(text[at : at + _WINDOW], row["title"], (), (), publication(row), f"{url} {at}", url) for at in cuts
        ]
    return found
