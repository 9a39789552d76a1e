"""Which backend answers for the settings of a generator."""

from __future__ import annotations

from pathlib import Path

from quern.jobs.reasoning.generators.contract import Backend
from quern.jobs.reasoning.generators.endpoint import EndpointBackend
from quern.jobs.reasoning.generators.local import LocalBackend
from quern.jobs.reasoning.generators.vllm import VllmBackend
from quern.schemas.settings import EngineSettings, GeneratorSettings


def make_backend(generator: GeneratorSettings, engine: EngineSettings, folder: Path) -> Backend:
    """What answers for the settings, which name a model; temporary files go to `folder`."""
    if generator.kind == "vllm":
        return VllmBackend(generator, folder, here=not engine.ray_address)
    if generator.kind == "local":
        return LocalBackend(generator)
    return EndpointBackend(generator)


def prepare_generator(generator: GeneratorSettings, engine: EngineSettings, folder: Path) -> None:
    """See that the model of the settings can be used, before any work is done.

    Raises:
        GeneratorError: It cannot; the message says what to do.
    """
    if generator.kind != "rules":
        make_backend(generator, engine, folder).prepare()
