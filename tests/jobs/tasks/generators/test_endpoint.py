"""A model behind an endpoint: what it says well, badly, slowly or not at all becomes rows, rejects or a clear stop."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.jobs.core.run import Run, derive
from quern.jobs.queries.doc2query import Doc2Query
from quern.jobs.queries.task import Pairs
from quern.jobs.tasks.generators.backends import prepare_generator
from quern.jobs.tasks.generators.contract import GeneratorError, Request
from quern.jobs.tasks.generators.endpoint import EndpointBackend, portable
from quern.jobs.tasks.generators.model_folder import model_identity
from quern.schemas.settings import Doc2QuerySettings, EngineSettings, GeneratorSettings
from quern.schemas.tables import REJECTS, TIMESTAMP, Table
from tests.conftest import Staged
from tests.jobs.tasks.generators.endpoint_server import MODEL, Said, Serve, pairs_json, passage_of, well

CHUNKS = Table(
    "chunks",
    ("chunk_id",),
    pa.schema(
        [
            pa.field("chunk_id", pa.string(), False),
            pa.field("text", pa.string(), False),
            pa.field("title", pa.string()),
            pa.field("published_at", TIMESTAMP),
            pa.field("utc_offset", pa.int32()),
        ]
    ),
    False,
)


def chunks(count: int) -> list[dict[str, Any]]:
    return [
        {
            "chunk_id": f"c{n:02}",
            "text": f"The mill of Ostra was built in {1700 + n} by Greta Holm. It grinds rye for the village.",
            "title": "The mill",
            "published_at": None,
            "utc_offset": None,
        }
        for n in range(count)
    ]


def written(
    run: Run, source: Stage, generator: GeneratorSettings, doc2query: Doc2QuerySettings | None = None
) -> list[dict[str, Any]]:
    made = derive(Doc2Query(doc2query or Doc2QuerySettings(), generator), source, run)
    return [row for batch in made.batches() for row in batch.to_pylist()]


def rejected(run: Run) -> list[tuple[str, str, str]]:
    run.rejects.close()
    return [(r["key"], r["reason"], r["detail"]) for b in run.rejects.stage().batches() for r in b.to_pylist()]


def next_night(run: Run, tmp_path: Path) -> Run:
    tmp_path.mkdir(exist_ok=True)
    rejects = StageWriter(tmp_path / "rejects-2.parquet", REJECTS)
    return replace(run, build_id=run.build_id + "1", stages=tmp_path / "stages-2", rejects=rejects, reports=[])


def test_every_chunk_is_asked_about_once_and_its_pairs_are_kept_in_order(
    run: Run, staged: Staged, serve: Serve, tmp_path: Path
) -> None:
    endpoint = serve(lambda n, body: replace(well(n, body), seconds=0.02))
    rows = written(run, staged(CHUNKS, chunks(12)), endpoint.generator(concurrency=3))
    assert [r["chunk_id"] for r in rows] == sorted(r["chunk_id"] for r in rows)
    assert {r["chunk_id"] for r in rows} == {f"c{n:02}" for n in range(12)}
    assert all(str(1700 + int(r["chunk_id"][1:])) in r["answer"] for r in rows if "built" in r["answer"])
    assert len(endpoint.asked) == 12
    assert 1 < endpoint.most_at_once <= 3
    body = endpoint.asked[0]
    schema = body["response_format"]["json_schema"]
    assert (schema["strict"], schema["schema"]["required"], body["model"]) == (True, ["pairs"], MODEL)
    assert (body["temperature"], body["max_tokens"], "top_p" in body) == (0.0, 2048, False)
    notes = run.reports[-1].notes
    assert (notes["requests"], notes["prompt_tokens"], notes["output_tokens"]) == (12, 1200, 120)
    assert run.reports[-1].engine == "openai"
    again = next_night(run, tmp_path)
    assert written(again, staged(CHUNKS, chunks(12)), endpoint.generator(concurrency=7)) == rows
    assert len(endpoint.asked) == 12, "what was validated is never asked for again"


@pytest.mark.parametrize(
    "first",
    [
        Said("slow down", status=429, headers={"Retry-After": "0.05"}),
        Said("oops", status=500),
        Said("busy", status=503),
        Said(hang_up=True),
    ],
)
def test_a_request_that_failed_for_now_is_sent_again(run: Run, staged: Staged, serve: Serve, first: Said) -> None:
    endpoint = serve(lambda n, body: first if n == 0 else well(n, body))
    rows = written(run, staged(CHUNKS, chunks(2)), endpoint.generator(tries=3))
    assert {r["chunk_id"] for r in rows} == {"c00", "c01"}
    assert len(endpoint.asked) == 3
    assert rejected(run) == []


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (Said("I'd rather not."), "not the JSON asked for"),
        (Said('{"pairs": [{"question": "Who?"}]}'), "pairs.0.answer: Field required"),
        (Said('{"pairs": [{"question": "Wh', finish="length"), "cut off after 10 tokens"),
        (Said('{"pairs": []}'), "there are no pairs"),
        (Said("[" * 5000), "not the JSON asked for"),
        (Said(""), "not the JSON asked for"),
    ],
)
def test_a_reply_that_fails_is_asked_for_again_with_the_error(
    run: Run, staged: Staged, serve: Serve, bad: Said, told: str
) -> None:
    endpoint = serve(lambda n, body: bad if n == 0 else well(n, body))
    assert written(run, staged(CHUNKS, chunks(1)), endpoint.generator())
    first, second = endpoint.asked
    assert second["messages"][0] == first["messages"][0]
    assert [m["role"] for m in second["messages"]] == ["user", "assistant", "user"]
    assert told in second["messages"][2]["content"]
    assert run.reports[-1].notes["asked_again"] == 1


GRINDS = '{"pairs": [{"question": "What does it grind?", "answer": "It grinds rye"}]}'


@pytest.mark.parametrize(
    "odd",
    [
        Said(f"<think>\nA {{brace}}.\n</think>\n```json\n{GRINDS}\n```\n"),
        Said(GRINDS.replace("does it", "does\nit").replace("grinds rye", "grinds\x17\trye")),
        Said(body=b'{"choices": [{"message": {"content": %s}}], "usage": {"completion_tokens": "12"}}'),
        Said(body=b'{"choices": [{"message": {"content": [{"type": "text", "text": %s}]}}], "usage": {}}'),
    ],
)
def test_replies_of_unusual_form_are_read(run: Run, staged: Staged, serve: Serve, odd: Said) -> None:
    if odd.body is not None:
        odd = replace(odd, body=odd.body % json.dumps(GRINDS.replace("it grind", "it \ud800grind")).encode())
    endpoint = serve(lambda *_: odd)
    (row,) = written(run, staged(CHUNKS, chunks(1)), endpoint.generator(response_format="none"))
    assert row["question"].replace("?grind", "grind") == "What does it grind?"
    assert row["answer"] == "It grinds rye"
    assert len(endpoint.asked) == 1
    assert "response_format" not in endpoint.asked[0]


def test_grounded_pairs_are_kept_and_only_the_others_are_asked_for_again(
    run: Run, staged: Staged, serve: Serve
) -> None:
    true = ("When was the mill of Ostra built?", "in 1700 by Greta Holm")
    false = ("Who burnt the mill down?", "a band of travelling soldiers")
    late = ("What does the mill grind?", "It grinds rye")
    endpoint = serve(lambda n, _: Said(pairs_json(true, false) if n == 0 else pairs_json(late)))
    rows = written(run, staged(CHUNKS, chunks(1)), endpoint.generator())
    assert [(r["question"], r["answer"]) for r in rows] == [true, late]
    assert [r["query_id"] for r in rows] == ["c00-0", "c00-1"]
    asked = endpoint.asked[1]["messages"][2]["content"]
    assert "a band of travelling soldiers" in asked
    assert "Greta Holm" not in asked
    assert rejected(run) == []


def test_what_never_becomes_valid_is_rejected_with_its_reason_and_has_another_chance_next_night(
    run: Run, staged: Staged, serve: Serve, tmp_path: Path
) -> None:
    lie = Said(pairs_json(("Who came?", "nobody whom this text would name at all")))
    endpoint = serve(lambda n, body: lie if "1700" in passage_of(body) else well(n, body))
    rows = written(run, staged(CHUNKS, chunks(3)), endpoint.generator(retries=2))
    assert {r["chunk_id"] for r in rows} == {"c01", "c02"}
    assert len(endpoint.asked) == 2 + 3
    ((key, reason, detail),) = rejected(run)
    assert (key, reason) == ("c00", "ungrounded")
    assert "nobody whom this text" in detail
    assert "(reply 3)" in detail
    endpoint.script = well
    again = next_night(run, tmp_path)
    assert {r["chunk_id"] for r in written(again, staged(CHUNKS, chunks(3)), endpoint.generator())} == {
        "c00",
        "c01",
        "c02",
    }
    assert len(endpoint.asked) == 2 + 3 + 1


HALF = pairs_json(("What does it grind?", "It grinds rye"), ("Who came?", "a king from a far country"))


@pytest.mark.parametrize(
    ("later", "retries", "pairs", "asked", "reasons"),
    [
        pytest.param(HALF, 1, 20, 2, ["ungrounded"], id="a pair that stays ungrounded is a reject, and final"),
        pytest.param('{"pairs": []}', 3, 20, 2, ["ungrounded"], id="a correction that brings nothing ends the row"),
        pytest.param(HALF, 1, 1, 1, [], id="a row that has all its pairs is not asked again"),
    ],
)
def test_a_good_pair_is_kept_beside_an_ungrounded_one(
    run: Run,
    staged: Staged,
    serve: Serve,
    tmp_path: Path,
    later: str,
    retries: int,
    pairs: int,
    asked: int,
    reasons: list[str],
) -> None:
    endpoint, doc2query = serve(lambda n, _: Said(HALF if n == 0 else later)), Doc2QuerySettings(pairs=pairs)
    for night in (run, next_night(run, tmp_path)):
        assert len(written(night, staged(CHUNKS, chunks(1)), endpoint.generator(retries=retries), doc2query)) == 1
        assert len(endpoint.asked) == asked
    assert [(key, reason) for key, reason, _ in rejected(run)] == [("c00", reason) for reason in reasons]


def test_a_reply_that_takes_too_long_costs_only_its_row(run: Run, staged: Staged, serve: Serve) -> None:
    endpoint = serve(lambda n, body: replace(well(n, body), seconds=2.0 if "1701" in passage_of(body) else 0))
    started = time.monotonic()
    rows = written(run, staged(CHUNKS, chunks(3)), endpoint.generator(timeout=0.5, tries=2))
    assert time.monotonic() - started < 8
    assert {r["chunk_id"] for r in rows} == {"c00", "c02"}
    assert [(key, reason) for key, reason, _ in rejected(run)] == [("c01", "no_reply")]


def test_an_endpoint_that_dies_half_way_stops_the_job_and_what_it_said_is_kept(
    run: Run, staged: Staged, serve: Serve, tmp_path: Path
) -> None:
    def script(n: int, body: dict[str, Any]) -> Said:
        if n == 5:
            endpoint.probe = Said(hang_up=True)
        return Said(hang_up=True) if n >= 5 else well(n, body)

    endpoint = serve(script)
    source = staged(CHUNKS, chunks(9))
    with pytest.raises(GeneratorError, match=r"cannot be used.* 5 rows of the job doc2query were done and are kept"):
        written(run, source, endpoint.generator(concurrency=1, tries=2))
    revived = serve(well)
    again = next_night(run, tmp_path)
    assert len({r["chunk_id"] for r in written(again, source, revived.generator())}) == 9
    assert len(revived.asked) == 4
    assert again.reports[-1].reused == 5


def test_an_endpoint_that_answers_nobody_stops_the_job_before_it_has_rejected_everything(
    run: Run, staged: Staged, serve: Serve
) -> None:
    no = Said("response_format json_schema is not supported", status=400)
    endpoint = serve(lambda *_: no)
    endpoint.probe = no
    with pytest.raises(GeneratorError, match=r"cannot be used.*json_schema is not supported"):
        written(run, staged(CHUNKS, chunks(30)), endpoint.generator(concurrency=2))
    assert len(endpoint.asked) <= 2


@pytest.mark.parametrize(
    "bad",
    [
        Said(hang_up=True),
        Said("input flagged by moderation", status=403),
        Said("not found", status=404),
        Said("internal", status=500),
        Said(body=b"<html>a page</html>"),
        Said(body=b'{"choices": [{"message": null}]}'),
        Said(body=b'{"choices": ["x"], "usage": 3}'),
        Said(body=b'{"error": {"message": "overloaded"}}'),
        Said(body=b"[" * 100_000),
        Said(body=b'{"choices": [{"message": {"content": "%s"}}]}' % (b"x" * (5 << 20))),
        Said(status=307, headers={"Location": "http://127.0.0.1:9/"}),
        Said("bad \ud83d surrogate", status=400),
    ],
)
def test_a_row_that_upsets_the_endpoint_every_night_stops_no_build(
    run: Run, staged: Staged, serve: Serve, tmp_path: Path, bad: Said
) -> None:
    endpoint = serve(lambda n, body: bad if "1701" in passage_of(body) else well(n, body))
    generator = endpoint.generator(tries=1, concurrency=1)
    for night in (run, next_night(run, tmp_path)):
        assert {r["chunk_id"] for r in written(night, staged(CHUNKS, chunks(3)), generator)} == {"c00", "c02"}
        assert [(key, reason) for key, reason, _ in rejected(night)] == [("c01", "no_reply")]
    # The first night had two others to answer, the second none: only a request of our own tells.
    assert endpoint.probed >= 1


def test_a_stopped_job_keeps_the_good_pairs_of_rows_that_were_to_be_asked_again(
    run: Run, staged: Staged, serve: Serve, tmp_path: Path
) -> None:
    endpoint = serve(lambda n, _: Said(HALF) if n < 4 else Said("down", status=503))
    endpoint.probe = Said("down", status=503)
    with pytest.raises(GeneratorError):
        written(run, staged(CHUNKS, chunks(9)), endpoint.generator(concurrency=2, tries=1))
    again = next_night(run, tmp_path)
    rows = written(again, staged(CHUNKS, chunks(9)), serve(well).generator())
    assert len({r["chunk_id"] for r in rows}) == 9
    assert again.reports[-1].reused >= 2


def test_an_endpoint_is_looked_for_before_any_work(serve: Serve, tmp_path: Path, monkeypatch: Any) -> None:
    endpoint, key = serve(well), {"key_variable": "QUERN_TEST_KEY"}

    def prepare(**settings: Any) -> None:
        asked = endpoint.generator(**key).model_copy(update=settings)
        prepare_generator(asked, EngineSettings(), tmp_path)

    prepare()
    endpoint.models = ["a-model", "b-model"]
    prepare()
    assert endpoint.probed == 1, "some gateways serve what they do not list"
    with pytest.raises(GeneratorError, match=r"the model other does not exist; its models: a-model, b-model"):
        prepare(model="other")
    with pytest.raises(GeneratorError, match="is it running"):
        prepare(url="http://127.0.0.1:9/v1")
    endpoint.models, endpoint.key = [MODEL], "secret-of-the-house"
    with pytest.raises(GeneratorError, match="QUERN_TEST_KEY is not set"):
        prepare()
    for held, told in (("a-wrong-secret", "is refused"), ("secret of\nthe house", "holds no key")):
        monkeypatch.setenv("QUERN_TEST_KEY", held)
        with pytest.raises(GeneratorError, match=f"QUERN_TEST_KEY {told}") as refused:
            prepare()
        assert "secret" not in str(refused.value), "the endpoint repeats the key; the message must not"
    for held in ("secret-of-the-house", "secret-of-the-house\n"):
        monkeypatch.setenv("QUERN_TEST_KEY", held)
        prepare()
    assert endpoint.asked == []


@pytest.mark.parametrize("listing", [b"<html>", b"[]", b'"x"', b"null", b'{"data": ["m"]}', b'{"data": [{}]}', b"["])
def test_what_is_no_endpoint_is_told_in_a_sentence(serve: Serve, tmp_path: Path, listing: bytes) -> None:
    endpoint = serve(well)
    endpoint.listing, endpoint.probe = listing, Said("no such page", status=404)
    with pytest.raises(GeneratorError, match=r"cannot be used: HTTP 404: no such page; check generator.url"):
        prepare_generator(endpoint.generator(), EngineSettings(), tmp_path)
    without = endpoint.generator().model_copy(update={"url": endpoint.url.removesuffix("/v1")})
    with pytest.raises(GeneratorError, match=r"should end with the version of the interface, mostly /v1"):
        prepare_generator(without, EngineSettings(), tmp_path)


def test_the_memo_knows_prompt_model_sampling_and_schema_but_not_where_the_model_runs() -> None:
    def print_of(doc2query: Doc2QuerySettings | None = None, **settings: Any) -> str:
        generator = GeneratorSettings(**{"kind": "openai", "model": MODEL, **settings})
        return Doc2Query(doc2query or Doc2QuerySettings(), generator).fingerprint()

    known = print_of()
    others = [
        print_of(model="other"),
        print_of(temperature=0.7),
        print_of(top_p=0.5),
        print_of(seed=1),
        print_of(max_tokens=99),
        print_of(extra={"reasoning_effort": "low"}),
        print_of(response_format="none"),
        print_of(dtype="float16"),
        print_of(max_model_len=99),
        print_of(Doc2QuerySettings(pairs=5)),
        print_of(Doc2QuerySettings(groundedness=0.5)),
        print_of(kind="vllm"),
        print_of(kind="rules"),
    ]
    assert max(Counter([known, *others]).values()) == 1
    assert known == print_of(url="http://10.0.0.1/v1", concurrency=1, retries=5, tries=1, key_variable="K")


def test_a_model_here_is_known_by_its_files_wherever_it_lies(tmp_path: Path) -> None:
    def folder(name: str, weights: bytes, **more: str) -> GeneratorSettings:
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(weights)
        (tmp_path / name / "config.json").write_text("{}")
        for file, text in more.items():
            (tmp_path / name / file).write_text(text)
        return GeneratorSettings(kind="vllm", model=str(tmp_path / name))

    def file(name: str, weights: bytes) -> GeneratorSettings:
        (tmp_path / name).write_bytes(weights)
        return GeneratorSettings(kind="local", model=str(tmp_path / name))

    known = model_identity(folder("a", b"one"))
    assert known == model_identity(folder("b", b"one", README="something"))
    assert known != model_identity(folder("c", b"two")), "as many bytes, but others"
    a, b, c = (model_identity(file(f"{name}.gguf", w)) for name, w in (("a", b"one"), ("b", b"one"), ("c", b"two")))
    assert a == b != c


def test_the_schema_sent_has_what_strict_endpoints_ask_for() -> None:
    sent = portable(Pairs.model_json_schema())
    pair = sent["$defs"]["Pair"]
    assert pair["required"] == ["question", "answer"]
    assert pair["additionalProperties"] is sent["additionalProperties"] is False
    assert "title" not in pair
    assert sent["properties"]["pairs"]["items"] == {"$ref": "#/$defs/Pair"}
    titled = {"properties": {"title": {"type": "string", "title": "Title"}}}
    assert portable(titled)["properties"] == {"title": {"type": "string"}}, "a property may be called title"


def test_requests_are_drawn_no_faster_than_they_are_answered(serve: Serve) -> None:
    drawn = 0

    def requests() -> Iterator[Request]:
        nonlocal drawn
        for n in range(50):
            drawn += 1
            yield Request(n, ({"role": "user", "content": "<passage>\nThe cat sat.\n</passage>"},))

    endpoint = serve(well)
    replies = EndpointBackend(endpoint.generator(concurrency=4)).replies(requests(), Pairs.model_json_schema())
    next(replies)
    assert drawn <= 8
    assert sum(1 for _ in replies) + 1 == 50
