"""Readers beside a writer: what they see while snapshots are published, pruned and vacuumed.

Each night of the writer is a snapshot whose documents and chunks carry its number in addresses and titles. An answer
that was made of one snapshot carries one number; one that carries two is mixed. Readers are processes: some open what
is published for each question, one holds the first snapshot until the last night, some are `quern ask` and `answer`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

import quern
from quern.indexes.catalog import Manifest, Warehouse, new_build_id
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.pipelines.vacuum import prune, vacuum
from quern.schemas.settings import MemoSettings

_MARK: Final = re.compile(r"night-(\d{4})")
_MARKED: Final = {"documents": ("url", "title"), "chunks": ("title",)}
_QUESTIONS: Final = (
    "How many passengers and crew were on board the Lady Orrin when it struck the dredger Marl Hopper 3?",
    "What is the name of the vet who described how the Lady Orrin's crew behaved after the collision?",
    "To what range was the radar of the Lady Orrin set before the collision?",
)
_STOP: Final = "stop"


@dataclass
class Seen:
    """What readers saw."""

    answers: int = 0  # Answers that were read.
    citations: int = 0  # Their citations.
    snapshots: list[str] = field(default_factory=list)  # Numbers of the snapshots that they came from.
    mixed: int = 0  # Answers of more than one snapshot.
    errors: list[str] = field(default_factory=list)  # What readers said when they failed.

    def add(self, answer: str) -> None:
        """Take an answer as JSON."""
        found = set(_MARK.findall(answer))
        self.answers += 1
        self.citations += len(json.loads(answer)["citations"])
        self.snapshots = sorted({*self.snapshots, *found})
        self.mixed += len(found) > 1

    def join(self, other: Seen) -> None:
        """Take what another reader saw."""
        self.answers += other.answers
        self.citations += other.citations
        self.snapshots = sorted({*self.snapshots, *other.snapshots})
        self.mixed += other.mixed


def publish_night(warehouse: Warehouse, number: int) -> Manifest:
    """Publish the warehouse's tables again, with the number of the night in all that names a document."""
    with warehouse.lock():
        parent, build_id = warehouse.manifest(), new_build_id()
        tables = dict(parent.tables)
        for name, columns in _MARKED.items():
            stage = warehouse.snapshot(leased=False).stage(name)
            path = warehouse.stages / name / f"{build_id}.parquet"
            with StageWriter(path, stage.table) as writer:
                writer.write_all(_numbered(stage, columns, number))
            tables[name] = warehouse.pin(writer.stage(), parent)
        about = {"build_id": build_id, "parent": parent.build_id, "started_at": datetime.now(UTC), "tables": tables}
        return warehouse.publish(parent.model_copy(update=about))


def _numbered(stage: Stage, columns: tuple[str, ...], number: int) -> Iterator[pa.RecordBatch]:
    for batch in stage.batches():
        for name in columns:
            bare = pc.replace_substring_regex(batch.column(name), r"[ #]night-\d{4}$", "")
            mark = "#" if name == "url" else " "
            marked = pc.binary_join_element_wise(bare, f"night-{number:04}", mark)
            batch = batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), marked)
        yield batch


def read_anew(root: Path) -> Iterator[str]:
    """Answers, each from what is published when it is asked, until the stop file is there."""
    while not (root.parent / _STOP).exists():
        for question in _QUESTIONS:
            yield quern.ask(question, root).model_dump_json()


def read_held(root: Path) -> Iterator[str]:
    """Answers from the snapshot that is published first, until the stop file is there."""
    held = Warehouse.open(root).snapshot()
    while not (root.parent / _STOP).exists():
        for answer in quern.answer(_QUESTIONS, root, snapshot=held.manifest.build_id):
            yield answer.model_dump_json()


def read_by_command(root: Path) -> Iterator[str]:
    """Answers of the commands `ask` and `answer` by turns, each a process, until the stop file is there."""
    file = root.parent / "questions.jsonl"
    file.write_text("".join(json.dumps({"query_id": f"{n}", "question": q}) + "\n" for n, q in enumerate(_QUESTIONS)))
    command = [sys.executable, "-m", "quern.pipelines.cli"]
    for turn in range(sys.maxsize):
        if (root.parent / _STOP).exists():
            return
        if turn % 2:
            out = root.parent / "answers"
            shutil.rmtree(out, ignore_errors=True)
            _said([*command, "answer", str(file), "-w", str(root), "--out", str(out)])
            yield from (out / "answers.jsonl").read_text("utf-8").splitlines()
        else:
            yield json.dumps(json.loads(_said([*command, "ask", _QUESTIONS[turn % 3], "-w", str(root), "--json"])))


def _said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[3]} exited {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


_READERS: Final = {"anew": read_anew, "held": read_held, "command": read_by_command}


def stress(root: Path, nights: int, readers: tuple[str, ...], share_of_vacuums: float = 0.5) -> dict[str, float]:
    """Publish `nights` snapshots over the warehouse at `root` beside `readers`, each pruned or vacuumed at once.

    Raises:
        RuntimeError: A reader failed; the message has what it said.
    """
    warehouse, started = Warehouse.open(root), time.monotonic()
    publish_night(warehouse, 0)
    (root.parent / _STOP).unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.benchmarks.readers", str(root)]
    processes = [
        subprocess.Popen([*command, kind], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for kind in readers
    ]
    leased = freed = 0
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()  # It has its first answer.
        for number in range(1, nights + 1):
            publish_night(warehouse, number)
            if number * share_of_vacuums % 1 < share_of_vacuums:
                done = vacuum(warehouse, 1, MemoSettings(keep_nights=1))
            else:
                done = prune(warehouse, 1)
            leased += len(done.leased)
            freed += done.total.bytes
    finally:
        (root.parent / _STOP).touch()
    seen = Seen()
    for process in processes:
        said, errors = process.communicate()
        if process.returncode:
            seen.errors.append(errors[-1000:])
        else:
            seen.join(Seen(**json.loads(said)))
    last = prune(warehouse, 1)
    if seen.errors or last.leased:
        raise RuntimeError(f"{len(seen.errors)} readers failed; leased: {last.leased}\n" + "\n".join(seen.errors))
    return {
        "nights": float(nights),
        "answers": float(seen.answers),
        "citations": float(seen.citations),
        "snapshots_read": float(len(seen.snapshots)),
        "mixed": float(seen.mixed),
        "errors": float(len(seen.errors)),
        "leases_kept": float(leased),
        "freed_mib": freed / (1 << 20),
        "snapshots_left": float(len(warehouse.snapshot_ids())),
        "seconds": time.monotonic() - started,
    }


def _read(root: Path, kind: str) -> None:
    """Read until the stop file is there: `ready` is said after the first answer, and what was seen at the end."""
    seen = Seen()
    for answer in _READERS[kind](root):
        seen.add(answer)
        if seen.answers == 1:
            print("ready", flush=True)
    print(json.dumps(asdict(seen)))


if __name__ == "__main__":
    _read(Path(sys.argv[1]), sys.argv[2])
