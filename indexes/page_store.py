"""The page store: pages that were ingested, as Parquet parts, and a manifest that names the parts in effect.

    WAREHOUSE/pages/manifest.json               parts in effect, their files, and those that were read again since;
                                                marks of the pages that were removed
    WAREHOUSE/pages/manifest.copy.json          the same, for when that is damaged
    WAREHOUSE/pages/parts/PART.json             what a finished part holds: ranges of files; written last
    WAREHOUSE/pages/parts/PART.TABLE.parquet    its pages, rejects and sightings

A part is finished once its JSON file is there, and in effect once the manifest names it: a reader never sees half
an ingest, and an ingest that was killed keeps its finished parts. A part that is damaged stays named until its files
are read again.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quern.indexes.checksums import VERIFIED, ChecksummedFile, DamagedError, read_sealed, write_sealed
from quern.indexes.stage_writers import parquet_options
from quern.indexes.storage import abandon, readers_or_writer
from quern.schemas.digests import FINGERPRINT_BYTES
from quern.schemas.errors import QuernError
from quern.schemas.row_digests import row_fingerprints
from quern.schemas.tables import PAGES, TIMESTAMP

# A reject of a file, and when an archive saw that a page was there or gone; `source_file` as in `pages`.
REJECTED = pa.schema(
    [("source_file", pa.string()), ("key", pa.string()), ("reason", pa.string()), ("detail", pa.string())]
)
SIGHTINGS = pa.schema(
    [("source_file", pa.string()), ("url", pa.string()), ("fetched_at", TIMESTAMP), ("gone", pa.bool_())]
)
_SCHEMAS: Mapping[str, pa.Schema] = {"pages": PAGES.schema, "rejects": REJECTED, "sightings": SIGHTINGS}
_FORMAT: Final = 3
_LISTS: Final = 2  # The form before: files as lists, and the number of the ingest for the whole part.
_MARKED: Final = ("url", "digest")
_MARK: Final = np.dtype((np.bytes_, FINGERPRINT_BYTES))
REMOVED: Final = "removed"
"""Reason of the reject of a page that was removed."""
REMOVED_DETAIL: Final = "removed by `quern remove`, and not changed since"

log = logging.getLogger(__name__)


class PageStoreError(QuernError):
    """A page store that cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Removals:
    """The pages of a warehouse that were removed."""

    # Fingerprints of the address and content of each: a page with other content is another.
    marks: frozenset[bytes] = frozenset()
    # When the last one was removed whose text is to leave the warehouse; None where all of it has left.
    purge_since: datetime | None = None
    purged: frozenset[bytes] = frozenset()  # The marks of those whose text is to leave the warehouse, or has left it.

    @cached_property
    def _sorted(self) -> npt.NDArray[np.bytes_]:
        return np.array(sorted(self.marks), _MARK)

    def holds(self, pages: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Which of `pages`, of which address and digest are asked, were removed, shape (rows,)."""
        if not self.marks:
            return np.zeros(pages.num_rows, np.bool_)
        return np.isin(marks_of(pages).view(_MARK), self._sorted)


def marks_of(pages: pa.RecordBatch) -> npt.NDArray[np.void]:
    """What tells each of `pages`, with its content, from others."""
    return row_fingerprints(pages, _MARKED)


def place_of(page: Mapping[str, Any]) -> str:
    """Where a page stands: its file, with the line of a table or the offset of an archive."""
    file, offset = page["source_file"], page["warc_offset"]
    if offset is None:
        return str(file)
    return f"{file}:{offset}" if page["warc_file"] is None else f"{file}@{offset}"


@dataclass(frozen=True)
class Claim:
    """A range of a file that a part holds."""

    file: str  # Name of the file, as in `pages.source_file`.
    version: str  # What tells this content of the file, read with these settings, from another.
    start: int  # First byte of the range.
    end: int  # One past its last byte.
    began: int  # Byte at which its first record begins; `end` or more where none begins in it.
    ended: int  # Byte at which the first record after it begins, or the size of the file.
    pages: int = 0  # Pages read.
    rejects: int = 0  # Rejects.
    records: dict[str, int] = field(default_factory=dict)  # Records by type, of an archive.
    source: int = 0  # Position of the source that names the file, among those of its ingest.

    @property
    def changed(self) -> int:
        """When the file was changed, in seconds since 1970; 0 where its version does not state it."""
        _, _, nanoseconds = self.version.partition("-")
        return int(nanoseconds.partition("-")[0] or 0) // 10**9


class HeldFile(NamedTuple):
    """What the manifest says of a file that a part holds."""

    version: str  # As in `Claim`; empty where an earlier form of the manifest did not tell it.
    # The ingest that first read this version; later ones have higher numbers. What is read again because its part was
    # damaged is no later version than it was.
    ingest: int
    source: int  # Position of the source that named the file to that ingest.


@dataclass(frozen=True)
class Part:
    """A finished part."""

    directory: Path  # Where its files are.
    name: str  # Beginning of their names.
    claims: tuple[Claim, ...]  # What it holds, in the order it was read.
    dropped: frozenset[str] = frozenset()  # Files whose rows no longer count, because they were read again.
    checksums: Mapping[str, str] = field(default_factory=dict)  # Checksums of its files, by kind.
    held: Mapping[str, HeldFile] = field(default_factory=dict)  # What the manifest says of its files; empty before.

    @property
    def live(self) -> tuple[Claim, ...]:
        """The claims that count."""
        return tuple(c for c in self.claims if c.file not in self.dropped)

    def first_read(self, claim: Claim) -> tuple[int, int]:
        """The ingest that first read this version of the claim's file, and the position of the source in it."""
        held = self.held.get(claim.file)
        if held is None:
            return 0, claim.source
        return held.ingest, held.source if held.version else claim.source

    def path(self, kind: str) -> Path:
        """The file of its `pages`, `rejects` or `sightings`."""
        return self.directory / f"{self.name}.{kind}.parquet"

    def check(self) -> None:
        """Read its files whole, unless this process did.

        Raises DamagedError: one is not as it was written; the message says what to ingest again.
        """
        for kind in _SCHEMAS:
            if why := VERIFIED.damage(self.path(kind), self.checksums[kind]):
                raise DamagedError(self.path(kind), why, _again(c.file for c in self.live))

    def batches(self, kind: str, columns: Sequence[str] | None = None, rows: int = 256) -> Iterator[pa.RecordBatch]:
        """Rows of `pages`, `rejects` or `sightings` that count, in the order they were read.

        Raises DamagedError: they are not as they were written.
        """
        self.check()
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

    def without(self, removals: Removals) -> Part:
        """The part as a new one without rows that do not count and pages that were removed; itself if it has none.

        A page that was removed becomes a reject.
        """
        if not self.dropped and not any(removals.holds(b).any() for b in self.batches("pages", _MARKED)):
            return self
        places: list[str] = []
        with PartWriter(self.directory) as writer:
            for batch in self.batches("pages"):
                gone = removals.holds(batch)
                rows = batch.filter(pa.array(gone)).select(["source_file", "warc_file", "warc_offset"]).to_pylist()
                cause = {"reason": REMOVED, "detail": REMOVED_DETAIL}
                rejects = [{"source_file": row["source_file"], "key": place_of(row), **cause} for row in rows]
                places += [reject["key"] for reject in rejects]
                writer.write("pages", batch.filter(pa.array(~gone)))
                writer.write("rejects", pa.RecordBatch.from_pylist(rejects, schema=REJECTED))
            for batch in self.batches("rejects"):  # What else is told of a removed page may quote it.
                told_of = pc.is_in(batch.column("key"), pa.array(places, pa.string()))
                writer.write("rejects", batch.filter(pc.invert(told_of)))
            for batch in self.batches("sightings"):
                writer.write("sightings", batch)
            return writer.finish(self.live)

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
        self._files = {kind: ChecksummedFile(path) for kind, path in self._paths.items()}
        self._writers = {
            kind: pq.ParquetWriter(file, _SCHEMAS[kind], **parquet_options(_SCHEMAS[kind]))
            for kind, file in self._files.items()
        }
        self._finished = False

    def write(self, kind: str, batch: pa.RecordBatch) -> None:
        """Add rows of `pages`, `rejects` or `sightings`."""
        if batch.num_rows:
            self._writers[kind].write_batch(batch)

    def finish(self, claims: Sequence[Claim]) -> Part:
        """Complete the part, in one step."""
        for kind, writer in self._writers.items():
            writer.close()
            self._files[kind].close()
        checksums = {kind: file.checksum for kind, file in self._files.items()}
        about = {"claims": [asdict(c) for c in claims], "checksums": checksums}
        write_sealed(self._directory / f"{self._name}.json", about)
        self._finished = True
        return Part(self._directory, self._name, tuple(claims), checksums=checksums)

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if self._finished:
            return
        abandon([*self._writers.values(), *self._files.values()], self._paths.values())


@dataclass(frozen=True)
class Named:
    """What the manifest says of a part in effect."""

    files: Mapping[str, HeldFile]  # The files that it holds.
    dropped: Sequence[str] = ()  # Those of them that were read again since, or removed.

    @property
    def live(self) -> list[str]:
        """Files of which it holds what counts."""
        dropped = set(self.dropped)
        return [file for file in self.files if file not in dropped]

    @property
    def mend(self) -> str:
        """What mends it."""
        return _again(self.live)


def read_part(directory: Path, name: str, named: Named | None = None) -> Part:
    """The finished part `name`; `named`: what the manifest says of it.

    Raises DamagedError: it is not there, or damaged; the message says what to ingest again.
    """
    path, mend = directory / f"{name}.json", _again(named.live if named else ())
    try:
        about = read_sealed(path, mend)
        claims = tuple(Claim(**c) for c in about["claims"])
    except FileNotFoundError:
        raise DamagedError(path, "it is gone", mend) from None
    named = named or Named({})
    return Part(directory, name, claims, frozenset(named.dropped), about["checksums"], named.files)


def _again(files: Iterable[str]) -> str:
    """What mends a part that holds `files`."""
    distinct = sorted(set(files))
    more = f" and {len(distinct) - 5} more" if len(distinct) > 5 else ""
    of = f" of {', '.join(distinct[:5])}{more}" if distinct else ""
    return f"`quern ingest`{of} again reads those pages anew; of a folder, `--sync` drops those whose files are gone"


def finished_parts(directory: Path) -> int:
    """Finished parts in `directory`, counted by a listing: for progress."""
    return sum(1 for _ in directory.glob("*.json"))


class PageStore:
    """The pages of a warehouse that were ingested and not yet, or already, built from."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.directory = self.root / "parts"
        self._manifest, self._copy = self.root / "manifest.json", self.root / "manifest.copy.json"

    @contextmanager
    def lock(self, *, shared: bool = False) -> Iterator[None]:
        """Hold the store: alone for writing, `shared` for reading.

        Where nothing may be written no lock is needed to read: no one else may write either.

        Raises PageStoreError: another process holds it.
        """
        if shared and not os.access(self.root if self.root.exists() else self.root.parent, os.W_OK):
            yield
            return
        self.root.mkdir(parents=True, exist_ok=True)
        other = "another ingest, or a build that reads pages, is"
        busy = PageStoreError(f"{other} using {self.root}; wait for it or stop it")
        with readers_or_writer(self.root / "store.lock", busy, shared=shared):
            yield

    def parts(self) -> list[Part]:
        """The parts in effect, in an order that depends on what they hold.

        Raises DamagedError: one of them is damaged; the message says what to ingest again.
        """
        parts = [read_part(self.directory, name, entry) for name, entry in self.named().items()]
        for part in parts:
            part.check()
        return sorted(parts, key=lambda part: [(c.file, c.start) for c in part.claims[:1]])

    def whole_parts(self) -> tuple[list[Part], list[Named]]:
        """Those of the parts in effect that are not damaged, and what is known of the others, which are logged."""
        parts: list[Part] = []
        damaged: list[Named] = []
        for name, entry in self.named().items():
            if part := self._whole(name, entry):
                parts.append(part)
            else:
                damaged.append(entry)
        return parts, damaged

    @property
    def manifests(self) -> tuple[Path, Path]:
        """The manifest and its copy."""
        return self._manifest, self._copy

    def part(self, name: str, named: Named) -> Part:
        """A part in effect, whose pages are not read; as `read_part`."""
        return read_part(self.directory, name, named)

    def _whole(self, name: str, entry: Named | None) -> Part | None:
        """A finished part, unless it is damaged, which is logged."""
        try:
            part = read_part(self.directory, name, entry)
            part.check()
        except DamagedError as error:
            log.warning("%s", error)
            return None
        return part

    def named(self) -> dict[str, Named]:
        """Parts in effect, by name.

        Raises DamagedError: the manifest is damaged, and its copy; PageStoreError: the store is of another version of
        Quern.
        """
        manifest = self._read()
        entries: dict[str, Named] = {}
        for name, entry in manifest.get("parts", {}).items():
            if manifest["format"] == _LISTS:
                files = dict.fromkeys(entry["files"], HeldFile("", entry["ingest"], 0))
            else:
                files = {file: HeldFile(*held) for file, held in entry["files"].items()}
            entries[name] = Named(files, entry["dropped"])
        return entries

    def removals(self) -> Removals:
        """The pages that were removed; raises as `named`."""
        manifest = self._read()
        since = manifest.get("purge_since")
        marks = frozenset(bytes.fromhex(mark) for mark in manifest.get("removed", ()))
        # An older manifest does not tell which were purged: text of none of them may come back.
        purged = frozenset(bytes.fromhex(mark) for mark in manifest.get("purged", manifest.get("removed", ())))
        return Removals(marks, datetime.fromisoformat(since) if since else None, purged)

    def _read(self) -> dict[str, Any]:
        try:
            manifest = _read_manifest(self._manifest) or _read_manifest(self._copy)
        except DamagedError as error:
            manifest = _read_manifest(self._copy)
            if manifest is None:
                raise
            log.warning("%s is damaged (%s); its copy is read", error.path, error.why)
        if manifest is not None and manifest.get("format") not in (_LISTS, _FORMAT):
            raise PageStoreError(f"{self.root} is of another version of Quern; delete it and ingest again")
        return manifest or {}

    def pending(self) -> list[Part]:
        """Finished parts that are not in effect: of ingests that did not come to their end."""
        entries = self.named()
        names = sorted(p.stem for p in self.directory.glob("*.json") if p.stem not in entries)
        return [part for name in names if (part := self._whole(name, None))]

    def publish(self, parts: Sequence[Part], gone: Iterable[str] = ()) -> None:
        """Put finished `parts` into effect, in place of what earlier ones hold of the same files, in one step.

        The files `gone` count no more.
        """
        again = {*(c.file for part in parts for c in part.live), *gone}
        entries: dict[str, Named] = {}
        retired: list[str] = []
        there = self.named()
        ingest = 1 + max((held.ingest for of in there.values() for held in of.files.values()), default=0)
        before_now = ((file, of.files[file]) for of in there.values() for file in of.live if file in again)
        first = {(file, held.version): held for file, held in before_now if held.version}
        for name, before in there.items():
            now = replace(before, dropped=sorted({*before.dropped, *(again & set(before.files))}))
            if now.live:
                entries[name] = now
            else:
                retired.append(name)
        for part in parts:
            files = {
                c.file: first.get((c.file, c.version), HeldFile(c.version, ingest, c.source))
                for c in sorted(part.claims, key=lambda claim: claim.file)
            }
            entries[part.name] = Named(files, sorted(part.dropped))
        self._write(entries, self.removals())
        for name in retired:
            Part(self.directory, name, ()).remove()

    def remove(self, marks: Iterable[bytes], *, purge: bool) -> None:
        """Mark pages as removed: builds leave them out. Hold the lock alone.

        Args:
            marks: Of the pages, as `marks_of` makes them.
            purge: Whether their text leaves the parts now, and is to leave the warehouse with the next build.

        Raises DamagedError: a part is damaged that is to be written without them.
        """
        before, entries = self.removals(), self.named()
        since = datetime.now(UTC) if purge else before.purge_since
        every = before.marks | frozenset(marks)
        removals = Removals(every, since, every if purge else before.purged)
        self._write(entries, removals)
        if not purge:
            return
        parts = [self.part(name, of) for name, of in entries.items()]
        again = {part.name: part.without(removals) for part in parts}
        now = {again[name].name: Named({file: of.files[file] for file in of.live}) for name, of in entries.items()}
        self._write(now, removals)
        for part in (*self.pending(), *(part for part in parts if again[part.name] is not part)):
            part.remove()

    def restore(self, marks: Iterable[bytes]) -> None:
        """Take marks off pages: builds read them again. Hold the lock alone."""
        before = self.removals()
        self._write(self.named(), replace(before, marks=before.marks.difference(marks)))

    def purged(self) -> None:
        """Note that the text of all removed pages has left the warehouse. Hold the lock alone."""
        self._write(self.named(), replace(self.removals(), purge_since=None))

    def _write(self, entries: Mapping[str, Named], removals: Removals) -> None:
        manifest = {
            "format": _FORMAT,
            "parts": {name: {"files": of.files, "dropped": of.dropped} for name, of in entries.items()},
            "removed": sorted(mark.hex() for mark in removals.marks),
            "purged": sorted(mark.hex() for mark in removals.purged),
            "purge_since": removals.purge_since and removals.purge_since.isoformat(),
        }
        for path in (self._copy, self._manifest):  # The copy is never older.
            write_sealed(path, manifest)

    def mend(self) -> None:
        """Write the manifest anew where it or its copy is damaged, and delete what killed writers left.

        Hold the lock alone.
        """
        if self._manifest.exists() or self._copy.exists():
            try:
                whole = _read_manifest(self._manifest) == _read_manifest(self._copy)
            except DamagedError:
                whole = False
            if not whole:
                self._write(self.named(), self.removals())
        for path in self.abandoned():
            path.unlink()

    def abandoned(self) -> list[Path]:
        """Files that killed writers left; hold the lock alone."""
        files = [*self.directory.glob("*.parquet"), *self.directory.glob(".tmp-*")]
        return [path for path in files if not (self.directory / f"{path.name.split('.')[0]}.json").exists()]


def _read_manifest(path: Path) -> dict[str, Any] | None:
    try:
        return read_sealed(path, f"delete {path.parent} and ingest again")
    except FileNotFoundError:
        return None
