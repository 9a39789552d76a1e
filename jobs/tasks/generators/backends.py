"""Which backend answers for the settings of a generator: plug-ins, of which only the one that is named is imported."""

from __future__ import annotations

from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from quern.jobs.tasks.generators.contract import Backend
from quern.schemas.settings import EngineSettings, GeneratorSettings

_BACKENDS: Final = {
    "openai": ("endpoint", "EndpointBackend"),
    "local": ("local", "LocalBackend"),
    "gguf": ("gguf", "GgufBackend"),
    "vllm": ("vllm", "on_ray"),
}
"""Module and maker of each; `gguf` is `local` with a file of that kind."""


def make_backend(
    generator: GeneratorSettings, engine: EngineSettings, folder: Path | None = None, ray: Any = None
) -> Backend:
    """What answers for the settings; vLLM takes a folder for temporary files and a `RayEngine`, or has its own."""
    kind = "gguf" if generator.kind == "local" and generator.model.endswith(".gguf") else generator.kind
    make = _loaded(*_BACKENDS[kind])
    backend: Backend = make(generator, engine, folder, ray) if kind == "vllm" else make(generator)
    return backend


def prepare_generator(generator: GeneratorSettings, engine: EngineSettings, folder: Path) -> None:
    """See that the model of the settings can be used, before any work is done.

    Raises:
        GeneratorError: It cannot; the message says what to do.
    """
    if generator.kind != "rules":
        with closing(make_backend(generator, engine, folder)) as backend:
            backend.prepare()


def model_identity(generator: GeneratorSettings) -> str:
    """What the model is known by in the memo: its name, or a digest of the files of one that runs here."""
    if generator.kind == "openai":
        return generator.model
    identity: str = _loaded("model_folder", "model_identity")(generator)
    return identity


def _loaded(module: str, name: str) -> Any:
    return getattr(import_module(f"{__package__}.{module}"), name)
