"""The version of the rules: a digest of their sources, so that what they made is never taken for what they make now."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from quern.schemas.digests import text_digest

_JOBS: Final = Path(__file__).parents[1]
# The packages whose sources a rule for questions depends on.
_PACKAGES: Final = ("reasoning", "text", "models")


@cache
def rules_digest() -> str:
    """Digest of the sources and the packaged weights of all rules for questions."""
    files = [file for name in _PACKAGES for file in (_JOBS / name).rglob("*") if file.suffix in (".py", ".json")]
    return text_digest(*(f"{file.relative_to(_JOBS)}\n{file.read_text('utf-8')}" for file in sorted(files)))
