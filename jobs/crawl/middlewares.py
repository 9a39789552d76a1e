"""What stands between Scrapy's engine and its downloader: retries that wait, and the body as it was received."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.retry import RetryMiddleware

from quern.jobs.crawl.addresses import ForbiddenAddressError, refusals

# Answers that ask the crawler to stay away for a while (RFC 6585, section 4; RFC 9110, section 15.6.4).
PAUSING: Final = frozenset({429, 503})


class PoliteRetry(RetryMiddleware):  # type: ignore[misc]
    """Scrapy's retries, with the wait that a server asks for, and none for addresses that the guard refused."""

    def process_response(self, request: Any, response: Any, spider: Any = None) -> Any:
        """Note how long to stay away, then retry as Scrapy does."""
        request.meta.pop("retry_after", None)
        request.meta["pauses"] = response.status in PAUSING
        if response.status in PAUSING:
            seconds = retry_after(response.headers.get("Retry-After", b"").decode("latin-1"), time.time())
            if seconds is not None:
                request.meta["retry_after"] = seconds
        return super().process_response(request, response)

    def process_exception(self, request: Any, exception: Exception, spider: Any = None) -> Any:
        """Retry what may go better the next time."""
        request.meta.pop("retry_after", None)
        request.meta["pauses"] = False
        if isinstance(exception, ForbiddenAddressError) or refusals.address(urlsplit(request.url).hostname or ""):
            return None
        return super().process_exception(request, exception)


class RawResponse:
    """Keeps the response as it was received, before Scrapy undoes its content coding."""

    def process_response(self, request: Any, response: Any, spider: Any = None) -> Any:
        """Pass `response` on."""
        request.meta["raw"] = response.copy()  # undoing the coding changes the headers of the other
        return response


def retry_after(value: str, now: float) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, section 10.2.3): a number, or a date; null if neither."""
    value = value.strip()
    if re.fullmatch(r"\d{1,9}", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
