"""What is installed beside the core only where it is wanted: the extras of `pyproject.toml`, by the modules they bring.

The core ingests, builds with `--engine local`, asks, evaluates and audits; it imports none of these modules.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from quern.schemas.errors import MachineFaultError

# Each module that an extra brings and that is imported here: the extra, and what people call what it brings.
_EXTRAS: Final = {
    "pyspark": ("spark", "PySpark"),
    "ray": ("ray", "Ray"),
    "torch": ("torch", "torch"),
    "transformers": ("torch", "transformers"),
    "peft": ("train", "peft"),
    "gguf": ("lm", "gguf"),
    "openvino_genai": ("lm", "OpenVINO GenAI"),
    "llguidance": ("lm", "llguidance"),
    "scrapy": ("crawl", "Scrapy"),
    "twisted": ("crawl", "Scrapy"),
    "warcio": ("crawl", "warcio"),
    "obstore": ("store", "obstore"),
    "rapidocr": ("ocr", "RapidOCR"),
    "PIL": ("images", "Pillow"),
}


class MissingExtraError(MachineFaultError):
    """Something is wanted of which an extra is not installed; the message says how to install it."""


def installed(module: str) -> bool:
    """Whether `module`, of the top level, can be imported."""
    return find_spec(module) is not None


def require(module: str, wanted: str, otherwise: str = "") -> None:
    """See that `module`, which an extra brings, can be imported.

    Args:
        module: Its name.
        wanted: What needs it, as the sentence begins.
        otherwise: What can be done without it.

    Raises MissingExtraError: it is not installed.
    """
    if not installed(module):
        raise MissingExtraError(f"{wanted} needs {missing(module)}{f', or {otherwise}' if otherwise else ''}")


def missing(module: str) -> str:
    """The end of a sentence on `module`, which an extra brings: that it is not installed, and how to install it."""
    extra, name = _EXTRAS[module]
    return f"{name}, which is not installed: pip install '.[{extra}]' in the folder of Quern's source"


def sentence_of(error: ModuleNotFoundError) -> str | None:
    """What to tell of an import that failed because an extra is not installed; None where it is another module."""
    module = (error.name or "").partition(".")[0]
    return f"this needs {missing(module)}" if module in _EXTRAS else None
