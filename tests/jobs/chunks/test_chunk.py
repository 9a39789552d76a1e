"""Cutting documents into chunks."""

import datetime as dt
import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from quern.jobs.chunks.chunk import Chunk, Splitter
from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.schemas.contract.validate import validate
from quern.schemas.settings import ChunkSettings
from quern.schemas.tables import TIMESTAMP
from quern.schemas.words.terms import search_terms

BERT = load_tokenizer(read_model(DEFAULT_MODEL))
BYTES = Tokenizer(models.BPE(vocab={c: n for n, c in enumerate(pre_tokenizers.ByteLevel.alphabet())}, merges=[]))
BYTES.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)

WORDS = [
    *("Alice", "met", "unbelievably", "2026-04-08", "don't", "[SEP]", "end.", "Dr.", "why?", "''"),
    *("a" * 130, "x" * 12),
]
ODD = ["é", "e\u0301", "北京", "大学。", "东西！", "\x00", "\u200b", "\ufffd", "😀", "\x1c", "ß"]
PIECES = st.sampled_from(WORDS + ODD)
GAPS = st.sampled_from([" ", " ", " ", "\n", "\n\n", "", "\t", "\u3000", "\x0b", "\x85", ". ", "\n \n"])
TEXTS = st.one_of(
    st.lists(st.tuples(PIECES, GAPS), max_size=60).map(lambda pairs: "".join(p + g for p, g in pairs)),
    st.text(max_size=80),
)


def spans(text, limit=350, overlap=0.25, tokenizer=BERT, characters=4000):
    return next(Splitter(tokenizer, limit, overlap, characters).split([text]))


def chunks(text, limit, overlap=0.0):
    return [text[s.start : s.end] for s in spans(text, limit, overlap)]


def documents(*texts, title=None):
    columns = dict.fromkeys(("doc_id", "title", "text"), pa.string())
    schema = pa.schema(columns | {"published_at": TIMESTAMP, "utc_offset": pa.int32()})
    at = dt.datetime(2026, 4, 8, tzinfo=dt.UTC)
    rows = [{"doc_id": f"d{n}", "title": title, "text": t, "published_at": at} for n, t in enumerate(texts)]
    return pa.RecordBatch.from_pylist(rows, schema=schema)


