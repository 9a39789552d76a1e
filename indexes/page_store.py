"""The page store: pages that were ingested, as Parquet parts, and a manifest that names the parts in effect.

    WAREHOUSE/pages/manifest.json               parts in effect, and files of theirs that were read again since
    WAREHOUSE/pages/parts/PART.json             what a finished part holds: ranges of files; written last
    WAREHOUSE/pages/parts/PART.TABLE.parquet    its pages, rejects and sightings

A part is finished once its JSON file is there, and in effect once the manifest names it: a reader never sees half
an ingest, and an ingest that was killed keeps its finished parts.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quern.indexes.locks import readers_or_writer
from quern.indexes.stages import parquet_options
from quern.indexes.storage import abandon, write_text
from quern.schemas.errors import QuernError
from quern.schemas.tables import PAGES, TIMESTAMP

# A reject of a file, and when an archive saw that a page was there or gone; `source_file` as in `pages`.
REJECTED = pa.schema(
    [("source_file", pa.string()), ("key", pa.string()), ("reason", pa.string()), ("detail", pa.string())]
)
SIGHTINGS = pa.schema(
    [("source_file", pa.string()), ("url", pa.string()), ("fetched_at", TIMESTAMP), ("gone", pa.bool_())]
)
_SCHEMAS: Mapping[str, pa.Schema] = {"pages": PAGES.schema, "rejects": REJECTED, "sightings": SIGHTINGS}
_FORMAT = 1


class PageStoreError(QuernError):
    """A page store that cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Claim:
    """A range of a file that a part holds.

    Attributes:
        file: Name of the file, as in `pages.source_file`.
        version: What tells this content of the file, read with these settings, from another.
        start: First byte of the range.
        end: One past its last byte.
        began: Byte at which its first record begins; `end` or more where none begins in it.
        ended: Byte at which the first record after it begins, or the size of the file.
        pages: Pages read.
        rejects: Rejects.
        records: Records by type, of an archive.
    """

    file: str
    version: str
    start: int
    end: int
    began: int
    ended: int
    pages: int = 0
    rejects: int = 0
    records: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """A finished part.

    Attributes:
        directory: Where its files are.
        name: Beginning of their names.
        claims: What it holds, in the order it was read.
        dropped: Files whose rows no longer count, because they were read again.
    """

    directory: Path
    name: str
    claims: tuple[Claim, ...]
    dropped: frozenset[str] = frozenset()

    @property
    def live(self) -> tuple[Claim, ...]:
        """The claims that count."""
        return tuple(c for c in self.claims if c.file not in self.dropped)

    def path(self, kind: str) -> Path:
        """The file of its `pages`, `rejects` or `sightings`."""
        return self.directory / f"{self.name}.{kind}.parquet"

    def batches(self, kind: str, columns: Sequence[str] | None = None, rows: int = 256) -> Iterator[pa.RecordBatch]:
        """Rows of `pages`, `rejects` or `sightings` that count, in the order they were read."""
        schema = _SCHEMAS[kind]
        names = list(columns) if columns is not None else schema.names
        read = names if not self.dropped or "source_file" in names else [*names, "source_file"]
        dropped = pa.array(sorted(self.dropped), pa.string())
        wanted = pa.schema([schema.field(n) for n in names])
        with pq.ParquetFile(self.path(kind)) as file:
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=read):
                    if self.dropped:
                        batch = batch.filter(pc.invert(pc.is_in(batch.column("source_file"), value_set=dropped)))
                    yield pa.RecordBatch.from_arrays([batch.column(n) for n in names], schema=wanted)

    def remove(self) -> None:
        """Delete its files, the one that makes it a part first."""
        (self.directory / f"{self.name}.json").unlink(missing_ok=True)
        for kind in _SCHEMAS:
            self.path(kind).unlink(missing_ok=True)


