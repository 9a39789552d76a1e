"""The pictures of a warehouse: images of answers that were fetched, each once, small and encoded anew.

    WAREHOUSE/pictures/DIGEST.jpg     by the digest of its address; an empty file says that there is no picture

Who asks is the crawler, with all its guards: robots.txt, no private networks, sizes, times, a contact to turn to.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from quern.indexes.storage import write_whole
from quern.jobs.crawl.fleet import CrawlError
from quern.jobs.crawl.visit import visit
from quern.jobs.images.pictures import encoded_anew
from quern.pipelines.answers.views.images import Picture
from quern.pipelines.crawl import check_settings, user_agent
from quern.schemas.digests import text_digest
from quern.schemas.settings import Settings

log = logging.getLogger(__name__)

FOLDER: Final = "pictures"
# What may go better another time: such an image is asked for again in the next run.
_NOT_NOW: Final = ("connection", "dns", "host_failures", "not_answered", "robots_unreachable", "timeout", "truncated")
_AT_ONCE: Final = 32  # Images of one visit: all are in memory when it is over.


class PictureFolder:
    """The pictures of a warehouse."""

    def __init__(self, warehouse: Path, settings: Settings) -> None:
        """Args: `settings` say how images are fetched, and how large they must be.

        Raises:
            CrawlError: They do not allow a crawl: there is no contact.
        """
        check_settings(settings.crawl)
        self._folder, self._settings = warehouse / FOLDER, settings

    def get(self, url: str) -> Picture | None:
        """The picture of this address; None where it was not fetched, or is none."""
        path = self._path(url)
        jpeg = path.read_bytes() if path.exists() else b""
        size = _size(jpeg)
        return Picture(jpeg, *size) if size else None

    def fetch(self, urls: Collection[str]) -> None:
        """Fetch those that were not asked for before; where the crawler fails, answers have no pictures this time."""
        wanted = iter(url for url in dict.fromkeys(urls) if not self._path(url).exists())
        crawl = self._settings.crawl
        while some := list(islice(wanted, _AT_ONCE)):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                visits = visit(some, crawl, user_agent(crawl), "images")
            except CrawlError as error:
                log.warning("%d images are not fetched: %s", len(some), error)
                continue
            for url, came in visits.items():
                made = encoded_anew(came.body, self._settings.image_rules.least_side) if came.body else None
                if made is None:
                    log.info("image=%s picture=none why=%s", url, came.why_not or "no picture, or too small")
                if came.why_not.startswith(_NOT_NOW):
                    continue
                write_whole(self._path(url), partial(_write, made.jpeg if made else b""))

    def _path(self, url: str) -> Path:
        return self._folder / f"{text_digest(url)}.jpg"


def _write(jpeg: bytes, path: Path) -> None:
    path.write_bytes(jpeg)


def _size(jpeg: bytes) -> tuple[int, int] | None:
    """Width and height that a JPEG states in its frame; null for what is none."""
    for marker, at in _segments(jpeg):
        if 0xC0 <= marker <= 0xC2:
            height, width = struct.unpack_from(">HH", jpeg, at + 3)
            return width, height
    return None


def _segments(jpeg: bytes) -> Iterator[tuple[int, int]]:
    """Markers of the segments of a JPEG's header, each with where its length stands."""
    at = 2
    while at + 9 < len(jpeg) and jpeg[at] == 0xFF:
        yield jpeg[at + 1], at + 2
        at += 2 + int(struct.unpack_from(">H", jpeg, at + 2)[0])
