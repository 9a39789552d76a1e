"""One crawl process: `python -m quern.jobs.crawl.worker ROOT WARC MEMORY NUMBER QUOTA`.

Twisted's reactor runs once only.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from scrapy.crawler import CrawlerProcess
from scrapy.logformatter import LogFormatter
from scrapy.utils.defer import deferred_from_coro

from quern.indexes.storage import exclusive, write_text
from quern.jobs.crawl.plan import CrawlFolder, Plan
from quern.jobs.crawl.spider import PageSpider
from quern.jobs.crawl.state import CrawlState, end_process
from quern.schemas.settings import CrawlSettings

_RETRIED: Final = (
    "scrapy.exceptions.CannotResolveHostError",
    "scrapy.exceptions.DownloadConnectionRefusedError",
    "scrapy.exceptions.DownloadFailedError",
    "scrapy.exceptions.DownloadTimeoutError",
    "scrapy.exceptions.ResponseDataLossError",
    "twisted.internet.error.ConnectionDone",
    "twisted.internet.error.ConnectError",
    "twisted.internet.error.ConnectionLost",
    "builtins.OSError",
)


class Silent(LogFormatter):  # type: ignore[misc]
    """Logs no line per page."""

    def crawled(self, *_: Any) -> None:
        """Nothing."""


def scrapy_settings(settings: CrawlSettings, user_agent: str) -> dict[str, Any]:
    """Settings of Scrapy for a crawl.

    Proxies are not used, not even those of the environment: the guard could not see where a connection leads.
    Certificates are not verified, as no crawler does: what is fetched is public, and is not trusted anyway.
    """
    middlewares = "scrapy.downloadermiddlewares"
    return {
        # Of the parts that Scrapy has on by default only these: the frontier does what the others would.
        "EXTENSIONS_BASE": {"scrapy.extensions.throttle.AutoThrottle": 0},
        "SPIDER_MIDDLEWARES_BASE": {},
        "DOWNLOADER_MIDDLEWARES_BASE": {
            f"{middlewares}.downloadtimeout.DownloadTimeoutMiddleware": 350,
            f"{middlewares}.defaultheaders.DefaultHeadersMiddleware": 400,
            f"{middlewares}.useragent.UserAgentMiddleware": 500,
            "quern.jobs.crawl.download.PoliteRetry": 550,
            f"{middlewares}.httpcompression.HttpCompressionMiddleware": 590,
            "quern.jobs.crawl.download.RawResponse": 600,
        },
        "SCHEDULER": "quern.jobs.crawl.scheduler.FrontierScheduler",
        "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), "quern.jobs.crawl.download.BoundedHandler"),
        "TWISTED_DNS_RESOLVER": "quern.jobs.crawl.download.GuardedResolver",
        "QUERN_ALLOW_PRIVATE": list(settings.allow_private),
        "QUERN_CONNECT_TO": dict(settings.connect_to),
        "USER_AGENT": user_agent,
        "DEFAULT_REQUEST_HEADERS": {
            "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
            # What every WARC tool can undo.
            "Accept-Encoding": "gzip, deflate",
        },
        "CONCURRENT_REQUESTS": settings.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": settings.per_host,
        # The spider yields nothing; Scrapy starts so many tasks for each answer.
        "CONCURRENT_ITEMS": 1,
        "DOWNLOAD_DELAY": settings.delay,
        "DOWNLOAD_DELAY_JITTER": 0.0,
        "AUTOTHROTTLE_ENABLED": settings.autothrottle,
        "AUTOTHROTTLE_START_DELAY": settings.delay,
        "AUTOTHROTTLE_TARGET_CONCURRENCY": float(settings.per_host),
        "DOWNLOAD_TIMEOUT": settings.seconds_per_page,
        "DOWNLOAD_MAXSIZE": settings.max_page_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "RETRY_TIMES": settings.retries,
        "RETRY_EXCEPTIONS": list(_RETRIED),
        "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "WARNING",
        "LOG_FORMATTER": "quern.jobs.crawl.worker.Silent",
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        "REACTOR_THREADPOOL_MAXSIZE": 32,
    }


class _Pulse:
    """Saves the crawl twice a second, says how it stands, and ends it when its time is over or its parent is gone."""

    def __init__(self, crawler: Any, state: CrawlState) -> None:
        self._crawler = crawler
        self._state = state
        self._parent = os.getppid()

    def __call__(self) -> None:
        spider = self._crawler.spider
        if spider is None or not hasattr(spider, "scheduler") or self._crawler.engine.spider is None:
            return
        spider.save()
        write_status(self._state, "")
        plan, reason = self._state.plan, ""
        if time.time() > plan.started_at + plan.settings.seconds:
            reason = "seconds"
        elif os.getppid() != self._parent:
            reason = "stopped"
        if reason and not spider.scheduler.stopped:
            spider.scheduler.stopped = True
            deferred_from_coro(self._crawler.engine.close_spider_async(reason=reason))


def write_status(state: CrawlState, ended: str) -> None:
    """Tell the supervisor how the crawl stands."""
    write_text(state.folder.status(state.number), state.status(ended).model_dump_json())


def crawl(folder: CrawlFolder, number: int, quota: int) -> None:
    """Fetch what the frontier of process `number` holds, until nothing is left or a limit is reached."""
    logging.basicConfig(
        filename=folder.log(number), level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    frontier = folder.frontier(number)
    busy = TimeoutError(f"another process holds {frontier}")
    # A process that was left behind by a killed crawl must end first.
    with exclusive(frontier.with_suffix(".lock"), busy, seconds=30.0):
        state = CrawlState(folder, number, quota)
        plan: Plan = state.plan
        scrapy = CrawlerProcess(scrapy_settings(plan.settings, plan.user_agent), install_root_handler=False)
        logging.getLogger("scrapy").setLevel(logging.WARNING)  # Scrapy sets its own to DEBUG
        crawler = scrapy.create_crawler(PageSpider)
        scrapy.crawl(crawler, state=state)

        from twisted.internet import reactor
        from twisted.internet.task import LoopingCall

        looping = LoopingCall(_Pulse(crawler, state))
        reactor.callWhenRunning(
            lambda: looping.start(plan.settings.commit_seconds, now=False).addErrback(lambda f: end_process(f.value))
        )
        scrapy.start()
        state.save()
        ended = state.close_reason if state.close_reason in ("finished", "seconds") else "stopped"
        write_status(state, "quota" if ended == "finished" and 0 < state.quota <= state.fetched else ended)
        state.close()


def main() -> None:
    """Run the process that the arguments name."""
    root, warc, memory, number, quota = sys.argv[1:]
    try:
        crawl(CrawlFolder(Path(root), Path(warc), Path(memory)), int(number), int(quota))
    except Exception as error:  # noqa: BLE001 - the log and the exit code tell of it
        with suppress(OSError):  # The log may lie on the disk that is full.
            traceback.print_exc()
        end_process(error)


if __name__ == "__main__":
    main()
