from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.crawl.links import directives
from quern.jobs.crawl.robots import RobotsPolicy, SitemapError, read_sitemap

ROBOTS = b"""\xef\xbb\xbfUser-agent: *
Disallow: /
Sitemap: /maps/all.xml

User-agent: Quern
Allow: /open$
Disallow: /*.cgi
Disallow: /open/
Crawl-delay: 2.5
"""


def test_the_group_that_names_the_crawler_counts_alone() -> None:
    policy = RobotsPolicy(ROBOTS, origin="https://site.example")
    allowed = {path: policy.allows(f"https://site.example{path}") for path in ("/", "/open", "/open/a", "/x/y.cgi?z")}
    assert allowed == {"/": True, "/open": True, "/open/a": False, "/x/y.cgi?z": False}
    assert policy.crawl_delay == 2.5
    assert policy.sitemaps == ["https://site.example/maps/all.xml"]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_robots_txt(body: bytes) -> None:
    assert RobotsPolicy(body, origin="http://a.example").allows("http://a.example/") in (True, False)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["NOINDEX, NoFollow"], {"noindex", "nofollow"}),
        (["none"], {"none", "noindex", "nofollow"}),
        (["otherbot: noindex, nofollow", "quern: nofollow"], {"nofollow"}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST"], set()),
        (["max-snippet:20, noindex"], {"noindex"}),
    ],
)
def test_directives_for_this_crawler_count(values: list[str], found: set[str]) -> None:
    assert found <= directives(values)
    assert ("noindex" in directives(values)) == ("noindex" in found)
    assert ("nofollow" in directives(values)) == ("nofollow" in found)


def test_a_sitemap_address_that_is_none_does_not_undo_the_rules_around_it() -> None:
    body = b"Sitemap: http://[bad\nSitemap: /map.xml\nUser-agent: *\nDisallow: /x\n"
    policy = RobotsPolicy(body, origin="https://a.example")
    assert not policy.allows("https://a.example/x")
    assert policy.sitemaps == ["http://[bad", "https://a.example/map.xml"]


def test_sitemaps_and_their_limits() -> None:
    urlset = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    urlset += (
        b"".join(b"<url><loc> http://a.example/%d </loc><lastmod>x</lastmod></url>" % n for n in range(5))
        + b"</urlset>"
    )
    assert read_sitemap(urlset, 10, 10_000).pages == tuple(f"http://a.example/{n}" for n in range(5))
    assert read_sitemap(gzip.compress(urlset), 3, 10_000).cut
    with pytest.raises(SitemapError) as bomb:
        read_sitemap(gzip.compress(bytes(100_000)), 10, 10_000)
    assert bomb.value.reason == "too_large"
    for body in (b"", b"<html><body>no</body></html>", b"hello", b"<", b"\x00\xff"):
        with pytest.raises(SitemapError) as fault:
            read_sitemap(body, 10, 10_000)
        assert fault.value.reason == "not_a_sitemap"


def test_a_sitemap_with_an_external_entity_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>'
    body = f"{entity}<urlset><url><loc>http://a.example/&e;</loc></url></urlset>".encode()
    assert "secret" not in "".join(read_sitemap(body, 10, 10_000).pages)
