"""Generators in this process: a small language model of transformers, in batches, on the processor or a GPU.

Chosen by measuring on two cores, both busy otherwise too (32 prompts of some 300 tokens, 80 tokens each, bf16): held to
a schema by llguidance transformers writes 75 tokens a second, by xgrammar 73, which brings triton; float32 many
times fewer. A GGUF file is run by `.gguf`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from quern.jobs.models.folders import forbid_network
from quern.jobs.tasks.generators.contract import GeneratorError, Reply, Request
from quern.jobs.tasks.generators.decoding import Continuation, Decoder, Guide, Sampling
from quern.jobs.tasks.generators.model_folder import model_folder, plain_template
from quern.schemas.extras import missing, require
from quern.schemas.settings import GeneratorSettings

# Tokens of a batch's prompts, padding included, and bytes of what the model keeps of them and of its replies.
_PROMPT_TOKENS: Final = {"cpu": 1 << 14, "cuda": 1 << 17}
_CACHE_BYTES: Final = {"cpu": 2 << 30, "cuda": 16 << 30}
_ERROR_LENGTH: Final = 300


@dataclass(frozen=True)
class _Loaded:
    """A model in memory."""

    model: Any  # The model of transformers.
    tokenizer: Any  # Its tokenizer.
    template: str | None  # Chat template, where it has none of its own.
    ends: frozenset[int]  # Tokens that end a reply.
    positions: int  # Most tokens of a prompt and its reply.
    token_bytes: int  # Bytes that it keeps of each token of a conversation.
    guide: Guide  # Grammars over its tokens.


class LocalBackend:
    """A model in this process; loaded for the first request, and kept until it is closed."""

    def __init__(self, generator: GeneratorSettings) -> None:
        self._settings = generator
        self._loaded: _Loaded | None = None

    def prepare(self) -> None:
        """See that the model and what runs it are there."""
        if importlib.util.find_spec("llguidance") is None:
            raise GeneratorError(f"generator.kind=local holds replies to JSON with {missing('llguidance')}")
        for module in ("torch", "transformers"):
            require(module, "generator.kind=local")
        model_folder(self._settings.model)
        self._device()

    def replies(
        self, requests: Iterator[Request], schema: Mapping[str, object], *, tokens: bool = False
    ) -> Iterator[Reply]:
        """Replies as they end, `generator.batch` requests after the other."""
        import torch

        # `requests` may have further ones after it had none, as soon as replies were taken.
        while window := list(islice(requests, self._settings.batch)):
            loaded = self._load()
            rows: list[Continuation] = []
            for request in window:
                prompt = loaded.tokenizer.apply_chat_template(
                    [dict(message) for message in request.messages],
                    chat_template=loaded.template,
                    add_generation_prompt=True,
                    return_dict=False,
                    **(self._settings.extra.get("chat_template_kwargs") or {}),
                )
                room = loaded.positions - len(prompt)
                if prompt and room > 0:
                    rows.append(Continuation(request.row, prompt, min(room, self._settings.max_tokens)))
                else:
                    error = f"the prompt has {len(prompt)} tokens, the model takes {loaded.positions} with its reply"
                    yield Reply(request.row, "", False, len(prompt), 0, error)
            for batch in self._batches(loaded, rows):
                try:
                    yield from self._answers(loaded, batch, schema, tokens=tokens)
                except torch.OutOfMemoryError as error:
                    raise GeneratorError(
                        f"the model of generator.kind=local ran out of memory with {len(batch)} requests at once: set "
                        "generator.batch or generator.max_tokens lower"
                    ) from error

    def close(self) -> None:
        """Give the model's memory back."""
        self._loaded = None

    def _device(self) -> str:
        """`cpu` or `cuda`.

        Raises:
            GeneratorError: A GPU is asked for, and there is none.
        """
        import torch

        if self._settings.device == "cpu":
            return "cpu"
        if torch.cuda.is_available():
            return "cuda"
        if self._settings.device == "cuda":
            raise GeneratorError("generator.device=cuda: this machine has no GPU that torch can use")
        return "cpu"

    def _load(self) -> _Loaded:
        """The model.

        Raises:
            GeneratorError: Its folder holds none that transformers can run.
        """
        if self._loaded is None:
            forbid_network()
            from transformers import AutoModelForCausalLM, AutoTokenizer
            from transformers.utils.logging import disable_progress_bar

            disable_progress_bar()
            folder, device = model_folder(self._settings.model), self._device()
            try:
                tokenizer = AutoTokenizer.from_pretrained(folder)
                model = AutoModelForCausalLM.from_pretrained(folder, dtype=self._settings.dtype).to(device).eval()
            except (OSError, ValueError, KeyError, AttributeError) as error:
                cause = " ".join(str(error).split())[:_ERROR_LENGTH]
                raise GeneratorError(f"the model in {folder} cannot be loaded: {cause}") from error
            template = plain_template(folder)
            config, settings = model.config.get_text_config(), self._settings
            end_tokens = getattr(model.generation_config, "eos_token_id", None)
            ends = frozenset(end_tokens if isinstance(end_tokens, list) else [end_tokens]) | {tokenizer.eos_token_id}
            ends = frozenset(int(token) for token in ends if token is not None)
            heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
            width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
            self._loaded = _Loaded(
                model=model,
                tokenizer=tokenizer,
                template=template,
                ends=ends,
                positions=settings.max_model_len or getattr(config, "max_position_embeddings", None) or 1 << 20,
                token_bytes=2 * config.num_hidden_layers * heads * width * model.dtype.itemsize,
                guide=Guide(tokenizer, config.vocab_size, ends),
            )
        return self._loaded

    def _batches(self, loaded: _Loaded, rows: Sequence[Continuation]) -> Iterator[list[Continuation]]:
        """The rows in batches that memory holds; prompts of about one length together, so that little is padded."""
        kind = loaded.model.device.type
        batch: list[Continuation] = []
        most = 0
        for row in sorted(rows, key=lambda row: (len(row.prompt), row.key)):
            most = max(most, len(row.prompt) + row.most)
            many = len(batch) + 1
            full = (
                many * len(row.prompt) > _PROMPT_TOKENS[kind] or many * most * loaded.token_bytes > _CACHE_BYTES[kind]
            )
            if batch and full:
                yield batch
                batch, most = [], len(row.prompt) + row.most
            batch.append(row)
        if batch:
            yield batch

    def _answers(
        self, loaded: _Loaded, rows: Sequence[Continuation], schema: Mapping[str, object], *, tokens: bool
    ) -> Iterator[Reply]:
        """The reply of each row as it ends."""
        settings, own = self._settings, loaded.model.generation_config
        try:
            for row in rows:
                row.matcher = loaded.guide.matcher(schema)
        except ValueError as error:
            cause = " ".join(str(error).split())[:_ERROR_LENGTH]
            raise GeneratorError(f"replies cannot be held to the schema of the task: {cause}") from error
        temperature = settings.temperature if settings.temperature is not None else (own.temperature or 1.0)
        top_p = settings.top_p if settings.top_p is not None else (own.top_p or 1.0)
        decoder = Decoder(
            loaded.model,
            min(loaded.ends, default=0),
            loaded.ends,
            Sampling(temperature, top_p, settings.seed),
            loaded.guide,
        )
        for row in decoder.decode(rows):
            text = loaded.tokenizer.decode(row.tokens, skip_special_tokens=True)
            parts = (
                [(loaded.tokenizer.decode([n]), c) for n, c in zip(row.tokens, row.chances, strict=True)]
                if tokens
                else []
            )
            yield Reply(row.key, text, not row.ended, len(row.prompt), len(row.tokens), tokens=tuple(parts))
