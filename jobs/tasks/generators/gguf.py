"""Generators in this process from one GGUF file: OpenVINO GenAI on the processor, continuous batches, prefixes once.

Replies are held to the JSON schema token by token. The weights are widened as they are loaded: the memory that this
takes is told before it is taken.

Source: continuous batching and a paged cache of prefixes, Kwon et al., arXiv 2309.06180; the file's format, GGUF 3.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import psutil

from quern.jobs.models.machine import available_cores
from quern.jobs.tasks.generators.contract import GeneratorError, Reply, Request
from quern.schemas.extras import require
from quern.schemas.settings import GeneratorSettings

log = logging.getLogger(__name__)

_MAGIC: Final = b"GGUF"
# Bytes in memory for each byte of a file of four bits: Qwen2.5 1.5 B, 1.1 GB, takes 3.9 GB while it is loaded.
_WIDENED: Final = 3.5
_CACHE_GB: Final = 2  # Of what the model keeps of prompts and replies.
_BYTES_A_VALUE: Final = 2  # In that cache.
_BATCHED_TOKENS: Final = 2048
_ERROR_LENGTH: Final = 300


@dataclass(frozen=True)
class _File:
    """What a file says: its bytes, most tokens of a prompt with its reply, values cached a token (0: unknown)."""

    size: int
    positions: int
    cached: int


@dataclass
class _Open:
    """A request that the model is answering."""

    handle: Any
    prompt_tokens: int
    ids: list[int] = field(default_factory=list)  # What it wrote so far, and how probable that was.
    chances: list[float] = field(default_factory=list)
    cut_off: bool = False

    def read(self) -> None:
        """Take what was written since."""
        while self.handle.can_read():
            for part in self.handle.read().values():
                self.ids += part.generated_ids
                self.chances += part.generated_log_probs
                self.cut_off = part.finish_reason.name == "LENGTH"


class GgufBackend:
    """A model in a GGUF file; loaded for the first request, and kept until it is closed."""

    def __init__(self, generator: GeneratorSettings) -> None:
        self._settings, self._file = generator, Path(generator.model).expanduser()
        self._pipeline: Any = None

    def prepare(self) -> None:
        """See that the file and what runs it are there, and that memory has room."""
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

    def replies(
        self, requests: Iterator[Request], schema: Mapping[str, object], *, tokens: bool = False
    ) -> Iterator[Reply]:
        """Replies as they end; as many requests at once as `generator.batch`, and as the model's cache has room for."""
        pipeline = self._load()
        config, room = self._config(schema), self._room()
        config.logprobs = int(tokens)
        open_requests: dict[int, _Open] = {}
        count = 0
        # `requests` may have further ones after it had none, as soon as replies were taken.
        while True:
            # Prefixes are looked up when a request is added: the first is answered alone, so that the others find its.
            most = self._settings.batch if count else 1
            while (
                len(open_requests) < most
                and self._taken(open_requests) < room
                and (request := next(requests, None)) is not None
            ):
                entry = self._add(request, config)
                if isinstance(entry, Reply):
                    yield entry
                else:
                    open_requests[request.row] = entry
            if not open_requests:
                return
            pipeline.step()
            for one in open_requests.values():
                one.read()
            for row in [row for row, one in open_requests.items() if one.handle.get_status().name != "RUNNING"]:
                one, count = open_requests.pop(row), count + 1
                one.read()
                yield self._reply(row, one, tokens=tokens)

    def _room(self) -> float:
        """Tokens that the cache has room for: where it is full, what was computed is thrown away and computed anew."""
        values = _describe(self._file).cached
        return (_CACHE_GB << 30) / (values * _BYTES_A_VALUE) if values else math.inf

    def _taken(self, open_requests: Mapping[int, _Open]) -> int:
        """Tokens that open requests, and one more like them, may come to."""
        longest = max((one.prompt_tokens for one in open_requests.values()), default=0)
        return (len(open_requests) + 1) * (longest + self._settings.max_tokens) if open_requests else 0

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
        constraint = openvino_genai.StructuredOutputConfig()
        constraint.json_schema = json.dumps(schema)
        config.structured_output_config = constraint
        return config

    def _add(self, request: Request, config: Any) -> _Open | Reply:
        """The request as the model is asked; or why it gets no answer."""
        tokenizer = self._pipeline.get_tokenizer()
        prompt = tokenizer.apply_chat_template([dict(m) for m in request.messages], add_generation_prompt=True)
        ids = tokenizer.encode(prompt).input_ids
        tokens, most = int(ids.shape[1]), self._settings.max_model_len or _describe(self._file).positions
        if most and tokens + self._settings.max_tokens > most:
            error = f"the prompt has {tokens} tokens, the model takes {most} with its reply"
            return Reply(request.row, "", False, tokens, 0, error)
        return _Open(self._pipeline.add_request(request.row, ids, config), tokens)

    def _reply(self, row: int, one: _Open, *, tokens: bool) -> Reply:
        if not one.ids:
            error = f"the model stopped: {one.handle.get_status().name.lower()}"
            return Reply(row, "", False, one.prompt_tokens, 0, error)
        decode = self._pipeline.get_tokenizer().decode
        parts = [(str(decode([n])), chance) for n, chance in zip(one.ids, one.chances, strict=True)] if tokens else []
        return Reply(row, decode(one.ids), one.cut_off, one.prompt_tokens, len(one.ids), tokens=tuple(parts))


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

        def number(name: str) -> int:
            found = reader.get_field(f"{architecture}.{name}")
            return int(found.contents()) if found else 0

        heads = number("attention.head_count")
        usual = number("embedding_length") // heads if heads else 0
        # A key and a value for each head and layer.
        pair = sum(number(f"attention.{name}_length") or usual for name in ("key", "value"))
        values = number("block_count") * (number("attention.head_count_kv") or heads) * pair
        return _File(size, number("context_length"), values)
    except OSError as error:
        raise GeneratorError(f"generator.model={file} cannot be read: {error.strerror or error}") from error
    except (ValueError, IndexError, KeyError, AttributeError, TypeError, UnicodeDecodeError) as error:
        raise GeneratorError(f"generator.model={file} is cut or damaged: fetch it again ({error})") from error
