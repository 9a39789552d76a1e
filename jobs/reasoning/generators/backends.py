"""Which backend answers for the settings of a generator."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from quern.jobs.engines import RayEngine
from quern.jobs.reasoning.generators.contract import Backend
from quern.schemas.settings import EngineSettings, GeneratorSettings

GGUF: Final = ".gguf"


def make_backend(generator: GeneratorSettings, engine: EngineSettings, folder: Path, ray: RayEngine) -> Backend:
    """What answers for the settings, which name a model; vLLM runs on `ray`, temporary files go to `folder`."""
    # Each imports what the others have no need of, and rules none of it: 0.2 s.
    if generator.kind == "vllm":
        from quern.jobs.reasoning.generators.vllm import VllmBackend

        return VllmBackend(generator, folder, ray, here=not engine.ray_address)
    if generator.kind == "local" and generator.model.endswith(GGUF):
        from quern.jobs.reasoning.generators.gguf import GgufBackend

        return GgufBackend(generator)
    if generator.kind == "local":
        from quern.jobs.reasoning.generators.local import LocalBackend

        return LocalBackend(generator)
    from quern.jobs.reasoning.generators.endpoint import EndpointBackend

    return EndpointBackend(generator)


def prepare_generator(generator: GeneratorSettings, engine: EngineSettings, folder: Path) -> None:
    """See that the model of the settings can be used, before any work is done.

    Raises:
        GeneratorError: It cannot; the message says what to do.
    """
    if generator.kind != "rules":
        make_backend(generator, engine, folder, RayEngine(engine)).prepare()
