"""Generators in this process from one GGUF file: OpenVINO GenAI on the processor, continuous batches, prefixes once.

Replies are held to the JSON schema token by token. The weights are widened as they are loaded: the memory that this
takes is told before it is taken.

Source: continuous batching and a paged cache of prefixes, Kwon et al., arXiv 2309.06180; the file's format, GGUF 3.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

import psutil

from quern.jobs.models.cores import available_cores
from quern.jobs.tasks.generators.contract import GeneratorError, Reply, Request
from quern.schemas.extras import require
from quern.schemas.settings import GeneratorSettings

log = logging.getLogger(__name__)

_MAGIC: Final = b"GGUF"
# Bytes in memory for each byte of a file of four bits: Qwen2.5 1.5 B, 1.1 GB, takes 3.9 GB while it is loaded.
_WIDENED: Final = 3.5
_CACHE_GB: Final = 2  # Of what the model keeps of prompts and replies: some 70,000 tokens of a model of 1.5 B.
_BATCHED_TOKENS: Final = 2048
_TOLD_EVERY: Final = 30.0  # Seconds between two lines of the log.
_ERROR_LENGTH: Final = 300


@dataclass(frozen=True)
class _File:
    """What a file says: its bytes, and the most tokens of a prompt with its reply (0: unknown)."""

    size: int
    positions: int


class GgufBackend:
    """A model in a GGUF file; loaded for the first request, and kept until it is closed."""

    slabs: ClassVar[bool] = False

    def __init__(self, generator: GeneratorSettings) -> None:
        self._settings, self._file = generator, Path(generator.model).expanduser()
        self._pipeline: Any = None

    def prepare(self) -> None:
        """See that the file and what runs it are there, and that memory has room.

        Raises:
            GeneratorError: The file or the memory is unfit; the message says what to do.
            MissingExtraError: What runs it is not installed.
        """
        for module in ("openvino_genai", "gguf"):
            require(module, f"generator.model={self._file}")
        if self._settings.device == "cuda":
            raise GeneratorError("generator.device=cuda: a GGUF file is run on the processor; name a folder for a GPU")
        size = _describe(self._file).size
        needed, free = size * _WIDENED + (_CACHE_GB << 30), psutil.virtual_memory().available
        if self._pipeline is None and needed > free:
            raise GeneratorError(
                f"generator.model={self._file} needs some {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are "
                "free: name a smaller model"
            )

    def replies(self, requests: Iterator[Request], schema: Mapping[str, object]) -> Iterator[Reply]:
        """Replies as they end; as many requests at once as `generator.batch`.

        Raises:
            GeneratorError: The model cannot be loaded.
        """
        pipeline = self._load()
        config = self._config(schema)
        open_requests: dict[int, tuple[Any, int]] = {}
        started, told, done, written = time.monotonic(), time.monotonic(), 0, 0
        # `requests` may have further ones after it had none, as soon as replies were taken.
        while True:
            # Prefixes are looked up when a request is added: the first is answered alone, so that the others find its.
            most = self._settings.batch if done else 1
            while len(open_requests) < most and (request := next(requests, None)) is not None:
                added = self._add(request, config)
                if isinstance(added, Reply):
                    yield added
                else:
                    open_requests[request.row] = added
            if not open_requests:
                return
            pipeline.step()
            for row in [row for row, (handle, _) in open_requests.items() if handle.get_status().name != "RUNNING"]:
                handle, prompt_tokens = open_requests.pop(row)
                reply = self._reply(row, handle, prompt_tokens)
                done, written = done + 1, written + reply.output_tokens
                yield reply
            if time.monotonic() - told > _TOLD_EVERY:
                told = time.monotonic()
                log.info(
                    "generator=local replies=%d open=%d tokens_a_second=%.1f",
                    done,
                    len(open_requests),
                    written / (told - started),
                )

    def close(self) -> None:
        """Give the model's memory back."""
        self._pipeline = None

    def _load(self) -> Any:
        if self._pipeline is None:
            import openvino_genai

            scheduler = openvino_genai.SchedulerConfig()
            scheduler.cache_size, scheduler.enable_prefix_caching = _CACHE_GB, True
            scheduler.max_num_batched_tokens = _BATCHED_TOKENS
            properties = {"INFERENCE_NUM_THREADS": available_cores()}
            started = time.monotonic()
            try:
                self._pipeline = openvino_genai.ContinuousBatchingPipeline(
                    str(self._file), scheduler, "CPU", properties
                )
            except RuntimeError as error:
                cause = " ".join(str(error).split())[-_ERROR_LENGTH:]
                raise GeneratorError(f"the model in {self._file} cannot be loaded: {cause}") from error
            memory = psutil.Process().memory_info().rss / 1e9
            log.info("model=%s loaded seconds=%.1f memory_gb=%.1f", self._file, time.monotonic() - started, memory)
        return self._pipeline

    def _config(self, schema: Mapping[str, object]) -> Any:
        """How replies are written."""
        import openvino_genai

        settings = self._settings
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens, config.apply_chat_template = settings.max_tokens, False
        config.eos_token_id = self._pipeline.get_tokenizer().get_eos_token_id()
        config.do_sample = bool(settings.temperature)
        if settings.temperature:
            config.temperature, config.rng_seed = settings.temperature, settings.seed or 0
            config.top_p = settings.top_p or 1.0
        if settings.response_format != "none":
            held = openvino_genai.StructuredOutputConfig()
            wanted = schema if settings.response_format == "json_schema" and schema else {"type": "object"}
            held.json_schema = json.dumps(wanted)
            config.structured_output_config = held
        return config

    def _add(self, request: Request, config: Any) -> tuple[Any, int] | Reply:
        """The request as the model is asked, and the tokens of its prompt; or why it gets no answer."""
        tokenizer = self._pipeline.get_tokenizer()
        prompt = tokenizer.apply_chat_template([dict(m) for m in request.messages], add_generation_prompt=True)
        ids = tokenizer.encode(prompt).input_ids
        tokens, most = int(ids.shape[1]), self._settings.max_model_len or _describe(self._file).positions
        if most and tokens + self._settings.max_tokens > most:
            error = f"the prompt has {tokens} tokens, the model takes {most} with its reply"
            return Reply(request.row, "", False, tokens, 0, error)
        return self._pipeline.add_request(request.row, ids, config), tokens

    def _reply(self, row: int, handle: Any, prompt_tokens: int) -> Reply:
        outputs = handle.read_all()
        if not outputs:
            return Reply(row, "", False, prompt_tokens, 0, f"the model stopped: {handle.get_status().name.lower()}")
        ids = list(outputs[0].generated_ids)
        text = self._pipeline.get_tokenizer().decode(ids)
        return Reply(row, text, outputs[0].finish_reason.name == "LENGTH", prompt_tokens, len(ids))


@cache
def _describe(file: Path) -> _File:
    """What a GGUF file says of itself.

    Raises:
        GeneratorError: It is none, is damaged, or ends before its weights do.
    """
    from gguf import GGUFReader

    try:
        with file.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                raise GeneratorError(f"generator.model={file} is no GGUF file")
        size, reader = file.stat().st_size, GGUFReader(file)
        architecture = str(reader.get_field("general.architecture").contents())
        context = reader.get_field(f"{architecture}.context_length")
        return _File(size, int(context.contents()) if context else 0)
    except OSError as error:
        raise GeneratorError(f"generator.model={file} cannot be read: {error.strerror or error}") from error
    except (ValueError, IndexError, KeyError, AttributeError, TypeError, UnicodeDecodeError) as error:
        raise GeneratorError(f"generator.model={file} is cut or damaged: fetch it again ({error})") from error
