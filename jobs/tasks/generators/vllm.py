"""Generators on a cluster's GPUs: a model in vLLM, given its prompts in batches by Ray Data (`ray.data.llm`).

vLLM pins other releases of torch and transformers than the rest, so it has an environment and a lock of its own.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final

import pyarrow as pa
import pyarrow.parquet as pq

from quern.jobs.engines.ray import RayEngine
from quern.jobs.engines.scratch import Scratch
from quern.jobs.tasks.generators.contract import GeneratorError, Reply, Request
from quern.jobs.tasks.generators.model_folder import model_folder, plain_template
from quern.schemas.settings import EngineSettings, GeneratorSettings

log = logging.getLogger(__name__)

_FILE_REQUESTS: Final = 512
_REQUESTS = pa.schema(
    [
        ("row", pa.int64()),
        ("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
    ]
)
# Nothing is fetched and nothing is told to anybody, in this process and in those of Ray.
_ENVIRONMENT: Final = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
_ERROR: Final = "__inference_error__"
_ERROR_LENGTH: Final = 300
_GPU_MEMORY: Final = 0.9
_CPU_MEMORY: Final = 0.2
# Logical cores of each small step before and after the model. Were they whole ones, the steps and a model on a
# processor would together want more than a small machine has, and each would wait for the others.
_STEP: Final = {"num_cpus": 0.2}


class VllmBackend:
    """A model in vLLM on this machine's or this cluster's GPUs, in `generator.replicas` copies.

    A request that the model cannot answer, such as one too long, is answered by an error; a copy that dies is started
    again by Ray, and its requests with it.
    """

    slabs: ClassVar[bool] = True

    def __init__(self, generator: GeneratorSettings, folder: Path, ray: RayEngine, *, here: bool = True) -> None:
        """Temporary files go to `folder`; it runs on `ray`; `here` says that this is a Ray of this machine alone."""
        self._settings, self._folder, self._ray, self._here = generator, folder, ray, here
        self.opened = ExitStack()

    def prepare(self) -> None:
        """See that vLLM and the model are there, and a GPU where one is asked for.

        Raises:
            GeneratorError: One of them is not.
        """
        if importlib.util.find_spec("vllm") is None:
            raise GeneratorError(
                "generator.kind=vllm needs vLLM, which has an environment of its own: `make install-vllm` makes it, "
                "and .venv-vllm/bin/quern builds with it"
            )
        model_folder(self._settings.model)
        if self._settings.device != "cpu" and self._here:
            import torch

            if not torch.cuda.is_available():
                raise GeneratorError(
                    "generator.device=cuda: this machine has no GPU that torch can use; generator.device=cpu runs "
                    "small models without one, engine.ray_address takes the GPUs of a cluster"
                )

    def replies(self, requests: Iterator[Request], schema: Mapping[str, object]) -> Iterator[Reply]:
        """Replies as the batches of the copies are done, held to the schema by constrained decoding.

        Raises:
            GeneratorError: vLLM stopped, or gave no reply for too long; the message has the cause.
            EngineError: Ray died.
        """
        heard = time.monotonic()

        def check() -> None:
            # Ray starts a copy that died again, however often it dies, and its iterators take no time limit.
            if time.monotonic() - heard > self._settings.patience:
                raise GeneratorError(
                    f"vLLM gave no reply for {self._settings.patience:.0f} seconds (generator.patience): it may still "
                    "be loading, or its copies die one after the other; Ray's session logs, in worker-*.out, say why"
                )

        try:
            files = _written(requests, self._folder)
            if not files:
                return
            for answered in self._ray.call(_answer, files, self._settings, dict(schema), check=check):
                yield self._reply(answered)
                heard = time.monotonic()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Close what was opened for it alone; nothing else is held between calls."""
        self.opened.close()

    def _reply(self, row: Mapping[str, Any]) -> Reply:
        error = str(row.get(_ERROR) or "")
        if error:
            return Reply(int(row["row"]), "", False, 0, 0, " ".join(error.split())[:_ERROR_LENGTH])
        outputs = int(row["num_generated_tokens"])
        return Reply(
            row=int(row["row"]),
            text=str(row["generated_text"]),
            # vLLM's reason for ending does not come through Ray; a reply that has all tokens it may have was cut off.
            cut_off=outputs >= self._settings.max_tokens,
            prompt_tokens=int(row["num_input_tokens"]),
            output_tokens=outputs,
        )


