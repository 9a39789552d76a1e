"""Errors that a person can mend: what the command line tells in one sentence, with exit code 2.

Each kind is declared where it is raised. Whatever else escapes is a fault of Quern and ends with a traceback.
"""

from __future__ import annotations


class QuernError(Exception):
    """Something that the user can mend; the message says what is wrong, where, and what to do."""


class MachineFaultError(QuernError):
    """A fault of the machine or its set-up, not of a row: it ends a job, so that no row is blamed for it."""
