"""Near duplicates: links between contents, clusters and keepers, by NumPy.

Takes about 250 bytes of memory a content with 20 bands, 100 bytes a document, and 24 a link and candidate pair; bands
are sorted one after the other. Candidates and their shingles, 8 bytes each, lie in memory-mapped files of the work
directory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from quern.indexes.disk import mapped
from quern.jobs.documents.duplicates.buckets import PairRule, Positions
from quern.jobs.documents.duplicates.night_state import CONTENT_BYTES, DUPLICATES, LINKS, Night, content_keys
from quern.jobs.documents.duplicates.shingles import jaccard, shingles
from quern.jobs.documents.duplicates.values import differ_in_value

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_NO_DAY = np.iinfo(np.int64).max


def find_duplicates(night: Night) -> pa.RecordBatch:
    """Write the night's links; the duplicates, in the order of the documents, as a batch of `DUPLICATES`."""
    contents = _Contents.of(night)
    links = _links(contents, night)
    links.write(contents, night.links)
    return _duplicates(contents, links, night)


def least_members(nodes: int, a: Positions, b: Positions) -> Positions:
    """The least node of each node's component, shape (nodes,), of the graph with the edges (a, b)."""
    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(nodes, nodes))
    count, label = connected_components(graph, directed=False)
    least = np.full(count, nodes, dtype=np.int64)
    np.minimum.at(least, label, np.arange(nodes))
    return np.asarray(least[label], dtype=np.int64)


@dataclass(frozen=True)
class _Contents:
    """The texts of this and of the last night, in the order of their digests."""

    keys: npt.NDArray[np.uint64]  # Their digests as two big-endian numbers, ascending, shape (contents, 2).
    shingles: Positions  # Distinct shingles, shape (contents,).
    bands: Positions  # Band hashes, shape (contents, bands); zeros where there are none.
    short: Flags  # Which have no bands.
    before: Flags  # Which were there last night.
    now: Flags  # Which are there tonight.

    @classmethod
    def of(cls, night: Night) -> _Contents:
        tables = [pq.read_table(p) for p in (night.signatures_before, night.signatures) if p is not None]
        keys = np.concatenate([content_keys(t.column("content")) for t in tables])
        tonight = np.arange(len(keys)) >= len(keys) - tables[-1].num_rows
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        group = np.cumsum(first) - 1
        now = np.zeros(int(first.sum()), dtype=np.bool_)
        now[group[tonight[order]]] = True
        before = np.zeros(len(now), dtype=np.bool_)
        before[group[~tonight[order]]] = True
        chosen = order[first]
        counts = np.concatenate([t.column("shingles").to_numpy() for t in tables])[chosen]
        bands = np.concatenate([_bands(t, night.settings.bands) for t in tables])[chosen]
        short = np.concatenate([pc.equal(pc.list_value_length(t.column("bands")), 0).to_numpy() for t in tables])
        return cls(keys[chosen], counts, bands, short[chosen].astype(np.bool_), before, now)

    def find(self, keys: npt.NDArray[np.uint64]) -> Positions:
        """Positions of `keys`, all of which are there."""
        both = np.concatenate([self.keys, keys])
        _, inverse = np.unique(both[:, 0], return_inverse=True)
        _, low = np.unique(both[:, 1], return_inverse=True)
        codes = inverse.ravel().astype(np.int64) * len(both) + low.ravel()
        return np.searchsorted(codes[: len(self.keys)], codes[len(self.keys) :])


def _bands(table: pa.Table, count: int) -> Positions:
    found = np.zeros((table.num_rows, count), dtype=np.int64)
    column = table.column("bands")
    filled = pc.greater(pc.list_value_length(column), 0).to_numpy()
    found[filled.astype(np.bool_)] = pc.list_flatten(column).to_numpy().reshape(-1, count)
    return found


@dataclass(frozen=True)
class _Links:
    """Verified near duplicates: a < b are positions of contents, `key` the bucket that made them a candidate pair."""

    key: Positions
    a: Positions
    b: Positions
    similarity: Floats

    def write(self, contents: _Contents, path: Path) -> None:
        """Write them as a table of `LINKS`."""
        raw = contents.keys.astype(">u8").tobytes()
        digests = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(CONTENT_BYTES), len(contents.keys), [None, pa.py_buffer(raw)]
        ).cast(pa.binary())
        ends = [digests.take(pa.array(end)) for end in (self.a, self.b)]
        columns = [pa.array(self.key), *ends, pa.array(self.similarity)]
        path.mkdir()
        pq.write_table(pa.Table.from_arrays(columns, schema=LINKS), path / "part-0.parquet", compression="zstd")

    @classmethod
    def read(cls, path: Path, contents: _Contents) -> _Links:
        """The links of the last night."""
        table = pq.read_table(path)
        a, b = (contents.find(content_keys(table.column(end))) for end in ("a", "b"))
        return cls(table.column("key").to_numpy(), a, b, table.column("similarity").to_numpy())

    def of_one_day(self, days: Positions) -> _Links:
        """Those between texts of one day, or of which one has none (`_NO_DAY`)."""
        a, b = days[self.a], days[self.b]
        kept = (a == b) | (a == _NO_DAY) | (b == _NO_DAY)
        return _Links(self.key[kept], self.a[kept], self.b[kept], self.similarity[kept])


