"""What a manifest keeps of each step of a build: what the step read and made, and of what it was made."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class StepRecord(BaseModel):
    """One step of one build.

    Attributes:
        name: Name of the step.
        job: Name of its job in logs and rejects.
        version: Version of the job.
        fingerprint: Fingerprint of the job.
        configuration: What the fingerprint is made of beside name, version and schemas.
        reads: Digest of each table read.
        makes: Digest of each table made.
        rows: Rows of each table made.
        rows_in: Rows the job was given.
        rows_out: Rows it made.
        computed: Rows of those given whose results were not known.
        rejected: Rejects, without warnings.
        warned: Warnings: rejects with which a row was kept.
        notes: Further figures of the job.
        seconds: Time of the step.
        final: Whether another run over the same tables would make the same.
        memo: Folders of the memo that it asked.
    """

    name: str
    job: str
    version: int
    fingerprint: str
    configuration: dict[str, Any] = Field(default_factory=dict)
    reads: dict[str, str] = Field(default_factory=dict)
    makes: dict[str, str] = Field(default_factory=dict)
    rows: dict[str, int] = Field(default_factory=dict)
    rows_in: int = 0
    rows_out: int = 0
    computed: int = 0
    rejected: int = 0
    warned: int = 0
    notes: dict[str, int | float] = Field(default_factory=dict)
    seconds: float = 0.0
    final: bool = True
    memo: list[str] = Field(default_factory=list)

    @property
    def told(self) -> bool:
        """Whether the step wrote rejects."""
        return bool(self.rejected or self.warned)
