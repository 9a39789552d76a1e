"""Which sources can be reached (Know Where to Go, validator): by the index, or where settings allow it by asking.

Who asks is the crawler, with all its guards: robots.txt, no private networks, no redirect that leaves the site. A site
that answers an address that nobody can have made answers everything, and tells nothing by answering.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from quern.jobs.crawl.visit import Visit, visit
from quern.jobs.documents.html.metadata import read_metadata
from quern.jobs.documents.html.parse import PageError, parse_page
from quern.pipelines.pages.crawl import check_settings, user_agent
from quern.pipelines.sources.pool import SourcePool
from quern.schemas.settings import CrawlSettings

AT_ONCE: Final = 32  # Addresses of one visit: all that they answer, up to 10 MB each, is in memory when it is over.
EVERYTHING = "answers_everything: it answers an address that was made up, so that answering tells nothing"


@dataclass(frozen=True)
class Reached:
    """Whether a source can be reached.

    Attributes:
        why_not: Why it cannot; empty where it can.
        stated: What it calls itself, where its home page was read.
    """

    why_not: str = ""
    stated: str = ""


@dataclass(frozen=True)
class Access:
    """Says which sources can be reached.

    Attributes:
        pool: Sources that the index has pages of.
        online: How the others, and the home pages of these, may be asked; None where they may not.
    """

    pool: SourcePool
    online: CrawlSettings | None = None

    def reached(self, homes: Mapping[str, str]) -> dict[str, Reached]:
        """For each site, given with its home page, whether it can be reached.

        Raises:
            CrawlError: It is to be asked, and `crawl` settings do not allow a crawl.
        """
        unknown = Reached("it is not in the index, and sourcing.online does not allow to ask it")
        offline = {site: Reached() if site in self.pool.rows else unknown for site in homes}
        if self.online is None:
            return offline
        asked = {site: url for site, url in homes.items() if url.startswith(("http://", "https://"))}
        return offline | asked_homes(asked, self.online)


def asked_homes(homes: Mapping[str, str], settings: CrawlSettings) -> dict[str, Reached]:
    """For each site whether its home page answers, and nothing that was made up does.

    Raises:
        CrawlError: `crawl` settings do not allow a crawl.
    """
    if not homes:
        return {}
    check_settings(settings)
    found: dict[str, Reached] = {}
    for some in batched(homes, AT_ONCE // 2):
        made_up = {site: f"{homes[site]}{secrets.token_hex(12)}" for site in some}
        visits = visit([*(homes[site] for site in some), *made_up.values()], settings, user_agent(settings))
        found |= {site: _reached(visits[homes[site]], visits[made_up[site]]) for site in some}
    return found


def batched(keys: Iterable[str], most: int) -> Iterator[list[str]]:
    """The keys, at most `most` at once."""
    left = iter(keys)
    while some := list(islice(left, most)):
        yield some


def _reached(home: Visit, made_up: Visit) -> Reached:
    if home.why_not:
        return Reached(home.why_not)
    return Reached(EVERYTHING) if not made_up.why_not and made_up.url != home.url else Reached(stated=_stated(home))


def _stated(home: Visit) -> str:
    """Name of the site and title of its home page."""
    try:
        told = read_metadata(parse_page(home.body, None), home.url)
    except PageError:
        return ""
    return " ".join(str(told[name]) for name in ("site_name", "title") if told.get(name))