def _days(members: pa.Table, content: Positions, size: int) -> Positions:
    """The first day on which each text was published that is short, shape (contents,)."""
    days = np.full(size, _NO_DAY)
    column = members.column("day")
    dated = column.is_valid().to_numpy()
    np.minimum.at(days, content[dated], column.drop_null().to_numpy())
    return days


def _links(contents: _Contents, night: Night) -> _Links:
    """Tonight's links: those of last night's buckets that did not change, and those of the buckets that did."""
    none = np.empty(0, dtype=np.int64)
    old = _Links(none, none, none, np.empty(0))
    if night.links_before is not None:
        old = _Links.read(night.links_before, contents)
    size = len(contents.keys)
    key, code, seen = _candidates(contents, PairRule.of(night.settings))
    known, first = np.unique(old.a * size + old.b, return_index=True)
    wanted = np.setdiff1d(np.unique(code), np.union1d(seen, known), assume_unique=True)
    verified, similarity = _verify(wanted, contents, night)
    truth = np.concatenate([known, verified])
    values = np.concatenate([old.similarity[first], similarity])
    order = np.argsort(truth)
    truth, values = truth[order], values[order]
    at = np.minimum(np.searchsorted(truth, code), max(0, len(truth) - 1))
    true = truth[at] == code if len(truth) else np.zeros(len(code), dtype=np.bool_)
    # The buckets that have other members than last night.
    changed_keys = np.unique(contents.bands[(contents.before != contents.now) & ~contents.short])
    stays = ~np.isin(old.key, changed_keys)
    return _Links(
        np.concatenate([old.key[stays], key[true]]),
        np.concatenate([old.a[stays], code[true] // size]),
        np.concatenate([old.b[stays], code[true] % size]),
        np.concatenate([old.similarity[stays], values[at[true]]]),
    )


def _candidates(contents: _Contents, rule: PairRule) -> tuple[Positions, Positions, Positions]:
    """(bucket, pair) of tonight's candidates in buckets that changed, and the pairs that were candidates last night.

    A pair (a, b) of positions is the number a · contents + b with a < b.
    """
    size, bands = len(contents.keys), contents.bands
    keys: list[Positions] = [np.empty(0, dtype=np.int64)]
    now, before = list(keys), list(keys)
    changed = (contents.before != contents.now) & ~contents.short
    for band in range(bands.shape[1]):
        rows = _in_changed_buckets(bands[:, band], changed, contents.short)
        following = bands[rows, (band + 1) % bands.shape[1]]
        rows = rows[np.lexsort((rows, following, bands[rows, band]))]
        for present, found in ((contents.now, now), (contents.before, before)):
            members = rows[present[rows]]
            earlier, later = rule.pairs(bands[members, band])
            one, other = members[earlier], members[later]
            codes = np.minimum(one, other) * size + np.maximum(one, other)
            found.append(codes if found is now else np.unique(codes))
            if found is now:
                keys.append(bands[one, band])
    return np.concatenate(keys), np.concatenate(now), np.unique(np.concatenate(before))


def _in_changed_buckets(keys: Positions, changed: Flags, short: Flags) -> Positions:
    """Rows, ascending, of the buckets that changed and have more than one member."""
    rows = np.flatnonzero(~short)
    if not changed[rows].all():
        rows = rows[np.isin(keys[rows], np.unique(keys[changed]))]
    ordered = np.sort(keys[rows])
    shared = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    at = np.minimum(np.searchsorted(shared, keys[rows]), max(0, len(shared) - 1))
    return rows[shared[at] == keys[rows]] if len(shared) else rows[:0]


def _verify(codes: Positions, contents: _Contents, night: Night) -> tuple[Positions, Floats]:
    """The pairs among `codes` that are near duplicates, ascending, and their Jaccard similarities."""
    size = len(contents.keys)
    a, b = codes // max(1, size), codes % max(1, size)
    # |a ∩ b| / |a ∪ b| is at most min / max.
    fewer, more = (end(contents.shingles[a], contents.shingles[b]) for end in (np.minimum, np.maximum))
    possible = fewer >= night.settings.similarity * more
    codes, a, b = codes[possible], a[possible], b[possible]
    texts = _CandidateTexts(night, contents, np.unique(np.concatenate([a, b])))
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    similarity = np.fromiter((jaccard(texts.shingles(x), texts.shingles(y)) for x, y in pairs), np.float64, len(a))
    enough = np.flatnonzero(similarity >= night.settings.similarity)
    alike = zip(a[enough].tolist(), b[enough].tolist(), strict=True)
    enough = enough[np.array([not differ_in_value(texts[x], texts[y]) for x, y in alike], dtype=np.bool_)]
    return codes[enough], similarity[enough]


class _CandidateTexts:
    """Some contents and their shingles, in files of the work directory; one pass over the documents."""

    def __init__(self, night: Night, contents: _Contents, wanted: Positions) -> None:
        self._wanted = wanted
        self._start = np.concatenate([[0], np.cumsum(contents.shingles[wanted])])
        self._spans = np.zeros((len(wanted), 2), np.int64)
        if not len(wanted):
            return
        self._sets = mapped(night.work / "shingles.u64", np.uint64, (int(self._start[-1]),))
        self._path = night.work / "candidates.utf8"
        with self._path.open("wb") as file:
            for place, text in _texts(night, contents, wanted):
                self._sets[self._start[place] : self._start[place + 1]] = shingles(text, night.settings.shingle)
                start = file.tell()
                self._spans[place] = start, start + file.write(text.encode("utf-8"))
        self._texts = np.memmap(self._path, np.uint8, mode="r")

    def shingles(self, content: int) -> npt.NDArray[np.uint64]:
        """The shingles of a content."""
        place = np.searchsorted(self._wanted, content)
        return self._sets[self._start[place] : self._start[place + 1]]

    def __getitem__(self, content: int) -> str:
        start, end = self._spans[np.searchsorted(self._wanted, content)]
        return self._texts[start:end].tobytes().decode("utf-8")


def _texts(night: Night, contents: _Contents, wanted: Positions) -> Iterator[tuple[int, str]]:
    """(place in `wanted`, text) of the wanted contents."""
    at = contents.find(content_keys(pq.read_table(night.members, columns=["content"]).column("content")))
    distinct, first = np.unique(at, return_index=True)
    place = np.full(len(at), -1, dtype=np.int64)
    place[first] = np.where(np.isin(distinct, wanted), np.searchsorted(wanted, distinct), -1)
    start = 0
    for batch in night.documents.batches(["text"]):
        places = place[start : start + batch.num_rows]
        start += batch.num_rows
        rows = np.flatnonzero(places >= 0)
        yield from zip(places[rows].tolist(), batch.column(0).take(pa.array(rows)).to_pylist(), strict=True)


def _duplicates(contents: _Contents, links: _Links, night: Night) -> pa.RecordBatch:
    """The documents that are not the keeper of their cluster, with keeper and similarity."""
    members = pq.read_table(night.members)
    content = contents.find(content_keys(members.column("content")))
    links = links.of_one_day(_days(members, content, len(contents.keys)))
    root = least_members(len(contents.keys), links.a, links.b)[content]
    keeper = _keepers(members, root)
    rows = np.flatnonzero(keeper != np.arange(len(keeper)))
    direct, similarity = _nearest(links, content[rows], content[keeper[rows]], len(contents.keys))
    doc_ids = members.column("doc_id").combine_chunks()
    columns = [
        pa.array(rows),
        doc_ids.take(pa.array(keeper[rows])),
        pa.array(content[rows] == content[keeper[rows]]),
        pa.array(direct),
        pa.array(similarity),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=DUPLICATES)


def _keepers(members: pa.Table, root: Positions) -> Positions:
    """Position of each document's keeper: the oldest of its cluster, then the longest, then the least doc_id."""
    by_id = pc.sort_indices(members.column("doc_id")).to_numpy()
    rank = np.empty(len(by_id), dtype=np.int64)
    rank[by_id] = np.arange(len(by_id))
    dates = members.column("published_at")
    undated = dates.is_null().to_numpy()
    time = pc.fill_null(dates, 0).to_numpy()
    order = np.lexsort((rank, -members.column("length").to_numpy(), time, undated, root))
    _, first, inverse = np.unique(root[order], return_index=True, return_inverse=True)
    keeper = np.empty(len(order), dtype=np.int64)
    keeper[order] = order[first][inverse.ravel()]
    return keeper


def _nearest(links: _Links, content: Positions, keeper: Positions, size: int) -> tuple[Flags, Floats]:
    """Whether each content is linked to its keeper's, and its similarity to that, else to its nearest link."""
    near = np.zeros(size)
    for end in (links.a, links.b):
        np.maximum.at(near, end, links.similarity)
    codes, first = np.unique(links.a * size + links.b, return_index=True)
    wanted = np.minimum(content, keeper) * size + np.maximum(content, keeper)
    at = np.minimum(np.searchsorted(codes, wanted), max(0, len(codes) - 1))
    direct = codes[at] == wanted if len(codes) else np.zeros(len(wanted), dtype=np.bool_)
    similarity = np.where(direct, links.similarity[first][at], near[content]) if len(codes) else near[content]
    same = content == keeper
    return direct | same, np.where(same, 1.0, similarity)
