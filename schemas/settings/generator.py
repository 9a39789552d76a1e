"""Group `generator`: what carries out reasoning steps."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, field_validator, model_validator

from quern.schemas.addresses import http_address
from quern.schemas.setting_group import HOW, Group, Positive

TaskName = Literal[
    "refusal",
    "clarify",
    "rewrite",
    "decompose",
    "expand",
    "answer",
    "cite",
    "entail",
    "align",
    "select",
    "verify",
    "compensate",
    "doc2query",
    "find_events",
    "find_triplets",
    "summarise",
    "note",
    "overview",
    "source",
    "judge",
]
"""The steps that a model may carry out; `source` and `judge` are all those of finding sources and of judging."""
# Beside the answer, on the way of a question: a model in this process takes seconds for each.
_BESIDE_ANSWER: Final = frozenset({"refusal", "clarify", "rewrite", "decompose", "cite"})
# What names of tasks begin with, where `tasks` has one name for several.
_GROUPS: Final = {"source": "source", "judge": "judge", "prefer": "judge"}


class GeneratorSettings(Group):
    """What carries out reasoning steps: rules, or a model behind an endpoint, in this process, on a cluster's GPUs."""

    kind: Literal["rules", "openai", "vllm", "local"] = Field(
        "rules",
        description="`rules` needs no model; `openai` is any OpenAI-compatible endpoint; `vllm` runs a model in "
        "batches on GPUs, through Ray; `local` a small one in this process.",
    )
    model: str = Field(
        "",
        description="Name that the endpoint knows the model by; with `vllm` and `local` a path, or a name in the "
        "Hugging Face cache; with `local` also a GGUF file; `local` without one takes SmolLM2-135M-Instruct.",
    )
    tasks: tuple[TaskName, ...] = Field(
        (),
        description="The steps that the model carries out, rules the others; empty for all, but with `local`, which "
        "takes seconds for each, without refusal, clarify, rewrite, decompose and cite.",
        json_schema_extra=HOW,
    )
    url: str = Field(
        "http://127.0.0.1:8000/v1",
        description="Address of the endpoint, up to and with its version.",
        json_schema_extra=HOW,
    )
    key_variable: str = Field(
        "OPENAI_API_KEY",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Environment variable that holds the key; the key itself is no setting, because settings are kept.",
        json_schema_extra=HOW,
    )
    concurrency: Positive = Field(32, description="Requests at the endpoint at once.", json_schema_extra=HOW)
    timeout: float = Field(
        120.0, gt=0, description="Seconds for one try of a request, to the end of its reply.", json_schema_extra=HOW
    )
    tries: Positive = Field(
        6,
        description="Tries of a request after 429, 5xx or a lost connection; pauses grow, or are as Retry-After says.",
        json_schema_extra=HOW,
    )
    retries: int = Field(
        2,
        ge=0,
        le=10,
        description="Times that an invalid reply is requested again, with the error.",
        json_schema_extra=HOW,
    )
    response_format: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema", description="How the endpoint is constrained to JSON, by the output's schema by default."
    )
    max_tokens: Positive = Field(2048, description="Most tokens of a reply.")
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens",
        description="What the endpoint calls `max_tokens`; newer models of OpenAI take only the latter.",
        json_schema_extra=HOW,
    )
    temperature: float | None = Field(
        0.0, ge=0.0, le=2.0, description="Sampling temperature; null leaves it to the endpoint."
    )
    top_p: float | None = Field(None, gt=0.0, le=1.0, description="Nucleus sampling; null leaves it to the model.")
    seed: int | None = Field(0, description="Seed of the sampling; null for none.")
    extra: dict[str, Any] = Field(
        default_factory=dict, description="Further fields of the request's body, such as {reasoning_effort: low}."
    )
    device: Literal["auto", "cuda", "cpu"] = Field(
        "auto",
        description="With `vllm` and `local`: where the model runs; `auto` is GPUs with `vllm`, and with `local` a GPU "
        "where there is one.",
        json_schema_extra=HOW,
    )
    dtype: str = Field(
        "auto",
        description="With `vllm` and `local`: numbers of the model, such as float32; `auto` takes the model's own.",
    )
    tensor_parallel: Positive = Field(
        1, description="With `vllm`: GPUs that one copy of the model is spread over.", json_schema_extra=HOW
    )
    replicas: Positive = Field(1, description="With `vllm`: copies of the model.", json_schema_extra=HOW)
    batch: Positive = Field(
        256, description="With `vllm` and `local`: requests given to a copy at a time.", json_schema_extra=HOW
    )
    max_model_len: int = Field(
        0, ge=0, description="With `vllm` and `local`: longest prompt and reply, tokens; 0 for the model's."
    )
    patience: float = Field(
        1800.0,
        gt=0,
        description="With `vllm`: seconds without any reply, the model's loading included, before it stops.",
        json_schema_extra=HOW,
    )
    gpu_memory: float | None = Field(
        None,
        gt=0.0,
        le=1.0,
        description="With `vllm`: share of the memory taken; null for 0.9 of GPUs, 0.2 of others.",
        json_schema_extra=HOW,
    )
    price_prompt: float | None = Field(
        None,
        ge=0,
        description="Price of a million prompt tokens, in any currency, for `quern estimate`.",
        json_schema_extra=HOW,
    )
    price_output: float | None = Field(None, ge=0, description="The same of output tokens.", json_schema_extra=HOW)
    output_speed: float | None = Field(
        None,
        gt=0,
        description="Output tokens per second of all copies together, as a build reports, for `quern estimate`.",
        json_schema_extra=HOW,
    )

    def of(self, task: str) -> GeneratorSettings:
        """What carries out a task: these settings, or rules."""
        name = _GROUPS.get(task.partition("_")[0], task)
        beside = self.kind == "local" and name in _BESIDE_ANSWER
        return self if (name in self.tasks if self.tasks else not beside) else GeneratorSettings()

    @field_validator("url")
    @classmethod
    def _no_secret(cls, url: str) -> str:
        return http_address(url, "the environment variable that generator.key_variable names has the key")

    @model_validator(mode="after")
    def _named(self) -> GeneratorSettings:
        if self.kind in ("openai", "vllm") and not self.model:
            raise ValueError(f"generator.kind={self.kind} needs generator.model")
        return self
