"""The pictures of a warehouse: images of answers that were fetched, each once, small and encoded anew.

    WAREHOUSE/pictures/DIGEST.jpg     by the digest of its address; an empty file says that there is no picture

Who asks is the crawler, with all its guards: robots.txt, no private networks, sizes, times, a contact to turn to.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from quern.indexes.storage import write_whole
from quern.jobs.crawl.fleet import CrawlError
from quern.jobs.crawl.probe import visit
from quern.jobs.images.pictures import Jpeg, encoded_anew
from quern.pipelines.pages.crawl import check_settings, user_agent
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.digests import text_digest
from quern.schemas.extras import require
from quern.schemas.settings import Settings

log = logging.getLogger(__name__)

FOLDER: Final = "pictures"
# What may go better another time: such an image is asked for again in the next run.
_NOT_NOW: Final = ("connection", "dns", "host_failures", "not_answered", "robots_unreachable", "timeout", "truncated")


class PictureFolder:
    """The pictures of a warehouse."""

    def __init__(self, warehouse: Path, settings: Settings) -> None:
        """Args: `settings` say how images are fetched, and how large they must be.

        Raises:
            CrawlError: They do not allow a crawl: there is no contact.
        """
        check_settings(settings.crawl)
        require("PIL", "fetching images")
        self._folder, self._settings = warehouse / FOLDER, settings

    def get(self, url: str) -> Jpeg | None:
        """The picture of this address; None where it was not fetched, or is none."""
        path = self._path(url)
        return Jpeg.read(path.read_bytes()) if path.exists() else None

    def fetch(self, urls: Collection[str]) -> None:
        """Fetch those that were not asked for before; where the crawler fails, answers have no pictures this time."""
        pending = iter(url for url in dict.fromkeys(urls) if not self._path(url).exists())
        crawl = self._settings.crawl
        # Images of one visit: all are in memory when it is over.
        while some := list(islice(pending, 32)):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                visits = visit(some, crawl, user_agent(crawl), "images")
            except CrawlError as error:
                log.warning("%d images are not fetched: %s", len(some), error)
                continue
            for url, came in visits.items():
                picture = encoded_anew(came.body, self._settings.image_rules.least_side) if came.body else None
                if picture is None:
                    log.info("image=%s picture=none why=%s", url, came.why_not or "no picture, or too small")
                if came.why_not.startswith(_NOT_NOW):
                    continue
                write_whole(self._path(url), partial(_write, picture.body if picture else b""))

    def _path(self, url: str) -> Path:
        return self._folder / f"{text_digest(url)}.jpg"


def with_pictures(searcher: Searcher) -> Searcher:
    """The searcher, able to fetch images of answers where `images.fetch` wants it.

    Raises:
        CrawlError: They are to be fetched, and `crawl` settings do not allow a crawl.
    """
    if searcher.settings.images.fetch:
        searcher.pictures = PictureFolder(searcher.snapshot.warehouse.root, searcher.settings)
    return searcher


def _write(jpeg: bytes, path: Path) -> None:
    path.write_bytes(jpeg)
