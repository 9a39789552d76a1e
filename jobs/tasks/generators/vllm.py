"""Generators on a cluster's GPUs: a model in vLLM, in actors of Ray that are kept for a whole run.

`ray.data.llm` loads the model for every batch job, that is for each task of a run. An actor loads it once, and tells
why a reply ended and how probable its tokens were. vLLM pins other releases of torch and transformers than the rest, so
it has an environment and a lock of its own.
"""

from __future__ import annotations

import asyncio
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
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from quern.jobs.engines.ray import RayEngine, held, let_go
from quern.jobs.engines.scratch import Scratch
from quern.jobs.tasks.generators.contract import GeneratorError, Reply, Request
from quern.jobs.tasks.generators.model_folder import model_folder, plain_template
from quern.schemas.settings import EngineSettings, GeneratorSettings

log = logging.getLogger(__name__)

_FILE_REQUESTS: Final = 512
_SLAB: Final = 50_000  # Requests that are taken before the first is answered; each is some 4 kB meanwhile.
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
_ERROR_LENGTH: Final = 300
_FILES_AT_ONCE: Final = 2
_RESTARTS: Final = 3
_GPU_MEMORY: Final = 0.9
_CPU_MEMORY: Final = 0.2


class VllmBackend:
    """A model in vLLM on this machine's or this cluster's GPUs, in `generator.replicas` copies.

    A request that the model cannot answer, such as one too long, is answered by an error; a copy that dies is started
    again by Ray, and its requests with it.
    """

    def __init__(self, generator: GeneratorSettings, folder: Path, ray: RayEngine, *, here: bool = True) -> None:
        """Temporary files go to `folder`; it runs on `ray`; `here` says that this is a Ray of this machine alone."""
        self._settings, self._folder, self._ray, self._here = generator, folder, ray, here
        self.opened = ExitStack()

    def prepare(self) -> None:
        """See that vLLM and the model are there, and a GPU where one is asked for."""
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

    def replies(
        self, requests: Iterator[Request], schema: Mapping[str, object], *, tokens: bool = False
    ) -> Iterator[Reply]:
        """Replies as the files of the copies are done, held to the schema by constrained decoding."""
        last_reply = time.monotonic()

        def check() -> None:
            # Ray starts a copy that died again, however often it dies, and its iterators take no time limit.
            if time.monotonic() - last_reply > self._settings.patience:
                raise GeneratorError(
                    f"vLLM gave no reply for {self._settings.patience:.0f} seconds (generator.patience): it may still "
                    "be loading, or its copies die one after the other; Ray's session logs, in worker-*.out, say why"
                )

        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        # Workers read files of some hundred requests each: prompts need not pass through the driver twice.
        files: list[Path] = []
        try:
            slab = islice(requests, _SLAB)
            while rows := [{"row": r.row, "messages": list(r.messages)} for r in islice(slab, _FILE_REQUESTS)]:
                files.append(self._folder / f"{len(files):06d}.parquet")
                pq.write_table(pa.Table.from_pylist(rows, schema=_REQUESTS), files[-1])
            if not files:
                return
            for row in self._ray.call(_answer, files, self._settings, dict(schema), tokens, check=check):
                yield _reply(row)
                last_reply = time.monotonic()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Close what was opened for it alone: of a Ray of its own the model, too."""
        self.opened.close()


def _reply(row: Mapping[str, Any]) -> Reply:
    if "error" in row:
        return Reply(row["row"], "", False, 0, 0, row["error"])
    return Reply(**{**row, "tokens": tuple(row["tokens"])})


def on_ray(
    generator: GeneratorSettings, engine: EngineSettings, folder: Path | None, ray: RayEngine | None
) -> VllmBackend:
    """A backend on `ray` with its temporary files in `folder`; where one is None, on one of its own until it closes."""
    with ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(Scratch("model")).path / "vllm"
        if ray is None:
            ray = RayEngine(engine)
            stack.callback(ray.close)
        backend = VllmBackend(generator, folder, ray, here=not engine.ray_address)
        backend.opened = stack.pop_all()
    return backend


def _answer(
    _items: object,
    say: Callable[[Any], None],
    files: Sequence[Path],
    settings: GeneratorSettings,
    schema: Mapping[str, object],
    tokens: bool,
) -> None:
    """Say what the model replies to the requests in `files`, in the process that drives Ray."""
    import ray

    queue, running, sampling = iter(files), {}, _sampling(settings, schema, tokens)
    try:
        copies = held({**_engine(settings), "copies": settings.replicas}, lambda: _copies(settings))
        # The second file of a copy waits in it, so that its batch stays full while a first one ends.
        idle = [copy for _ in range(_FILES_AT_ONCE) for copy in copies]
        while True:
            while idle and (file := next(queue, None)) is not None:
                copy = idle.pop(0)
                running[copy.answer.remote(str(file), sampling)] = copy
            if not running:
                return
            (done,), _ = ray.wait([*running])
            idle.append(running.pop(done))
            for row in ray.get(done):
                say(row)
    except Exception as error:  # Ray and vLLM raise many kinds
        let_go()
        cause = " ".join(str(error).split())[-_ERROR_LENGTH:]
        raise GeneratorError(f"vLLM stopped with {type(error).__name__}: {cause}") from error


def _copies(settings: GeneratorSettings) -> list[Any]:
    """The actors that hold a copy of the model each; one that dies is started again, and what it was asked with it."""
    import ray

    gpus = settings.tensor_parallel if settings.device != "cpu" else 0
    actor = ray.remote(_Copy).options(
        num_cpus=0 if gpus else 1,
        num_gpus=gpus,
        max_concurrency=_FILES_AT_ONCE,
        max_restarts=_RESTARTS,
        max_task_retries=_RESTARTS,
        runtime_env={"env_vars": dict(_ENVIRONMENT)},
    )
    template = plain_template(model_folder(settings.model))
    chat = settings.extra.get("chat_template_kwargs") or {}
    return [actor.remote(_engine(settings), template, chat) for _ in range(settings.replicas)]


class _Copy:
    """One engine of vLLM, in an actor of Ray."""

    def __init__(self, engine: Mapping[str, Any], template: str | None, chat: Mapping[str, Any]) -> None:
        from vllm import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        self._engine = AsyncLLM.from_engine_args(AsyncEngineArgs(**engine))
        self._tokenizer = self._engine.get_tokenizer()
        self._chat = {"chat_template": template, **chat} if template else dict(chat)
        self._asked = 0

    async def answer(self, file: str, sampling: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Replies to the requests of a file, each a row."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        held_to = StructuredOutputsParams(json=sampling["schema"])
        whole = RequestOutputKind.FINAL_ONLY
        how = SamplingParams(**sampling["sampling"], structured_outputs=held_to, output_kind=whole)
        return await asyncio.gather(*(self._reply(row, how) for row in pq.read_table(file).to_pylist()))

    async def _reply(self, row: Mapping[str, Any], how: Any) -> dict[str, Any]:
        from vllm.exceptions import VLLMClientError
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        self._asked += 1
        try:
            ids = self._tokenizer.apply_chat_template(
                row["messages"], add_generation_prompt=True, tokenize=True, return_dict=False, **self._chat
            )
            outputs = self._engine.generate({"prompt_token_ids": ids}, how, f"{os.getpid()}-{self._asked}")
            (reply,) = [output.outputs[0] async for output in outputs]
        except EngineDeadError:
            os._exit(1)  # Ray starts this copy again, and gives it what it was asked.
        except (VLLMClientError, EngineGenerateError, ValueError, TypeError) as error:
            # One that is too long, or that the template refuses.
            return {"row": row["row"], "error": " ".join(str(error).split())[:_ERROR_LENGTH]}
        steps = [step[token] for step, token in zip(reply.logprobs or (), reply.token_ids, strict=bool(reply.logprobs))]
        return {
            "row": row["row"],
            "text": reply.text,
            "cut_off": reply.finish_reason == "length",
            "prompt_tokens": len(ids),
            "output_tokens": len(reply.token_ids),
            "tokens": [(one.decoded_token or "", one.logprob) for one in steps],
        }


def _engine(settings: GeneratorSettings) -> dict[str, Any]:
    """How vLLM holds the model."""
    engine: dict[str, Any] = {
        "model": str(model_folder(settings.model)),
        "dtype": settings.dtype,
        "tensor_parallel_size": settings.tensor_parallel,
        "enable_prefix_caching": True,
        "max_num_seqs": settings.batch,
        "enable_log_requests": False,
        "disable_log_stats": True,
    }
    if settings.device != "cpu":
        engine["gpu_memory_utilization"] = settings.gpu_memory or _GPU_MEMORY
    else:
        engine["enforce_eager"] = True
        # Despite its name it is also the share of a processor's memory, which there has other uses.
        engine["gpu_memory_utilization"] = settings.gpu_memory or _CPU_MEMORY / settings.replicas
        if settings.seed is not None:
            engine["seed"] = settings.seed  # A request's own seed ends vLLM 0.29 on a processor.
    if settings.max_model_len:
        engine["max_model_len"] = settings.max_model_len
    return engine


def _sampling(settings: GeneratorSettings, schema: Mapping[str, object], tokens: bool) -> dict[str, Any]:
    """How replies are written: `sampling`, fields of vLLM's parameters, and `schema`, what they are held to."""
    sampling: dict[str, Any] = {"max_tokens": settings.max_tokens, "logprobs": 0 if tokens else None}
    for name in ("temperature", "top_p"):
        if getattr(settings, name) is not None:
            sampling[name] = getattr(settings, name)
    if settings.seed is not None and settings.device != "cpu":
        sampling["seed"] = settings.seed
    return {"sampling": sampling, "schema": json.dumps(schema)}
