"""Trials: damage, all that a reader can read, and the night after it."""

from __future__ import annotations

import gc
import hashlib
import json
import logging
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from quern import Question, ask, diff, original, sources, timeline
from quern.indexes.catalog import Warehouse
from quern.pipelines.api.asking import searcher_of
from quern.pipelines.api.looking import table
from quern.pipelines.inspect.verify import kept_files, verify
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.recipes import find_recipes
from quern.schemas.errors import QuernError
from tests.corruption.places import IN_PROGRESS, Place, copy_of
from tests.corruption.warehouses import GOING_ON, NIGHTS, QUESTION, Night

_SECONDS: Final = 240
# A process imports and loads models once for so many trials; what it remembers by path is of other copies.
_TOGETHER: Final = 40
# What `verify` says of what no build makes again.
_FOR_GOOD: Final = ("only snapshot", "pruning forgets", "nothing makes it again")
_LEFT_ASIDE: Final = "is left aside"

Reading = Callable[[Path], str]


@dataclass(frozen=True)
class Outcome:
    place: Place  # Where the damage was.
    # `answered` as without damage, `told` in one sentence, `silent` where something else was read, or an error.
    asked: str
    built: str  # `equal`, `told`, `silent` where a table differs, `damaged` where `verify` still finds it, or an error.
    night: str  # What came after the damage.
    seconds: float  # Time.

    @property
    def passed(self) -> bool:
        return self.asked in {"answered", "told"} and self.built == "equal"


@dataclass(frozen=True)
class Expected:
    """What is read of an undamaged warehouse, and the digests of its tables after each night."""

    readings: Mapping[str, str]
    tables: Mapping[str, Mapping[str, str]]


def digests(warehouse: Path) -> dict[str, str]:
    return {name: version.digest for name, version in Warehouse.open(warehouse).manifest().tables.items()}


def _digest(*parts: str | bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()


def answered(warehouse: Path, snapshot: str | None = None) -> str:
    return _digest(ask(QUESTION, warehouse, snapshot=snapshot).model_dump_json(exclude={"seconds"}))


def _answered_before(warehouse: Path) -> str:
    manifest = Warehouse.open(warehouse).manifest()
    return answered(warehouse, manifest.parent) if manifest.parent else ""


def _standing(warehouse: Path) -> str:
    """A question that is answered every night: what it takes from the memo."""
    searcher, (recipe,) = searcher_of(warehouse, None, None), find_recipes("bridge")
    asked = [Question(query_id="1", question=QUESTION)]
    memo = searcher.snapshot.warehouse.memo / "reasoning"
    (answer,) = answer_questions(searcher, asked, recipe, memo)
    return _digest(answer.model_dump_json(exclude={"seconds"}))


def _tables(warehouse: Path) -> str:
    contents = []
    for name in sorted(digests(warehouse)):
        sink = pa.BufferOutputStream()
        rows = table(name, warehouse)
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows)
        contents.append(sink.getvalue().to_pybytes())
    return _digest(*contents)


def _archived(warehouse: Path) -> str:
    """The archived records of the pages that were crawled."""
    pages = table("pages", warehouse, columns=["url", "warc_file"]).to_pylist()
    return _digest(*(repr(original(page["url"], warehouse)) for page in pages if page["warc_file"]))


READINGS: Final[Mapping[str, Reading]] = {
    "question": answered,
    "question to the snapshot before": _answered_before,
    "standing question": _standing,
    "tables": _tables,
    "timeline": lambda warehouse: _digest(timeline("the Harbour Tunnel", warehouse).model_dump_json()),
    "sources": lambda warehouse: _digest(*(found.model_dump_json() for found in sources([QUESTION], warehouse))),
    "difference": lambda warehouse: _digest(repr(diff(warehouse))),
    "archive": _archived,
}


def expected_of(warehouse: Path) -> Expected:
    """What a warehouse that is whole gives: all that is read of it, and the tables after each kind of night."""
    readings, tables = {name: reading(warehouse) for name, reading in READINGS.items()}, {}
    for night in (*NIGHTS, GOING_ON):
        copy = copy_of(warehouse, warehouse.parent / "undamaged")
        night.run(copy, warehouse.parent, archives_of(copy))
        tables[night.name] = digests(copy)
        shutil.rmtree(copy)
    return Expected(readings, tables)


