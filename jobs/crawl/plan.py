"""What the processes of one crawl share: its plan on disk, and where each of them keeps what."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from quern.indexes.checksums import DamagedError
from quern.indexes.storage import write_text
from quern.jobs.crawl.memory import damage_of
from quern.schemas.settings import CrawlSettings


class Plan(BaseModel):
    """The plan of a crawl, `plan.json` in its directory."""

    crawl_id: str  # Name of the crawl: its start.
    seeds: str  # Digest of the seeds and of what decides which pages are fetched.
    workers: int  # Crawl processes; fixed, because a host's process follows from it.
    user_agent: str  # What the crawl calls itself.
    started_at: float  # When it was started, for the last time: seconds of the epoch.
    settings: CrawlSettings  # Settings of the crawl.
    # What it fetches: pages, or the images that its seeds name, whose links nobody follows.
    accepts: Literal["pages", "images"] = "pages"


@dataclass(frozen=True)
class CrawlFolder:
    """The files of one crawl."""

    root: Path  # Frontiers and messages, gone when the crawl is done.
    warc: Path  # Archive files.
    memory: Path  # What all crawls of the warehouse know of pages.

    @property
    def plan(self) -> Path:
        """The plan."""
        return self.root / "plan.json"

    @property
    def seeds(self) -> Path:
        """One address a line."""
        return self.root / "seeds.txt"

    def frontier(self, worker: int) -> Path:
        """The frontier of a process."""
        return self.root / f"frontier-{worker}.sqlite"

    def status(self, worker: int) -> Path:
        """What a process says of itself, as JSON."""
        return self.root / f"status-{worker}.json"

    def log(self, worker: int) -> Path:
        """Warnings of a process."""
        return self.root / f"worker-{worker}.log"

    def inbox(self, worker: int) -> Path:
        """Files with addresses that other processes hand over to this one."""
        return self.root / "handover" / str(worker)

    def read_plan(self) -> Plan:
        """The plan.

        Raises:
            DamagedError: It is not as it was written.
        """
        try:
            return Plan.model_validate_json(self.plan.read_bytes())
        except ValueError as error:
            raise DamagedError(self.plan, str(error).partition("\n")[0], self.mend) from None

    @property
    def mend(self) -> str:
        """What to do where the state of the crawl is damaged."""
        return (
            f"delete {self.root}, and the same command crawls anew; what this crawl fetched stays in {self.warc}, for "
            "`quern ingest`"
        )

    def see_that_it_can_go_on(self) -> None:
        """Read what a crawl that was stopped knows of its addresses.

        Raises:
            DamagedError: It is not as it was written.
        """
        for frontier in sorted(self.root.glob("frontier-*.sqlite")):
            if why := damage_of(frontier):
                raise DamagedError(frontier, why, self.mend)

    def write_plan(self, plan: Plan) -> None:
        """Write the plan, in one step."""
        write_text(self.plan, plan.model_dump_json(indent=1) + "\n")

    def read_status(self, worker: int) -> Status:
        """What a process said last; zeros before it has said anything."""
        try:
            return Status.model_validate_json(self.status(worker).read_text("utf-8"))
        except (FileNotFoundError, ValueError):  # It is said again twice a second.
            return Status()

    def to_hand_over(self, worker: int) -> list[Path]:
        """Files in the inbox of a process, oldest first."""
        return sorted(self.inbox(worker).glob("[0-9]*.json"))


class Status(BaseModel):
    """What a crawl process says of itself, about twice a second."""

    fetched: int = 0  # Pages archived.
    unchanged: int = 0  # Pages answered 304.
    queued: int = 0  # Addresses in the queue.
    lost: int = 0  # Addresses with a row in rejects.
    ended: str = ""  # Why it ended: `finished`, `quota`, `seconds`, `stopped`; empty while it runs.


def write_message(folder: CrawlFolder, sender: int, receiver: int, number: int, rows: list[list[Any]]) -> None:
    """Put addresses (url, depth, hops, kind) into the inbox of a process, in one step."""
    write_text(folder.inbox(receiver) / f"{number:020d}-{sender}.json", json.dumps(rows))
