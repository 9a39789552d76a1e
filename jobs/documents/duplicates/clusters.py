"""Near duplicates: links between contents, clusters and keepers, by NumPy.

Candidate pairs are the texts that share a band of their signatures, an LSH bucket (`bucket_pairs`).

Takes about 250 bytes of memory a content with 20 bands, 100 bytes a document, and 24 a link and candidate pair; bands
are sorted one after the other. Candidates and their shingles, 8 bytes each, lie in memory-mapped files of the work
directory.
"""

from __future__ import annotations

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
from quern.jobs.documents.duplicates.signatures import jaccard, shingles
from quern.jobs.documents.duplicates.texts import CONTENT_BYTES, Flags, Keys, Night, Positions, content_keys, groups
from quern.jobs.documents.duplicates.values import differ_in_value
from quern.schemas.settings import DeduplicateSettings

Floats = npt.NDArray[np.float64]
_NO_DAY = np.iinfo(np.int64).max

LINKS = pa.schema([("key", pa.int64()), ("a", pa.binary()), ("b", pa.binary()), ("similarity", pa.float64())])
DUPLICATES = pa.schema(
    [
        ("position", pa.int64()),  # Row of the document, ascending.
        ("keeper", pa.string()),  # doc_id of the document that stays.
        ("exact", pa.bool_()),  # Whether its text is the keeper's.
        ("direct", pa.bool_()),  # Whether `similarity` is that to the keeper, else to the nearest copy.
        ("similarity", pa.float64()),
    ]
)


