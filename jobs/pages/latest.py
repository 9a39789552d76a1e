"""One row per address: of several versions the latest, unless the page was gone after it or was removed.

The versions of an address follow each other as they were ingested. Each takes the place of the one before, unless both
state a time (that of a capture, or `modified_at` of a document) and its own is earlier. The order is that of ingests,
then of the sources that were named to one, then of the seconds in which their files were changed, and within a file
that of rows. Names have no say: of files that nothing of this tells apart, a digest of their rows decides, and the
reject says so. A Markdown file that states an id has the address of a document with that id.

Memory: 68 bytes a page, about 200 bytes a capture with status 404 or 410 and a revisit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.page_store import REMOVED, REMOVED_DETAIL, Part, Removals, place_of
from quern.jobs.pages.formats.files import MARKDOWN, MARKDOWN_TYPE, MDX_TYPE
from quern.jobs.pages.formats.rows import FileReject
from quern.jobs.pages.inputs import kind_of
from quern.jobs.text.markdown import given_markdown
from quern.schemas.digests import FINGERPRINT_BYTES
from quern.schemas.row_digests import row_fingerprints
from quern.schemas.tables import PAGES, TIMESTAMP

_NEVER: Final = np.iinfo(np.int64).min
_NO_CAPTURE: Final = "found unchanged, but its capture is in no archive that was read"
_PLACE: Final = ("url", "source_file", "warc_file", "warc_offset")
_MARKDOWN: Final = ("content_type", "body")
_ORDERED: Final = ("url", "fetched_at", "last_modified", "source_file", "warc_file", "warc_offset", "digest")
Bools = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.int64]


def latest_rows(prints: npt.NDArray[np.uint64], when: Longs, place: Longs) -> Longs:
    """The row that stays of each row's address, shape (rows,)."""
    rows = np.arange(len(prints))
    order = np.lexsort((rows, place, prints[:, 1], prints[:, 0]))
    # A row without a time takes the place of all of its address before it: times are compared between two such rows.
    timeless = np.empty(len(prints), np.int64)
    timeless[order] = np.cumsum(when[order] == _NEVER)
    order = np.lexsort((rows, place, when, timeless, prints[:, 1], prints[:, 0]))
    last = np.flatnonzero(np.append((prints[order][:-1] != prints[order][1:]).any(axis=1), True))
    stays = np.empty(len(prints), np.int64)
    stays[order] = order[last[np.searchsorted(last, rows)]]
    return stays


def _times(fetched_at: pa.Array) -> Longs:
    times: Longs = fetched_at.cast(pa.int64()).fill_null(_NEVER).to_numpy(zero_copy_only=False)
    return times