def asked_of(copy: Path, expected: Expected) -> str:
    """What came of reading; whatever is no error that a person can mend is raised."""
    told = False
    for name, digest in expected.readings.items():
        try:
            if READINGS[name](copy) != digest:
                return f"silent {name}"
        except QuernError as error:
            if "\n" in str(error):
                return "told in many lines"
            told = True
    return "told" if told else "answered"


def archives_of(warehouse: Path) -> list[Path]:
    return sorted(warehouse.glob("warc/*/*.warc.gz"))


def built_on(copy: Path, root: Path, expected: Expected, night: Night, archives: Sequence[Path] = ()) -> str:
    warnings = _Warnings(logging.WARNING)
    logging.getLogger("quern").addHandler(warnings)
    try:
        night.run(copy, root, archives)
    except QuernError as error:
        return f"told {error}"
    finally:
        logging.getLogger("quern").removeHandler(warnings)
    before, after = expected.tables[night.name], digests(copy)
    differing = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    # What a crawl lost may be left out of the rejects where that was told.
    if any(_LEFT_ASIDE in line for line in warnings.lines):
        differing -= {"rejects"}
    if differing:
        return f"silent {' '.join(sorted(differing))}"
    bad = [file for file in verify(kept_files(Warehouse(copy))).bad if not any(word in file.mend for word in _FOR_GOOD)]
    return f"damaged {bad[0].line()}" if bad else "equal"


class _Warnings(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def named_by_verify(warehouse: Path, place: Place) -> bool:
    bad = verify(kept_files(Warehouse(warehouse))).bad
    return [str(file.path.relative_to(warehouse.absolute())) for file in bad] == [place.file]


def night_after(place: Place, number: int) -> Night:
    """What comes after damage at `place`: the build in progress where it is its own, else nights in turn."""
    return GOING_ON if IN_PROGRESS in place.kind else NIGHTS[number % len(NIGHTS)]


def trials(warehouse: Path, tried: Sequence[Place], expected: Expected, work: Path) -> Iterator[Outcome]:
    """The outcome of damage at each place, from processes of their own."""
    done = 0
    while done < len(tried):
        for outcome in _together(warehouse, tried[done : done + _TOGETHER], done, expected, work):
            done += 1
            yield outcome


def _together(warehouse: Path, tried: Sequence[Place], first: int, expected: Expected, work: Path) -> Iterator[Outcome]:
    """The outcomes of some trials in one process, which ends with the first that breaks."""
    report, copies = work / "outcomes", work / "copies"
    report.unlink(missing_ok=True)
    copies.mkdir()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        # Log lines go to files alone.
        logging.getLogger("quern").propagate = False
        logging.getLogger("quern").addHandler(logging.NullHandler())
        with report.open("w") as file:
            for number, place in enumerate(tried, first):
                outcome = _trial(warehouse, copies / f"{number}", place, expected, night_after(place, number))
                file.write(json.dumps(asdict(outcome)) + "\n")
                file.flush()
                # What was imported stays: to look through it for garbage takes half a second of each trial.
                gc.freeze()
                if outcome.asked.startswith("traceback") or outcome.built.startswith("traceback"):
                    break
        os._exit(0)
    _, status = os.waitpid(child, 0)
    shutil.rmtree(copies)
    lines = report.read_text().splitlines() if report.exists() else []
    for line in lines:
        tree = json.loads(line)
        yield Outcome(**{**tree, "place": Place(**tree["place"])})
    if status:
        place, crash = tried[len(lines)], signal.Signals(os.WTERMSIG(status)).name
        yield Outcome(place, f"crash {crash}", "", night_after(place, first + len(lines)).name, 0.0)


def _trial(warehouse: Path, copy: Path, place: Place, expected: Expected, night: Night) -> Outcome:
    started, asked, built = time.monotonic(), "", ""
    signal.alarm(_SECONDS)
    try:
        copy_of(warehouse, copy)
        place.damage(copy)
        asked = asked_of(copy, expected)
        # A damaged archive that is read anew gives other pages, which is told as of any input.
        archives = [path for path in archives_of(copy) if path != copy / place.file]
        built = built_on(copy, warehouse.parent, expected, night, archives)
    except Exception:  # noqa: BLE001 - told as the outcome
        told = f"traceback {' '.join(traceback.format_exc().split())[-900:]}"
        asked, built = (asked, told) if asked else (told, "")
    signal.alarm(0)
    shutil.rmtree(copy, ignore_errors=True)
    return Outcome(place, asked, built, night.name, time.monotonic() - started)
