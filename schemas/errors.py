"""Errors that a person can mend: what the command line tells in one sentence, with exit code 2; and errors of rejects.

Each kind is declared where it is raised. Whatever else escapes is a fault of Quern and ends with a traceback.
"""

from __future__ import annotations


class QuernError(Exception):
    """Something that the user can mend; the message says what is wrong, where, and what to do."""


class MachineFaultError(QuernError):
    """A fault of the machine or its set-up, not of a row: it ends a job, so that no row is blamed for it."""


class RejectError(ValueError):
    """Input that makes no row; the message says what is wrong with it.

    Attributes:
        reason: Code of the reject, or for the counts of a crawl.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
