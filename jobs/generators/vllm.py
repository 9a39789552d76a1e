"""Generators on this cluster's GPUs: a model in vLLM, given its prompts in batches by Ray Data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from jobs.generators.contract import GeneratorError, Reply, Request
from schemas.groups import GeneratorSettings


class VllmBackend:
    """A model in vLLM."""

    def __init__(self, generator: GeneratorSettings, folder: Path) -> None:
        self._settings, self._folder = generator, folder

    def prepare(self) -> None:
        """See that vLLM is installed."""
        raise GeneratorError("generator.kind=vllm needs vLLM, in an environment of its own")

    def replies(self, requests: Iterator[Request], schema: Mapping[str, object]) -> Iterator[Reply]:
        """Replies as they come."""
        raise GeneratorError("generator.kind=vllm needs vLLM, in an environment of its own")

    def close(self) -> None:
        """Nothing is held."""