def on_ray(
    generator: GeneratorSettings, engine: EngineSettings, folder: Path | None, ray: RayEngine | None
) -> VllmBackend:
    """A backend on `ray` with its temporary files in `folder`; where one is None, on one of its own until it closes."""
    with ExitStack() as opened:
        if folder is None:
            folder = opened.enter_context(Scratch("model")).path / "vllm"
        if ray is None:
            ray = RayEngine(engine)
            opened.callback(ray.close)
        backend = VllmBackend(generator, folder, ray, here=not engine.ray_address)
        backend.opened = opened.pop_all()
    return backend


def _answer(
    _items: object,
    say: Callable[[Any], None],
    files: Sequence[Path],
    settings: GeneratorSettings,
    schema: Mapping[str, object],
) -> None:
    """Say what the model replies to the requests in `files`, in the process that drives Ray."""
    os.environ.update(_ENVIRONMENT)
    import ray.data

    try:
        named = ray.data.from_items([{"file": str(f)} for f in files], override_num_blocks=len(files))
        for answered in _processor(settings, schema)(named.flat_map(_read, **_STEP)).iter_rows():
            say(answered)
    except Exception as error:  # Ray and vLLM raise many kinds
        cause = " ".join(str(error).split())[-_ERROR_LENGTH:]
        raise GeneratorError(f"vLLM stopped with {type(error).__name__}: {cause}") from error


def _processor(settings: GeneratorSettings, schema: Mapping[str, object]) -> Any:
    """The pipeline of Ray Data: chat template, tokens, vLLM, text."""
    from ray.data.llm import build_processor, vLLMEngineProcessorConfig

    model = model_folder(settings.model)
    engine: dict[str, Any] = {
        "dtype": settings.dtype,
        "tensor_parallel_size": settings.tensor_parallel,
        "enable_prefix_caching": True,
    }
    placement: dict[str, Any] | None = None
    if settings.device != "cpu":
        engine["gpu_memory_utilization"] = settings.gpu_memory or _GPU_MEMORY
    else:
        engine["enforce_eager"] = True
        # Despite its name it is also the share of a processor's memory, which there has other uses.
        engine["gpu_memory_utilization"] = settings.gpu_memory or _CPU_MEMORY / settings.replicas
        # Without this, Ray would wait for a GPU.
        placement = {"bundles": [{"CPU": 1}] * settings.tensor_parallel}
    if settings.max_model_len:
        engine["max_model_len"] = settings.max_model_len
    sampling: dict[str, Any] = {"max_tokens": settings.max_tokens}
    for name in ("temperature", "top_p"):
        if getattr(settings, name) is not None:
            sampling[name] = getattr(settings, name)
    if settings.seed is not None:
        # A request's own seed ends vLLM 0.29 on a processor; there the engine's must do.
        (sampling if settings.device != "cpu" else engine)["seed"] = settings.seed
    if settings.response_format == "json_schema":
        sampling["structured_outputs"] = {"json": json.dumps(schema)}
    elif settings.response_format == "json_object":
        sampling["structured_outputs"] = {"json_object": True}
    config = vLLMEngineProcessorConfig(
        model_source=str(model),
        engine_kwargs=engine,
        batch_size=min(settings.batch, _FILE_REQUESTS),
        concurrency=settings.replicas,
        placement_group_config=placement,
        runtime_env={"env_vars": dict(_ENVIRONMENT)},
        should_continue_on_error=True,
        log_engine_metrics=False,
        # Templates and tokens are quick work for one process each, beside any number of GPUs.
        chat_template_stage={
            "enabled": True,
            "concurrency": 1,
            **_STEP,
            "chat_template": plain_template(model),
            "chat_template_kwargs": settings.extra.get("chat_template_kwargs"),
        },
        tokenize_stage={"enabled": True, "concurrency": 1, **_STEP},
        detokenize_stage=False,
    )
    return build_processor(
        config,
        preprocess=lambda row: {**row, "sampling_params": dict(sampling)},
        postprocess=_answered,
        preprocess_map_kwargs=_STEP,
        postprocess_map_kwargs=_STEP,
    )


def _written(requests: Iterator[Request], folder: Path) -> list[Path]:
    """Files of some hundred requests each, which workers read: prompts need not pass through the driver twice."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files: list[Path] = []
    while rows := [{"row": r.row, "messages": list(r.messages)} for r in islice(requests, _FILE_REQUESTS)]:
        files.append(folder / f"{len(files):06d}.parquet")
        pq.write_table(pa.Table.from_pylist(rows, schema=_REQUESTS), files[-1])
    return files


def _read(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The requests of one file."""
    rows: list[dict[str, Any]] = pq.read_table(row["file"]).to_pylist()
    return rows


def _answered(row: Mapping[str, Any]) -> dict[str, Any]:
    """What of an answer is brought back; prompts and tokens are not."""
    return {name: row[name] for name in ("row", "generated_text", "num_input_tokens", "num_generated_tokens")}
