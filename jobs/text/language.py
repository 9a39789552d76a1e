"""The language of a text, identified from the text; what the page declares only breaks ties."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

# Characters after which more text changes nothing.
_SAMPLE: Final = 500
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


def language_of(text: str, declared: str | None = None) -> tuple[str | None, str | None]:
    """ISO 639-1 code of the language of `text`, and whether `text` or `html`, the declaration, decided it.

    The text decides where it is clear. Otherwise a declared language wins if the text does not speak against
    it; pages are often declared to be in the language of their template. Null where nothing tells.
    """
    tag = language_tag(declared)
    by_tag = (tag, "html" if tag else None)
    if not any(c.isalpha() for c in text):
        return by_tag
    best, share = _identifier().classify(text[:_SAMPLE])
    if share >= 0.95 and len(text) >= 40:  # Shorter ones do not decide alone.
        return str(best), "text"
    if tag is not None and dict(_identifier().rank(text[:_SAMPLE])).get(tag, 0.0) >= 0.01:
        return by_tag
    return (str(best), "text") if share >= 0.5 else by_tag
