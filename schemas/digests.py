"""Digests of texts, bytes and settings, and the type of fingerprints: BLAKE2b with 16 bytes.

Pages made to collide cannot take another page's place.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

FINGERPRINT_BYTES = 16
Fingerprints = npt.NDArray[np.void]
_TEXT: Final = json.JSONEncoder(ensure_ascii=False)  # `json.dumps` makes one for each call.


def text_digest(*parts: str | None) -> str:
    """BLAKE2b-128 of the parts as 32 hexadecimal digits; no two lists of parts share an encoding."""
    return bytes_digest(_TEXT.encode(parts).encode("utf-8", "surrogatepass"))


def bytes_digest(body: bytes) -> str:
    """BLAKE2b-128 of `body` as 32 hexadecimal digits."""
    return blake2b(body, digest_size=FINGERPRINT_BYTES).hexdigest()


def settings_digest(value: object) -> str:
    """Digest of a JSON-like value that does not depend on the order of its keys."""
    return text_digest(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str))
