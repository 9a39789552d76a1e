"""The constituents of questions, in batch: by a parser that a package carries, or by the shallow one of our own."""

from __future__ import annotations

from collections.abc import Sequence

from quern.jobs.reasoning.alignment.roles import Constituent, Parsed, Parser, Role
from quern.jobs.reasoning.alignment.shallow import shallow

__all__ = ["Constituent", "Parsed", "Parser", "Role", "parsed"]


def parsed(questions: Sequence[str], parser: str = "auto") -> list[Parsed]:
    """The constituents of each question."""
    return [shallow(q) for q in questions]
