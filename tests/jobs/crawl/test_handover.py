"""Addresses that processes of a crawl hand over to each other."""

from pathlib import Path

import pytest
from scrapy.exceptions import DontCloseSpider

from quern.jobs.crawl.plan import CrawlFolder, Plan, write_message
from quern.jobs.crawl.scheduler import FrontierScheduler
from quern.jobs.crawl.spider import PageSpider
from quern.jobs.crawl.state import CrawlState
from quern.schemas.settings import CrawlSettings

_MESSAGE = [["http://a.example/late", 1, 0, 0]]


@pytest.fixture
def spider(tmp_path: Path) -> PageSpider:
    folder = CrawlFolder(tmp_path / "root", tmp_path / "warc", tmp_path / "memory.sqlite")
    folder.root.mkdir()
    folder.warc.mkdir()
    folder.seeds.write_text("http://a.example/\n")
    settings = CrawlSettings(contact="crawler@a.example")
    folder.write_plan(Plan(crawl_id="c", seeds="", workers=1, user_agent="Quern", started_at=0.0, settings=settings))
    state = CrawlState(folder, 0, 0)
    (seed,) = state.frontier.queue("a.example", 0, 9)
    state.lose(seed, "timeout", "no answer")
    found = PageSpider(state)
    FrontierScheduler(crawler=None).open(found)
    return found


def test_what_is_handed_over_while_a_process_waits_keeps_it_open(spider: PageSpider) -> None:
    write_message(spider.state.folder, 1, 0, 1, _MESSAGE)
    with pytest.raises(DontCloseSpider):
        spider.on_idle()
    assert spider.state.folder.to_hand_over(0) == []


def test_what_is_handed_over_as_a_process_ends_is_left_to_the_next(spider: PageSpider) -> None:
    spider.on_idle()
    write_message(spider.state.folder, 1, 0, 1, _MESSAGE)
    spider.save()
    spider.state.close()
    assert len(spider.state.folder.to_hand_over(0)) == 1
    assert spider.state.status().queued == 0
