from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.crawl.robots import RobotsPolicy, SitemapError, read_sitemap


@given(st.binary(max_size=300))
def test_any_bytes_are_a_robots_txt(body: bytes) -> None:
    assert RobotsPolicy(body, origin="http://a.example").allows("http://a.example/") in (True, False)


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
