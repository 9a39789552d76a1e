"""Personal data is found by its form and its checksum, marked by type, and nothing else is taken for it."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.text.personal_data import find, replace
from tests.benchmarks.personal_data import evaluate_personal_data

FLOORS = Path(__file__).parents[2] / "floors.json"


def marked(text: str, language: str = "en") -> str:
    return replace(text, find(text, language), mark=True)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Write to a.b+c@mail.example.org.", "Write to [EMAIL]."),
        ("寄至hotline@news.example。", "寄至[EMAIL]。"),
        ("mail zoë@münchen.example now", "mail [EMAIL] now"),
        ("see https://site.example/?mail=jo@host.example#a", "see https://site.example/?mail=[EMAIL]#a"),
        ("jo [at] host [dot] com", "[EMAIL]"),
        ("card 4539 1488 0343 6467 or 4539148803436467", "card [CREDIT_CARD] or [CREDIT_CARD]"),
        ("Amex 3782-822463-10005", "Amex [CREDIT_CARD]"),
        ("IBAN GB82 WEST 1234 5698 7654 32 please", "IBAN [IBAN] please"),
        ("iban de89370400440532013000.", "iban [IBAN]."),
        ("SSN 219-09-9999", "SSN [SSN]"),
        ("social security number 219 09 9999", "social security number [SSN]"),
        ("身份证号11010519491231002X。", "身份证号[NATIONAL_ID]。"),
        ("from 203.0.113.7:8080 and 2001:db8::8a2e:370:7334", "from [IP]:8080 and [IP]"),
        ("Call +44 20 7946 0958 today", "Call [PHONE] today"),
        ("tel. 555-0168", "tel. [PHONE]"),
        ("Phone: (212) 555-0134 ext. 12", "Phone: [PHONE]"),
        ("ring us on 01632 960983", "ring us on [PHONE]"),
        ("报名电话555-0183，邮箱", "报名电话[PHONE]，邮箱"),
        ("手机13912345678", "手机[PHONE]"),
        ("follow @tide_watch and twitter.com/tide_watch", "follow [HANDLE] and [HANDLE]"),
        ("Jo Doe, 905 674 0168 office", "Jo Doe, [PHONE] office"),
        ("官网：www.abc.com电话：13812345678", "官网：www.abc.com电话：[PHONE]"),
        ("AT61 1904 3002 3457 3201 DE89", "[IBAN] DE89"),
        ("Ref ab12 DE89 3704 0044 0532 0130 00", "Ref ab12 [IBAN]"),
        ("微信号：tide_watch01，QQ：12345678", "微信号：[HANDLE]，QQ：[HANDLE]"),
    ],
)
def test_personal_data_is_marked_with_its_type(text: str, mark: str) -> None:
    assert marked(text, "zh" if any(c > "\u4e00" for c in text) else "en") == mark


@pytest.mark.parametrize(
    "text",
    [
        "between 1998 and 2024, 2019-2020, 2024-03-02, 02.03.2024, 20240302",
        "ISBN 978-3-16-148410-0 and 9783161484100",
        "They won 21-19, 21-15, 3-2.",
        "at 51.50735, -0.12776 or 51.5074 N",
        "1,234,567 people; 1 234 567 people; 3.141592653",
        "phones sold: 1500000 units, and phone sales reached 12500000",
        "@Component @Service WeChat payments grew",
        "@所有人 请注意",
        "version 1.2.3.4 of 127.0.0.1 and section 3.4.2.1",
        "std::vector, Dead::Beef, 12:30:45, 00:1B:44:11:3A:B7",
        "card 4539 1488 0343 6468 fails its check",
        "order no. 4453201987 and invoice 20317-44821",
        "icon@2x.png, @media print, @property def name, user@localhost",
        "https://site.example/a/4539148803436467/219-09-9999",
        "J Mol Cell 2001 12 3114 3125",
        "12345678901234567890",
        "at 12:30:4555667 it stopped",
        "http://a.example:80/4155552671",
        "import x from '@scope/core', git clone git@forge.example:team/repo.git",
        "share at twitter.com/share and facebook.com/sharer.php",
    ],
)
def test_figures_that_are_no_personal_data_stay(text: str) -> None:
    assert marked(text) == text


@given(st.text(alphabet=st.sampled_from("0123456789+-(). @:/abAB_x示电话\n"), max_size=200))
def test_spans_are_disjoint_in_order_and_marks_are_final(text: str) -> None:
    spans = find(text, "en")
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert all(0 <= s.start < s.end <= len(text) for s in spans)


@pytest.mark.parametrize("hostile", ["@", "1-", "a@", "1:", "(at)", "x.com/", "https://a 123456 ", "phone 1", "+1 "])
def test_hostile_text_takes_no_long_time(hostile: str) -> None:
    started = time.process_time()
    find(hostile * (100_000 // len(hostile)), "en")
    assert time.process_time() - started < 5


def test_figures_on_the_shared_texts_are_as_good_as_their_floors(shared: Path) -> None:
    floors = json.loads(FLOORS.read_text("utf-8"))["presidio_pii"]
    found = evaluate_personal_data(shared / "presidio_pii" / "synth_dataset_v2.jsonl")
    assert {name: found[f"{name} f1"] for name, floor in floors.items() if found[f"{name} f1"] < floor} == {}
    assert found["false alarms"] == 0
