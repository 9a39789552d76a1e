"""Language models on this machine: the folder of one, how it wants a chat written, and what it is known by."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import Final

from quern.jobs.models.folders import ModelError, find_folder
from quern.jobs.tasks.generators.contract import GeneratorError
from quern.schemas.digests import settings_digest
from quern.schemas.settings import GeneratorSettings

# For a model whose tokenizer has no chat template, such as one that was never taught to chat.
_PLAIN_TEMPLATE: Final = "{% for message in messages %}{{ message['content'] }}\n\n{% endfor %}"
_PART: Final = 1 << 20
# Weights, tokenizer, chat template and configuration; not what only explains them.
_ENDINGS: Final = (".safetensors", ".bin", ".pt", ".gguf", ".json", ".jinja", ".model", ".txt", ".tiktoken", ".py")


def model_folder(model: str) -> Path:
    """The folder of the model that `generator.model` names: a path, or a name in the Hugging Face cache.

    Raises:
        GeneratorError: There is none on this machine; nothing is downloaded.
    """
    try:
        folder = find_folder(model, "generator.model", owner="")
    except ModelError as error:
        raise GeneratorError(str(error)) from error
    if not (folder / "config.json").is_file():
        raise GeneratorError(f"generator.model={model} is a folder without config.json: no model is there")
    return folder


def plain_template(folder: Path) -> str | None:
    """None where the model has a chat template of its own; one that only joins the messages where it has none."""
    if any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return None
    try:
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return _PLAIN_TEMPLATE
    return None if config.get("chat_template") else _PLAIN_TEMPLATE


def model_identity(generator: GeneratorSettings) -> str:
    """The model's name; of files that are loaded here a digest of them.

    Of a large file its size and first and last MiB are read: weights of a terabyte are not read twice for a build, and
    other weights differ there too.
    """
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
