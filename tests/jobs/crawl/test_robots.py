from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.crawl.robots import RobotsPolicy, directives

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
