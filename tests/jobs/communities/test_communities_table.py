"""The table `communities`: whole graphs in levels, verbatim sentences, and what of it a later build makes anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quern.indexes.catalog import Warehouse
from quern.jobs.communities.find import SummariseCommunities
from quern.schemas.settings import GeneratorSettings
from tests.conftest import build_here


def rows(warehouse: Path, table: str = "communities") -> list[dict[str, Any]]:
    return [row for batch in Warehouse.open(warehouse).snapshot().stage(table).batches() for row in batch.to_pylist()]


def test_communities_hold_every_chunk_once_and_quote_their_documents(mini_web: Path) -> None:
    found, chunks = rows(mini_web), {row["chunk_id"]: row for row in rows(mini_web, "chunks")}
    texts = {row["doc_id"]: row["text"] for row in rows(mini_web, "documents")}
    top = [row for row in found if row["level"] == 0]
    assert sorted(chunk for row in top for chunk in row["chunk_ids"]) == sorted(chunks)
    assert max(row["document_count"] for row in top) > 5
    for row in found:
        assert len({chunks[chunk]["doc_id"] for chunk in row["chunk_ids"]}) == row["document_count"]
        assert row["title"]
        assert 0 < len(row["sentences"]) <= 20
        for sentence in row["sentences"]:
            assert texts[sentence["doc_id"]][sentence["start"] : sentence["end"]] == sentence["text"]
            assert sentence["chunk_id"] in row["chunk_ids"]
        for stated in row["summary"]:
            assert [" ".join(row["sentences"][n - 1]["text"].split()) for n in stated["rests_on"]] == [stated["text"]]


def test_a_community_that_did_not_change_is_not_summarised_again(tmp_path: Path) -> None:
    def write(*more: dict[str, str]) -> Path:
        lines = [json.dumps({"doc_id": f"{topic}-{n}", "text": text}) for topic in TOPICS for n, text in texts(topic)]
        file = tmp_path / "pages.jsonl"
        file.write_text("\n".join([*lines, *map(json.dumps, more)]), "utf-8")
        return file

    few = ["doc2query.pairs=4", "filter.alpha=1", "link.mentions=0"]
    warehouse = build_here(write(), tmp_path / "warehouse", *few)
    before = rows(warehouse)
    assert len(before) == len(TOPICS)
    build_here(write({"doc_id": "bees-9", "text": "A swarm of bees left the hive of the monastery."}), warehouse, *few)
    # By these two a model's summary is known (`known_by`).
    known, kept = ({(row["community_id"], row["digest"]) for row in of} for of in (before, rows(warehouse)))
    assert len(known & kept) == len(TOPICS) - 1
    by_model = GeneratorSettings(kind="local", model="m")
    assert SummariseCommunities(generator=by_model).identity == ("community_id", "digest")
    changed = {row["community_id"] for row in rows(warehouse)} ^ {row["community_id"] for row in before}
    assert len(changed) == 2, "one went and one came"


TOPICS = {
    "bees": ("bees", "hive", "honey", "swarm"),
    "trams": ("tram", "line", "stop", "driver"),
    "looms": ("loom", "weaver", "cloth", "thread"),
}


def texts(topic: str) -> list[tuple[int, str]]:
    one, two, three, four = TOPICS[topic]
    said = [
        f"The {one} of the town made the {two} famous for its {three}.",
        f"Every {four} knows the {two}, and the {one} as well.",
        f"A {four} needs {three}, a {two} and {one}.",
    ]
    return list(enumerate(said))


@pytest.mark.parametrize("text", ["The ferry sails at noon. It carries twenty people to the island.", "Yes."])
def test_a_corpus_of_one_document_has_one_community_or_none(text: str, tmp_path: Path) -> None:
    file = tmp_path / "page.jsonl"
    file.write_text(json.dumps({"doc_id": "one", "title": "Ferry", "text": text}), "utf-8")
    found = rows(build_here(file, tmp_path / "warehouse", "clean.min_characters=1"))
    assert [row["title"] for row in found] == ["Ferry"] * bool(rows(tmp_path / "warehouse", "nodes"))
