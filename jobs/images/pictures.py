"""Pictures for a page of our own, of what was fetched: read by type, made small, encoded anew.

What comes from the web is hostile: only common formats are read, and none that says it has more pixels than a
photograph, or goes over them more often; what is written is a JPEG of colours alone, without its file's metadata.
"""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from typing import Final

_FORMATS: Final = ("JPEG", "PNG", "WEBP", "GIF")
_MOST_PIXELS: Final = 50_000_000
# A progressive JPEG goes over its pixels some ten times; a few bytes make it go over all of them once more.
_SCAN: Final = b"\xff\xda"
_MOST_SCANS: Final = 100
# Pixels of the longer side: as wide as the report's column on a phone, twice. Some 60 kB.
_SIDE: Final = 640


@dataclass(frozen=True)
class Jpeg:
    """A picture."""

    body: bytes  # Its bytes.
    width: int  # Pixels.
    height: int  # Pixels.

    @classmethod
    def read(cls, body: bytes) -> Jpeg | None:
        """The picture that `encoded_anew` once wrote; null for what is none."""
        from PIL import Image, UnidentifiedImageError

        try:
            with Image.open(io.BytesIO(body), formats=("JPEG",)) as image:
                return cls(body, *image.size)
        except (UnidentifiedImageError, OSError):
            return None

    @property
    def source(self) -> str:
        """It as an address that holds it."""
        return f"data:image/jpeg;base64,{base64.b64encode(self.body).decode()}"


def encoded_anew(body: bytes, least_side: int) -> Jpeg | None:
    """A small JPEG of the image in `body`; null for what is no picture, or has a side under `least_side` pixels."""
    from PIL import Image, UnidentifiedImageError  # Only where images are fetched.

    if body.startswith(b"\xff\xd8") and body.count(_SCAN) > _MOST_SCANS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(body), formats=_FORMATS) as image:
                if min(image.size) < least_side or image.width * image.height > _MOST_PIXELS:
                    return None
                image.draft("RGB", (_SIDE, _SIDE))
                small = image.convert("RGBA")
        small.thumbnail((_SIDE, _SIDE))
        page = Image.new("RGB", small.size, "white")
        page.paste(small, mask=small.getchannel("A"))
        out = io.BytesIO()
        page.save(out, "JPEG", quality=80, optimize=True)
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
        OSError,
        ValueError,
        SyntaxError,  # Pillow's PNG reader raises it for a broken file.
    ):
        return None
    return Jpeg(out.getvalue(), *page.size)
