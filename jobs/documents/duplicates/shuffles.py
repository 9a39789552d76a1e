"""Near duplicates on Spark: the steps of `.near` as joins, aggregations and sorts of Parquet files.

Same result bit for bit, whatever the partitions. No step needs a bucket or a cluster in one place: buckets are streamed
through sorted partitions, components are found by star steps. A pair that is verified for the first time carries both
its texts and their shingles through a shuffle, 16 bytes a shingle; pairs known from the last night carry nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.jobs.documents.duplicates.buckets import BucketStream, Members, PairRule
from quern.jobs.documents.duplicates.components import spark_components
from quern.jobs.documents.duplicates.near import may_be_similar
from quern.jobs.documents.duplicates.night_state import Night, read_all
from quern.jobs.documents.duplicates.shingles import jaccard, shingles
from quern.jobs.documents.duplicates.values import differ_in_value
from quern.schemas.settings import DeduplicateSettings

_MOST_RECORDS = 2048
_BATCH_BYTES = 32 << 20
_PAIRS = "key bigint, a binary, b binary, now boolean"
_SETS = "content binary, hashes array<bigint>, text string"
_VERIFIED = "a binary, b binary, similarity double"
_LINKS = "key bigint, a binary, b binary, similarity double"
_EXPLODED = "content binary, shingles bigint, now boolean, before boolean, key bigint, next bigint"


def find_duplicates_on_spark(night: Night, spark: Any, partitions: int) -> Iterator[pa.RecordBatch]:
    """Write the night's links; then the duplicates, in the order of the documents, as batches of `DUPLICATES`."""
    with _configured(spark, partitions):
        shuffle = _Shuffle(night, spark, partitions)
        shuffle.links().write.option("compression", "zstd").parquet(str(night.links))
        files = shuffle.duplicates()
    yield from read_all(files)


@contextmanager
def _configured(spark: Any, partitions: int) -> Iterator[None]:
    """The session with so many partitions a shuffle, and batches that fit in memory."""
    wanted = {
        "spark.sql.shuffle.partitions": partitions,
        "spark.sql.execution.arrow.maxRecordsPerBatch": _MOST_RECORDS,
        "spark.sql.execution.arrow.maxBytesPerBatch": _BATCH_BYTES,
    }
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, str(value))
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


