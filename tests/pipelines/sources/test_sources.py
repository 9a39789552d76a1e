"""Sources of gold questions, held to floors, and those that a model names: what it invents is validated."""

from __future__ import annotations

import json
from typing import Any

from quern.pipelines.answers.questions import read_questions
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.seek import sources_of
from quern.schemas.answers import Question
from quern.schemas.settings.reading import load_settings
from tests.benchmarks.sources import gold_sources
from tests.conftest import CORPUS
from tests.floors import FLOORS, broken
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Said

QUESTION = "Who cut the ribbon of Tollen Bridge?"


def says(_: int, body: dict[str, Any]) -> Said:
    """Fifty invented sources a query, one of them known under a false name; all evidence is praised."""
    prompt = body["messages"][0]["content"]
    if "Write at most" in prompt:
        many = [{"intent": f"i{n}", "query": f"ribbon of Tollen Bridge {n}"} for n in range(5)]
        return Said(json.dumps({"intents": many}))
    if "Name at most" in prompt:
        known = {"name": "Casino News", "url": "https://tidewiki.example/wiki/Tollen_Bridge"}
        many = [{"name": f"Invention {n}", "url": f"https://invention-{n}.example/bridge"} for n in range(49)]
        return Said(json.dumps({"sources": [known, *many]}))
    if "Is https" in prompt:
        return Said(json.dumps({"agrees": "Casino" not in prompt}))
    if "Which sentences" in prompt:
        return Said(json.dumps({"sentences": [1]}))
    return Said(json.dumps({"answers": True, "probability": 0.95}))


def test_a_model_that_invents_fifty_addresses_is_held_to_those_asked_for_and_each_is_checked(
    searcher: Searcher,
) -> None:
    with Endpoint(says).running() as endpoint:
        overrides = [*endpoint.overrides(retries=0), "sourcing.names=3"]
        mine = Searcher(searcher.snapshot, load_settings(overrides=overrides, base=searcher.settings))
        (found,) = sources_of(mine, [Question(query_id="q", question=QUESTION)])
    named = {s.site: s for s in found.sources if "generator" in s.proposed_by}
    assert len(found.intents) == 2
    assert set(named) == {"tidewiki.example", "invention-0.example", "invention-1.example"}
    assert all("sourcing.online" in (s.why_not or "") for site, s in named.items() if site.startswith("invention"))
    assert named["tidewiki.example"].why_not == "name and address do not belong together"
    assert found.valid
    assert {s.score for s in found.valid} == {1.95}
    assert all("found" in s.proposed_by and s.evidence for s in found.valid)


def test_sources_of_gold_questions_keep_their_floors(searcher: Searcher) -> None:
    questions = read_questions(CORPUS / "questions.jsonl")[::3]
    measured = gold_sources(searcher, questions)
    assert broken(measured, {"at least": FLOORS["mini_web"]["sources"]}, len(questions)) == {}, measured
