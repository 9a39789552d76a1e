"""Where case is ignored `ſ` is matched as `s` and `ı` as `i`: rules that look up what they matched must stand that."""

from __future__ import annotations

from datetime import date

import pytest

from quern.jobs.reasoning.questions.rewrite import spans
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities

TEXTS = (
    "at six in the morning, from six to nine o'clock in the evening, after six at night",
    "this week, last six weeks, the first six years, since last Saturday, five minutes and six miles",
    "in the first week of August, on Friday, in winter, since six days",
)
DAY = date(2024, 5, 5)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("plain", "odd"), [("s", "ſ"), ("i", "ı"), ("i", "İ"), ("k", "\N{KELVIN SIGN}")])
def test_letters_that_match_another_end_no_rule(text: str, plain: str, odd: str) -> None:
    changed = text.replace(plain, odd)
    spans(changed, DAY)
    for found in (*dates(changed, DAY), *quantities(changed)):
        assert changed[found.start : found.end] == found.text
