from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from quern.jobs.core.work import EngineError
from quern.jobs.engines.ray import RayEngine
from quern.pipelines.cli.faults import sentence
from quern.schemas.settings import EngineSettings
from tests.disks import small_disk


def test_a_folder_for_ray_that_is_full_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def timed_out(*_: object) -> None:
        raise TimeoutError("The current node timed out during startup.")

    monkeypatch.setattr("quern.jobs.engines.ray.results", timed_out)
    with small_disk(tmp_path / "d", 16) as disk:
        # Ray's own folder lies under /tmp where the path of another is too long for its sockets.
        monkeypatch.setattr("quern.jobs.engines.scratch.tempfile.gettempdir", lambda: str(disk.path))
        monkeypatch.setattr("quern.jobs.engines.scratch._LONGEST_ROOT", 200)
        with pytest.raises(EngineError) as raised:
            RayEngine(EngineSettings()).start()
        assert f"no space is left for {disk.path}: " in str(sentence(raised.value, []))
        disk.resize(4000)
        with pytest.raises(EngineError, match="Ray did not start: The current node timed out"):
            RayEngine(EngineSettings()).start()


def slowly(number: int) -> int:
    time.sleep(0.1)
    return number


@pytest.mark.long
def test_a_process_of_ray_that_dies_is_told_and_the_next_work_starts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    # Workers must be able to import the function.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    engine = RayEngine(EngineSettings(cores=2))

    def numbers(killed: int) -> Iterator[int]:
        for number in range(30):
            if number == killed:
                engine._vital["raylet"].kill()
            yield number

    with pytest.raises(EngineError, match=r"Ray stopped: its (gcs_server and )?raylet died; what was finished is kept"):
        list(engine.each(slowly, numbers(10), lambda _: 8))
    assert sorted(engine.each(slowly, numbers(-1), lambda _: 8)) == list(range(30))
    engine.close()


class _Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"text": "sixty-one metres"}')


def address(_items: object, say: Callable[[Any], None]) -> None:
    import ray

    say(ray.get_runtime_context().gcs_address)


def ask(_items: Iterator[Any], say: Callable[[Any], None], url: str) -> None:
    """A language model in Ray, without vLLM."""
    import ray.data
    from ray.data.llm import HttpRequestProcessorConfig, build_processor

    asked = build_processor(
        HttpRequestProcessorConfig(url=url, concurrency=1),
        preprocess=lambda row: {"payload": {"question": row["item"]}},
        postprocess=lambda row: {"text": row["http_response"]["text"]},
    )
    for row in asked(ray.data.from_items(["How long is she?"])).iter_rows():
        say(row["text"])


@pytest.mark.long
def test_models_of_ray_data_run_on_the_engine_s_ray() -> None:
    site = HTTPServer(("127.0.0.1", 0), _Model)
    Thread(target=site.serve_forever, daemon=True).start()
    engine = RayEngine(EngineSettings(cores=2))
    try:
        before = list(engine.call(address))
        assert list(engine.call(ask, f"http://127.0.0.1:{site.server_port}")) == ["sixty-one metres"]
        assert list(engine.call(address)) == before
    finally:
        engine.close()
        site.shutdown()
