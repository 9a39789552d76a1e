from __future__ import annotations

import pytest

from quern.jobs.crawl.middlewares import retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120.0), ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("soon", None)],
)
def test_retry_after_is_a_number_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after(value, 1000.0) == seconds
