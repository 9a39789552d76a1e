from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.crawl.links import page_links


def test_links_of_a_page() -> None:
    body = b"""<html><head><base href="/b/"><link rel=canonical href="/c"><link rel=stylesheet href=s.css>
    <meta http-equiv=refresh content="5; url='later'"><meta name=ROBOTS content="noarchive"></head>
    <body><a href=x>1</a><a href=" x ">2</a><a rel="nofollow" href=n>3</a><a href="#top">4</a><a href="MAILTO:a@b">5</a>
    <map><area href="?m"></map><a href="http://[bad">6</a><a>7</a><a href="//other.example">8</a><a href=''>9</a>"""
    found = page_links(body, "https://site.example/a/page", None)
    site = "https://site.example"
    assert found.links == [f"{site}/c", f"{site}/b/later", f"{site}/b/x", f"{site}/b/?m", "https://other.example"]
    assert (found.nofollow, found.malformed) == (1, 1)
    assert found.directives == {"noarchive"}


@given(st.binary(max_size=200), st.sampled_from([None, "utf-8", "gb18030", "no-such-charset", "utf-16"]))
def test_no_bytes_break_the_search_for_links(body: bytes, charset: str | None) -> None:
    page_links(b"<a href='" + body, "http://a.example/", charset)
    page_links(body, "http://a.example/", charset)