@dataclass(frozen=True)
class PartRows:
    """Which rows of a part stay; arrays of one length, over the rows of the part that count."""

    part: Part  # The part.
    lost: Bools  # Rows with a later version of the same address.
    later: Sequence[tuple[str, bool]]  # Of each row that is lost, the file of that version and whether it is a guess.
    removed: Bools  # Other rows that were removed.
    gone_at: Longs  # When the page of a row that has none was found to be gone, else `_NEVER`.
    unread: Sequence[FileReject] = ()  # Revisits in it of pages whose capture is nowhere.

    @property
    def stays(self) -> Bools:
        """Rows that stay."""
        return np.asarray(~self.lost & ~self.removed & (self.gone_at == _NEVER))

    @property
    def whole(self) -> bool:
        """Whether all rows of the part's file stay."""
        return not self.part.dropped and bool(self.stays.all()) and len(self.stays) > 0

    def pages(self) -> Iterator[pa.RecordBatch]:
        """The pages that stay."""
        stays, start = self.stays, 0
        for batch in self.part.batches("pages"):
            rows = batch.filter(pa.array(stays[start : start + batch.num_rows]))
            start += batch.num_rows
            if rows.num_rows:
                yield pa.RecordBatch.from_arrays(rows.columns, schema=PAGES.schema)

    def rejects(self) -> Iterator[FileReject]:
        """The other rows. Of a page `duplicate_url`; of a document that states its id, `duplicate_doc_id`; of either
        `undecided_version`, where nothing says which is the later one; of one that was removed, `removed`; of one that
        a later capture found to be gone, `gone`. And the revisits of `unread`.
        """
        yield from self.unread
        if self.stays.all():
            return
        start, later = 0, iter(self.later)
        for batch in self.part.batches("pages", _PLACE):
            rows = slice(start, start + batch.num_rows)
            start += batch.num_rows
            for row in batch.filter(pa.array(self.lost[rows])).to_pylist():
                place, file, (other, guess) = place_of(row), row["source_file"], next(later)
                states_id = row["url"].startswith("doc:") or kind_of(file) in MARKDOWN
                reason, what = ("duplicate_doc_id", "doc_id") if states_id else ("duplicate_url", "address")
                detail = f"{row['url']}: {place} and {other} have the same {what}; the version in {other} is kept"
                if guess:
                    reason, advice = "undecided_version", "state modified_at in both, or " if states_id else ""
                    detail += f", but nothing says that it is the later one: {advice}name the later file last"
                yield FileReject(place, reason, detail, file)
            for row in batch.filter(pa.array(self.removed[rows])).to_pylist():
                detail = f"{row['url']}: {REMOVED_DETAIL}"
                yield FileReject(place_of(row), REMOVED, detail, row["source_file"])
            gone = ~self.lost[rows] & ~self.removed[rows] & (self.gone_at[rows] != _NEVER)
            for row, time in zip(batch.filter(pa.array(gone)).to_pylist(), self.gone_at[rows][gone], strict=True):
                moment = datetime.fromtimestamp(int(time) / 1e6, UTC).isoformat(timespec="seconds")
                detail = f"{row['url']}: status 404 or 410 at {moment}"
                yield FileReject(place_of(row), "gone", detail, row["source_file"])


def latest_captures(parts: Sequence[Part], removals: Removals | None = None) -> Iterator[PartRows]:
    """Which rows of each of `parts` stay, one per address, without those that were removed.

    It depends on what the parts hold, not on how it is spread over them. Reads the addresses and times of all rows.
    """
    prints, when, content, place, files, file = _keys(parts)
    stays = latest_rows(prints, when, place)
    equals = np.array([known for _, known in files], np.int64)[file] if files else file
    timed = (when != _NEVER) & (when[stays] != _NEVER) & (when != when[stays])
    guess = (file != file[stays]) & (equals == equals[stays]) & (content != content[stays]) & ~timed
    lost = stays != np.arange(len(stays))
    removed = np.zeros(len(lost), np.bool_)
    if removals and removals.marks:
        pages = (batch for part in parts for batch in part.batches("pages", ["url", "digest"]))
        removed = ~lost & np.concatenate([removals.holds(batch) for batch in pages])
    gone_at = _gone_after(parts, prints, when, lost)
    sightings = (batch for part in parts for batch in part.batches("sightings"))
    captured = {key.tobytes() for batch in sightings for key in row_fingerprints(batch, ["url"])}
    if captured:
        keys = np.ascontiguousarray(prints).view(np.dtype((np.void, FINGERPRINT_BYTES))).ravel()
        captured.intersection_update(key.tobytes() for key in keys)
    start = 0
    for part in parts:
        rows = slice(start, start + sum(b.num_rows for b in part.batches("pages", ["url"])))
        start = rows.stop
        mine = np.flatnonzero(lost[rows]) + rows.start
        later = [(files[file[stays[n]]][0], bool(guess[n])) for n in mine]
        # What they looked like is in an archive that was not read.
        unread = [
            FileReject(row["url"], "revisit_without_capture", _NO_CAPTURE, row["source_file"])
            for batch in part.batches("sightings")
            for key, row in zip(row_fingerprints(batch, ["url"]), batch.to_pylist(), strict=True)
            if not row["gone"] and key.tobytes() not in captured
        ]
        yield PartRows(part, lost[rows], later, removed[rows], gone_at[rows], unread)


