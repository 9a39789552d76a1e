"""One crawl of a web that misbehaves in every way the crawler must stand; many tests look at what came of it."""

from __future__ import annotations

import asyncio
import gzip
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from quern.indexes.catalog import Warehouse
from quern.jobs.pages.latest import latest_captures
from quern.pipelines.pages.crawl import CrawlReport, crawl
from quern.pipelines.pages.store import page_store
from quern.schemas.settings import Settings
from tests.jobs.crawl.site import Answer, Asked, Site, page

HTML = {"Content-Type": "text/html; charset=utf-8"}
PLAIN_PAGES = ("/", "/a.html", "/c.html", "/d.html", "/folder/", "/folder/b.html", "/folder/e.html", "/r.html", "/?q=1")
PACKED = {
    "/bomb": gzip.compress(bytes(20_000_000)),
    "/damaged": b"\x1f\x8b\x08\x00garbage",
    "/good": gzip.compress(b"<p>" + b"packed " * 200),
}
TRAP_QUERIES, MOST_BYTES = 5, 100_000


async def drip() -> AsyncIterator[bytes]:
    while True:
        yield b"<p>drop</p>"
        await asyncio.sleep(0.1)


async def flood() -> AsyncIterator[bytes]:
    while True:
        yield b"<p>" + b"x" * 50_000
        await asyncio.sleep(0.01)


async def headers() -> AsyncIterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"X-More: and more\r\n" * 2000
        await asyncio.sleep(0.01)


async def stall() -> AsyncIterator[bytes]:
    await asyncio.sleep(60)
    yield b""


