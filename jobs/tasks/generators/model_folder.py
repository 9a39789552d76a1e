"""Language models on this machine: the folder that a name stands for, and how it wants a chat written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from quern.jobs.models.folders import forbid_network
from quern.jobs.tasks.generators.contract import GeneratorError

# For a model whose tokenizer has no chat template, such as one that was never taught to chat.
_PLAIN_TEMPLATE: Final = "{% for message in messages %}{{ message['content'] }}\n\n{% endfor %}"


def model_folder(model: str) -> Path:
    """The folder of the model that `generator.model` names: a path, or a name in the Hugging Face cache.

    Raises:
        GeneratorError: There is none on this machine; nothing is downloaded.
    """
    if Path(model).is_dir():
        if not (Path(model) / "config.json").is_file():
            raise GeneratorError(f"generator.model={model} is a folder without config.json: no model is there")
        return Path(model).absolute()
    forbid_network()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError) as error:
        raise GeneratorError(
            f"generator.model={model} is neither a folder nor in this machine's Hugging Face cache; models are not "
            "downloaded: name a folder, or fetch it with `hf download` first"
        ) from error


def plain_template(folder: Path) -> str | None:
    """None where the model has a chat template of its own; one that only joins the messages where it has none."""
    if any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return None
    try:
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return _PLAIN_TEMPLATE
    return None if config.get("chat_template") else _PLAIN_TEMPLATE