def _keys(
    parts: Sequence[Part],
) -> tuple[npt.NDArray[np.uint64], Longs, npt.NDArray[np.uint64], Longs, list[tuple[str, int]], Longs]:
    """Of every row the fingerprint of its address, its time, half the fingerprint of its content, and its place.

    And the files in their order, each with its name and a number that files of one time share; and which of them each
    row is from.
    """
    prints = [np.empty((0, 2), np.uint64)]
    contents = [np.empty(0, np.uint64)]
    when, files, offsets = ([np.empty(0, np.int64)] for _ in range(3))
    codes: dict[str, int] = {}
    times: dict[str, tuple[int, int, int]] = {}
    for part in parts:
        times |= {claim.file: (*part.first_read(claim), claim.changed) for claim in part.live}
        of_markdown = any(kind_of(claim.file) in MARKDOWN for claim in part.live)
        for batch in part.batches("pages", (*_ORDERED, *(_MARKDOWN if of_markdown else ()))):
            identity = pa.record_batch({"url": _addresses(batch) if of_markdown else batch.column("url")})
            prints.append(row_fingerprints(identity, ["url"]).view(np.uint64).reshape(-1, 2))
            contents.append(row_fingerprints(batch, ["digest"]).view(np.uint64)[::2])
            # When it was fetched, or what its document states in `modified_at`; of a capture that is a server's word.
            is_document = pc.is_null(batch.column("warc_file"))
            modified = pc.if_else(is_document, batch.column("last_modified"), pa.scalar(None, pa.string()))
            when.append(_times(pc.coalesce(batch.column("fetched_at"), modified.cast(TIMESTAMP))))
            names = batch.column("source_file").to_pylist()
            files.append(np.array([codes.setdefault(name, len(codes)) for name in names], np.int64))
            offsets.append(batch.column("warc_offset").fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64))
    content, code = np.concatenate(contents), np.concatenate(files)
    of_file = np.zeros(len(codes), np.uint64)
    np.add.at(of_file, code, content)
    # Of two files with equal rows the name decides, which are equal whichever stays.
    ordered = sorted(codes, key=lambda name: (times[name], int(of_file[codes[name]]), name))
    ranks = np.empty(len(codes), np.int64)
    ranks[[codes[name] for name in ordered]] = np.arange(len(codes))
    file = ranks[code]
    number = {time: n for n, time in enumerate(sorted(set(times.values())))}
    order = np.lexsort((np.concatenate(offsets), file))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    versions = [(name, number[times[name]]) for name in ordered]
    return np.concatenate(prints), np.concatenate(when), content, place, versions, file


def _addresses(pages: pa.RecordBatch) -> pa.Array:
    """The addresses of pages; of Markdown files that state an id, those of documents with it."""
    urls = pages.column("url").to_pylist()
    kinds, bodies = pages.column("content_type").to_pylist(), pages.column("body")
    for n in (n for n, kind in enumerate(kinds) if kind in (MARKDOWN_TYPE, MDX_TYPE)):
        body = bodies[n].as_py()
        if b"doc_id" in body.replace(b"\0", b""):  # Few state one, and reading takes long; UTF-16 has zeros.
            doc_id = given_markdown(body, None, urls[n]).fields["doc_id"]
            urls[n] = urls[n] if doc_id == urls[n] else f"doc:{doc_id}"
    return pa.array(urls, pa.string())


def _gone_after(parts: Sequence[Part], prints: npt.NDArray[np.uint64], when: Longs, lost: Bools) -> Longs:
    """When a page that stays was found to be gone after its last capture and revisit, else `_NEVER`; shape (rows,)."""
    gone: dict[bytes, int] = {}
    seen: dict[bytes, int] = {}
    for part in parts:
        for batch in part.batches("sightings"):
            keys = row_fingerprints(batch, ["url"])
            for key, time, is_gone in zip(
                keys, _times(batch.column("fetched_at")), batch.column("gone").to_pylist(), strict=True
            ):
                latest = gone if is_gone else seen
                latest[key.tobytes()] = max(int(time), latest.get(key.tobytes(), _NEVER))
    times = np.full(len(when), _NEVER, np.int64)
    if gone:
        for row in np.flatnonzero(~lost):
            key = prints[row].tobytes()
            time = gone.get(key, _NEVER)
            if time > max(int(when[row]), seen.get(key, _NEVER)):
                times[row] = time
    return times