class Wild:
    """The hosts of the wild web."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.edition = 1

    def __call__(self, asked: Asked) -> Answer:
        name = asked.host.partition(".")[0]
        self.count[f"{name}{asked.path}"] += 1
        found: Answer = getattr(self, name)(asked)
        return found

    def plain(self, asked: Asked) -> Answer:
        links = "a.html folder/./x/../ /c.html#part //plain.wild/d.html ?q=1 HTTP://PLAIN.wild:80/r.html".split()
        links += "http://[bad http://plain.wild:99999/ mailto:x@y.example javascript:void(0) photo.jpg".split()
        links += "https://elsewhere.wild/ http://plain.wild:8081/ http://user@plain.wild/ a.html?PHPSESSID=1f".split()
        pages = {
            "/": page(*links, title="Home"),
            "/folder/": page("b.html", "../a.html", head='<base href="/folder/">'),
            "/folder/b.html": page(head='<link rel="canonical" href="/folder/e.html">'),
        }
        if asked.path == "/robots.txt":
            return Answer(status=404)
        if asked.path == "/d.html" and self.edition > 1:
            return Answer(status=404)
        answer = pages.get(asked.path, page(title=asked.path))
        edition = self.edition if asked.path == "/a.html" else 1
        tag = f'"{edition}"'
        if asked.headers.get("if-none-match") == tag:
            return Answer(status=304, headers={"ETag": tag})
        if asked.path == "/d.html":
            return answer  # It has no validator, and is known all the same when it is gone.
        return Answer(answer.body, headers={**HTML, "ETag": tag})

    def rules(self, asked: Asked) -> Answer:
        if asked.path == "/robots.txt":
            rules = "User-agent: otherbot\nDisallow: /\n\nUser-agent: quern\nCrawl-delay: 0.3\nDisallow: /secret\n"
            return Answer(f"{rules}Allow: /secret/open", headers={"Content-Type": "text/plain"})
        return page("/secret/a", "/secret/open", "/b")

    def broken(self, asked: Asked) -> Answer:
        return Answer("broken", 500)

    def moved(self, asked: Asked) -> Answer:
        if asked.path == "/robots.txt":
            return Answer(status=301, headers={"Location": "/robots2.txt"})
        if asked.path == "/robots2.txt":
            return Answer("User-agent: *\nDisallow: /no", headers={"Content-Type": "text/plain"})
        return page("/no", "/yes")

    def meta(self, asked: Asked) -> Answer:
        pages = {
            "/": page("/noindex", "/nofollow", "/tagged", "/other", head="<title>x</title>"),
            "/noindex": page("/after-noindex", head='<meta name="robots" content="NOINDEX">'),
            "/nofollow": page("/never-1", head='<meta name="quern" content="nofollow">'),
        }
        if asked.path == "/other":
            return Answer(page().body, headers={**HTML, "X-Robots-Tag": "otherbot: noindex, nofollow"})
        if asked.path == "/tagged":
            return Answer(page("/never-2").body, headers={**HTML, "X-Robots-Tag": "none"})
        if asked.path == "/after-noindex":
            return Answer('<p>Some text<a href="/never-3" rel="ugc nofollow">x</a></p>')
        return pages.get(asked.path, Answer(status=404))

    def loop(self, asked: Asked) -> Answer:
        step = asked.path.removeprefix("/chain")
        if step.isdigit():
            return Answer(status=302, headers={"Location": f"chain{int(step) + 1}"})
        targets = {
            "/ping": "/pong",
            "/pong": "/ping",
            "/self": "/self",
            "/away": "http://192.168.7.7/router",
            "/inside": "http://inside.wild/admin",
            "/once": "/target",
            "/odd": "http://[half",
        }
        if asked.path in targets:
            return Answer(status=301, headers={"Location": targets[asked.path]})
        return page("/ping", "/self", "/away", "/inside", "/once", "/odd", "/chain1") if asked.path == "/" else page()

    def slow(self, asked: Asked) -> Answer:
        bodies = {"/drip": drip, "/flood": flood, "/stall": stall}
        if asked.path in bodies:
            return Answer(headers=HTML, parts=bodies[asked.path])
        if asked.path == "/headers":
            return Answer(status=0, parts=headers)
        return page(*bodies, "/headers") if asked.path == "/" else Answer(status=404)

    def bomb(self, asked: Asked) -> Answer:
        if asked.path in PACKED:
            return Answer(PACKED[asked.path], headers={**HTML, "Content-Encoding": "gzip"})
        if asked.path == "/large":
            return Answer("<p>" + "x" * (MOST_BYTES + 10))
        return page(*PACKED, "/large") if asked.path == "/" else Answer(status=404)

    def busy(self, asked: Asked) -> Answer:
        first = self.count[f"busy{asked.path}"] == 1
        if asked.path == "/429" and first:
            return Answer(status=429, headers={"Retry-After": "1"})
        if asked.path == "/503" and first:
            return Answer(status=503, headers={"Retry-After": formatdate(time.time() + 9999, usegmt=True)})
        if asked.path == "/never":
            return Answer(status=500)
        return page("/429", "/503", "/never") if asked.path == "/" else page()

    def trap(self, asked: Asked) -> Answer:
        path, _, query = asked.path.partition("?")
        number = int(query.rpartition("=")[2] or 0) if "month" in query else 0
        answers = {
            "/": page("/session", "/calendar?month=1", "/turn/", "/deeper/"),
            "/session": page(f"/session?sid={random.random()}", f"/session;jsessionid={random.random()}"),
            "/calendar": page(f"/calendar?month={number + 1}"),
        }
        if path.startswith("/turn/"):
            return page("turn/", "x/")
        if path.startswith("/deeper/"):
            return page(f"d{len(path)}/")
        return answers.get(path, Answer(status=404))

    def map(self, asked: Asked) -> Answer:
        def urls(tag: str, *paths: str) -> bytes:
            return f"<{tag}>{''.join(f'<url><loc>{p}</loc></url>' for p in paths)}</{tag}>".encode()

        index = (
            "<sitemapindex><sitemap><loc>/one.xml</loc></sitemap><sitemap><loc>/two.txt</loc></sitemap></sitemapindex>"
        )
        files = {
            "/robots.txt": b"User-agent: *\nDisallow: /hidden\nSitemap: http://map.wild/index.xml.gz\n",
            "/index.xml.gz": gzip.compress(index.encode()),
            "/one.xml": urls("urlset", "http://map.wild/p1", "http://map.wild/hidden", "http://elsewhere.wild/p"),
            "/two.txt": b"http://map.wild/p2\nhttp://map.wild/p3\n",
        }
        if asked.path in files:
            return Answer(files[asked.path], headers={"Content-Type": "application/octet-stream"})
        return Answer(status=404) if asked.path == "/sitemap.xml" else page()

    def patient(self, asked: Asked) -> Answer:
        return Answer("User-agent: *\nCrawl-delay: 86400", headers={"Content-Type": "text/plain"})

    def failing(self, asked: Asked) -> Answer:
        if asked.path == "/":
            return page(*(f"/{n}" for n in range(12)))
        return Answer(status=404 if asked.path in ("/robots.txt", "/sitemap.xml") else 500)

    def types(self, asked: Asked) -> Answer:
        kinds = {"/image": "image/png", "/pdf": "application/pdf", "/none": ""}
        if asked.path in kinds:
            return Answer("<p>whatever this is</p>", headers={"Content-Type": kinds[asked.path]})
        return page(*kinds, "/gone") if asked.path == "/" else Answer(status=404)


NAMES = "plain rules broken moved meta loop slow bomb busy trap map types patient failing".split()
ELSEWHERE = {"inside.wild": "10.1.2.3:80", "dead.wild": "127.0.0.1:1"}
LITERALS = (
    "http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0251.0376.0251.0376/x http://[::1]/".split()
)
SEEDS = (*(f"http://{name}.wild/" for name in NAMES), "http://inside.wild/", "http://dead.wild/", *LITERALS)


@dataclass
class Crawled:
    site: Site
    wild: Wild
    seeds: Path
    warehouse: Warehouse
    settings: Settings
    report: CrawlReport
    counts: Counter[str]

    @property
    def rejects(self) -> dict[str, str]:
        return rejects_of(self.warehouse, self.report)

    @property
    def archived(self) -> set[str]:
        return {url for kind, url, _, _ in records(self.warehouse, self.report) if kind == "response"}

    def host(self, name: str) -> set[str]:
        prefix = f"http://{name}.wild"
        return {url.removeprefix(prefix) for url in self.archived if url.startswith(prefix)}


def rejects_of(warehouse: Warehouse, report: CrawlReport) -> dict[str, str]:
    rows = pq.read_table(warehouse.root / "crawl" / "reports" / f"{report.crawl_id}.rejects.parquet").to_pylist()
    assert {row["job"] for row in rows} <= {"crawl"}
    return {row["key"]: row["reason"] for row in rows}


def records(warehouse: Warehouse, report: CrawlReport) -> list[tuple[str, str, bytes, dict[str, str]]]:
    found = []
    for name in report.files:
        with (warehouse.root / "warc" / report.crawl_id / name).open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                headers = dict(record.rec_headers.headers)
                body = record.content_stream().read()
                found.append((record.rec_type, headers.get("WARC-Target-URI", ""), body, headers))
    return found


def crawl_settings(elsewhere: Mapping[str, str], engine: str = "local", **crawl: object) -> Settings:
    """Settings of a crawl without pauses, of hosts that are served `elsewhere`."""
    given = {"contact": "https://tests.example/crawler", "allow_private": ("127.0.0.0/8",), "connect_to": elsewhere}
    given |= {"delay": 0.0, "per_host": 4, "autothrottle": False, "commit_seconds": 0.1, **crawl}
    return Settings.model_validate({"crawl": given, "engine": {"engine": engine, "cores": 2}})


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("wild")
    wild = Wild()
    site = Site(wild)
    settings = crawl_settings(
        {**{f"{name}.wild": site.address for name in NAMES}, **ELSEWHERE},
        retries=1,
        retry_delay=0.05,
        sitemaps=True,
        seconds_per_page=1.5,
        max_page_bytes=MOST_BYTES,
        max_redirects=3,
        max_depth=30,
        max_path_segments=8,
        queries_per_path=TRAP_QUERIES,
        max_retry_after=1.0,
        host_failures=3,
        warc_bytes=20_000,
    )
    seeds = folder / "seeds.txt"
    seeds.write_text("# the wild web\n\n" + "\n".join(SEEDS))
    warehouse = Warehouse.create(folder / "warehouse")
    report = crawl(seeds, warehouse, settings)
    yield Crawled(site, wild, seeds, warehouse, settings, report, site.counts())
    site.close()


def test_links_in_all_their_forms_lead_to_exactly_these_pages(crawled: Crawled) -> None:
    assert crawled.host("plain") == set(PLAIN_PAGES)
    reasons = crawled.report.not_followed
    assert reasons.keys() >= {"malformed", "extension", "out_of_scope", "port", "credentials"}
    assert not any("elsewhere" in url for url in crawled.counts)


def test_no_page_was_asked_for_twice(crawled: Crawled) -> None:
    # A download that is stopped closes its connection, on which Twisted may just have sent the next request.
    retried = ("slow.", "busy.", "broken.", "types.", "failing.")
    assert {url for url, n in crawled.counts.items() if n > 1 and not url.startswith(retried)} == set()


def test_the_user_agent_names_project_and_contact(crawled: Crawled) -> None:
    agents = {asked.headers["user-agent"] for asked in crawled.site.asked}
    assert len(agents) == 1
    assert agents.pop().startswith("Quern/")
    assert all("https://tests.example/crawler" in a.headers["user-agent"] for a in crawled.site.asked)


def test_robots_rules_for_this_crawler_are_obeyed_with_their_delay(crawled: Crawled) -> None:
    assert crawled.host("rules") == {"/", "/b", "/secret/open"}
    times = [a.at for a in crawled.site.asked if a.host == "rules.wild"]
    assert len(times) == 5  # robots.txt, sitemap.xml and three pages
    assert times[-1] - times[1] > 0.3 * (len(times) - 2) - 0.1
    assert crawled.report.not_followed["robots_denied"] >= 2


def test_a_site_whose_robots_txt_fails_is_not_crawled(crawled: Crawled) -> None:
    assert crawled.rejects["http://broken.wild/"] == "robots_unreachable"
    assert "broken.wild/" not in crawled.counts


def test_a_redirected_robots_txt_is_obeyed(crawled: Crawled) -> None:
    assert crawled.host("moved") == {"/", "/yes"}


def test_noindex_pages_are_rejects_and_nofollow_links_are_not_followed(crawled: Crawled) -> None:
    assert crawled.host("meta") == {"/", "/nofollow", "/other", "/after-noindex"}
    rejected = {url: why for url, why in crawled.rejects.items() if "meta.wild" in url}
    assert rejected == {"http://meta.wild/noindex": "noindex", "http://meta.wild/tagged": "noindex"}
    assert not any("never-" in url for url in crawled.counts)
    assert crawled.report.not_followed["nofollow"] == 3


def test_redirects_end_where_they_loop_grow_long_or_lead_away(crawled: Crawled) -> None:
    assert crawled.host("loop") == {"/", "/target"}
    rejected = {url.removeprefix("http://loop.wild/"): why for url, why in crawled.rejects.items() if "/loop." in url}
    assert rejected == {
        "pong": "redirect_loop",
        "self": "redirect_loop",
        "away": "redirect_refused",
        "odd": "redirect_refused",
        "chain4": "too_many_redirects",
    }


def test_private_addresses_are_never_connected_to(crawled: Crawled) -> None:
    for url in (*LITERALS, "http://inside.wild/", "http://inside.wild/admin"):
        assert crawled.rejects[url] == "private_address", url


def test_hosts_that_fail_or_ask_for_too_much_are_left_out(crawled: Crawled) -> None:
    assert crawled.rejects["http://patient.wild/"] == "crawl_delay"
    assert crawled.rejects["http://dead.wild/"] == "connection"
    reasons = Counter(why for url, why in crawled.rejects.items() if "/failing." in url)
    assert reasons.keys() == {"http_status", "host_given_up"}
    assert 3 <= reasons["http_status"] <= 3 + 4  # those in flight when the third was lost
    assert crawled.report.queued == 0


def test_slow_and_endless_bodies_end(crawled: Crawled) -> None:
    reasons = {url.rpartition("/")[2]: why for url, why in crawled.rejects.items() if "/slow." in url}
    assert reasons == {"drip": "timeout", "stall": "timeout", "flood": "too_large", "headers": "connection"}


def test_bombs_and_large_pages_are_left_out_and_packed_pages_kept_as_received(crawled: Crawled) -> None:
    reasons = {url.rpartition("/")[2]: why for url, why in crawled.rejects.items() if "/bomb." in url}
    assert reasons == {"bomb": "too_large", "damaged": "content_encoding", "large": "too_large"}
    bodies = {url: body for kind, url, body, _ in records(crawled.warehouse, crawled.report) if kind == "response"}
    assert bodies["http://bomb.wild/good"] == b"<p>" + b"packed " * 200  # warcio undoes the Content-Encoding kept


def test_429_and_503_are_asked_again_after_the_time_they_name_which_is_capped(crawled: Crawled) -> None:
    assert crawled.host("busy") == {"/", "/429", "/503"}
    assert crawled.rejects["http://busy.wild/never"] == "http_status"
    for path in ("/429", "/503"):
        first, second = (a.at for a in crawled.site.asked if a.host == "busy.wild" and a.path == path)
        assert 0.95 < second - first < 5


def test_session_ids_calendars_and_endless_paths_are_bounded(crawled: Crawled) -> None:
    trapped = crawled.host("trap")
    assert {url for url in trapped if "session" in url} == {"/session"}
    assert len({url for url in trapped if "calendar" in url}) == TRAP_QUERIES
    assert len({url for url in trapped if "deeper" in url}) == 8
    assert crawled.report.not_followed.keys() >= {"queries_per_path", "path_repeats", "path_too_deep"}
    assert crawled.rejects[f"http://trap.wild/calendar?month={TRAP_QUERIES + 1}"] == "queries_per_path"


def test_sitemaps_named_in_robots_txt_are_read_with_their_indexes(crawled: Crawled) -> None:
    assert crawled.host("map") == {"/", "/p1", "/p2", "/p3"}


def test_other_media_types_are_rejects(crawled: Crawled) -> None:
    assert crawled.host("types") == {"/", "/none"}
    reasons = {url.rpartition("/")[2]: why for url, why in crawled.rejects.items() if "/types." in url}
    assert reasons == {"image": "content_type", "pdf": "content_type", "gone": "http_status"}


def test_other_tools_read_the_archive_and_its_digests_hold(crawled: Crawled) -> None:
    found = records(crawled.warehouse, crawled.report)
    kinds = Counter(kind for kind, _, _, _ in found)
    assert kinds["response"] == kinds["request"] == crawled.report.fetched == len(crawled.archived)
    assert kinds["warcinfo"] == len(crawled.report.files) > 1
    ids = {headers["WARC-Record-ID"] for kind, _, _, headers in found if kind == "response"}
    assert {headers["WARC-Concurrent-To"] for kind, _, _, headers in found if kind == "request"} == ids
    for name in crawled.report.files:
        with (crawled.warehouse.root / "warc" / crawled.report.crawl_id / name).open("rb") as stream:
            for record in FastIterator(stream, parse_http=False):
                assert record.headers["WARC-Block-Digest"].startswith("sha1:")
                assert record.verify_block_digest()


def test_a_second_crawl_pays_a_304_for_each_unchanged_page_and_sees_what_went(crawled: Crawled, tmp_path: Path) -> None:
    crawled.wild.edition = 2
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://plain.wild/\n")
    asked_before = len(crawled.site.asked)
    report = crawl(seeds, crawled.warehouse, crawled.settings)
    assert (report.fetched, report.unchanged) == (1, len(PLAIN_PAGES) - 2)
    asked = crawled.site.asked[asked_before:]
    assert {a.path for a in asked if a.path not in ("/robots.txt", "/sitemap.xml")} == set(PLAIN_PAGES)
    found = records(crawled.warehouse, report)
    gone = "http://plain.wild/d.html"
    assert {url for kind, url, _, _ in found if kind == "response"} == {"http://plain.wild/a.html", gone}
    kept = latest_captures(page_store(crawled.warehouse).parts())
    stored = [url for part in kept for batch in part.pages() for url in batch.column("url").to_pylist()]
    assert sorted(u for u in stored if "plain.wild" in u) == sorted(
        f"http://plain.wild{path}" for path in PLAIN_PAGES if path != "/d.html"
    )
    first = {h["WARC-Record-ID"]: u for k, u, _, h in records(crawled.warehouse, crawled.report) if k == "response"}
    revisits = [(url, headers) for kind, url, _, headers in found if kind == "revisit"]
    assert len(revisits) == len(PLAIN_PAGES) - 2
    for url, headers in revisits:
        assert headers["WARC-Profile"].endswith("/revisit/server-not-modified")
        assert first[headers["WARC-Refers-To"]] == url
