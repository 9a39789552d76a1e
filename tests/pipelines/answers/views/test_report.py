"""The report: every citation leads to exactly its quote, nothing of the corpus runs, memory does not grow."""

import base64
import gc
import hashlib
import json
import re
import weakref
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from quern.pipelines.answers.views.passages import passages_of, quotes_of, web_address
from quern.pipelines.answers.views.path import label_of
from quern.pipelines.answers.views.picture import picture_of
from quern.pipelines.answers.views.report import write_report
from quern.schemas.answers import Answer, PathNode, Sentence, SubAnswer
from quern.schemas.words.lines import printable
from tests.pipelines.answers.views.sample_answers import ANSWERS, TEXT, answer, cite, hit, image, node


def typical() -> Answer:
    first, second = hit(1, "d-0"), hit(2, "e-0", 40)
    return answer(
        hits=[first, second],
        citations=[cite(1, first, 0, 25)],
        path=[node("a", "d-0", 0.9), node("b", "e-0", 0.8, 1, "a"), node("c", "x-0", 0.7)],
    )


def page(
    path: Path, *answers: Answer, title: str = "Lamps", snapshot: dict[str, object] | None = None
) -> html.HtmlElement:
    write_report(iter(answers), path / "report.html", title=title, snapshot=snapshot or {})
    return html.document_fromstring((path / "report.html").read_bytes(), parser=html.HTMLParser(encoding="utf-8"))


def quotes(root: html.HtmlElement) -> dict[str, str]:
    """Marked text by id of the first mark; a span that was cut in two is put together."""
    found = {}
    for mark in root.xpath("//mark[@id]"):
        passage = mark.xpath("ancestor::*[@class='passage']")[0]
        parts = passage.xpath(".//mark[@data-cite=$c]", c=mark.get("data-cite"))
        found[mark.get("id")] = "".join(p.text_content() for p in parts)
    return found


def test_a_citation_leads_to_exactly_its_quote(tmp_path):
    root = page(tmp_path, typical())
    (link,) = root.xpath("//p[@class='text']/a")
    assert link.text == "[1]"
    assert quotes(root) == {link.get("href")[1:]: "The lamp was lit in 1871."}
    assert root.xpath("//mark")[0].text_content() == "The lamp was lit in 1871."


def test_every_inner_link_resolves_and_ids_are_unique_though_questions_share_chunks(tmp_path):
    root = page(tmp_path, typical(), typical(), typical())
    ids = root.xpath("//@id")
    assert len(ids) == len(set(ids))
    inner = [h for h in root.xpath("//@href") if h.startswith("#")]
    assert inner
    assert {h[1:] for h in inner} <= set(ids)
    outer = [a for a in root.xpath("//a[@href]") if not a.get("href").startswith("#")]
    assert {(a.get("href"), a.get("rel")) for a in outer} == {
        ("https://tidewiki.example/lamp", "noopener noreferrer nofollow")
    }
    assert {i for a in root.xpath("//@aria-labelledby") for i in a.split()} <= set(ids)


def test_overlapping_nested_and_touching_spans_each_mark_their_quote(tmp_path):
    one = hit(start=100)
    spans = [(100, 125), (110, 145), (112, 120), (145, 150), (100, 125)]
    citations = [cite(n, one, *span) for n, span in enumerate(spans, 1)]
    root = page(tmp_path, answer([one], citations))
    assert quotes(root) == {f"q1-m{n}": c.quote for n, c in enumerate(citations, 1)}
    assert root.xpath("//*[@class='passage']")[0].text_content() == TEXT


@given(st.text(min_size=1, max_size=40), st.data())
def test_marks_never_change_the_text(text, data):
    one = hit(text=text, start=7)
    edges = st.lists(st.integers(7, 7 + len(text)), min_size=2, max_size=2, unique=True).map(sorted)
    spans = data.draw(st.lists(edges, max_size=5))
    given_answer = answer([one], [cite(n, one, *s) for n, s in enumerate(spans, 1)])
    (passage,) = passages_of(given_answer, quotes_of(given_answer, "q1"), "q1")
    assert unescape(re.sub(r"</?mark\b[^>]*>", "", passage.text)) == printable(text)
    assert passage.text.count("<mark") == passage.text.count("</mark>")
    assert {int(n) for n in re.findall(r" id=q1-m(\d+)", passage.text)} == set(range(1, len(spans) + 1))


@pytest.mark.parametrize("change", [{"chunk_id": "gone-0"}, {"start": 3}, {"quote": "not there"}, {"end": 9999}])
def test_a_citation_that_no_hit_holds_leads_to_its_source_with_the_quote(tmp_path, change):
    one = hit()
    root = page(tmp_path, answer(hits=[one], citations=[cite(1, one, 0, 25).model_copy(update=change)]))
    assert root.xpath("//p[@class='text']/a/@href") == ["#q1-s1"]
    assert root.xpath("//blockquote[@id='q1-s1']")
    assert not root.xpath("//mark")


