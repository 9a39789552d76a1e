"""Models run by OpenVINO: converted once per machine, kept in a cache, and called by several streams at once."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from quern.jobs.models.batches import Call
from quern.jobs.models.bert import convert, is_plain_bert
from quern.jobs.models.folders import Model, ModelError, model_fingerprint
from quern.jobs.models.machine import Precision, import_openvino

# Raised when the converted graph changes, so that a graph of an older release is not taken from the cache.
_CONVERSION = 3


def cache_folder() -> Path:
    """Where converted models are kept: `QUERN_CACHE`, else `quern` in the user's cache folder."""
    if own := os.environ.get("QUERN_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quern"


def openvino_version() -> str:
    """Release of OpenVINO, without its last number."""
    return ".".join(version("openvino").split(".")[:2])


def _convert(model: Model, file: Path) -> None:
    """Write `model` in f32 as `file`."""
    if not is_plain_bert(model):
        raise ModelError(f"model {model.folder} is no plain BERT: set embed.engine to torch, which runs any")
    try:
        convert(model, file)
    except (RuntimeError, ValueError, OSError, MemoryError) as error:
        cause = (str(error).strip().splitlines() or ["no message"])[-1]
        raise ModelError(
            f"model {model.folder} cannot be converted for OpenVINO ({cause}); set embed.engine to torch"
        ) from error


def openvino_file(model: Model) -> Path:
    """The model as an OpenVINO file in f32, which serves bf16 too, made on first use of model and OpenVINO version.

    Workers that start together wait for one of them to make it.

    Raises:
        ModelError: The model cannot be converted.
    """
    target = cache_folder() / "openvino" / f"{model_fingerprint(model)}-{openvino_version()}-{_CONVERSION}-f32"
    file = target / "model.xml"
    if not file.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_suffix(target.suffix + ".lock")):
            if not file.is_file():
                begun = f".converting-{target.name}-"
                for left in target.parent.glob(f"{begun}*"):  # by a process that was killed
                    shutil.rmtree(left, ignore_errors=True)
                scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=begun))
                try:  # The folder is there whole or not at all.
                    _convert(model, scratch / "model.xml")
                    scratch.rename(target)
                finally:
                    shutil.rmtree(scratch, ignore_errors=True)
    return file


class OpenVinoRunner:
    """A model compiled for this processor.

    Each thread is a stream of its own, which takes the next call when it is done with one: no thread waits for
    another within a call, and texts are tokenised and padded while the streams compute.
    """

    def __init__(self, model: Model, precision: Precision, threads: int) -> None:
        openvino = import_openvino()
        file = openvino_file(model)
        core = openvino.Core()
        try:
            graph = core.read_model(str(file))
            self._queue = openvino.AsyncInferQueue(core.compile_model(graph, "CPU", properties(precision, threads)))
        except RuntimeError as error:
            raise ModelError(
                f"converted model {file} cannot be loaded; delete its folder to convert it anew: {error}"
            ) from error

    def run(self, calls: Iterable[Call], vectors: npt.NDArray[np.float32]) -> None:
        """Write the vectors of all `calls` into their rows of `vectors`."""

        def keep(request: Any, rows: npt.NDArray[np.intp]) -> None:
            vectors[rows] = request.get_output_tensor(0).data

        self._queue.set_callback(keep)
        try:
            for call in calls:
                self._queue.start_async({"input_ids": call.ids, "attention_mask": call.mask}, call.rows)
        finally:
            self._queue.wait_all()


def properties(precision: Precision, threads: int) -> dict[str, object]:
    """How OpenVINO is to run a graph: so many streams of one thread each."""
    return {
        "INFERENCE_PRECISION_HINT": precision,
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": threads,
        "ENABLE_HYPER_THREADING": True,
        # Pinned threads of several workers would all sit on the same first cores.
        "ENABLE_CPU_PINNING": False,
    }
