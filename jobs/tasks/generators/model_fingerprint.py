"""What a generator's model is known by in the memo."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Final

from quern.jobs.tasks.generators import smollm2
from quern.jobs.tasks.generators.smollm2 import packaged_weights
from quern.schemas.digests import settings_digest
from quern.schemas.settings import GeneratorSettings

_PART: Final = 1 << 20
# Weights, tokenizer, chat template and configuration; not what only explains them.
_ENDINGS: Final = (".safetensors", ".bin", ".pt", ".gguf", ".json", ".jinja", ".model", ".txt", ".tiktoken", ".py")


def model_identity(generator: GeneratorSettings) -> str:
    """The model's name; of a folder that is loaded here, and of the packaged model, a digest of the files themselves.

    Of a large file its size and first and last MiB are read: weights of a terabyte are not read twice for a build, and
    other weights differ there too.
    """
    if generator.kind == "local" and not generator.model:
        weights = packaged_weights()
        return settings_digest([smollm2.NAME, smollm2.VERSION, weights.stat().st_size, _ends(weights)])
    folder = Path(generator.model).expanduser()
    if generator.kind == "local" and folder.is_file():
        return settings_digest([folder.stat().st_size, _ends(folder)])
    if generator.kind not in ("vllm", "local") or not folder.is_dir():
        return generator.model
    files = sorted(f for f in folder.rglob("*") if f.is_file() and f.suffix in _ENDINGS)
    return settings_digest([[str(f.relative_to(folder)), f.stat().st_size, _ends(f)] for f in files])


def _ends(file: Path) -> str:
    digest, size = blake2b(digest_size=16), file.stat().st_size
    with file.open("rb") as content:
        digest.update(content.read(_PART))
        content.seek(max(0, size - _PART))
        digest.update(content.read(_PART))
    return digest.hexdigest()
