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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from quern import Question, ask, diff, original, sources, table, timeline
from quern.indexes.catalog import Warehouse
from quern.pipelines.api.asking import searcher_of
from quern.pipelines.inspect.verify import kept_files, verify
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.recipes import find_recipes
from quern.schemas.errors import QuernError
from tests.rot.places import IN_PROGRESS, Place, copy_of
from tests.rot.warehouses import GOING_ON, NIGHTS, QUESTION, Night

_SECONDS: Final = 240
# A process imports and loads models once for so many trials; what it remembers by path is of other copies.
_TOGETHER: Final = 40
# What `verify` says of what no build makes again.
_FOR_GOOD: Final = ("only snapshot", "pruning forgets", "nothing makes it again")
_LEFT_ASIDE: Final = "is left aside"

Reading = Callable[[Path], str]


@dataclass(frozen=True)
class Outcome:
    """What came of a trial."""

    place: Place  # Where the damage was.
    # `answered` as without damage, `told` in one sentence, `silent` where something else was read, or an error.
    asked: str
    built: str  # `equal`, `told`, `silent` where a table differs, `damaged` where `verify` still finds it, or an error.
    night: str  # What came after the damage.
    seconds: float  # Time.

    @property
    def passed(self) -> bool:
        """Whether nothing was silent and nothing broke."""
        return self.asked in {"answered", "told"} and self.built == "equal"


@dataclass(frozen=True)
class Expected:
    """What is read of an undamaged warehouse, and the digests of its tables after each night."""

    readings: Mapping[str, str]
    tables: Mapping[str, Mapping[str, str]]


def digests(warehouse: Path) -> dict[str, str]:
    """Digests of the tables of what is published."""
    return {name: version.digest for name, version in Warehouse.open(warehouse).manifest().tables.items()}


def _digest(*parts: str | bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()


def answered(warehouse: Path, snapshot: str | None = None) -> str:
    """What is answered, as a digest."""
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
    found = []
    for name in sorted(digests(warehouse)):
        sink = pa.BufferOutputStream()
        rows = table(name, warehouse)
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows)
        found.append(sink.getvalue().to_pybytes())
    return _digest(*found)


def _timeline(warehouse: Path) -> str:
    return _digest(timeline("the Harbour Tunnel", warehouse).model_dump_json())


def _sources(warehouse: Path) -> str:
    return _digest(*(found.model_dump_json() for found in sources([QUESTION], warehouse)))


def _differs(warehouse: Path) -> str:
    return _digest(repr(diff(warehouse)))


def _archived(warehouse: Path) -> str:
    """The archived records of the pages that were crawled."""
    pages = table("pages", warehouse, columns=["url", "warc_file"]).to_pylist()
    found = [original(page["url"], warehouse) for page in pages if page["warc_file"]]
    return _digest(*(repr(record) for record in found))


READINGS: Final[Mapping[str, Reading]] = {
    "question": answered,
    "question to the snapshot before": _answered_before,
    "standing question": _standing,
    "tables": _tables,
    "timeline": _timeline,
    "sources": _sources,
    "difference": _differs,
    "archive": _archived,
}


def read_of(warehouse: Path) -> dict[str, str]:
    """All that is read of a warehouse that is whole."""
    return {name: reading(warehouse) for name, reading in READINGS.items()}


def tables_after(warehouse: Path, nights: Sequence[Night]) -> dict[str, dict[str, str]]:
    """The digests of the tables after each of `nights`, where nothing is damaged."""
    found = {}
    for night in nights:
        copy = copy_of(warehouse, warehouse.parent / "undamaged")
        night.run(copy, warehouse.parent, archives_of(copy))
        found[night.name] = digests(copy)
        shutil.rmtree(copy)
    return found


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
    """The archives of its crawls."""
    return sorted(warehouse.glob("warc/*/*.warc.gz"))


def built_on(copy: Path, root: Path, expected: Expected, night: Night, archives: Sequence[Path] = ()) -> str:
    """What came of the next night, the same way."""
    try:
        with _Warnings() as told:
            night.run(copy, root, archives)
        return _unequal(copy, expected.tables[night.name], told) or _still_damaged(copy)
    except QuernError as error:
        return f"told {error}"


def _unequal(copy: Path, expected: Mapping[str, str], told: Sequence[str]) -> str:
    """`silent`, and which tables differ; what a crawl lost may be left out of the rejects where that was told."""
    found = digests(copy)
    differing = {name for name in {*found, *expected} if found.get(name) != expected.get(name)}
    if any(_LEFT_ASIDE in line for line in told):
        differing -= {"rejects"}
    return f"silent {' '.join(sorted(differing))}" if differing else ""


def _still_damaged(copy: Path) -> str:
    bad = [file for file in verify(kept_files(Warehouse(copy))).bad if not any(word in file.mend for word in _FOR_GOOD)]
    return f"damaged {bad[0].line()}" if bad else "equal"


class _Warnings(logging.Handler):
    """Within it, the lines of the log that are warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())

    def __enter__(self) -> list[str]:
        logging.getLogger("quern").addHandler(self)
        return self._lines

    def __exit__(self, *_: object) -> None:
        logging.getLogger("quern").removeHandler(self)


def named_by_verify(warehouse: Path, place: Place) -> bool:
    """Whether `verify` names a damaged file, and no other."""
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
        _quiet()
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


def _quiet() -> None:
    """Log lines go to files alone."""
    logging.getLogger("quern").propagate = False
    logging.getLogger("quern").addHandler(logging.NullHandler())


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


def count_of(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many trials ended in each way."""
    ways = {"silent": 0, "crash": 0, "traceback": 0, "not mended": 0}
    for outcome in outcomes:
        for way in ("silent", "crash", "traceback"):
            ways[way] += outcome.asked.startswith(way) or outcome.built.startswith(way)
        ways["not mended"] += outcome.built.startswith(("told", "damaged"))
    return ways


def tried_of(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many trials there were of each kind of file."""
    return dict(sorted(Counter(outcome.place.kind for outcome in outcomes).items()))
