"""The benchmark of crawling a local site without politeness, against a plain Scrapy spider that writes nothing.

The site answers from memory; it and the crawls share the machine's cores. One more crawl is killed (SIGKILL, with all
its processes) half-way and started again: the site counts what it is asked before and after.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from fastwarc.warc import ArchiveIterator, WarcRecordType

from quern.jobs.crawl.frontier import State
from quern.jobs.crawl.memory import read_only
from tests.jobs.crawl.site import Answer, Site

_LINKS: Final = 20
_WORDS: Final = 400
_IN_FLIGHT: Final = 32


def synthetic_page(number: int, pages: int) -> bytes:
    """Page `number` of a site of `pages`: 400 words and 20 links, of which two make every page reachable."""
    rng = random.Random(number)
    syllables = ("har", "bour", "tide", "lan", "tern", "fer", "ry", "mist", "bri", "dge", "quay", "eel", "gan", "net")
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(_WORDS)]
    linked = [2 * number + 1, 2 * number + 2, *(rng.randrange(pages) for _ in range(_LINKS - 2))]
    items = "".join(f'<li><a href="/p/{n}.html">{words[n % _WORDS]} {n}</a></li>' for n in linked if n < pages)
    paragraphs = "".join(f"<p>{' '.join(words[n : n + 50])}.</p>" for n in range(0, _WORDS, 50))
    head = f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Page {number}</title></head>"
    return f"{head}<body><nav><ul>{items}</ul></nav><main><h1>{words[0]}</h1>{paragraphs}</main></body></html>".encode()


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


def _command(site: Site, folder: Path) -> list[str]:
    (folder / "seeds.txt").write_text(f"http://{site.address}/p/0.html\n")
    settings = {
        "contact": "benchmark@quern.example",
        "allow_private": "[127.0.0.0/8]",
        "delay": 0,
        "autothrottle": "false",
        "per_host": _IN_FLIGHT,
        "max_depth": 1_000_000,
    }
    options = [part for name, value in settings.items() for part in ("--set", f"crawl.{name}={value}")]
    quern = [sys.executable, "-m", "quern.pipelines.cli", "crawl", str(folder / "seeds.txt")]
    return [*quern, "-w", str(folder / "warehouse"), "--engine", "local", "--json", *options]


def _report(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _archived(folder: Path) -> list[str]:
    """Addresses of the responses in the archive, in order."""
    found = []
    for path in sorted((folder / "warehouse" / "warc").rglob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False):
                found.append(record.headers["WARC-Target-URI"])  # noqa: PERF401 - closed before the file
    return found


def _killed_and_started_again(site: Site, pages: int, folder: Path) -> dict[str, float]:
    """Refetches of finished pages, and pages missing or twice in the archive, of a crawl that is killed half-way."""
    site.asked.clear()
    with subprocess.Popen(
        _command(site, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        frontier = folder / "warehouse" / "crawl"
        while process.poll() is None:
            statuses = [json.loads(path.read_text()) for path in frontier.glob("*/status-0.json")]
            if max((int(status["fetched"]) for status in statuses), default=0) >= pages // 2:
                break
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
    before, finished = _asked(site), set[str]()
    for path in frontier.glob("*/frontier-0.sqlite"):
        with closing(read_only(path)) as connection:
            rows = connection.execute("SELECT url FROM urls WHERE state = ?", (int(State.FETCHED),))
            finished |= {url for (url,) in rows}
    _report(_command(site, folder))
    after, archived = _asked(site), _archived(folder)
    return {
        "killed_at": float(len(finished)),
        "refetched": float(sum(f"http://{address}" in finished for address in after)),
        "asked_twice": float(len(before & after)),
        "archived_twice": float(len(archived) - len(set(archived))),
        "missing": float(pages - len(set(archived))),
    }


def _asked(site: Site) -> set[str]:
    """The pages that were asked for since the last call, as HOST/path."""
    asked = {address for address in site.counts() if "/p/" in address}
    site.asked.clear()
    return asked


def benchmark_crawl(pages: int = 5_000, repeats: int = 3) -> dict[str, float]:
    """Pages a second of a crawl into WARC files, medians over `repeats` rounds, and what a kill costs.

    Returns:
        `crawl`, `plain`: Quern and the spider. `ratio`: median of each round's crawl over plain. `missing` and
        `archived_twice`: pages of the killed crawl that its archive lacks or holds twice, with those of the rounds.
        `killed_at`: pages finished when it was killed. `refetched`: those of them that were asked for again.
        `asked_twice`: pages asked for before and after, those in flight when it was killed included.
    """
    answers = {f"/p/{n}.html": Answer(synthetic_page(n, pages)) for n in range(pages)}
    site = Site(lambda asked: answers.get(asked.path, Answer(status=404)))
    rounds, missing = [], 0
    try:
        for _ in range(repeats):
            plain = _report([sys.executable, "-m", __name__, f"http://{site.address}/p/0.html"])
            with tempfile.TemporaryDirectory() as directory:
                report = _report(_command(site, Path(directory)))
                archived = _archived(Path(directory))
            missing += pages - len(set(archived)) + len(archived) - len(set(archived))
            rounds.append([r["fetched"] / r["seconds"] for r in (report, plain)])
        with tempfile.TemporaryDirectory() as directory:
            killed = _killed_and_started_again(site, pages, Path(directory))
    finally:
        site.close()
    killed["missing"] += missing
    return {
        "pages": float(pages),
        "crawl": statistics.median(crawl for crawl, _ in rounds),
        "plain": statistics.median(plain for _, plain in rounds),
        "ratio": statistics.median(crawl / plain for crawl, plain in rounds),
        **killed,
    }


if __name__ == "__main__":
    _plain_spider(sys.argv[1])
