"""Home pages are asked for by the crawler's own fetcher, and what answers everything is not believed."""

from __future__ import annotations

from quern.jobs.crawl.probe import visit
from quern.pipelines.sources.pool import SourcePool
from quern.pipelines.sources.validate import asked_homes, reached
from quern.schemas.settings import CrawlSettings
from tests.jobs.crawl.site import Answer, Asked, Site, page

ELSEWHERE = {
    "away.example": "http://other.example/",
    "swap.example": "http://good.example/",  # Asked for beside it, so within the scope of the visit.
    "inner.example": "http://10.0.0.2/",
    "home.example": "/start",
}
HOSTS = ("good.example", "everything.example", "closed.example", "gone.example", *ELSEWHERE)


def route(asked: Asked) -> Answer:
    host, path = asked.host, asked.path
    if path == "/robots.txt":
        return Answer("User-agent: *\nDisallow: /\n" if host == "closed.example" else "", headers={})
    if host in ELSEWHERE and path == "/":
        return Answer(status=302, headers={"Location": ELSEWHERE[host]})
    if host == "everything.example" or (host, path) in {("good.example", "/"), ("home.example", "/start")}:
        return page(title="The Good Paper")
    return Answer(status=404)


def test_what_a_home_page_answers_decides_whether_a_source_can_be_reached() -> None:
    site = Site(route)
    settings = CrawlSettings(
        contact="crawler@tests.example",
        allow_private=("127.0.0.0/8",),
        connect_to=dict.fromkeys(HOSTS, site.address),
        delay=0.0,
        autothrottle=False,
        commit_seconds=0.1,
        retries=0,
    )
    homes = {host: f"http://{host}/" for host in HOSTS}
    found = asked_homes({**homes, "private": "http://10.0.0.1/"}, settings)
    site.close()
    assert {host for host, seen in found.items() if not seen.why_not} == {"good.example", "home.example"}
    assert "The Good Paper" in found["good.example"].stated
    why = {host: seen.why_not.partition(":")[0] for host, seen in found.items()}
    assert why["everything.example"] == "answers_everything"
    assert why["closed.example"] == "robots_denied"
    assert why["gone.example"] == "http_status"
    assert {why[host] for host in ("away.example", "swap.example", "inner.example")} == {"redirect_refused"}
    assert why["private"] == "private_address"
    assert not any(asked.host == "other.example" for asked in site.asked)


def test_what_is_named_opens_no_port_and_breaks_no_list_of_seeds() -> None:
    named = ["http://good.example:6379/", "http://good.example\x0bhttp:/x", "javascript:alert(1)"]
    found = visit(named, CrawlSettings(contact="crawler@tests.example"), "Quern")
    assert [found[url].why_not.partition(":")[0] for url in named] == ["port", "malformed", "scheme"]


def test_without_leave_to_ask_a_source_is_what_the_index_has() -> None:
    pool = SourcePool({"tides.example": {"site": "tides.example"}}, ["tides.example"], None)  # type: ignore[arg-type]
    homes = {"tides.example": "https://tides.example/", "new.example": "https://new.example/"}
    found = reached(pool, homes, None)
    assert not found["tides.example"].why_not
    assert "sourcing.online" in found["new.example"].why_not
