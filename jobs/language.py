"""The language of a text, identified from the text; what the page declares only breaks ties."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

_ENOUGH: Final = 0.95
_PLAUSIBLE: Final = 0.01
_SAMPLE: Final = 10_000
_TAG: Final = re.compile(r"^\s*([A-Za-z]{2})(?:[-_].*)?$")


@lru_cache(maxsize=1)
def _identifier() -> Any:
    # Loaded on first use: half a second and 30 MB that a worker without text does not pay.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def language_tag(declared: str | None) -> str | None:
    """ISO 639-1 code of a declared language such as `pt-BR`."""
    match = _TAG.match(declared or "")
    return match[1].lower() if match else None


def identify(text: str, declared: str | None = None) -> str | None:
    """ISO 639-1 code of the language of `text`; null where nothing tells.

    The text decides where it is clear. Otherwise a declared language wins if the text does not speak against
    it; pages are often declared to be in the language of their template.
    """
    tag = language_tag(declared)
    if not any(c.isalpha() for c in text):
        return tag
    ranked = [(str(code), float(share)) for code, share in _identifier().rank(text[:_SAMPLE])]
    best, share = ranked[0]
    if share >= _ENOUGH and len(text) >= 40:
        return best
    if tag is not None and dict(ranked).get(tag, 0.0) >= _PLAUSIBLE:
        return tag
    return best if share >= 0.5 else tag
