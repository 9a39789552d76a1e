"""Whole builds whose queries a model behind an endpoint writes, and what they are estimated to cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quern.indexes.catalog import Warehouse
from quern.jobs.tasks.generators.contract import GeneratorError
from quern.pipelines.build.whole import build
from quern.schemas.settings import Settings
from quern.schemas.settings.reading import SettingsError, load_settings
from tests.conftest import Quern
from tests.jobs.tasks.generators.endpoint_server import MODEL, Endpoint, Said, passage_of, well

KEY = "sk-never-to-be-written-4711"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(well).running() as running:
        running.key = KEY
        yield running


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    texts = [
        f"The mill of Ostra number {n} was built in {1700 + n} by Greta Holm, who had learnt the trade in Lund. "
        f"It grinds rye and barley for {n + 3} villages, and its wheel is {n + 10} feet wide."
        for n in range(6)
    ]
    file = tmp_path / "mills.jsonl"
    file.write_text("".join(json.dumps({"doc_id": f"mill-{n}", "text": t}) + "\n" for n, t in enumerate(texts)))
    return file


def settings(endpoint: Endpoint, **generator: Any) -> Settings:
    given = endpoint.overrides(**{"tries": 2, "concurrency": 1, "retries": 2, **generator})
    return load_settings(overrides=["engine.engine=local", "engine.task_rows=1", *given])


def queries_of(warehouse: Warehouse) -> list[dict[str, Any]]:
    return [row for batch in warehouse.snapshot().stage("queries").batches() for row in batch.to_pylist()]


def test_a_build_whose_endpoint_dies_goes_on_later_and_leaves_the_published_snapshot(
    pages: Path, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    warehouse = Warehouse.create(tmp_path / "warehouse")
    first = build(pages, warehouse, settings(endpoint))
    report = next(job for job in first.jobs if job["job"] == "doc2query")
    assert (report["engine"], report["notes"]["requests"]) == ("openai", 6)
    written = queries_of(warehouse)
    assert {row["chunk_id"] for row in written} == {f"mill-{n}-0" for n in range(6)}

    # Another prompt is another memo: everything is asked anew, and the endpoint dies at the fourth chunk.
    def dies(n: int, body: dict[str, Any]) -> Said:
        return Said(hang_up=True) if n >= 9 else well(n, body)

    endpoint.script, endpoint.probe = dies, Said(hang_up=True)
    fewer = settings(endpoint).model_copy(
        update={"doc2query": settings(endpoint).doc2query.model_copy(update={"pairs": 5})}
    )
    with pytest.raises(GeneratorError, match="3 rows of the job doc2query were done and are kept"):
        build(pages, warehouse, fewer)
    assert warehouse.current_id() == first.build_id
    assert queries_of(warehouse) == written

    endpoint.script, endpoint.probe, asked = well, Said("{}"), len(endpoint.asked)
    second = build(pages, warehouse, fewer)
    assert len(endpoint.asked) == asked + 3
    assert warehouse.current_id() == second.build_id
    kept = [path for path in warehouse.root.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert kept == [], "the key is written nowhere"


def test_an_endpoint_that_is_down_at_the_start_is_told_before_any_work(
    pages: Path, tmp_path: Path, quern_here: Quern
) -> None:
    warehouse = tmp_path / "warehouse"
    down = ("generator.kind=openai", f"generator.model={MODEL}", "generator.url=http://127.0.0.1:9/v1")
    options = [part for setting in down for part in ("--set", setting)]
    stopped = quern_here("build", pages, "-w", warehouse, "--engine", "local", *options)
    assert stopped.returncode == 2
    assert "quern: the endpoint http://127.0.0.1:9/v1 cannot be used" in stopped.stderr
    assert "is it running?" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (warehouse / "memo").exists() or not any((warehouse / "memo").iterdir()), "nothing was worked on"


@pytest.mark.parametrize(
    ("url", "told"), [("http://u:secret@h/v1", "no user, password or query"), ("ftp://h", "like http://")]
)
def test_an_address_that_tells_a_secret_or_is_none_is_refused(url: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load_settings(overrides=["generator.kind=openai", "generator.model=m", f"generator.url={url}"])


def test_an_estimate_counts_what_the_memo_lacks_and_publishes_nothing(
    pages: Path, endpoint: Endpoint, tmp_path: Path, quern_here: Quern, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    root = tmp_path / "warehouse"
    words = ("estimate", pages, "-w", root, "--engine", "local", "--set", f"generator.model={MODEL}", "--json")
    priced = (*words, "--set", "generator.price_prompt=2", "--set", "generator.price_output=10")

    def costs(*arguments: object) -> dict[str, dict[str, Any]]:
        done = quern_here(*arguments)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert (told["documents"], told["chunks"], told["sample"]) == (6, 6, 6)
        return {cost["generator"]: cost for cost in told["costs"]}

    before = costs(*priced)
    assert {name: cost["chunks"] for name, cost in before.items()} == {"rules": 6, "openai": 6, "vllm": 6}
    openai = before["openai"]
    # Six prompts of some 400 tokens around passages of 40, and as many replies.
    assert 6 * 300 < openai["prompt_tokens"] < 6 * 700
    assert 6 * 50 < openai["output_tokens"] < 6 * 1500
    assert openai["cost"] == pytest.approx((2 * openai["prompt_tokens"] + 10 * openai["output_tokens"]) / 1e6)
    assert before["vllm"]["hours"] is None
    assert Warehouse.open(root).current_id() is None
    assert endpoint.asked == []
    build(pages, Warehouse.open(root), settings(endpoint))
    asked = {passage_of(body) for body in endpoint.asked}
    assert len(asked) == 6
    after = costs(*words, "--set", "generator.output_speed=100", "--set", "generator.replicas=2")
    assert {name: cost["chunks"] for name, cost in after.items()} == {"rules": 6, "openai": 0, "vllm": 6}
    assert after["vllm"]["hours"] == pytest.approx(after["vllm"]["output_tokens"] / 100 * 2 / 3600)
    plain = quern_here(*(word for word in words if word != "--json"))
    assert "set generator.price_prompt" in plain.stdout
