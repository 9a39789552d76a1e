from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.crawl.urls import BadAddressError, Scope, parse_address, trap
from quern.schemas.settings import CrawlSettings

SESSIONS = CrawlSettings().session_parameters


def parsed(url: str) -> str:
    return parse_address(url, SESSIONS).url


@pytest.mark.parametrize(
    ("url", "one_form"),
    [
        ("HTTP://Example.COM:80", "http://example.com/"),
        ("https://example.com:443/a/./b/../c?x=1#part", "https://example.com/a/c?x=1"),
        ("http://bücher.example/ä ö", "http://xn--bcher-kva.example/%C3%A4%20%C3%B6"),
        ("http://example.com/a;jsessionid=1F?PHPSESSID=2&b=3&utm_source=x", "http://example.com/a?b=3"),
        ("http://exa\nmple.com/\ta", "http://example.com/a"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"),
        ("http://example.com./", "http://example.com/"),
    ],
)
def test_an_address_has_one_form(url: str, one_form: str) -> None:
    assert parsed(url) == one_form
    assert parsed(one_form) == one_form


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.com/", "scheme"),
        ("http://user:pw@example.com/", "credentials"),
        ("http://[bad/", "malformed"),
        ("http://example.com:99999/", "malformed"),
        ("http://a%00b.example/", "malformed"),
        ("http://a\x0bhttp:/b.example/", "malformed"),
        ("http://a\x7fb.example/", "malformed"),
    ],
)
def test_what_is_no_web_address_is_refused(url: str, reason: str) -> None:
    with pytest.raises(BadAddressError) as refused:
        parse_address(url)
    assert refused.value.reason == reason


def test_parameters_in_another_order_are_the_same_page() -> None:
    first, second = (parse_address(f"http://example.com/?{query}") for query in ("a=1&b=2", "b=2&a=1"))
    assert first.key == second.key
    assert first.path_key == second.path_key


@given(st.text(max_size=60))
def test_parsing_never_fails_otherwise_and_is_idempotent(text: str) -> None:
    for url in (text, f"http://{text}", f"http://example.com/{text}"):
        try:
            once = parse_address(url, SESSIONS)
        except BadAddressError:
            continue
        assert once.url.isascii()
        assert parse_address(once.url, SESSIONS).key == once.key


def test_traps_are_told_by_length_depth_and_repetition() -> None:
    settings = CrawlSettings(max_url_length=100, max_path_segments=5, max_repeats=2)
    reasons = {
        "/" + "a" * 100: "url_too_long",
        "/1/2/3/4/5/6": "path_too_deep",
        "/a/b/a/b/a": "path_repeats",
        "/a.PDF": "extension",
        "/pdf": None,
        "/2024/2024/x.html": None,
    }
    assert {path: trap(parse_address(f"http://e.example{path}"), settings) for path in reasons} == reasons


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("host", ["http://www.site.co.uk/x", "https://site.co.uk/"], ["http://blog.site.co.uk/", "http://co.uk/"]),
        ("domain", ["http://blog.site.co.uk/"], ["http://other.co.uk/", "http://b.github.io/"]),
        (
            "prefix",
            ["http://site.co.uk/docs/a/b", "https://www.site.co.uk/docs/"],
            ["http://site.co.uk/doc", "http://site.co.uk/"],
        ),
    ],
)
def test_scopes(scope: str, inside: list[str], outside: list[str]) -> None:
    seeds = [parse_address("http://site.co.uk/docs/index.html"), parse_address("http://a.github.io/x/")]
    found = Scope(seeds, CrawlSettings(scope=scope))  # type: ignore[arg-type]
    assert [found.refuses(parse_address(url)) for url in inside] == [None] * len(inside)
    assert [found.refuses(parse_address(url)) for url in outside] == ["out_of_scope"] * len(outside)


@pytest.mark.parametrize(
    "url", ["ftp://u:geheim@x.example/", "http://u:geheim@[bad/", "http://u:ge/heim@x.example", "u:geheim@x.example"]
)
def test_what_is_said_of_a_bad_address_holds_no_password(url: str) -> None:
    with pytest.raises(BadAddressError) as error:
        parse_address(url)
    assert "heim" not in str(error.value)
