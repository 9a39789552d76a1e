"""Filters: what a chunk must meet to be found."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from quern.indexes.catalog import Warehouse
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve import filters
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.filters import Condition, FilterError, allowed, check_columns, conditions_in, known_by
from quern.pipelines.retrieve.named_documents import named_documents
from quern.pipelines.retrieve.recipes import RECIPES, find_recipes
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by
from quern.schemas.answers import Question
from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.settings.reading import load_settings
from tests.conftest import build_here

MOMENTS = [
    None,
    datetime(2023, 12, 31, 23, 59, tzinfo=UTC),
    datetime(2024, 5, 1, tzinfo=UTC),
    datetime(2024, 5, 31, 9, tzinfo=UTC),
]
QUESTION = "What happened to the Lady Orrin in the Gannet Narrows?"


def condition(text: str) -> Condition:
    (one,) = conditions_in(text)
    return one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("published_at = 2024-05", [0, 0, 1, 1]),
        ("published_at>2024-05-01", [0, 0, 0, 1]),
        ("published_at>=2024", [0, 0, 1, 1]),
        ("published_at<=2024-05-31", [0, 1, 1, 1]),
        ("published_at<=9999-12-31", [0, 1, 1, 1]),
        ("published_at<2024-05-31T11:00+02:00", [0, 1, 1, 0]),
        ("published_at!=2023-12", [0, 0, 1, 1]),
    ],
)
def test_a_date_stands_for_all_its_moments_and_what_is_missing_meets_nothing(text: str, expected: list[int]) -> None:
    assert condition(text).holds(pa.array(MOMENTS, TIMESTAMP)).tolist() == list(map(bool, expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tidewiki.example", "not COLUMN OPERATOR VALUE"),
        ("site===a", "begins with an operator"),
        ("site='a' OR 1=1 --", "'OR 1=1 --' after the value is not `and` with a condition"),
        ("site=a or language=en", "`or` is not understood"),
        ("site='a", "is not closed"),
        ("site in (a, )", "is not a list"),
        ("published_at contains 2024", "`contains` is for texts"),
        ("token_count in (1, many)", "type int32"),
        ("sight=a", "no column of documents or chunks 'sight'; did you mean site"),
        ("published_at>last week", "'last week' with a column of type date"),
        ("published_at=2024-13", "type date"),
        ("token_count<99999999999999999999", "type int32"),
        ("published_at<0001-01-01T00:00+05:00", "type date"),
        ("site=\ud800", "type string"),
        ("site=" + " " * 100_000 + "x", "100,006 characters, more than 1,000"),
        ("vector=1", "there is no column"),
        ("__class__=1", "there is no column"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        condition(text)


def test_values_in_quotes_lists_and_parts_of_texts_are_compared_as_they_stand() -> None:
    sites = pa.array(["O'Brien & Co", "a, b", 'x" or "1', "Salt and Pepper", None])
    for text, expected in (
        ("site=O'Brien & Co", [1, 0, 0, 0, 0]),
        ("site == 'O''Brien & Co'", [1, 0, 0, 0, 0]),
        ('site in ("a, b", Salt and Pepper)', [0, 1, 0, 1, 0]),
        ('site="x"" or ""1"', [0, 0, 1, 0, 0]),
        ("site=Salt and Pepper", [0, 0, 0, 1, 0]),
        ("site contains ' and '", [0, 0, 0, 1, 0]),
        ("site contains o'b", [1, 0, 0, 0, 0]),
        ("site != 'a, b'", [1, 0, 1, 1, 0]),
    ):
        assert condition(text).holds(sites).tolist() == list(map(bool, expected)), text
    months = condition("published_at in (2023, 2024-05-01)")
    assert months.holds(pa.array(MOMENTS, TIMESTAMP)).tolist() == [False, True, True, False]


def test_conditions_are_joined_by_and_outside_of_values() -> None:
    found = conditions_in("metadata.Home town == 'Salt and b=c' and token_count<5 AND site in (a, b)")
    assert [(one.column, one.operator, one.ranges[0][0]) for one in found] == [
        ("metadata.Home town", "=", "Salt and b=c"),
        ("token_count", "<", 5),
        ("site", "in", "a"),
    ]


def test_a_filter_may_be_about_the_key_and_only_the_last_masks_are_held(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "MOST_MASKS", 3)
    members = searcher.graph.members
    chunk, document = members.chunks[0].as_py(), members.documents.keys[0].as_py()
    asked = [[f"chunk_id={chunk}"], [f"doc_id!={document}"], *([f"token_count<{n}"] for n in range(5))]
    found = allowed(searcher, asked)
    assert found is not None
    assert np.flatnonzero(found.masks[0]).tolist() == [0]
    assert found.masks[1].tolist() == (members.documents.of_chunk != 0).tolist()
    again = allowed(searcher, asked[:2])
    assert again is not None
    assert again.masks.tolist() == found.masks[:2].tolist()
    assert searcher.held(filters.Masks).packed.cache_info().currsize == 3


def sites(searcher: Searcher, chunks: list[int]) -> set[str | None]:
    members = searcher.graph.members
    ids = members.documents.keys.take(pa.array(np.unique(members.documents.of_chunk[chunks]))).to_pylist()
    return set(searcher.snapshot.table("documents").lookup("doc_id", ids, ["site"])["site"].to_pylist())


# Recipes over other texts of nodes embed these anew.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name.startswith("nodes-") else name for name in RECIPES]
)
def test_no_recipe_finds_what_a_question_filters_out(name: str, searcher: Searcher) -> None:
    where = [["site=tidewiki.example"], [], ["site=harbour-courier.example", "published_at<2024-03-03"], ["site=none"]]
    (recipe,) = find_recipes(name)
    found = recipe.rank(Batch(searcher, [QUESTION] * 4, where))
    of = [found.chunks.chunk[found.chunks.question == n].tolist() for n in range(4)]
    assert sites(searcher, of[0]) == {"tidewiki.example"}
    assert len(sites(searcher, of[1])) > 1
    assert sites(searcher, of[2]) == {"harbour-courier.example"}
    assert of[3] == []
    if found.reached is not None:
        nodes = found.reached.node[found.reached.question == 0]
        assert sites(searcher, searcher.graph.nodes.owner[nodes].tolist()) <= {"tidewiki.example"}


def test_a_filter_comes_before_the_ranking(searcher: Searcher) -> None:
    """What is found with a filter is what is left of a ranking that is deep enough without."""
    settings = searcher.settings.model_copy(
        update={"retrieve": searcher.settings.retrieve.model_copy(update={"depth": 2})}
    )
    shallow = Searcher(searcher.snapshot, settings)
    whole = find_recipes("dense")[0].rank(Batch(searcher, [QUESTION])).chunks.chunk
    some = find_recipes("dense")[0].rank(Batch(shallow, [QUESTION], [["language=zh"]])).chunks.chunk
    mask = Batch(searcher, [QUESTION], [["language=zh"]]).allows(np.zeros(len(whole), np.int64), whole)
    assert some.tolist() == whole[mask][:2].tolist()


def test_what_was_modified_after_a_day_was_not_known_then_nor_what_has_no_date(searcher: Searcher) -> None:
    asked = [
        known_by(date(2024, 3, 5)),
        ["published_at<=2024-03-05"],
        known_by(date(2024, 3, 6)),
        known_by(date(2100, 1, 1)),
    ]
    found = allowed(searcher, asked)
    assert found is not None
    (modified,) = set(addresses(searcher, found.masks[1] & ~found.masks[0]))
    assert modified == "https://tidewiki.example/clippings/2024-03-05-ferry.html"
    assert modified in addresses(searcher, found.masks[2])
    (undated,) = set(addresses(searcher, ~found.masks[3]))
    assert undated.endswith("bin-collection.html")


def addresses(searcher: Searcher, mask: filters.Mask) -> list[str]:
    members = searcher.graph.members
    ids = members.documents.keys.take(pa.array(np.unique(members.documents.of_chunk[mask]))).to_pylist()
    return searcher.snapshot.table("documents").lookup("doc_id", ids, ["url"])["url"].to_pylist()


def test_metadata_is_equal_as_texts_ordered_as_numbers_where_both_are_and_a_name_that_none_has_is_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "d.csv").write_text(
        "doc_id,text,grade,Home town,a=b,zip\n1,Ines keeps bees in Tollen.,9,Tollen,9007199254740993,123\n"
        "2,Oskar keeps bees in Marne.,10,Marne,,0123\n3,Nadia keeps bees.,,,9007199254740992,\n"
    )
    with_metadata = build_here(tmp_path / "d.csv", tmp_path / "warehouse")
    opened = Searcher(Warehouse.open(with_metadata).snapshot(), load_settings())

    def found(*where: str) -> list[str]:
        (answer,) = answer_questions(
            opened, [Question(query_id="q", question="Who keeps bees?", where=list(where))], *find_recipes("bm25")
        )
        return sorted(hit.doc_id for hit in answer.hits)

    assert found("metadata.grade>9") == ["2"]
    assert found("metadata.grade=9") == found("metadata.grade == '9' and metadata.zip in (123, x)") == ["1"]
    assert found("metadata.Home town contains arn") == ["2"]
    assert found("metadata.Home town!=Tollen") == ["2"]
    assert (found("metadata.zip=0123"), found("metadata.zip!=0123"), found("metadata.zip>=123")) == (
        ["2"],
        ["1"],
        ["1", "2"],
    )
    assert found('metadata."a=b"=9007199254740993') == ["1"]
    (answer,) = answer_questions(
        opened, [Question(query_id="q", question="Who keeps bees in Marne?")], *find_recipes("bm25")
    )
    assert answer.hits[0].metadata == {"Home town": "Marne", "grade": "10", "zip": "0123"}
    check_columns(opened, ["metadata.grade>9"])
    with pytest.raises(FilterError, match="there is no metadata 'grad'; did you mean grade"):
        check_columns(opened, ["metadata.grad>9"])
    with pytest.raises(FilterError, match=r"there are: author, .*, metadata\.NAME"):
        check_columns(opened, ["priority=high"])


def test_documents_are_found_by_key_and_a_filter_that_none_passes_is_named(tmp_path: Path) -> None:
    rows = [
        ("HD-1033", "Excel export stops", "The export stops at 65,536 lines.", "Gold"),
        ("HD-1034", "Printer prints green", "The printer in Room 374 prints green since Monday.", "Silver"),
    ]
    lines = [
        {
            "doc_id": key,
            "url": f"https://desk.example/t/{key[3:]}",
            "title": title,
            "text": text,
            "metadata": {"tier": tier, "room": "HALL-9"},
        }
        for key, title, text, tier in rows
    ]
    lines[0]["metadata"] |= {"change": "CR-77"}
    lines[1]["metadata"] |= {"links": ["INC0044", "other"]}
    lines += [{"doc_id": f"x{n}", "text": f"A note of day {n} about tea.", "room": "HALL-9"} for n in range(3)]
    source = tmp_path / "tickets.jsonl"
    source.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    snapshot = Warehouse.open(build_here(source, tmp_path / "warehouse")).snapshot()
    searcher, (recipe,) = Searcher(snapshot, settings_to_ask_by(snapshot.manifest)), find_recipes("bridge")
    asked = [
        Question(query_id="key", question="HD-1033"),
        Question(query_id="address", question="https://desk.example/t/1034"),
        Question(query_id="none", question="HD-2000"),
        Question(query_id="filter", question="What prints green?", where=["metadata.tier=Silber"]),
    ]
    key, address, none, unmet = answer_questions(searcher, asked, recipe)
    assert [a.hits[0].doc_id for a in (key, address)] == ["HD-1033", "HD-1034"]
    assert none.reason in ("nothing_found", "other_entity", "only_related")
    assert unmet.reason == "nothing_passes"
    assert "metadata.tier=Silber" in unmet.notes[0]
    codes = ["Status of cr-77?", "Who closed INC0044?", "What of hd-1034?", "What of HALL-9?"]
    by_code = named_documents(Batch(searcher, codes, [[]] * 4))
    ids = searcher.graph.documents.keys.to_pylist()
    assert [sorted(ids[at] for at in by_code.get(n, ())) for n in range(4)] == [
        ["HD-1033"],
        ["HD-1034"],
        ["HD-1034"],
        [],
    ]
    addresses = ["https://other.example/t/1034", "Is it on http://www.desk.example/t/1034/?"]
    named = named_documents(Batch(searcher, addresses, [[], []]))
    assert list(named) == [1], "the same last part at another site is another page"


def test_a_value_of_metadata_names_a_document_unless_texts_or_many_documents_have_it(tmp_path: Path) -> None:
    lines = [
        {
            "doc_id": "a",
            "text": "The roof is sound.",
            "Name": "Lagerhaus North",
            "State": "to be let",
            "Town": "Alt Holm",
        },
        {"doc_id": "b", "text": "The yard needs gravel.", "Name": "Lagerhaus South", "Editor": "Ida Brun"},
        {"doc_id": "c", "text": "Ida Brun was born in the north, in a lodge.", "Town": "Alt Holm"},
        {"doc_id": "d", "text": "A pump was ordered.", "Seen": "2024-05-01", "Town": "Alt Holm", "Name": "北仓库"},
        {"doc_id": "e", "text": "The lift waits for its test.", "Town": "Alt Holm", "State": "open"},
    ]
    (tmp_path / "d.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    snapshot = Warehouse.open(build_here(tmp_path / "d.jsonl", tmp_path / "warehouse")).snapshot()
    searcher, (recipe,) = Searcher(snapshot, settings_to_ask_by(snapshot.manifest)), find_recipes("bridge")
    ids = searcher.graph.documents.keys.to_pylist()
    asked = {
        "Status of Lagerhaus North?": ["a"],
        "Who keeps lagerhaus south's keys?": ["b"],
        "Which house is to be let?": ["a"],
        "北仓库在哪里？": ["d"],
        "Where was Ida Brun born?": [],  # A text says it.
        "What is in Alt Holm?": [],  # Four documents have it.
        "What is open?": [],  # A word of its own is no name.
        "What was ordered on 2024-05-01?": [],  # Nor is a date.
    }
    named = named_documents(Batch(searcher, list(asked), [[]] * len(asked)))
    assert [[ids[at] for at in named.get(n, ())] for n in range(len(asked))] == list(asked.values())
    question = Question(query_id="q", question="Status of Lagerhaus North?")
    (answer,) = answer_questions(searcher, [question], recipe)
    assert (answer.hits[0].doc_id, answer.hits[0].metadata["State"]) == ("a", "to be let")