@settings(max_examples=250)
@given(TEXTS, st.integers(6, 40), st.sampled_from([0.0, 0.25, 0.5, 0.85]))
def test_chunks_cover_the_text_in_order_and_within_the_limit(text, limit, overlap):
    found = spans(text, limit, overlap)
    if not len(BERT.encode(text, add_special_tokens=False)):
        assert not found
        return
    covered = set()
    for span in found:
        piece = text[span.start : span.end]
        assert piece == piece.strip() != ""
        assert span.tokens == len(BERT.encode(piece, add_special_tokens=False))
        assert span.tokens <= limit
        covered.update(range(span.start, span.end))
    assert all(text[n].isspace() for n in set(range(len(text))) - covered)
    assert all(a.start < b.start and a.end < b.end for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("tokenizer", [BERT, BYTES])
def test_a_chunk_that_begins_with_a_line_has_its_indentation(tokenizer):
    text = "def turn(stone):\n" + "".join(f"    stone.turn({n})\n" for n in range(60))
    found = [text[span.start : span.end] for span in spans(text, 60, 0.25, tokenizer)]
    assert len(found) > 3
    assert all(chunk.startswith("    stone.turn") for chunk in found[1:])


def test_each_chunk_of_a_long_table_has_its_header():
    header = "| Mill | Stones | Owner |\n|---|---|---|"
    text = f"# Mills\n\n{header}\n" + "".join(f"| Mill {n} | {n} | Holm {n} |\n" for n in range(60)) + "\nThat is all."
    rows = Chunk(ChunkSettings(tokens=80)).apply(documents(text)).rows.to_pylist()
    assert len(rows) > 5
    assert [row["header"] for row in rows] == [None, *[header] * (len(rows) - 1)]
    assert all(text[row["start"] : row["end"]] == row["text"] for row in rows)
    assert all("stones owner" in row["terms"] for row in rows)


def test_a_paragraph_is_a_better_end_than_a_line_and_a_line_than_a_sentence():
    assert chunks("a b c d e.\n\nf g. h\ni j k l m n o", 12)[0] == "a b c d e."
    assert chunks("a b c d e f\ng h. i j k l m n o p", 12)[0] == "a b c d e f"
    assert chunks("a b c d e f g. h i j k l m n o", 12)[0] == "a b c d e f g."


def test_the_next_chunk_begins_at_a_sentence_within_the_overlap():
    text = " ".join(f"w{n % 10} is here." for n in range(40))
    found = spans(text, 40, 0.25)
    assert all(text[s.start - 2 : s.start] == ". " for s in found[1:])
    shared = [len(BERT.encode(text[b.start : a.end], add_special_tokens=False)) for a, b in itertools.pairwise(found)]
    assert all(5 <= n <= 10 for n in shared)


def test_the_end_of_a_document_is_no_scrap():
    for words in range(21, 60):
        assert min(s.tokens for s in spans(" ".join(["word"] * words), 20, 0.0)) >= 7


def test_chinese_is_cut_at_the_end_of_a_sentence_and_else_between_characters():
    assert chunks("今天天气很好。我们去公园玩吧！你来吗", 12)[0] == "今天天气很好。"
    assert sorted(map(len, chunks("天" * 30, 12))) == [8, 10, 12]


THAI = "กรุงเทพมหานครเป็นเมืองหลวงและนครที่มีประชากรมากที่สุดของประเทศไทย"
FAMILY = "👨‍👩‍👧‍👦"


@settings(max_examples=150)
@given(
    st.one_of(
        TEXTS, st.lists(st.sampled_from([THAI, THAI * 9, FAMILY, "เ", "ที่", "\x00" * 300, "。", " "]), max_size=9)
    ),
    st.integers(6, 40),
    st.integers(1, 120),
    st.sampled_from([0.0, 0.25, 0.89]),
    st.sampled_from([BERT, BYTES]),
)
def test_no_chunk_has_more_characters_than_it_may_or_loses_any(pieces, limit, characters, overlap, tokenizer):
    text = "".join(pieces)
    found = spans(text, limit, overlap, tokenizer, characters)
    assert all(0 < s.end - s.start <= characters and s.tokens <= limit for s in found)
    assert all(a.start < b.start and a.end < b.end for a, b in itertools.pairwise(found))
    covered = {n for s in found for n in range(s.start, s.end)}
    left = "".join(text[n] if n not in covered else "\n" for n in range(len(text)))
    assert all(not len(tokenizer.encode(part, add_special_tokens=False)) for part in left.split())


@pytest.mark.parametrize(
    ("text", "repeats"),
    [("a", 3_000_000), (THAI, 4000), ("iVBORw0KGgo/AAAA+NSUhEUgAAAAUA", 4000), ("\x00", 300_000), ("कि", 100_000)],
    ids=["one word", "Thai", "base64", "no token", "marks"],
)
@pytest.mark.timeout(60)
def test_text_without_spaces_is_cut_in_linear_time(text, repeats):
    found = spans("A page. " + text * repeats + " The end.")
    assert max(s.end - s.start for s in found) <= 4000
    assert max(s.tokens for s in found) <= 350
    assert found[0].start == 0
    assert found[-1].end == len(text) * repeats + 17
    shared = [a.end - b.start for a, b in itertools.pairwise(found)]
    assert max(shared, default=0) <= 1000
    assert len(found) < len(text) * repeats / 100


def test_what_is_cut_by_characters_ends_at_a_sentence_else_a_clause_else_a_word():
    def ends(text):
        return [text[s.start : s.end][-1] for s in spans(text, characters=20, overlap=0.0)][:-1]

    assert set(ends("今天天气很好，我们去公园玩吧。" * 9)) == {"。"}
    assert set(ends("今天天气很好，我们去公园玩吧、" * 9)) <= {"，", "、"}
    assert set(ends("ภาษาไทย ไม่มี วรรค " * 9)) <= {"ย", "ี", "ค"}


def test_no_chunk_ends_inside_of_what_a_reader_sees_as_one_character():
    for unit in (FAMILY, "🇩🇪", "กำ", "नि", "e\u0301", "\u1112\u1161\u11ab", "👍🏽"):
        text = unit * 30
        assert all(s.start % len(unit) == 0 == s.end % len(unit) for s in spans(text, characters=23))


def test_chunks_have_keys_terms_and_their_documents_title_and_time():
    job = Chunk(ChunkSettings(tokens=10, overlap=0.0))
    made = job.apply(documents("LiHua met Bob in the bakery. " * 4, "", "short", title="A Day"))
    rows = validate(made.rows, job.makes).to_pylist()
    assert [r["chunk_id"] for r in rows] == [f"d0-{n}" for n in range(len(rows) - 1)] + ["d2-0"]
    assert made.parents.tolist() == [0] * (len(rows) - 1) + [2]
    assert rows[-1]["terms"] == search_terms("A Day", "short")
    assert {r["title"] for r in rows} == {"A Day"}
    assert rows[0]["published_at"].year == 2026
    assert [(r.row, r.reason) for r in made.rejects] == [(1, "no_tokens")]
