from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from quern.jobs.core.work import EngineError, Work
from quern.jobs.engines.ray import RayEngine
from quern.jobs.vectors.embed import Embed
from quern.pipelines.cli.main import sentence
from quern.schemas.settings import EmbedSettings, EngineSettings
from tests.disks import small_disk


def test_a_folder_for_ray_that_is_full_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def timed_out(*_: object, **__: object) -> None:
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
        list(engine.each(slowly, numbers(10)))
    assert sorted(engine.each(slowly, numbers(-1))) == list(range(30))
    engine.close()


@pytest.mark.long
def test_a_job_for_gpus_is_told_where_ray_has_none(tmp_path: Path) -> None:
    job = Embed(EmbedSettings(engine="torch", device="cuda"))
    assert (job.gpus, job.task_rows, Embed(EmbedSettings()).gpus) == (1, 16_384, 0)
    engine = RayEngine(EngineSettings(cores=2))
    try:
        with pytest.raises(EngineError, match="the job embed is to run on GPUs, and Ray has none"):
            engine.run(Work(job, [tmp_path / "0.parquet"], pa.schema([]), tmp_path, 1))
    finally:
        engine.close()
