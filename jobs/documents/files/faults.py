"""What is wrong with a file that makes no document."""

from __future__ import annotations


class FileFault(Exception):  # noqa: N818 - the child answers with its reason, as with that of a page
    """A file that is left out, with the code and the detail of its reject."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail
