"""What could not be answered tonight decides what is crawled tomorrow: from end to end on a local site."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from quern.pipelines.pages.crawl import read_seeds
from quern.schemas.settings import CrawlSettings
from tests.conftest import Quern
from tests.jobs.crawl.site import Answer, Asked, Site

HTML = {"Content-Type": "text/html; charset=utf-8"}
HOME = "http://harrow.example/"
ABOUT = (
    "<p>Harrow is a small town on the river Elm. The town was founded in 1312 by Abbot Ailred of Stowe. "
    "Since then a weir and two mills have been built, of which one still grinds rye for the bakers of Stowe.</p>"
)
LINKS = """<nav>
<p>More is told of <a href="/works/basin.html">the basin of Harrow, how deep it is and who dug it</a>.</p>
<p>Our market under the limes is described <a href="/market.html">on a page of its own</a>.</p>
<ul><li><a href="http://10.0.0.1/basin">How deep the basin is (engineers only)</a></li>
<li><a rel="nofollow" href="/hidden">Depth and width, Harrow basin</a></li>
<li><a href="/lost.html">Old soundings: the deep end of Harrow basin</a></li></ul></nav>
"""
PAGES = {
    "/": f"<h1>The town of Harrow</h1>{ABOUT}{LINKS}",
    "/works/basin.html": "<h1>The basin of Harrow</h1><p>The basin of Harrow is 7.4 metres deep. It was dug in 1831 by "
    "navvies from Stowe, who were paid in beer. Two gates of oak close it against the river Elm when that is high.</p>",
    "/market.html": "<h1>The market</h1><p>The market of Harrow is held on Thursdays under the lime trees by the mill. "
    "Eggs, eels and baskets have been sold there since the reign of a king whose name nobody remembers.</p>",
}
QUESTIONS = [
    {"query_id": "q1", "question": "How deep is the basin of Harrow?"},
    {"query_id": "q2", "question": "Who founded the town of Harrow?"},
]


@pytest.fixture
def site() -> Iterator[Site]:
    def route(asked: Asked) -> Answer:
        body = PAGES.get(asked.path)
        if body is None:
            return Answer(status=404)
        return Answer(f"<html><head><title>Harrow</title></head><body><main>{body}</main></body></html>", headers=HTML)

    served = Site(route)
    yield served
    served.close()


@pytest.mark.long
def test_what_was_not_answered_is_crawled_and_answered(site: Site, tmp_path: Path, quern_here: Quern) -> None:
    crawl = {
        "contact": "crawler@tests.example",
        "allow_private": "127.0.0.0/8",
        "connect_to": {"harrow.example": site.address},
        "delay": 0.0,
        "autothrottle": False,
        "commit_seconds": 0.1,
    }
    settings = tmp_path / "settings.yaml"
    settings.write_text(yaml.safe_dump({"crawl": crawl, "engine": {"engine": "local"}}))
    questions, first = tmp_path / "questions.jsonl", tmp_path / "first.txt"
    questions.write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS))
    first.write_text(f"{HOME}\n{HOME}lost.html\n")
    wh, seeds = tmp_path / "warehouse", tmp_path / "seeds.txt"

    def run(*words: object) -> str:
        done = quern_here(*words, "-w", wh)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def night(seeds: Path, name: str) -> Path:
        run("crawl", seeds, "--set", "crawl.max_depth=0", "--settings", settings)
        run("build", "--settings", settings)
        run("answer", questions, "--out", tmp_path / name)
        return tmp_path / name

    before = night(first, "before")
    answered = {a["query_id"]: a["found"] for a in map(json.loads, (before / "answers.jsonl").open())}
    assert answered == {"q1": False, "q2": True}
    told = run("sources", "--unanswered", before, "--out", seeds, "--settings", settings)
    assert "for 1 of 1 questions" in told
    lines = seeds.read_text().splitlines()
    urls = [address.url for address in read_seeds(seeds, CrawlSettings())]
    assert urls[0] == f"{HOME}works/basin.html"
    assert not {"http://10.0.0.1/basin", f"{HOME}hidden", f"{HOME}lost.html"} & set(urls)
    why = lines[lines.index(urls[0]) - 1]
    assert why.startswith("# q1, 'How deep is the basin of Harrow?'")
    assert HOME in why

    after = night(seeds, "after")
    changed = quern_here("answers", "diff", before, after).stdout
    assert "7.4 metres" in changed
    assert "works/basin.html" in changed

    # What answers now is a source.
    asked = ("sources", "How deep is the basin of Harrow?", "--json")
    found = json.loads(run(*asked))["sources"]
    assert [(s["site"], s["answers"]) for s in found] == [("harrow.example", True)]
    assert "7.4 metres" in found[0]["evidence"][0]["text"]
    (again,) = json.loads(run(*asked, "--out", tmp_path / "one.jsonl"))["sources"]
    assert json.loads((tmp_path / "one.jsonl").read_text())["sources"] == [again]
    assert again["score"] == found[0]["score"] > 1.7
