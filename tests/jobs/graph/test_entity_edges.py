"""Edges between nodes of two documents that name one rare entity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, run_whole
from quern.jobs.graph.link import Link
from quern.jobs.triplets.entities import FoldEntities
from quern.schemas.settings import LinkSettings
from quern.schemas.tables import DOCUMENTS, NODES, TRIPLETS, Table

Staged = Callable[[Table, list[dict[str, Any]]], Stage]
Edge = tuple[str, str, int, str, float]
Page = tuple[tuple[tuple[str, str, str], ...], tuple[str, ...]]
"""What a page states (subject, relation, object), and the texts of its nodes."""

WANTED = LinkSettings(k=1, mentions=0, shared_names=5, relations=5)
CORPUS: dict[str, Page] = {
    "alb": (
        (("Lorcan Tighe", "commanded", "Lady Orrin"), ("Tighe", "left", "the harbour")),
        ("Who commanded it? Lorcan Tighe", "Who left? Tighe of the Lady Orrin", "What is grey? The sea"),
    ),
    "bar": ((("Lorcan Tighe", "was born in", "Pell"),), ("Where was Lorcan Tighe born? Pell", "Who? Lorcan Tighe")),
    "cod": ((("Lady Orrin", "sank in", "1921"),), ("When did she sink? 1921",)),
    "dab": ((("Marl Hopper", "is", "a ferry"),), ("What is the Marl Hopper? a ferry",)),
}


def given(corpus: Mapping[str, Page], run: Run, stage: Staged) -> dict[str, Stage]:
    lists = {"text": "", "digest": "", "images": [], "metadata": [], "metadata_from": [], "personal_data": []}
    documents = [{"doc_id": d, "page_url": d, "url": f"http://{d}", "title": None, **lists} for d in corpus]
    spans = {f"{part}{end}": 0 for part in ("", "subject_", "relation_", "object_") for end in ("start", "end")}
    triplets, nodes = [], []
    for doc, (stated, texts) in corpus.items():
        for n, (subject, relation, value) in enumerate(stated):
            words = {"subject": subject, "relation": relation, "object": value, "how": "sentence"}
            names = {"subject_name": subject, "object_name": value if value[:1].isupper() else None}
            key = {"triplet_id": f"{doc}-{n}", "chunk_id": f"{doc}-0", "doc_id": doc}
            triplets.append(key | words | names | spans)
        for n, text in enumerate(texts):
            angle = hash_of(text)
            vector = [float(np.cos(angle)), float(np.sin(angle))]
            nodes.append({"query_id": f"{doc}-0-{n}", "chunk_id": f"{doc}-0", "text": text, "vector": vector})
    tables = {"triplets": stage(TRIPLETS, triplets), "documents": stage(DOCUMENTS, documents)}
    (entities,) = run_whole(FoldEntities(), tables, run).stages
    return {**tables, "nodes": stage(NODES.with_dimension(2), nodes), "entities": entities}


def hash_of(text: str) -> float:
    return sum(ord(c) * (n + 1) for n, c in enumerate(text)) % 6.28


NIGHTS = count()


def linked(corpus: Mapping[str, Page], run: Run, stage: Staged, settings: LinkSettings = WANTED) -> set[Edge]:
    tonight = replace(run, stages=run.stages / str(next(NIGHTS)))
    tonight.stages.mkdir(parents=True)
    (edges,) = run_whole(Link(settings), given(corpus, tonight, stage), tonight).stages
    rows = [row for batch in edges.batches() for row in batch.to_pylist()]
    return {(r["kind"], r["source"], r["rank"], r["target"], round(r["similarity"], 4)) for r in rows}


def of_kind(kind: str, edges: set[Edge]) -> set[tuple[str, str]]:
    return {(source, target) for known, source, _, target, _ in edges if known == kind}


def test_nodes_that_name_one_entity_in_whatever_form_lead_to_the_first_of_each_other_document(
    run: Run, staged: Staged
) -> None:
    edges = linked(CORPUS, run, staged)
    assert of_kind("shared_name", edges) == {
        # Lorcan Tighe, who is Tighe in the second node of his page.
        *(("alb-0-0", "bar-0-0"), ("alb-0-1", "bar-0-0"), ("bar-0-0", "alb-0-0"), ("bar-0-1", "alb-0-0")),
        # The Lady Orrin, of whom `cod` states something without a node that names her.
        *(("alb-0-1", "cod-0-0"), ("cod-0-0", "alb-0-1")),
    }
    assert {weight for kind, *_, weight in edges if kind == "shared_name"} == {1.0}, "two documents name each"


def test_relations_lead_from_an_entity_as_object_to_it_as_subject(run: Run, staged: Staged) -> None:
    assert of_kind("relation", linked(CORPUS, run, staged)) == {("alb-0-1", "cod-0-0")}


def test_what_many_documents_name_counts_less_and_beyond_a_number_of_them_joins_none(run: Run, staged: Staged) -> None:
    many = CORPUS | {f"e{n}": ((), (f"What of Lady Orrin on day {n}?",)) for n in range(2)}
    ranked = sorted(e for e in linked(many, run, staged) if e[:2] == ("shared_name", "alb-0-1"))
    assert ranked == [
        ("shared_name", "alb-0-1", 0, "bar-0-0", 1.0),
        *(("shared_name", "alb-0-1", n, key, 0.5) for n, key in enumerate(("cod-0-0", "e0-0-0", "e1-0-0"), 1)),
    ]
    capped = of_kind("shared_name", linked(many, run, staged, WANTED.model_copy(update={"name_documents": 3})))
    assert ("alb-0-1", "bar-0-0") in capped
    assert ("alb-0-1", "cod-0-0") not in capped
    first = of_kind("shared_name", linked(many, run, staged, WANTED.model_copy(update={"shared_names": 1})))
    assert {target for source, target in first if source == "alb-0-1"} == {"bar-0-0"}


def test_by_default_there_are_none(run: Run, staged: Staged) -> None:
    assert {edge[0] for edge in linked(CORPUS, run, staged, LinkSettings())} == {"neighbour"}


@pytest.mark.parametrize("seed", range(3))
def test_nights_make_the_edges_of_a_full_run_and_change_those_of_names_that_came_or_went_alone(
    run: Run, staged: Staged, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    names = [f"{first} {last}" for first in ("Ann", "Bo", "Cal") for last in ("Orrin", "Pell", "Marl", "Tighe")]

    def page(of: list[str]) -> Page:
        one, other = (str(name) for name in rng.choice(of, 2, replace=False))
        return ((one, "met", other),), (f"Whom did {one} meet? {other}", f"Who met {rng.choice(of)}? Someone")

    corpus = {f"d{n}": page(names) for n in range(20)}
    before = linked(corpus, run, staged)
    for night in range(2):
        touched = [str(name) for name in rng.choice(names, 2, replace=False)]
        corpus |= {f"n{night}": page(touched)}
        after = linked(dict(reversed(corpus.items())), run, staged)
        fresh = replace(run, memo=run.memo / f"fresh-{night}")
        assert after == linked(corpus, fresh, staged)
        assert of_kind("shared_name", after)
        texts = {f"{doc}-0-{n}": text for doc, (_, nodes) in corpus.items() for n, text in enumerate(nodes)}
        for kind, source, _, _, _ in (before ^ after) - {e for e in before ^ after if e[0] == "neighbour"}:
            assert any(name in texts[source] for name in touched), kind
        before = after
