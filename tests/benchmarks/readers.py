"""Readers beside a writer: what they see while snapshots are published, pruned and vacuumed, for `test_readers.py`.

Each night of the writer is a snapshot whose documents and chunks carry its number in addresses and titles. An answer
that was made of one snapshot carries one number; one that carries two is mixed. Readers are processes: some open what
is published for each question, one holds the first snapshot until the last night, some are `quern ask` and `answer`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

import quern
from quern.indexes.catalog import Warehouse, new_build_id
from quern.indexes.stage_writers import StageWriter
from quern.indexes.stages import Stage
from quern.pipelines.vacuum import vacuum
from quern.schemas.settings import MemoSettings

_MARK: Final = re.compile(r"night-(\d{4})")
_MARKED: Final = {"documents": ("url", "title"), "chunks": ("title",)}
_QUESTIONS: Final = (
    "How many passengers and crew were on board the Lady Orrin when it struck the dredger Marl Hopper 3?",
    "What is the name of the vet who described how the Lady Orrin's crew behaved after the collision?",
    "To what range was the radar of the Lady Orrin set before the collision?",
)
_STOP: Final = "stop"


def publish_night(warehouse: Warehouse, number: int) -> None:
    """Publish the warehouse's tables again, with the number of the night in all that names a document."""

    def numbered(stage: Stage, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        for batch in stage.batches():
            for name in columns:
                bare = pc.replace_substring_regex(batch.column(name), r"[ #]night-\d{4}$", "")
                marked = pc.binary_join_element_wise(bare, f"night-{number:04}", "#" if name == "url" else " ")
                batch = batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), marked)
            yield batch

    with warehouse.lock():
        parent, build_id = warehouse.manifest(), new_build_id()
        tables = dict(parent.tables)
        for name, columns in _MARKED.items():
            stage = warehouse.snapshot(leased=False).stage(name)
            with StageWriter(warehouse.stages / name / f"{build_id}.parquet", stage.table) as writer:
                writer.write_all(numbered(stage, columns))
            tables[name] = warehouse.pin(writer.stage(), parent)
        about = {"build_id": build_id, "parent": parent.build_id, "started_at": datetime.now(UTC), "tables": tables}
        warehouse.publish(parent.model_copy(update=about))


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


def stress(root: Path, nights: int) -> dict[str, int]:
    """Publish `nights` snapshots over the warehouse at `root` beside the readers, each vacuumed at once.

    Raises:
        RuntimeError: A reader failed; the message has what it said.
    """
    warehouse = Warehouse.open(root)
    publish_night(warehouse, 0)
    (root.parent / _STOP).unlink(missing_ok=True)
    command = [sys.executable, "-m", __name__, str(root)]
    with ExitStack() as files:
        outputs, processes, leased = [], [], 0
        for kind in _READERS:
            outputs.append(files.enter_context((root.parent / f"{kind}.jsonl").open("w+", encoding="utf-8")))
            reader = subprocess.Popen([*command, kind], stdout=outputs[-1], stderr=subprocess.PIPE, text=True)
            processes.append(reader)
        try:
            for process, output in zip(processes, outputs, strict=True):
                while process.poll() is None and not os.fstat(output.fileno()).st_size:
                    time.sleep(0.1)
            for number in range(1, nights + 1):
                publish_night(warehouse, number)
                leased += len(vacuum(warehouse, 1, MemoSettings(keep_nights=1)).leased)
        finally:
            (root.parent / _STOP).touch()
        ended = [(process.communicate()[1], process.returncode) for process in processes]
        answers: list[str] = []
        for output in outputs:
            output.seek(0)
            answers += output
    errors, last = [said[-1000:] for said, code in ended if code], vacuum(warehouse, 1, MemoSettings(keep_nights=1))
    if errors or last.leased:
        raise RuntimeError(f"{len(errors)} readers failed; leased: {last.leased}\n" + "\n".join(errors))
    return {
        "answers": len(answers),
        "citations": sum(len(json.loads(answer)["citations"]) for answer in answers),
        "mixed": sum(len(set(_MARK.findall(answer))) > 1 for answer in answers),
        "leases_kept": leased,
        "snapshots_left": len(warehouse.snapshot_ids()),
    }


if __name__ == "__main__":
    for answer in _READERS[sys.argv[2]](Path(sys.argv[1])):
        print(answer, flush=True)
