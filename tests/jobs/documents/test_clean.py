"""Documents from pages: text, metadata, encodings, and what untrusted input may not do."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import requires
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.core.contract import Outcome
from quern.jobs.documents.clean import Clean
from quern.jobs.documents.html.child import Child, ChildError
from quern.jobs.text.charsets import decode_page
from quern.jobs.text.language import language_of
from quern.jobs.text.plain_text import paragraphs
from quern.schemas.contract.validate import validate
from quern.schemas.digests import text_digest
from quern.schemas.settings import CleanSettings
from quern.schemas.tables import DOCUMENTS, PAGES

ROOT = Path(__file__).parents[3]
URL = "https://www.news.example/2024/ferry.html"
STORY = [
    "The ferry to the island was suspended on Tuesday after a collision in thick fog near the harbour mouth.",
    "Fourteen passengers were hurt, the harbour office said, and two of them were taken to hospital with broken bones.",
    "An inquiry will begin next week. Until then a water bus carries residents, but no cars, three times a day.",
]


def page(*paragraphs_: str, head: str = "", lang: str = "en") -> str:
    body = "".join(f"<p>{p}</p>" for p in paragraphs_ or STORY)
    return (
        f"<!DOCTYPE html><html lang='{lang}'><head><title>Ferry suspended - The News</title>{head}</head><body>"
        f"<nav><a href='/'>Home</a> <a href='/sport'>Sport</a></nav><article><h1>Ferry suspended</h1>{body}</article>"
        "<footer>Copyright The News</footer></body></html>"
    )


def clean(
    *bodies: str | bytes, url: str = URL, charset: str | None = None, content_type: str = "text/html", **settings: float
) -> Outcome:
    rows = [
        {"url": url, "content_type": content_type, "charset": charset, "body": b.encode() if isinstance(b, str) else b}
        for b in bodies
    ]
    schema = pa.schema([PAGES.schema.field(name) for name in Clean.reads])
    found = Clean(CleanSettings.model_validate(settings)).apply(pa.RecordBatch.from_pylist(rows, schema=schema))
    validate(found.rows, DOCUMENTS)
    return found


def document(body: str | bytes, **others: str) -> dict:
    found = clean(body, **others)
    assert found.rejects == ()
    return found.rows.to_pylist()[0]


def rejected(found: Outcome) -> list[tuple[int, str]]:
    return [(r.row, r.reason) for r in found.rejects]


# ---- text ------------------------------------------------------------------------------------------------


def test_a_first_line_that_repeats_the_title_is_left_out() -> None:
    found = document(page(head="<meta property='og:site_name' content='The News'>"))
    assert found["title"] == "Ferry suspended"
    assert found["text"].split("\n") == STORY


@given(st.text())
def test_paragraphs_are_stable_and_hold_no_control_characters(text: str) -> None:
    once = paragraphs(text)
    assert all(c == "\n" or c >= " " for c in once)
    assert "\n\n" not in once
    once.encode("utf-8")


# ---- metadata --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "canonical", "expected"),
    [
        (URL, "HTTP://News.example:80/ferry?utm_source=x&a=1#top", "http://news.example/ferry?a=1"),
        (URL, "/ferry", "https://www.news.example/ferry"),
        (URL, "https://other.example/ferry", URL),
        (URL, "https://www.news.example/", URL),
        ("file:///ferry.html", "https://news.example/ferry", "https://news.example/ferry"),
        ("file:///ferry.html", "/ferry", "file:///ferry.html"),
    ],
)
def test_a_canonical_address_counts_on_its_own_host(url: str, canonical: str, expected: str) -> None:
    found = document(page(head=f"<link rel=canonical href='{canonical}'>"), url=url)
    assert found["url"] == expected
    assert found["doc_id"] == text_digest(expected)[:20]
    assert found["page_url"] == url
    assert found["site"] == (None if expected.startswith("file:") else "news.example")


# ---- language and encoding -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        (" ".join(STORY), "de", "en"),
        ("Le bac vers l'île a été suspendu mardi après une collision dans un épais brouillard.", "en-US", "fr"),
        ("渡轮在大雾中发生碰撞后于周二停航，十四名乘客受伤。", None, "zh"),
        ("OK", "pt-BR", "pt"),
        ("1234", None, None),
    ],
)
def test_the_text_decides_its_language(text: str, declared: str | None, language: str | None) -> None:
    assert language_of(text, declared)[0] == language


RUSSIAN = "Паром на остров был остановлен во вторник после столкновения в густом тумане у входа в гавань. " * 3
CHINESE = "老桥夜市昨晚重新开张，一百二十个摊位沿老桥两侧排开，队伍最前面的是卖了四十年糍粑的苗二婶。"
JAPANESE = "濃い霧の中で衝突事故が起きたため、島へのフェリーは火曜日に運航を停止しました。乗客は無事です。"
KOREAN = "짙은 안개 속에서 충돌 사고가 난 뒤 섬으로 가는 여객선은 화요일에 운항을 멈추었습니다."
FRENCH = "Zoë Lefèvre-Núñez étudiera les péages; Sören Åkerblad bâtit une « harpe ». L’été sera chaud – et court."


@pytest.mark.parametrize(
    ("text", "codec", "declared"),
    [
        (FRENCH, "utf-8", "iso-8859-1"),
        (FRENCH, "cp1252", "utf-8"),
        (FRENCH, "utf-16-le", None),
        (FRENCH, "utf-8-sig", "windows-1251"),
        (CHINESE, "gb18030", "iso-8859-1"),
        ("渡輪在大霧中發生碰撞後於週二停航，十四名乘客受傷，其中兩人骨折。", "big5", "iso-8859-1"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc_jp", "utf-8"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (KOREAN, "euc_kr", "iso-8859-1"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8_r", "koi8-r"),
        (RUSSIAN, "cp1251", "iso-8859-1"),
    ],
)
@pytest.mark.parametrize("where", ["header", "meta"])
def test_a_page_is_decoded_whatever_it_declares(text: str, codec: str, declared: str | None, where: str) -> None:
    meta = f"<meta charset='{declared}'>" if declared and where == "meta" else ""
    body = f"<html><head>{meta}</head><body><p>{text}</p></body></html>".encode(codec)
    assert text in decode_page(body, declared if where == "header" else None)


def test_utf8_with_a_few_foreign_bytes_stays_utf8() -> None:
    body = ("<p>" + FRENCH * 3).encode() + "L’été".encode("cp1252")
    assert decode_page(body, None).endswith("L’été")


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "utf-8", "gb2312", "utf-16", "nonsense", "hex", "idna", "utf-7", ""]),
)
def test_any_bytes_decode(body: bytes, charset: str | None) -> None:
    assert isinstance(decode_page(body, charset), str)


# ---- JSONL documents -------------------------------------------------------------------------------------


def given_document(**fields: object) -> Outcome:
    return clean(json.dumps(fields), url="doc:x", content_type="application/json")


def test_a_given_document_keeps_its_id_text_and_metadata() -> None:
    text = "Alice:  bread is ready.\n\nBob: thanks."
    stated = {"url": "https://www.a.example/x", "published_at": "2026-04-08T08:38:00"}
    (found,) = given_document(doc_id="d 1", text=text, **stated).rows.to_pylist()
    assert (found["doc_id"], found["text"], found["site"]) == ("d 1", text, "a.example")
    assert found["published_at"] == datetime(2026, 4, 8, 8, 38, tzinfo=UTC)
    by = {stated["field"]: stated["by"] for stated in found["metadata_from"]}
    assert by == {"published_at": "given", "url": "given", "language": "text"}


def test_a_short_given_document_is_kept_and_an_empty_one_is_not() -> None:
    assert given_document(doc_id="a", text="Yes.").rows.num_rows == 1
    assert rejected(given_document(doc_id="a", text=" \n ")) == [(0, "no_text")]
    assert rejected(given_document(doc_id="x" * 201, text="Yes.")) == [(0, "bad_doc_id")]


# ---- rejects and limits ----------------------------------------------------------------------------------


def test_a_page_without_text_and_one_that_is_no_page_are_rejected() -> None:
    found = clean("<html><body><nav><a href=/>Home</a></nav></body></html>", page(), "no markup at all")
    assert rejected(found) == [(0, "no_text"), (2, "parse_error")]
    assert found.parents.tolist() == [1]


MENU = "".join(
    f"<li><a href='/{name}'>{name} and all its news</a></li>" for name in ("Sport", "Sea", "Sky", "Town", "Us")
)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (f"<ul>{MENU}</ul>", False),
        ("".join(f"<li><a href=/{i}>第{i}条新闻的标题写得很长很长很长</a></li>" for i in range(9)), False),
        ("<p>" + "".join(f"<a href=/{i}>Entry number {i}</a> | " for i in range(9)) + "</p>", False),
        (f"<ul>{MENU}</ul><p>{STORY[0]}</p>", True),
        (f"<p><a href=/story>{STORY[0]}</a></p>", True),
        ("<p>渡轮在大雾中发生碰撞后于周二停航，十四名乘客受伤。</p>" * 3, True),
        ("<p>The fog comes<br>on little feet<br>It sits looking<br>over harbour and city</p>", True),
        ("<table>" + "<tr><td>Deck and pylon<td><a href=/a>Tavistow Cables</a></tr>" * 5 + "</table>", True),
    ],
)
def test_a_menu_is_no_text_but_a_short_page_is(body: str, kept: bool) -> None:
    found = clean(f"<html><body>{body}</body></html>", min_characters=10)
    assert rejected(found) == ([] if kept else [(0, "no_text")])


def test_a_text_over_the_limit_is_rejected() -> None:
    assert rejected(clean(page(), max_characters=100)) == [(0, "too_long")]


def test_a_slow_page_is_cut_off_and_the_next_is_read() -> None:
    # Far from the limit on either side, however fast the machine is: about two seconds, and three milliseconds.
    slow = page(*(f"{i} {STORY[0]}" for i in range(60_000)))
    found = clean(slow, page(), seconds_per_page=0.25)
    assert rejected(found) == [(0, "timeout")]
    assert found.rejects[0].transient
    assert found.parents.tolist() == [1]


def test_a_page_that_needs_too_much_memory_is_rejected_and_the_next_is_read() -> None:
    large = page(*(f"{i} {STORY[0]}" for i in range(40_000)))
    found = clean(large, page(), memory_per_page=48)
    assert rejected(found) == [(0, "out_of_memory")]
    assert found.parents.tolist() == [1]


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 100_000,
        "<b><i>" * 20_000,
        "<table><tr><td>" * 20_000,
        "<" * 200_000,
        "\0" * 100_000 + "<p>\0",
        f"<div {' '.join(f'a{n}=1' for n in range(1_000_000))}>",
        "<i itemprop=author itemscope>" * 50_000,
        "<script type='application/ld+json'>" + "[" * 200_000 + "</script>",
    ],
    ids=["divs", "formatting", "tables", "brackets", "nul", "attributes", "microdata", "linked data"],
)
def test_hostile_markup_costs_only_itself(hostile: str) -> None:
    found = clean(page(hostile + STORY[0]), page(), seconds_per_page=2.0)
    assert 1 in found.parents.tolist()
    assert all(r.row == 0 for r in found.rejects)


def test_a_new_version_of_any_library_that_reads_a_page_makes_its_documents_anew() -> None:
    libraries = Clean().configuration()["libraries"]
    assert isinstance(libraries, dict)
    for library in ("trafilatura", "htmldate"):
        needed = [r for r in requires(library) or [] if "extra ==" not in r]
        names = {re.split(r"[^\w.-]", r)[0].replace("_", "-") for r in needed}
        assert names - {"certifi", "urllib3"} <= libraries.keys()  # those two only fetch
    assert {"lxml_html_clean", "dateparser", "py3langid"} <= libraries.keys()


ODD_PARSER = """
import os, signal, time
from quern.jobs.documents.html.child import serve