class PartWriter:
    """Writes one part; it is finished when `finish` was called, and leaves nothing when the block ends without."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._name = uuid.uuid4().hex
        self._paths = {kind: directory / f"{self._name}.{kind}.parquet" for kind in _SCHEMAS}
        self._writers = {
            kind: pq.ParquetWriter(path, _SCHEMAS[kind], **parquet_options(_SCHEMAS[kind]))
            for kind, path in self._paths.items()
        }
        self._finished = False

    def write(self, kind: str, batch: pa.RecordBatch) -> None:
        """Add rows of `pages`, `rejects` or `sightings`."""
        if batch.num_rows:
            self._writers[kind].write_batch(batch)

    def finish(self, claims: Sequence[Claim]) -> Part:
        """Complete the part, in one step."""
        for writer in self._writers.values():
            writer.close()
        body = json.dumps({"claims": [asdict(c) for c in claims]}, ensure_ascii=False)
        write_text(self._directory / f"{self._name}.json", body)
        self._finished = True
        return Part(self._directory, self._name, tuple(claims))

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._finished:
            return
        abandon(self._writers.values(), self._paths.values())


def read_part(directory: Path, name: str, dropped: Sequence[str] = ()) -> Part:
    """The finished part `name`.

    Raises:
        PageStoreError: It is not there, or damaged.
    """
    path = directory / f"{name}.json"
    try:
        claims = tuple(Claim(**c) for c in json.loads(path.read_text("utf-8"))["claims"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PageStoreError(f"{path} is damaged ({error}); delete {directory.parent} and ingest again") from None
    return Part(directory, name, claims, frozenset(dropped))


def finished_parts(directory: Path) -> int:
    """Finished parts in `directory`, counted by a listing: for progress."""
    return sum(1 for _ in directory.glob("*.json"))


class PageStore:
    """The pages of a warehouse that were ingested and not yet, or already, built from."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.directory = self.root / "parts"
        self._manifest = self.root / "manifest.json"

    @contextmanager
    def lock(self, *, shared: bool = False) -> Iterator[None]:
        """Hold the store: alone for writing, `shared` for reading.

        Raises:
            PageStoreError: Another process holds it.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        other = "another ingest, or a build that reads pages, is"
        busy = PageStoreError(f"{other} using {self.root}; wait for it or stop it")
        with readers_or_writer(self.root / "store.lock", busy, shared=shared):
            yield

    def parts(self) -> list[Part]:
        """The parts in effect, in an order that depends on what they hold."""
        found = [read_part(self.directory, name, dropped) for name, dropped in self._named().items()]
        return sorted(found, key=lambda part: [(c.file, c.start) for c in part.claims[:1]])

    def _named(self) -> dict[str, list[str]]:
        """Parts in effect, each with its dropped files."""
        try:
            manifest = json.loads(self._manifest.read_text("utf-8"))
            named = {str(name): list(dropped) for name, dropped in manifest["parts"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise PageStoreError(f"{self._manifest} is damaged ({error}); delete {self.root}, ingest again") from None
        if manifest.get("format") != _FORMAT:
            raise PageStoreError(f"{self.root} is of another version of Quern; delete it and ingest again")
        return named

    def pending(self) -> list[Part]:
        """Finished parts that are not in effect: of ingests that did not come to their end."""
        named = self._named()
        names = sorted(p.stem for p in self.directory.glob("*.json") if p.stem not in named)
        return [read_part(self.directory, name) for name in names]

    def publish(self, parts: Sequence[Part]) -> None:
        """Put finished `parts` into effect, in place of what earlier ones hold of the same files, in one step."""
        again = {c.file for part in parts for c in part.live}
        named: dict[str, list[str]] = {}
        retired: list[Part] = []
        for part in self.parts():
            dropped = part.dropped | (again & {c.file for c in part.claims})
            if any(c.file not in dropped for c in part.claims):
                named[part.name] = sorted(dropped)
            else:
                retired.append(part)
        named |= {part.name: sorted(part.dropped) for part in parts}
        write_text(self._manifest, json.dumps({"format": _FORMAT, "parts": named}, ensure_ascii=False, indent=1) + "\n")
        for part in retired:
            part.remove()

    def sweep(self) -> None:
        """Delete what killed writers left; hold the lock alone."""
        for path in [*self.directory.glob("*.parquet"), *self.directory.glob(".tmp-*")]:
            if not (self.directory / f"{path.name.split('.')[0]}.json").exists():
                path.unlink()
