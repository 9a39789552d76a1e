"""This process as an engine."""

from __future__ import annotations

from quern.jobs.core.work import Ran, Work


class LocalEngine:
    """Runs everything in this process: for tiny inputs and debugging."""

    name = "local"

    def start(self) -> None:
        """Nothing is needed."""

    def run(self, work: Work) -> Ran:
        """Apply the job batch by batch."""
        work.compute_files(work.files)
        return Ran(self.name)

    def close(self) -> None:
        """Nothing is held."""