def test_a_number_that_the_corpus_wrote_is_text_and_a_sentence_leads_to_all_its_sources(tmp_path):
    one = hit(text="Lit in 1871.[1] Then dark. Then dark.")
    citations = [cite(1, one, 0, 15), cite(2, one, 16, 26), cite(3, one, 27, 37)]
    said = [("Lit in 1871.[1]", [1]), ("Then dark.", [2, 3])]
    twice = answer([one], citations).model_copy(
        update={"sentences": [Sentence(text=text, citations=numbers) for text, numbers in said]}
    )
    (text,) = page(tmp_path, twice).xpath("//p[@class='text']")
    assert text.text_content() == "Lit in 1871.[1]\u00a0[1] Then dark.\u00a0[2][3]"
    assert [(a.text, a.get("href")) for a in text.xpath(".//a")] == [
        ("[1]", "#q1-m1"),
        ("[2]", "#q1-m2"),
        ("[3]", "#q1-m3"),
    ]
    assert twice.answer == "Lit in 1871.[1] [1] Then dark. [2][3]"


EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202egnp.exe\x1b[31m\x00"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "//x.example", "http://["]
)
def test_hostile_text_is_inert(tmp_path, url):
    one = hit(1, "d'><b>-0", text=EVIL, title=EVIL, url=url)
    evil = answer(
        [one],
        [cite(1, one, 0, len(EVIL))],
        [PathNode(query_id=EVIL, chunk_id=one.chunk_id, text=EVIL, similarity=0.5, hop=0, via=None)],
        question=EVIL,
        text=EVIL,
    ).model_copy(
        update={
            **dict.fromkeys(("query_id", "recipe", "by", "asked", "kind", "type", "expected"), EVIL),
            "notes": [EVIL],
            "images": [image(url, n, EVIL, EVIL).model_copy(update={"url": url, "why": EVIL}) for n in (1, 7)],
            "sub_questions": [SubAnswer(number=1, parents=[1, 7], question=EVIL, answer=EVIL, citations=[1, 9])],
        }
    )
    refused = evil.model_copy(update={"sentences": [], "citations": [], "reason": EVIL, "question": EVIL * 9})
    root = page(tmp_path, evil, refused, title=EVIL, snapshot={EVIL: EVIL})
    assert len(root.xpath("//script")) == 1
    assert not root.xpath("//img | //b | //iframe | //object | //embed")
    assert not [a for e in root.iter() for a in e.attrib if a.startswith("on") or a in {"style", "src", "srcset"}]
    assert all(h.startswith("#") for h in root.xpath("//@href"))
    assert "\x1b" not in (tmp_path / "report.html").read_text("utf-8")
    assert root.xpath("//h1")[0].text_content() == printable(EVIL)


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://a.example/x?y=1&z=<", True),
        ("HTTP://a.example", True),
        ("https://", False),
        ("https:///x", False),
        ("ftp://a.example", False),
        (" javascript:alert(1)//http://a.example", False),
        ("", False),
        (None, False),
    ],
)
def test_only_web_addresses_become_links(url, link):
    assert web_address(url) == (url if link else None)


def test_the_policy_allows_only_the_pages_own_style_and_script(tmp_path):
    root = page(tmp_path, typical())
    policy = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]

    def digest(tag: str) -> str:
        (element,) = root.xpath(f"//{tag}")
        return base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()

    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest('style')}'",
        f"script-src 'sha256-{digest('script')}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert not root.xpath("//link | //base | //form | //*[@src]")
    assert not re.search(r"url\(|@import|@font-face", root.xpath("//style")[0].text)
    assert "eval" not in root.xpath("//script")[0].text


def test_control_characters_and_lone_surrogates_do_not_stop_the_report(tmp_path):
    text = "a\x00b\ud800c\r\nd\re\x85f"
    broken = hit().model_copy(update={"text": text, "title": text, "end": len(text)})
    quoted = cite(1, hit(), 0, 4).model_copy(update={"start": 2, "end": 6, "quote": text[2:6], "title": text})
    root = page(
        tmp_path,
        answer(question=text.replace("\ud800", "")).model_copy(
            update={
                "hits": [broken],
                "citations": [quoted],
                "sentences": [Sentence.model_construct(text=text, citations=[1])],
            }
        ),
    )
    assert root.xpath("//mark")[0].text_content() == "b\ufffdc "
    assert root.xpath("//*[@class='passage']")[0].text_content() == "a\ufffdb\ufffdc \nd\ne\ufffdf"


def test_a_report_without_answers_or_evidence_is_a_page(tmp_path):
    assert "No questions were asked." in page(tmp_path).text_content()
    assert not page(tmp_path, answer()).xpath("//article//details")


def test_the_picture_goes_from_the_question_over_nodes_and_neighbours_to_chunks():
    drawn = picture_of(typical())
    assert [column.name for column in drawn.columns] == ["Matched nodes", "Neighbours, 1 hop"]
    assert [[box.kind for box in column.boxes] for column in drawn.columns] == [["node", "way"], ["node"]]
    height, tops, edges = json.loads(drawn.numbers)
    assert [len(column) for column in tops] == [1, 2, 1, 2]
    # The first node leads over a lane to the first chunk (4), the second to none, the neighbour comes from the first.
    assert [edge[:3] for edge in edges] == [[0, 4, 10], [0, 0, 0], [1, 5, 5]]
    assert [len(edge) for edge in edges] == [4, 3, 3]
    assert 0 < edges[0][3] < height