def bucket_pairs(keys: Positions, settings: DeduplicateSettings) -> tuple[Positions, Positions]:
    """(earlier, later) positions of the pairs of all buckets that are compared.

    A bucket's members stand side by side in `keys`, sorted by their next band, so that texts which share two bands are
    neighbours. All pairs are taken among its first `bucket` members; each later one is paired with the `neighbours`
    members before it and with `representatives` of the first ones, spread evenly. A bucket of m members so gives at
    most bucket²/2 + m · (neighbours + representatives) pairs, not m²/2. A later member that is similar to none of those
    is found only through another of its bands, where the order differs.
    """
    whole, near = settings.bucket, min(settings.neighbours, settings.bucket - 1)
    rows = np.arange(len(keys))
    # For each row of `keys` the first of the run of equal rows that it stands in, shape (rows,).
    first = np.ones(len(keys), dtype=np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    heads = np.maximum.accumulate(np.where(first, rows, 0))
    ranks = rows - heads
    none = np.empty(0, dtype=np.int64)
    earlier, later = [none], [none]
    for distance in range(1, whole):
        reach = rows - distance >= heads
        at = np.flatnonzero(reach & (ranks < whole) if distance > near else reach)
        if not at.size and distance > near:
            break
        earlier.append(at - distance)
        later.append(at)
    representatives = min(settings.representatives, whole)
    for rank in (n * whole // representatives for n in range(representatives)):
        at = np.flatnonzero((ranks >= whole) & (ranks - rank > near))
        earlier.append(heads[at] + rank)
        later.append(at)
    return np.concatenate(earlier), np.concatenate(later)


def find_duplicates(night: Night) -> pa.RecordBatch:
    """Write the night's links; the documents that are not the keeper of their cluster, as a batch of `DUPLICATES`."""
    contents = _Contents.of(night)
    links = _links(contents, night)
    links.write(contents, night.state / "links")
    members = pq.read_table(night.members)
    content, size = contents.find(content_keys(members.column("content"))), len(contents.keys)
    # The first day on which each text was published that is short, shape (contents,). Links between texts of two days
    # do not count.
    days, column = np.full(size, _NO_DAY), members.column("day")
    np.minimum.at(days, content[column.is_valid().to_numpy()], column.drop_null().to_numpy())
    day_a, day_b = days[links.a], days[links.b]
    links = links.filter((day_a == day_b) | (day_a == _NO_DAY) | (day_b == _NO_DAY))
    graph = coo_array((np.ones(len(links.a), dtype=np.int8), (links.a, links.b)), shape=(size, size))
    keeper = _keepers(members, connected_components(graph, directed=False)[1][content])
    rows = np.flatnonzero(keeper != np.arange(len(keeper)))
    # Whether each duplicate's text is linked to its keeper's, and its similarity to that, else to its nearest link.
    one, other = content[rows], content[keeper[rows]]
    near = np.zeros(size)
    for end in (links.a, links.b):
        np.maximum.at(near, end, links.similarity)
    codes, first = np.unique(links.a * size + links.b, return_index=True)
    direct, at = _lookup(codes, np.minimum(one, other) * size + np.maximum(one, other))
    similarity = near[one]
    similarity[direct] = links.similarity[first][at[direct]]
    same = one == other
    columns = [
        pa.array(rows),
        members.column("doc_id").combine_chunks().take(pa.array(keeper[rows])),
        pa.array(same),
        pa.array(direct | same),
        pa.array(np.where(same, 1.0, similarity)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=DUPLICATES)


def _lookup(values: Positions, queries: Positions) -> tuple[Flags, Positions]:
    """Which of `queries` are among `values`, which ascend, and at which position, shapes (queries,)."""
    if not len(values):
        return np.zeros(len(queries), dtype=np.bool_), np.zeros(len(queries), dtype=np.int64)
    at = np.minimum(np.searchsorted(values, queries), len(values) - 1)
    return values[at] == queries, at


@dataclass(frozen=True)
class _Contents:
    """The texts of this and of the last night, in the order of their digests."""

    keys: Keys  # Their digests, ascending, shape (contents, 2).
    shingles: Positions  # Distinct shingles, shape (contents,).
    bands: Positions  # Band hashes, shape (contents, bands); zeros where there are none.
    short: Flags  # Which have no bands.
    before: Flags  # Which were there last night.
    now: Flags  # Which are there tonight.

    @classmethod
    def of(cls, night: Night) -> _Contents:
        tables = [pq.read_table(state / "signatures.parquet") for state in (night.before, night.state) if state]
        both = pa.concat_tables(tables)
        keys = content_keys(both.column("content"))
        boundary = len(keys) - tables[-1].num_rows
        group, first = groups(keys)
        before, now = np.zeros((2, len(first)), dtype=np.bool_)
        before[group[:boundary]] = True
        now[group[boundary:]] = True
        column = both.column("bands")
        banded = pc.greater(pc.list_value_length(column), 0).to_numpy().astype(np.bool_)
        bands = np.zeros((len(keys), night.settings.bands), dtype=np.int64)
        bands[banded] = pc.list_flatten(column).to_numpy().reshape(-1, night.settings.bands)
        return cls(keys[first], both.column("shingles").to_numpy()[first], bands[first], ~banded[first], before, now)

    def find(self, keys: Keys) -> Positions:
        """Positions of `keys`, all of which are there."""
        return groups(np.concatenate([self.keys, keys]))[0][len(self.keys) :]


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

    def filter(self, mask: Flags) -> _Links:
        """The links that `mask` selects."""
        return _Links(self.key[mask], self.a[mask], self.b[mask], self.similarity[mask])


def _links(contents: _Contents, night: Night) -> _Links:
    """Tonight's links: those of last night's buckets that did not change, and those of the buckets that did."""
    none = np.empty(0, dtype=np.int64)
    old = _Links(none, none, none, np.empty(0))
    if night.before is not None:
        old = _Links.read(night.before / "links", contents)
    size = len(contents.keys)
    changed = (contents.before != contents.now) & ~contents.short
    key, code, earlier_pairs = _candidates(contents, changed, night.settings)
    old_pairs, first = np.unique(old.a * size + old.b, return_index=True)
    new_pairs = np.setdiff1d(np.unique(code), np.union1d(earlier_pairs, old_pairs), assume_unique=True)
    verified, similarity = _verify(new_pairs, contents, night)
    values = np.concatenate([old.similarity[first], similarity])
    truth = np.concatenate([old_pairs, verified])
    order = np.argsort(truth)
    true, at = _lookup(truth[order], code)
    # The buckets that have other members than last night.
    old = old.filter(~np.isin(old.key, np.unique(contents.bands[changed])))
    return _Links(
        np.concatenate([old.key, key[true]]),
        np.concatenate([old.a, code[true] // size]),
        np.concatenate([old.b, code[true] % size]),
        np.concatenate([old.similarity, values[order][at[true]]]),
    )


def _candidates(
    contents: _Contents, changed: Flags, settings: DeduplicateSettings
) -> tuple[Positions, Positions, Positions]:
    """(bucket, pair) of tonight's candidates in buckets that changed, and the pairs that were candidates last night.

    A pair (a, b) of positions is the number a · contents + b with a < b.
    """
    size, bands = len(contents.keys), contents.bands
    none = np.empty(0, dtype=np.int64)
    keys, now, before = [none], [none], [none]
    banded = np.flatnonzero(~contents.short)
    for band in range(bands.shape[1]):
        own, following = bands[:, band], bands[:, (band + 1) % bands.shape[1]]
        # Rows of the buckets that changed and have more than one member.
        rows = banded if changed[banded].all() else banded[np.isin(own[banded], np.unique(own[changed]))]
        ordered = np.sort(own[rows])
        rows = rows[_lookup(np.unique(ordered[1:][ordered[1:] == ordered[:-1]]), own[rows])[0]]
        rows = rows[np.lexsort((rows, following[rows], own[rows]))]
        for present, pairs in ((contents.now, now), (contents.before, before)):
            members = rows[present[rows]]
            earlier, later = bucket_pairs(own[members], settings)
            one, other = members[earlier], members[later]
            codes = np.minimum(one, other) * size + np.maximum(one, other)
            pairs.append(codes if pairs is now else np.unique(codes))
            if pairs is now:
                keys.append(own[one])
    return np.concatenate(keys), np.concatenate(now), np.unique(np.concatenate(before))


def _verify(codes: Positions, contents: _Contents, night: Night) -> tuple[Positions, Floats]:
    """The pairs among `codes` that are near duplicates, ascending, and their Jaccard similarities."""
    a, b = np.divmod(codes, max(1, len(contents.keys)))
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

    def __init__(self, night: Night, contents: _Contents, positions: Positions) -> None:
        self._positions = positions
        self._start = np.concatenate([[0], np.cumsum(contents.shingles[positions])])
        self._spans = np.zeros((len(positions), 2), np.int64)
        if not len(positions):
            return
        members = pq.read_table(night.members, columns=["content"])
        distinct, first = np.unique(contents.find(content_keys(members.column("content"))), return_index=True)
        # The place in `positions` of each document that is the first of its text, else -1.
        place = np.full(members.num_rows, -1, dtype=np.int64)
        place[first] = np.where(np.isin(distinct, positions), np.searchsorted(positions, distinct), -1)
        self._sets = mapped(night.work / "shingles.u64", np.uint64, (int(self._start[-1]),))
        start, path = 0, night.work / "candidates.utf8"
        with path.open("wb") as file:
            for batch in night.documents.batches(["text"]):
                places = place[start : start + batch.num_rows]
                start += batch.num_rows
                rows = np.flatnonzero(places >= 0)
                texts = batch.column(0).take(pa.array(rows)).to_pylist()
                for at, text in zip(places[rows].tolist(), texts, strict=True):
                    self._sets[self._start[at] : self._start[at + 1]] = shingles(text, night.settings.shingle)
                    begin = file.tell()
                    self._spans[at] = begin, begin + file.write(text.encode("utf-8"))
        self._texts = np.memmap(path, np.uint8, mode="r")

    def shingles(self, content: int) -> npt.NDArray[np.uint64]:
        """The shingles of a content."""
        place = np.searchsorted(self._positions, content)
        return self._sets[self._start[place] : self._start[place + 1]]

    def __getitem__(self, content: int) -> str:
        start, end = self._spans[np.searchsorted(self._positions, content)]
        return self._texts[start:end].tobytes().decode("utf-8")


def _keepers(members: pa.Table, cluster: Positions) -> Positions:
    """Position of each document's keeper: the oldest of its cluster, then the longest, then the least doc_id."""
    by_id = pc.sort_indices(members.column("doc_id")).to_numpy()
    rank = np.empty(len(by_id), dtype=np.int64)
    rank[by_id] = np.arange(len(by_id))
    dates = members.column("published_at")
    undated = dates.is_null().to_numpy()
    time = pc.fill_null(dates, 0).to_numpy()
    order = np.lexsort((rank, -members.column("length").to_numpy(), time, undated, cluster))
    _, first, inverse = np.unique(cluster[order], return_index=True, return_inverse=True)
    keeper = np.empty(len(order), dtype=np.int64)
    keeper[order] = order[first][inverse]
    return keeper
