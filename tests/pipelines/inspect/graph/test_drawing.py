from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from quern.pipelines.inspect.graph.path_picture import GraphError, draw_path, write_path
from quern.schemas.answers import Answer, Hit, PathNode
from tests.conftest import Quern

NASTY = 'Who <b>"built"</b> & why]]>\x00?'


def answer(question: str, *, hits: int = 2) -> Answer:
    found = [
        Hit(
            rank=n + 1,
            chunk_id=f"c{n}",
            doc_id="d",
            url=None,
            title=NASTY,
            published_at=None,
            start=0,
            end=5,
            text="Quay.",
            score=1 / (n + 1),
        )
        for n in range(hits)
    ]
    path = [
        PathNode(query_id="n0", chunk_id="c0", text=NASTY, similarity=0.8, hop=0, via=None),
        PathNode(query_id="n1", chunk_id="c1", text="What of it?", similarity=0.5, hop=1, via="n0", edge="shared_name"),
    ]
    return Answer(
        query_id="q",
        question=question,
        sentences=[],
        probability=0.5,
        by="rules",
        recipe="qcg",
        citations=[],
        hits=found,
        path=path if hits else [],
    )


def test_a_picture_is_well_formed_whatever_the_texts_hold() -> None:
    drawn = draw_path(answer(NASTY))
    root = etree.fromstring(drawn.encode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    words = " ".join(root.itertext())
    for word in ("Matched nodes", "Neighbours, 1 hop", "Chunks", '<b>"built"</b>', "What of it?, by a shared name"):
        assert word in words
    assert not root.findall(".//{*}script")
    assert not root.findall(".//{*}b")
    assert draw_path(answer(NASTY)) == drawn


def test_a_picture_needs_a_name_and_a_path(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"ends in \.svg"):
        write_path(answer("Who?"), tmp_path / "path.png")
    with pytest.raises(GraphError, match="no path to draw"):
        write_path(answer("Who?", hits=0), tmp_path / "path.svg")


def test_ask_draws_the_path_of_its_answer(mini_web: Path, tmp_path: Path, quern_here: Quern) -> None:
    done = quern_here(
        "ask", "-w", mini_web, "--recipe", "qcg", "Who built the Tollen Bridge?", "--picture", tmp_path / "path.svg"
    )
    assert done.returncode == 0, done.stderr
    assert "Tollen Bridge" in " ".join(etree.parse(tmp_path / "path.svg").getroot().itertext())
