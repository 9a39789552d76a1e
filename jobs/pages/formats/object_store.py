"""Object storage: how it is reached, and patterns of its addresses."""

from __future__ import annotations

import os
import re

from pyarrow import fs


def s3() -> fs.S3FileSystem:
    """Object storage as the environment describes it."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return fs.S3FileSystem(endpoint_override=endpoint) if endpoint else fs.S3FileSystem()


def translated(pattern: str) -> str:
    """A shell pattern as a regular expression: `*` and `?` stay within a folder, `**` does not."""
    out = ""
    for piece in re.findall(r"\*\*/?|\*|\?|\[[^\]]+\]|[^*?\[]+|\[", pattern):
        if piece.startswith("[") and len(piece) > 1:
            escaped = re.escape(piece[1:-1].removeprefix("!")).replace("\\-", "-")
            out += f"[{'^' if piece[1] == '!' else ''}{escaped}]"
        else:
            out += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece) or re.escape(piece)
    return out + r"\Z"
