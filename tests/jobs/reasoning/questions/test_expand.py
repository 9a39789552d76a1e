"""Further queries around a question."""

from __future__ import annotations

import json

from quern.jobs.reasoning.questions.expand import ExpandInput, expanded
from quern.jobs.tasks.runner import Reasoner
from quern.schemas.settings import GeneratorSettings
from tests.jobs.tasks.generators.endpoint_server import MODEL, Endpoint, Said

ASKED = ExpandInput("When did the Ostley Bridge open?", ("Who built Ostley Bridge?",))


def test_a_model_expands_a_question_and_sees_what_the_index_asks_near_it() -> None:
    reply = {"expansions": [{"way": "context", "query": "builder of Ostley Bridge"}]}
    with Endpoint(lambda *_: Said(json.dumps(reply))).running() as endpoint:
        model = GeneratorSettings(kind="openai", model=MODEL, url=endpoint.url, tries=1, timeout=5.0, retries=0)
        with Reasoner(model) as reasoner:
            assert expanded(reasoner, [ASKED]) == [["builder of Ostley Bridge"]]
    assert "- Who built Ostley Bridge?" in endpoint.asked[0]["messages"][0]["content"]


def test_by_rule_a_question_is_not_expanded() -> None:
    assert expanded(Reasoner(), [ASKED]) == [[]]