class _Shuffle:
    """The steps of one night."""

    def __init__(self, night: Night, spark: Any, partitions: int) -> None:
        self._night, self._spark, self._partitions = night, spark, partitions

    def _keep(self, frame: Any, name: str) -> Any:
        """`frame`, written under the work directory and read from there."""
        path = str(self._night.work / name)
        frame.write.mode("overwrite").option("compression", "zstd").parquet(path)
        return self._read(path, frame.schema)

    def _read(self, path: str | Path, schema: Any) -> Any:
        # A path that holds signs of patterns is no pattern.
        return self._spark.read.schema(schema).parquet(re.sub(r"([*?\[\]{}\\])", r"\\\1", str(path)))

    def _links_before(self) -> Any:
        if self._night.links_before is None:
            return self._spark.createDataFrame([], _LINKS)
        return self._read(self._night.links_before, _LINKS)

    def _members(self) -> Any:
        return self._read(
            self._night.members,
            "position bigint, doc_id string, content binary, published_at bigint, length bigint, day bigint",
        )

    def _exploded(self) -> Any:
        """A row per text and band: the band's hash, that of the following band, and when the text was there."""
        from pyspark.sql import functions as f

        schema = "content binary, shingles bigint, bands array<bigint>"
        files = [(self._night.signatures, True), (self._night.signatures_before, False)]
        frames = [
            self._read(path, schema).withColumn("now", f.lit(now)).withColumn("before", f.lit(not now))
            for path, now in files
            if path is not None
        ]
        found = frames[0]
        if len(frames) == 2:
            both = frames[0].unionByName(frames[1]).groupBy("content")
            found = both.agg(
                f.first("shingles").alias("shingles"),
                f.first("bands").alias("bands"),
                f.max("now").alias("now"),
                f.max("before").alias("before"),
            )
        rows = found.select("content", "shingles", "now", "before", "bands", f.posexplode("bands").alias("band", "key"))
        following = f.element_at("bands", (f.col("band") + 1) % f.size("bands") + 1)
        return rows.select("content", "shingles", "now", "before", "key", following.alias("next"))

    def links(self) -> Any:
        """Tonight's links: those of last night's buckets that did not change, and those of the buckets that did."""
        from pyspark.sql import functions as f

        rows, old = self._exploded(), self._links_before()
        if self._night.signatures_before is None:
            stays = old
        else:
            changed = self._keep(rows.where("now != before").select("key").distinct(), "changed")
            rows, stays = rows.join(changed, "key", "left_semi"), old.join(changed, "key", "left_anti")
        pairs = self._keep(self._pairs(rows), "pairs")
        tonight = pairs.where("now").drop("now")
        known = old.select("a", "b", "similarity").distinct()
        wanted = tonight.select("a", "b").distinct()
        wanted = wanted.join(pairs.where(~f.col("now")).select("a", "b").distinct(), ["a", "b"], "left_anti")
        wanted = self._keep(wanted.join(known, ["a", "b"], "left_anti"), "wanted")
        true = tonight.join(known.unionByName(self._verified(wanted)), ["a", "b"]).select("key", "a", "b", "similarity")
        return stays.select("key", "a", "b", "similarity").unionByName(true)

    def _pairs(self, rows: Any) -> Any:
        """(key, a, b, now): candidates of tonight's buckets and, not `now`, of the same buckets last night."""
        ordered = rows.repartition(self._partitions, "key").sortWithinPartitions("key", "next", "content")
        rule = PairRule.of(self._night.settings)
        pairs = partial(_bucket_pairs, rule, self._night.settings.similarity)
        return ordered.select("key", "content", "shingles", "now", "before").mapInArrow(pairs, _PAIRS)

    def _verified(self, pairs: Any) -> Any:
        """The pairs that are near duplicates, with their similarities."""
        from pyspark.sql import functions as f

        documents = self._read(self._night.documents.path, "doc_id string, text string")
        wanted = pairs.select(f.col("a").alias("content")).unionByName(pairs.select(f.col("b").alias("content")))
        one = self._members().groupBy("content").agg(f.min("doc_id").alias("doc_id"))
        texts = wanted.distinct().join(one, "content").join(documents, "doc_id").select("content", "text")
        sets = self._keep(texts.mapInArrow(partial(_shingle_sets, self._night.settings), _SETS), "sets")
        joined = pairs
        for end in ("a", "b"):
            of_end = [f.col(name).alias(f"{name}_{end}") for name in ("hashes", "text")]
            joined = joined.join(sets.select(f.col("content").alias(end), *of_end), end)
        return joined.mapInArrow(partial(_similar, self._night.settings.similarity), _VERIFIED)

    def _of_one_day(self, links: Any) -> Any:
        """The links between texts of one day, or of which one has none."""
        from pyspark.sql import functions as f

        days = self._members().where("day is not null").groupBy("content").agg(f.min("day").alias("day"))
        for end in ("a", "b"):
            links = links.join(days.select(f.col("content").alias(end), f.col("day").alias(f"day_{end}")), end, "left")
        kept = links.where("day_a is null or day_b is null or day_a = day_b")
        return self._keep(kept.select("a", "b", "similarity"), "links")

    def duplicates(self) -> list[Path]:
        """Files of `DUPLICATES`, in order."""
        from pyspark.sql import functions as f

        links = self._of_one_day(self._read(self._night.links, _LINKS).select("a", "b", "similarity").distinct())
        roots = spark_components(links.select("a", "b"), self._keep)
        members = self._members().join(roots.withColumnRenamed("node", "content"), "content", "left")
        members = members.withColumn("root", f.coalesce("root", "content"))
        order = f.struct(
            f.isnull("published_at"), "published_at", (-f.col("length")).alias("shortness"), "doc_id", "content"
        )
        keepers = members.groupBy("root").agg(f.min(order).alias("first"))
        keepers = keepers.select(
            "root", f.col("first.doc_id").alias("keeper"), f.col("first.content").alias("keeper_content")
        )
        rows = members.join(keepers, "root").where("doc_id != keeper")
        both = links.unionByName(links.select(f.col("b").alias("a"), f.col("a").alias("b"), "similarity"))
        nearest = both.groupBy(f.col("a").alias("content")).agg(f.max("similarity").alias("nearest"))
        to_keeper = both.select(f.col("a").alias("content"), f.col("b").alias("keeper_content"), "similarity")
        found = rows.join(nearest, "content", "left").join(to_keeper, ["content", "keeper_content"], "left")
        exact = f.col("content") == f.col("keeper_content")
        columns = [
            f.col("position"),
            f.col("keeper"),
            exact.alias("exact"),
            (exact | f.col("similarity").isNotNull()).alias("direct"),
            f.when(exact, 1.0).otherwise(f.coalesce("similarity", "nearest")).alias("similarity"),
        ]
        path = self._night.work / "duplicates"
        found.select(*columns).orderBy("position").write.mode("overwrite").parquet(str(path))
        return sorted(path.glob("part-*.parquet"))


