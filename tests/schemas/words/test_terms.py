"""Words for full-text search, and those that questions in Chinese are asked with."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.indexes.lexical import LexicalIndex
from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.terms import search_terms, without_asking


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("In 2026, Hailey moved to House 12B.", "in 2026 hailey moved to house 12b"),
        ("LiHua met YuxuanFan", "lihua li hua met yuxuanfan yuxuan fan"),  # A name is followed by its parts.
        ("HTMLParser", "htmlparser html parser"),
        ("NASA's PDFs, Alice", "nasa pdfs alice"),
        ("Hailey's and Li’s", "hailey and li"),
        ("Café Müller, ＡＢＣ", "cafe muller abc"),
        ("20260408_08:38", "20260408 08 38"),
        ("北京大学", "北京 京大 大学"),  # Of scripts without spaces pairs of characters.
        ("東京タワー", "東京 京タ タワ ワー"),
        ("한국어", "한국 국어"),
        ("我 ok", "我 ok"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
    ],
)
def test_terms_of(text, terms):
    assert search_terms(text) == terms


def test_title_and_text_are_joined_and_nulls_left_out():
    assert search_terms("Title", None, "", " !! ", "text") == "title text"


@given(st.lists(st.none() | st.text()))
def test_words_are_separated_by_single_spaces(texts):
    terms = search_terms(*texts)
    assert terms == " ".join(terms.split())


@given(st.text(st.characters(codec="latin-1")))
def test_words_of_words_are_the_same_words(text):
    terms = search_terms(text)
    assert search_terms(terms) == terms


@given(st.text(), st.text())
def test_words_of_two_texts_are_the_words_of_each(one, other):
    assert search_terms(one, other).split() == search_terms(one).split() + search_terms(other).split()


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("沼鹿又叫什么？", "沼鹿 鹿又 又叫"),
        ("為什麼他們要去哪裡？", "他們 們要 要去"),
        ("谁设计了该教堂？", "设计 计了 了该 该教 教堂"),
        ("哪吒是哪部电影的主角吗？", "哪吒 吒是 部电 电影 影的 的主 主角"),
        ("《谁动了我的奶酪》的作者是谁？", "谁动 动了 了我 我的 的奶 奶酪 的作 作者 者是"),
        ("几内亚有几个省？", "几内 内亚 亚有 省"),
        ("任何人在任何时候都可以入场吗？", "任何 何人 人在 在任 任何 何时 时候 候都 都可 可以 以入 入场"),
        ("何时何地由何人所建？", "由 所建"),
        ("什么？", "什么"),
        ("Who built the café, and why?", "who built the cafe and why"),
    ],
)
def test_what_a_question_asks_with_is_not_sought(question, words):
    assert search_terms(without_asking(question)) == words


def test_a_question_in_chinese_finds_its_document_first(shared):
    """BM25 over whole documents of CMRC 2018: .980 of the questions, .969 with the words that they ask with."""
    floors = json.loads((Path(__file__).parents[2] / "floors.json").read_text("utf-8"))["cmrc2018"]
    folder, form = shared / "cmrc2018", SearchForm()
    documents, questions = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("documents.jsonl", "queries.jsonl")
    )
    index = LexicalIndex([pa.array([search_terms(form(d["text"])) for d in documents])])
    found = index.search([search_terms(without_asking(form(q["question"]))) for q in questions], 1)
    best = {q: documents[n]["doc_id"] for q, n in zip(found.question.tolist(), found.chunk.tolist(), strict=True)}
    right = sum(best.get(n) in q["evidence_doc_ids"] for n, q in enumerate(questions))
    assert right / len(questions) >= floors["bm25 recall@1"]
