"""A task, declared once, over a list and over a table: by its rule, behind an endpoint, and in this process."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, derive
from quern.jobs.sources.evidence import Verdict
from quern.jobs.tasks.generators.contract import GeneratorError
from quern.jobs.tasks.generators.endpoint import reply_of
from quern.jobs.tasks.runner import Done, Reasoner
from quern.jobs.tasks.task import Checked, Task
from quern.schemas.settings import GeneratorSettings
from tests.conftest import Staged
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Said
from tests.jobs.tasks.generators.test_endpoint import CHUNKS
from tests.jobs.tasks.toy_task import TALLY, Line, Tally, TallyJob
from tests.tiny_models import write_tiny_llama

TEXTS = ["The mill grinds.", "Fire!", "Rye and barley for the village", "Bread!"]
LINES = [Line(text) for text in TEXTS]
WORDS = [3, 1, 6, 1]
# A random model cannot count: what it says is taken as it is.
UNCHECKED = replace(TALLY, check=lambda _, tally: Checked(tally))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> GeneratorSettings:
    folder = write_tiny_llama(tmp_path_factory.mktemp("tiny"))
    return GeneratorSettings(kind="local", model=str(folder), device="cpu", dtype="float32", retries=0, max_tokens=60)


def line_of(body: dict[str, Any]) -> str:
    found = re.search(r"this line: (.*)\n", body["messages"][0]["content"])
    assert found, body
    return found[1]


def counted(number: int, body: dict[str, Any]) -> Said:
    line = line_of(body)
    return Said(json.dumps({"words": len(line.split()), "shout": line.endswith("!")}))


def rows_of(run: Run, source: Stage, job: TallyJob) -> list[tuple[str, str]]:
    made = derive(job, source, run)
    return [(row["chunk_id"], row["answer"]) for batch in made.batches() for row in batch.to_pylist()]


def run_task(
    task: Task[Any, Any], inputs: Sequence[Any], generator: GeneratorSettings | None = None
) -> list[Done[Any]]:
    with Reasoner(generator) as reasoner:
        return reasoner.run(task, inputs)


@pytest.fixture
def source(staged: Staged) -> Stage:
    rows = [
        {"chunk_id": f"c{n}", "text": t, "title": None, "published_at": None, "utc_offset": None}
        for n, t in enumerate(TEXTS)
    ]
    return staged(CHUNKS, rows)


def test_rules_do_a_list_and_a_table_alike(run: Run, source: Stage) -> None:
    done = run_task(TALLY, LINES)
    assert [(one.output.words, one.by, one.problems) for one in done] == [(n, "rules", ()) for n in WORDS]
    assert rows_of(run, source, TallyJob()) == [(f"c{n}", str(words)) for n, words in enumerate(WORDS)]


def test_an_endpoint_does_a_list_and_a_table_alike(run: Run, source: Stage) -> None:
    with Endpoint(counted).running() as endpoint:
        done = run_task(TALLY, LINES, endpoint.generator())
        assert [(one.output.words, one.by, one.problems) for one in done] == [(n, "openai", ()) for n in WORDS]
        assert rows_of(run, source, TallyJob(endpoint.generator())) == [
            (f"c{n}", str(words)) for n, words in enumerate(WORDS)
        ]
        assert len(endpoint.asked) == 2 * len(TEXTS)
        rows_of(replace(run, reports=[], stages=run.stages / "again"), source, TallyJob(endpoint.generator()))
        assert len(endpoint.asked) == 2 * len(TEXTS), "the memo has the table's"


@pytest.mark.torch
def test_a_model_in_this_process_does_a_list_and_a_table_alike(
    run: Run, source: Stage, tiny: GeneratorSettings
) -> None:
    with Reasoner(tiny) as reasoner:
        done = reasoner.run(UNCHECKED, LINES)
        assert {one.by for one in done} == {"local"}
        assert all(isinstance(one.output, Tally) for one in done)
        again = reasoner.run(UNCHECKED, LINES)
        assert [one.output for one in again] == [one.output for one in done]
        assert reasoner.cost.requests == 2 * len(LINES)
    rows = rows_of(run, source, TallyJob(tiny, UNCHECKED))
    assert rows == [(f"c{n}", str(one.output.words)) for n, one in enumerate(done)]


@pytest.mark.torch
def test_where_the_model_is_never_right_the_rule_stands_in_and_is_counted(
    tiny: GeneratorSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with Reasoner(tiny.model_copy(update={"retries": 1})) as reasoner:
        done = reasoner.run(TALLY, LINES)
    assert [one.output.words for one in done] == WORDS
    assert Counter(one.by for one in done)["rules"] == reasoner.fallen_back > 0
    assert {p.reason for one in done if one.by == "rules" for p in one.problems} == {"miscounted"}
    assert f"fell_back={reasoner.fallen_back} miscounted={reasoner.fallen_back}" in caplog.text


def test_one_row_that_upsets_the_endpoint_falls_back_and_a_dead_one_stops_the_list() -> None:
    def one_bad(number: int, body: dict[str, Any]) -> Said:
        return Said(status=500) if line_of(body) == "Fire!" else counted(number, body)

    with Endpoint(one_bad).running() as endpoint:
        done = run_task(TALLY, LINES, endpoint.generator(tries=1))
        assert [one.by for one in done] == ["openai", "rules", "openai", "openai"]
        assert [one.output.words for one in done] == WORDS
        endpoint.script, endpoint.probe = (lambda *_: Said(status=500)), Said(status=500)
        with Reasoner(endpoint.generator(tries=1)) as reasoner, pytest.raises(GeneratorError, match="cannot be used"):
            reasoner.run(TALLY, LINES)
    with pytest.raises(GeneratorError, match="is it running"):
        run_task(TALLY, LINES, endpoint.generator())


def with_probability(said: Verdict, yes: float) -> Verdict:
    return Verdict(answers=said.answers, probability=yes)


VERDICT = Task(
    "verdict",
    1,
    "Is it so? {{ text }}",
    Verdict,
    rule=lambda _: Verdict(answers=False, probability=0.0),
    weigh=("answers", with_probability),
)
CLAIM = '{"answers": false, "probability": 1.0}'


@pytest.mark.parametrize(
    ("pieces", "yes"),
    [
        (('{"', "answers", '":', " false", ', "probability": 1.0}'), 0.2),
        (('{"answers": ', "fal", "se", "}"), 0.2),
        # Neither what is quoted nor what is thought aloud is the verdict.
        (('{"why": "\\"answers\\": true", "answers": ', "false", "}"), 0.2),
        (('I must return {"answers": ', "true", " or false}</think>", '{"answers": ', "false", "}"), 0.2),
        # A share of all tokens: it was the likelier of the two all the same.
        (('{"answers": ', " false", "}", "rare"), 0.5),
        (("I think so",), 1.0),
        ((), 1.0),
    ],
)
def test_a_verdict_is_as_probable_as_its_token_not_as_the_model_claims(pieces: tuple[str, ...], yes: float) -> None:
    said = math.log(0.4 if "rare" in pieces else 0.8)
    chances = tuple((p, said if p.strip() in ("false", "true", "fal") else -0.01) for p in pieces)
    with Endpoint(lambda n, body: Said(CLAIM, tokens=chances if body["logprobs"] else ())).running() as endpoint:
        (done,) = run_task(VERDICT, [Line("it is")], endpoint.generator())
        assert done.output.probability == pytest.approx(yes)


def test_an_endpoint_that_tells_no_probabilities_is_asked_without_from_then_on() -> None:
    def refuses(number: int, body: dict[str, Any]) -> Said:
        return Said("logprobs are not supported", status=400) if "logprobs" in body else Said(CLAIM)

    with Endpoint(refuses).running() as endpoint:
        done = run_task(VERDICT, LINES, endpoint.generator(concurrency=1))
        assert [(one.by, one.output.probability) for one in done] == [("openai", 1.0)] * 4
        assert ["logprobs" in body for body in endpoint.asked] == [True, False, False, False, False]


def test_a_row_that_such_an_endpoint_refuses_falls_back_alone() -> None:
    def refuses(number: int, body: dict[str, Any]) -> Said:
        if "logprobs" in body:
            return Said("logprobs are not supported", status=403)
        return Said("context too long", status=400) if "Fire!" in str(body["messages"]) else Said(CLAIM)

    with Endpoint(refuses).running() as endpoint:
        endpoint.without = "logprobs"
        done = run_task(VERDICT, LINES, endpoint.generator(concurrency=1, tries=1))
        assert [one.by for one in done] == ["openai", "rules", "openai", "openai"]


@pytest.mark.parametrize("chance", ["1" + "0" * 400, "NaN", '"x"', "null"])
def test_a_log_probability_that_is_no_number_is_not_told(chance: str) -> None:
    choice = f'{{"message": {{"content": "{{}}"}}, "logprobs": {{"content": [{{"token": "a", "logprob": {chance}}}]}}}}'
    assert reply_of(f'{{"choices": [{choice}]}}'.encode()).tokens == ()


@pytest.mark.torch
def test_a_model_in_this_process_tells_how_probable_its_verdict_is(tiny: GeneratorSettings) -> None:
    done = run_task(VERDICT, LINES, tiny.model_copy(update={"max_tokens": 200}))
    told = [one.output for one in done if one.by == "local"]
    assert told
    assert all((one.probability >= 0.5) == one.answers for one in told)  # The likelier of the two was written.


def test_a_reasoner_with_a_model_must_be_opened() -> None:
    with pytest.raises(RuntimeError, match="open the reasoner first"):
        Reasoner(GeneratorSettings(kind="local", model="model")).run(TALLY, LINES)