def _bucket_pairs(rule: PairRule, similarity: float, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Candidates of a partition's buckets, as rows of `_PAIRS`."""
    streams = {"now": BucketStream(rule), "before": BucketStream(rule)}
    for batch in rows:
        for night, stream in streams.items():
            pairs = stream.push(_members_of(batch.filter(batch.column(night))))
            yield _pair_rows(*pairs, similarity, night == "now")


def _members_of(batch: pa.RecordBatch) -> Members:
    contents = np.array([*batch.column("content").to_pylist(), None], dtype=object)[:-1]
    counts = batch.column("shingles").to_numpy(zero_copy_only=False)
    return Members(batch.column("key").to_numpy(zero_copy_only=False), contents, counts)


def _pair_rows(earlier: Members, later: Members, similarity: float, now: bool) -> pa.RecordBatch:
    possible = np.flatnonzero(may_be_similar(earlier.shingles, later.shingles, similarity))
    earlier, later = earlier.take(possible), later.take(possible)
    swap = np.greater(earlier.contents, later.contents).astype(np.bool_)
    a = np.where(swap, later.contents, earlier.contents)
    b = np.where(swap, earlier.contents, later.contents)
    columns = [pa.array(earlier.keys), pa.array(a, pa.binary()), pa.array(b, pa.binary()), pa.array([now] * len(a))]
    return pa.RecordBatch.from_arrays([c.cast(t) for c, t in zip(columns, _PAIR_TYPES, strict=True)], names=_PAIR_NAMES)


_PAIR_NAMES = ["key", "a", "b", "now"]
_PAIR_TYPES = [pa.int64(), pa.binary(), pa.binary(), pa.bool_()]


def _shingle_sets(settings: DeduplicateSettings, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Texts and their shingles, as rows of `_SETS`."""
    for batch in rows:
        texts = batch.column("text").to_pylist()
        sets = [shingles(text, settings.shingle).view(np.int64) for text in texts]
        offsets = pa.array(np.cumsum([0, *map(len, sets)]).astype(np.int32))
        hashes = pa.ListArray.from_arrays(offsets, pa.array(np.concatenate([np.empty(0, np.int64), *sets])))
        columns = [batch.column("content"), hashes, batch.column("text")]
        yield pa.RecordBatch.from_arrays(columns, ["content", "hashes", "text"])


def _similar(least: float, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pairs of texts that are similar enough and differ in no value, as rows of `_VERIFIED`."""
    for batch in rows:
        ends = (batch.column("hashes_a"), batch.column("hashes_b"))
        sets = [[row.values.to_numpy().view(np.uint64) for row in end] for end in ends]
        found = pa.array([jaccard(a, b) for a, b in zip(*sets, strict=True)], pa.float64())
        whole = pa.RecordBatch.from_arrays([batch.column("a"), batch.column("b"), found], ["a", "b", "similarity"])
        enough = pc.greater_equal(found, least)
        texts = batch.select(["text_a", "text_b"]).filter(enough).to_pylist()
        same = pa.array([not differ_in_value(row["text_a"], row["text_b"]) for row in texts], pa.bool_())
        yield whole.filter(enough).filter(same)
