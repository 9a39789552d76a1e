"""The benchmark of crawling a local site without politeness, against a plain Scrapy spider that writes nothing.

The site answers from memory; it and the crawls share the machine's cores.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.benchmarks import Figures, median
from tests.benchmarks.articles import SYLLABLES
from tests.jobs.crawl.site import Answer, Site, page

_LINKS: Final = 20
_WORDS: Final = 400
_IN_FLIGHT: Final = 32


def synthetic_page(number: int, pages: int) -> Answer:
    """Page `number` of a site of `pages`: 400 words and 20 links, of which two make every page reachable."""
    rng = random.Random(number)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))) for _ in range(_WORDS)]
    linked = [2 * number + 1, 2 * number + 2, *(rng.randrange(pages) for _ in range(_LINKS - 2))]
    return page(*(f"/p/{n}.html" for n in linked if n < pages), title=f"Page {number}", text=" ".join(words))


def _plain_spider(start: str) -> None:
    """The peer: Scrapy as its tutorial has it, with the same requests in flight, that writes nothing."""
    from scrapy import Spider
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    class Plain(Spider):  # type: ignore[misc]
        name = "plain"
        start_urls: tuple[str, ...] = (start,)
        links = LinkExtractor()
        pages = 0

        def parse(self, response: Any) -> Iterator[Any]:
            Plain.pages += 1
            for link in self.links.extract_links(response):
                yield response.follow(link.url)

    settings = {
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": _IN_FLIGHT,
        "CONCURRENT_REQUESTS_PER_DOMAIN": _IN_FLIGHT,
        "DOWNLOAD_DELAY": 0,
    }
    started = time.monotonic()
    process = CrawlerProcess(settings)
    process.crawl(Plain)
    process.start()
    sys.stdout.write(json.dumps({"fetched": Plain.pages, "seconds": time.monotonic() - started}) + "\n")


def _report(*command: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _crawled(start: str, folder: Path) -> dict[str, Any]:
    """The report of a crawl by Quern."""
    (folder / "seeds.txt").write_text(f"{start}\n")
    settings = {
        "contact": "benchmark@quern.example",
        "allow_private": "[127.0.0.0/8]",
        "delay": 0,
        "autothrottle": "false",
        "per_host": _IN_FLIGHT,
        "max_depth": 1_000_000,
    }
    options = [part for name, value in settings.items() for part in ("--set", f"crawl.{name}={value}")]
    command = ["crawl", str(folder / "seeds.txt"), "-w", str(folder / "warehouse"), "--engine", "local", "--json"]
    return _report("quern.pipelines.cli", *command, *options)


def _archived(folder: Path) -> list[str]:
    """Addresses of the responses in the archive, in order."""
    found = []
    for path in sorted((folder / "warehouse" / "warc").rglob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False):
                found.append(record.headers["WARC-Target-URI"])  # noqa: PERF401 - closed before the file
    return found


def benchmark_crawl(pages: int = 5_000, repeats: int = 3) -> Figures:
    """Pages a second of a crawl into WARC files, medians over `repeats` rounds.

    Returns:
        `crawl`, `plain`: Quern and the spider. `ratio`: median of each round's crawl over plain. `missing`: pages that
        an archive lacks or holds twice.
    """
    answers = {f"/p/{n}.html": synthetic_page(n, pages) for n in range(pages)}
    site = Site(lambda asked: answers.get(asked.path, Answer(status=404)))
    start, rounds, missing = f"http://{site.address}/p/0.html", [], 0
    try:
        for _ in range(repeats):
            plain = _report(__name__, start)
            with tempfile.TemporaryDirectory() as directory:
                report = _crawled(start, Path(directory))
                archived = _archived(Path(directory))
            missing += pages - len(set(archived)) + len(archived) - len(set(archived))
            rounds.append(
                {"crawl": report["fetched"] / report["seconds"], "plain": plain["fetched"] / plain["seconds"]}
            )
    finally:
        site.close()
    figures = {"pages": float(pages), **{name: median(rounds, name) for name in ("crawl", "plain")}}
    return figures | {"ratio": median(rounds, "crawl", "plain"), "missing": float(missing)}


if __name__ == "__main__":
    _plain_spider(sys.argv[1])
