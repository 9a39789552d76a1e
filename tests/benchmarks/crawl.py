"""The benchmark of crawling: a local site without politeness, against a plain Scrapy spider that writes nothing.

The site is a process of its own that answers from memory; all share the machine's cores. One more crawl is killed
(SIGKILL, with all its processes) half-way and started again: the site counts what it is asked before and after.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

from fastwarc.warc import ArchiveIterator, WarcRecordType

from quern.jobs.crawl.frontier import State
from quern.jobs.crawl.memory import read_only

_LINKS: Final = 20
_WORDS: Final = 400
_IN_FLIGHT: Final = 32
_COUNTS: Final = "/counts"


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


class _Connection(asyncio.Protocol):
    """Answers from memory and counts."""

    answers: dict[bytes, bytes]
    asked: dict[bytes, int]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
            path = head.split(b" ", 2)[1]
            if path == _COUNTS.encode():
                body = json.dumps({p.decode(): n for p, n in self.asked.items()}).encode()
                self.asked.clear()
                self._transport.write(_answer(b"200 OK", b"application/json", body))
                continue
            self.asked[path] = self.asked.get(path, 0) + 1
            self._transport.write(self.answers.get(path) or _answer(b"404 Not Found", b"text/plain", b""))


def _answer(status: bytes, kind: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (status, kind, len(body), body)


async def _serve(pages: int) -> None:
    kind = b"text/html; charset=utf-8"
    _Connection.answers = {
        f"/p/{n}.html".encode(): _answer(b"200 OK", kind, synthetic_page(n, pages)) for n in range(pages)
    }
    _Connection.asked = {}
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


@contextmanager
def _site(pages: int) -> Iterator[str]:
    command = [sys.executable, "-m", __name__, "serve", str(pages)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{int(cast('IO[str]', process.stdout).readline())}"
        finally:
            process.terminate()


def _counts(site: str) -> dict[str, int]:
    """How often each page was asked for since the last call."""
    with urllib.request.urlopen(f"{site}{_COUNTS}", timeout=60) as answer:  # noqa: S310 - our own server
        found: dict[str, int] = json.load(answer)
    return {path: count for path, count in found.items() if path.startswith("/p/")}


def _plain_spider(start: str) -> None:
    """The rival: Scrapy as its tutorial has it, with the same requests in flight, that writes nothing."""
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
    sys.stdout.write(json.dumps({"pages": Plain.pages, "seconds": time.monotonic() - started}) + "\n")


def _plain(site: str) -> dict[str, Any]:
    command = [sys.executable, "-m", __name__, "plain", f"{site}/p/0.html"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _command(site: str, folder: Path) -> list[str]:
    (folder / "seeds.txt").write_text(f"{site}/p/0.html\n")
    settings = {
        "contact": "benchmark@quern.example",
        "allow_private": "[127.0.0.0/8]",
        "delay": 0,
        "autothrottle": "false",
        "per_host": _IN_FLIGHT,
        "max_depth": 1_000_000,
    }
    options = [part for name, value in settings.items() for part in ("--set", f"crawl.{name}={value}")]
    quern = [
        sys.executable,
        "-m",
        "quern.pipelines.cli",
        "crawl",
        str(folder / "seeds.txt"),
        "-w",
        str(folder / "warehouse"),
    ]
    return [*quern, "--engine", "local", "--json", *options]


def _crawl(site: str, folder: Path) -> dict[str, Any]:
    done = subprocess.run(_command(site, folder), check=True, capture_output=True, text=True)
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


def _killed_and_started_again(site: str, pages: int, folder: Path) -> dict[str, float]:
    """Refetches of finished pages, and pages missing or twice in the archive, of a crawl that is killed half-way."""
    _counts(site)
    with subprocess.Popen(
        _command(site, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        frontier = folder / "warehouse" / "crawl"
        while _finished(frontier) < pages // 2 and process.poll() is None:
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
    before, finished = _counts(site), set(_fetched(frontier))
    _crawl(site, folder)
    after = _counts(site)
    archived = _archived(folder)
    return {
        "killed_at": float(len(finished)),
        "refetched": float(sum(f"{site}{path}" in finished for path in after)),
        "asked_twice": float(sum(path in before for path in after)),
        "archived_twice": float(len(archived) - len(set(archived))),
        "missing": float(pages - len(set(archived))),
    }


def _fetched(crawls: Path) -> list[str]:
    """Addresses of the pages that a crawl under way has finished."""
    paths = list(crawls.glob("*/frontier-0.sqlite"))
    if not paths:
        return []
    connection = read_only(paths[0])
    try:
        return [url for (url,) in connection.execute("SELECT url FROM urls WHERE state = ?", (int(State.FETCHED),))]
    finally:
        connection.close()


def _finished(crawls: Path) -> int:
    statuses = [json.loads(path.read_text()) for path in crawls.glob("*/status-0.json")]
    return max((int(status["fetched"]) for status in statuses), default=0)


def benchmark_crawl(pages: int = 5_000, repeats: int = 3) -> dict[str, float]:
    """Pages a second of a crawl into WARC files, medians over `repeats` rounds, and what a kill costs.

    Returns:
        `crawl`: the product. `plain`: the rival. `ratio`: median of each round's crawl over plain. `missing` and
        `archived_twice`: pages of the killed crawl that its archive lacks or holds twice, with those of the rounds.
        `killed_at`: pages finished when it was killed. `refetched`: those of them that were asked for again.
        `asked_twice`: pages asked for before and after, those in flight when it was killed included.
    """
    rounds, missing = [], 0
    with _site(pages) as site:
        for _ in range(repeats):
            plain = _plain(site)
            with tempfile.TemporaryDirectory() as directory:
                report = _crawl(site, Path(directory))
                archived = _archived(Path(directory))
            missing += pages - len(set(archived)) + len(archived) - len(set(archived))
            rounds.append((report["fetched"] / report["seconds"], plain["pages"] / plain["seconds"]))
        with tempfile.TemporaryDirectory() as directory:
            killed = _killed_and_started_again(site, pages, Path(directory))
    killed["missing"] += missing
    return {
        "pages": float(pages),
        "crawl": statistics.median(c for c, _ in rounds),
        "plain": statistics.median(p for _, p in rounds),
        "ratio": statistics.median(c / p for c, p in rounds),
        **killed,
    }


def main(arguments: Sequence[str]) -> None:
    """Be the site, or the rival, of a benchmark."""
    role, argument = arguments
    if role == "serve":
        asyncio.run(_serve(int(argument)))
    else:
        _plain_spider(argument)


if __name__ == "__main__":
    main(sys.argv[1:])
