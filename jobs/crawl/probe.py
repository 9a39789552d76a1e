"""One visit of a few addresses without following links: by the crawl's own process, so with all that guards a crawl.

robots.txt is obeyed, no private network is reached, a redirect that leaves the site is refused, sizes and times are
bounded, and what a page or a model names leads to no other port than links may (`crawl` settings). Nothing of it is
archived.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from quern.indexes.storage import write_text
from quern.jobs.crawl.fleet import run_fleet
from quern.jobs.crawl.frontier import FETCHED, State, reject_rows
from quern.jobs.crawl.memory import read_only
from quern.jobs.crawl.plan import CrawlFolder, Plan
from quern.jobs.crawl.urls import Address, BadAddressError, parse_address
from quern.jobs.engines.scratch import Scratch
from quern.schemas.settings import CrawlSettings, EngineSettings


@dataclass(frozen=True)
class Visit:
    """What became of an address."""

    why_not: str = ""  # Why there is no page; empty where there is one.
    url: str = ""  # Where the page was found, after redirects.
    body: bytes = b""  # The page.


def visit(
    urls: Collection[str], settings: CrawlSettings, user_agent: str, accepts: Literal["pages", "images"] = "pages"
) -> dict[str, Visit]:
    """What became of each address.

    Raises:
        CrawlError: The process fails again and again.
    """
    found: dict[str, Visit] = {}
    seeds: dict[str, Address] = {}
    for url in urls:
        try:
            address = parse_address(url, settings.session_parameters)
        except BadAddressError as error:
            found[url] = Visit(f"{error.reason}: {error}")
            continue
        if address.port in settings.ports:
            seeds[url] = address
        else:
            found[url] = Visit(f"port: {address.port} is none of crawl.ports")
    if not seeds:
        return found
    limits = {"max_depth": 0, "sitemaps": False, "scope": "host", "seconds": min(settings.seconds, 600.0)}
    with Scratch("visit") as scratch:
        folder = CrawlFolder(scratch.path / "crawl", scratch.path / "warc", scratch.path / "memory.sqlite")
        folder.warc.mkdir()
        folder.root.mkdir()
        write_text(folder.seeds, "".join(f"{seed.url}\n" for seed in seeds.values()))
        plan = Plan(
            crawl_id="visit",
            seeds="",
            workers=1,
            user_agent=user_agent,
            started_at=time.time(),
            settings=settings.model_copy(update=limits),
            accepts=accepts,
        )
        folder.write_plan(plan)
        run_fleet(folder, 1, "local", EngineSettings(engine="local"), lambda _: None)
        return found | _visits(folder, seeds)


def _visits(folder: CrawlFolder, seeds: dict[str, Address]) -> dict[str, Visit]:
    """What became of each seed, by the crawl's frontier and archive.

    Its redirects are followed as the crawl did, but to no other seed's host.
    """
    from warcio.archiveiterator import ArchiveIterator  # Who visits nothing may lack it.

    bodies: dict[str, bytes] = {}
    for path in sorted(folder.warc.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response":
                    headers: Any = record.rec_headers
                    bodies[str(headers.get_header("WARC-Target-URI"))] = bytes(record.content_stream().read())
    with closing(read_only(folder.frontier(0))) as sql:
        states: dict[bytes, tuple[str, int, bytes | None]] = {
            key: (url, state, target)
            for key, url, state, target in sql.execute("SELECT key, url, state, target FROM urls")
        }
    rejects = {key: f"{reason}: {detail}" for key, reason, detail in reject_rows(folder.frontier(0))}
    visits: dict[str, Visit] = {}
    for name, seed in seeds.items():
        url, state, key = seed.url, int(State.QUEUED), seed.key
        for _ in range(len(states) + 1):
            url, state, target = states.get(key, (url, State.QUEUED, None))
            if state != State.REDIRECTED or target is None:
                break
            key = target
        if state in FETCHED and parse_address(url).host.removeprefix("www.") != seed.host.removeprefix("www."):
            visits[name] = Visit(f"redirect_refused: leads to {url[:300]}")
        elif state in FETCHED:
            visits[name] = Visit(url=url, body=bodies.get(url, b""))
        elif state == State.DENIED:
            visits[name] = Visit("robots_denied: robots.txt does not allow it")
        else:
            visits[name] = Visit(rejects.get(url, "not_answered: there was no answer in time"))
    return visits