def test_the_picture_shows_the_strongest_and_counts_the_others():
    (column,) = picture_of(answer(hits=[hit()], path=[node(f"n{i:02}", "d-0", i / 30) for i in range(30)])).columns
    assert [box.label for box in column.boxes] == [f"Text of n{i}" for i in range(29, 17, -1)]
    assert column.more == 18


def test_without_a_path_the_picture_joins_the_question_to_its_chunks():
    drawn = picture_of(answer(hits=[hit(1, "d-0", score=12.3), hit(2, "e-0", score=4)]))
    assert (drawn.columns, json.loads(drawn.numbers)[2]) == ([], [[0, 0, 10], [0, 0, 0]])


@pytest.mark.parametrize(
    "path",
    [
        [node("a", "d-0", float("nan")), node("b", "d-0", float("inf"))],
        [node("a", "d-0", 0.5, 1, "b"), node("b", "d-0", 0.4, 2, "a")],
        [node("a", "d-0", 0.5, 3, "gone"), node("a", "d-0", 0.4)],
        [node("a", "d-0", 0.5, 0, "a"), node("b", "d-0", 0.5, 10**6, "a")],
    ],
)
def test_a_strange_path_is_still_drawn(tmp_path, path):
    (numbers,) = page(tmp_path, answer(hits=[hit(), hit(2)], path=path)).xpath("//@data-graph")
    height, tops, links = json.loads(numbers)
    assert all(0 < top < height for column in tops for top in column)
    boxes = sum(map(len, tops))
    for box, (before, chunk, tenths, *_) in enumerate(filter(None, links), 1):
        assert -1 <= before < box < boxes
        assert chunk == 0 or box < chunk < boxes
        assert 0 <= tenths <= 10


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("About The lamp: when was it lit? In 1871.", "When was it lit? In 1871."),
        ("About A report: the lamp: when was it lit? In 1871.", "When was it lit? In 1871."),
        ("关于渡轮，什么时候投入运营？今年七月一日。", "什么时候投入运营？今年七月一日。"),
        ("About Elsewhere: who built it? Nobody knows: it stands.", "Who built it? Nobody knows: it stands."),
        ("Who lit the lamp? A keeper.", "Who lit the lamp? A keeper."),
    ],
)
def test_a_label_is_without_the_title_that_all_nodes_of_its_document_begin_with(text, label):
    assert label_of(text, ["The lamp", "A report", "A report: the lamp"]) == label


def test_what_the_question_became_is_told(tmp_path):
    root = page(tmp_path, *ANSWERS)
    first, second, third, fourth = root.xpath("//article")
    assert root.xpath("//article/@data-found") == ["yes", "no", "no", "yes"]
    assert [dd.text for dd in root.xpath("//dl[@class='counts']//dd")] == ["4", "2", "1", "1"]
    assert second.xpath(".//details[contains(@class, 'evidence')]/summary/h3")[0].text == "Nearest evidence"
    parts = first.xpath(".//*[@class='parts']//li")
    assert [part.get("class") for part in parts] == ["d0", "d0", "d1"]
    assert "after 1" in parts[2].text_content()
    assert "no answer" in parts[2].text_content()
    assert "Understood as: Which cost more" in first.xpath(".//ul")[0].text_content()
    assert first.xpath(".//*[@class='expected']")[0].text_content().strip() == "Expected The Tollen Bridge"
    assert second.xpath(".//*[@class='text']")[0].text_content() == "What was found speaks of another time."
    assert third.xpath(".//*[@class='status']/text()") == ["Refused"]
    assert fourth.xpath(".//h2")[0].text.endswith("…")
    assert fourth.xpath(".//details[@class='whole']/p")[0].text == ANSWERS[3].question


def test_answers_are_taken_one_by_one_and_let_go(tmp_path):
    alive: list[weakref.ref[Answer]] = []
    most = 0
    line = typical().model_dump_json()

    def stream() -> Iterator[Answer]:
        nonlocal most
        for number in range(2000):
            if number % 400 == 399:  # A collection of what a whole run of tests holds takes a second and a half.
                gc.collect()  # For those in reference cycles.
                most = max(most, sum(r() is not None for r in alive))
            made = Answer(**{**json.loads(line), "query_id": f"q{number}"})
            alive.append(weakref.ref(made))
            yield made
            del made

    write_report(stream(), tmp_path / "report.html", title="Many", snapshot={})
    assert most < 10
    text = (tmp_path / "report.html").read_text("utf-8")
    assert text.count("<article") == 2000
    assert text.count('<li><a href="#q') == 2000


def test_a_report_is_whole_or_absent(tmp_path):
    def failing() -> Iterator[Answer]:
        yield typical()
        raise RuntimeError("the model is gone")

    with pytest.raises(RuntimeError, match="the model is gone"):
        write_report(failing(), tmp_path / "report.html", title="Half", snapshot={})
    assert list(tmp_path.iterdir()) == []
