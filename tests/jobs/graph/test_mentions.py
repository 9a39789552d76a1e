"""Edges to the documents that a node names."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from quern.jobs.graph.mentions import Titles, mention_edges, title_words
from quern.schemas.settings import LinkSettings
from quern.schemas.tables import DOCUMENTS, NODES
from tests.conftest import Staged


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Mercury (planet)", ("Mercury",)),
        ("The Mill on the Weir", ("The", "Mill", "on", "the", "Weir")),
        ("听澜台", ("听", "澜", "台")),
        ("It", ()),
        ("A", ()),
        ("(aside)", ()),
        (" ".join(["word"] * 17), ()),
    ],
)
def test_a_title_is_named_by_its_words_without_asides(title: str, words: tuple[str, ...]) -> None:
    assert title_words(title) == words


def test_titles_are_found_word_for_word() -> None:
    titles = Titles(["Tollen Bridge", "Bridge", "Tollen", None, "听澜台", "Mill Race - The Review"], 20)

    def found(text: str) -> list[int]:
        return sorted(d for n in titles.named(text) for d in titles.documents[n])

    assert found("Who built Tollen Bridge?") == [0, 1, 2]
    assert found("tollen bridges") == []
    assert found("我们去了听澜台看海。") == [4]
    assert found("He crossed the Mill Race at noon.") == [5]


def test_a_title_that_too_many_share_names_none() -> None:
    assert Titles(["Contact", "Contact", "Contact"], 2).named("Contact us") == set()


def documents(**titles: str | None) -> list[dict[str, Any]]:
    return [{"doc_id": doc_id, "title": title} for doc_id, title in titles.items()]


def nodes(**texts: str) -> list[dict[str, Any]]:
    return [
        {"query_id": f"{key}-0-{n}", "chunk_id": f"{key}-0", "text": text, "vector": [1.0, 0.0]}
        for key, joined in texts.items()
        for n, text in enumerate(joined.split("|"))
    ]


def edges(staged: Staged, given: list[dict[str, Any]], named: list[dict[str, Any]], **settings: int) -> set[Any]:
    table = NODES.with_dimension(2)
    keys = pa.array(sorted(n["query_id"] for n in given))
    chosen = LinkSettings(**({"mentions": 5} | settings))
    found = mention_edges(staged(table, given), staged(DOCUMENTS, named), keys, chosen)
    return {
        (keys[int(s)].as_py(), int(r), keys[int(t)].as_py(), round(float(w), 3))
        for source, rank, target, weight in found
        for s, r, t, w in zip(source, rank, target, weight, strict=True)
    }


def test_a_node_is_joined_to_the_first_node_of_the_document_it_names_and_not_to_its_own(staged: Staged) -> None:
    given = nodes(a="Who made Old Mill? Ann|Old Mill?", b="Old Mill? Built 1800|Weir Lane?", c="Weir Lane? Old Mill")
    found = edges(staged, given, documents(a="Ann", b="Old Mill", c="Weir Lane", d="Unknown Place"))
    # Two of four documents name the mill, beside its own; one names the lane.
    rarity = {"Old Mill": 0.208, "Weir Lane": 0.5}
    assert found == {
        ("a-0-0", 0, "b-0-0", rarity["Old Mill"]),
        ("a-0-1", 0, "b-0-0", rarity["Old Mill"]),
        ("b-0-1", 0, "c-0-0", rarity["Weir Lane"]),
        ("c-0-0", 0, "b-0-0", rarity["Old Mill"]),
    }


def test_the_rarest_come_first_and_no_more_than_asked_for(staged: Staged) -> None:
    given = nodes(a="Old Mill and Weir Lane", b="Old Mill", c="Weir Lane", d="Old Mill again", e="Old Mill")
    named = documents(a="Xen", b="Old Mill", c="Weir Lane", d="Yan", e="Zed")
    found = edges(staged, given, named)
    assert [t for s, _, t, _ in sorted(found) if s == "a-0-0"] == ["c-0-0", "b-0-0"]
    assert {t for s, _, t, _ in edges(staged, given, named, mentions=1) if s == "a-0-0"} == {"c-0-0"}


def test_a_title_that_several_documents_share_points_at_each_by_its_share(staged: Staged) -> None:
    given = nodes(a="The mill and the Weir", b="x", c="y", d="z", e="w")
    found = edges(staged, given, documents(a="A", b="Mill road", c="Weir", d="Weir", e="mill"))
    weight = {target: weight for _, _, target, weight in found}
    assert weight["c-0-0"] == weight["d-0-0"] == pytest.approx(weight["e-0-0"] / 2, abs=1e-3)


def test_without_titles_there_are_no_edges(staged: Staged) -> None:
    assert edges(staged, nodes(a="x", b="y"), documents(a=None, b=None)) == set()