def answer(header, body):
    print("a library that prints")
    if body == b"crash": os.kill(os.getpid(), signal.SIGSEGV)
    if body.startswith(b"SIG"): signal.raise_signal(getattr(signal, body.decode()))
    if body == b"exit": os._exit(3)
    if body == b"memory": bytearray(1 << 30)
    if body == b"raise": raise KeyError("what")
    if body == b"sleep": time.sleep(60)
    return {"size": len(body), "pid": os.getpid()}

serve(answer)
"""


@pytest.fixture
def odd_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    (tmp_path / "odd_parser.py").write_text(ODD_PARSER)
    monkeypatch.syspath_prepend(str(tmp_path))
    child = Child("odd_parser", 64)
    yield child
    child.stop()


@pytest.mark.parametrize(
    ("body", "reason", "says"),
    [
        (b"crash", "parser_crashed", "signal 11"),
        (b"exit", "parser_crashed", "code 3"),
        (b"memory", "out_of_memory", "memory"),
        (b"raise", "parse_error", "KeyError"),
        (b"sleep", "timeout", "within 1 s"),
    ],
)
def test_a_child_that_fails_says_how_and_answers_the_next(
    odd_child: Child, body: bytes, reason: str, says: str
) -> None:
    with pytest.raises(ChildError) as error:
        odd_child.ask({}, body, 1.0)
    assert (error.value.reason, says in error.value.detail) == (reason, True)
    assert odd_child.ask({}, b"x" * 5_000_000, 20.0)["size"] == 5_000_000


@pytest.mark.usefixtures("in_foreground")
@pytest.mark.parametrize("name", "SIGKILL SIGTERM SIGINT SIGHUP SIGSEGV SIGABRT SIGBUS".split())
def test_a_child_killed_from_outside_is_asked_again_in_the_next_build(odd_child: Child, name: str) -> None:
    with pytest.raises(ChildError) as error:
        odd_child.ask({}, name.encode(), 20.0)
    crashed = name in ("SIGSEGV", "SIGABRT", "SIGBUS")
    assert (error.value.reason, error.value.transient) == ("parser_crashed", not crashed)


@pytest.mark.usefixtures("in_background")
def test_under_nohup_a_child_outlives_its_terminal_but_not_an_interruption(odd_child: Child) -> None:
    assert odd_child.ask({}, b"SIGHUP", 20.0)["size"] == len(b"SIGHUP")
    with pytest.raises(ChildError) as error:
        odd_child.ask({}, b"SIGINT", 20.0)
    assert error.value.transient


def test_a_child_is_reused_and_replaced_when_it_was_killed(odd_child: Child) -> None:
    pid = odd_child.ask({}, b"", 20.0)["pid"]
    assert odd_child.ask({}, b"", 20.0)["pid"] == pid
    os.kill(pid, signal.SIGKILL)
    time.sleep(0.2)
    assert odd_child.ask({}, b"", 20.0)["pid"] != pid


@pytest.mark.skipif(sys.platform != "linux", reason="needs the kernel's parent-death signal")
def test_a_child_dies_with_its_parent() -> None:
    code = (
        "import time; from quern.jobs.documents.html.child import child; from quern.jobs.documents.clean import Clean;"
        "c = child('quern.jobs.documents.html.extract', 512);"
        "c.ask({'url': 'file:///a', 'charset': None}, b'<html><p>a</p></html>', 60);"
        "print(c._running.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.long
def test_a_forked_worker_gets_its_own_child() -> None:
    code = (
        "import os; from quern.jobs.documents.html.child import child;"
        "q = ({'url': 'file:///a', 'charset': None}, b'<html><p>a</p></html>', 60);"
        "c = child('quern.jobs.documents.html.extract', 512); c.ask(*q);"
        "pid = os.fork();\n"
        "if pid == 0:\n"
        "    d = child('quern.jobs.documents.html.extract', 512); d.ask(*q); os._exit(0 if d is not c else 9)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), c.ask(*q)['images'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["0", "[]"]
