"""The table `images`: what stands beside the text of documents, where, and what is left out by rule.

Needs whole tables: an image that many documents of a site use is furniture of the site. In memory are eight bytes an
image, some 300 bytes a document with images, and the previous build's rows as Arrow holds them: images of documents
that depend on the same are taken over.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any, ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.images.rules import Picture, out_by
from quern.schemas.digests import text_digest
from quern.schemas.settings import ImageRuleSettings
from quern.schemas.tables import IMAGES, Table

_READ: Final = ("doc_id", "site", "text", "digest", "images", "duplicate_of")
_SAID: Final = ("url", "alt", "caption", "width", "height", "link", "heading", "before", "after")

Row = dict[str, Any]


@dataclass(frozen=True)
class BuildImages(TableJob):
    """The images of all documents that repeat no other."""

    settings: ImageRuleSettings  # How large an image is, and how often a site uses what is its own.

    name: ClassVar[str] = "images"
    version: ClassVar[int] = 1
    incremental: ClassVar[bool] = True
    tables: ClassVar[tuple[Table, ...]] = (IMAGES,)

    def configuration(self) -> Mapping[str, object]:
        """The settings."""
        return self.settings.results()

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """The images of `documents`, in their order."""
        (documents,) = inputs.values()
        # Uses of an image by a site that are the site's own: by so many of its documents.
        uses = array("q")
        for batch in documents.batches(["site", "images", "duplicate_of"]):
            for row in _own(batch).select(["site", "images"]).to_pylist():
                uses.extend({_use(row["site"], image["url"]) for image in row["images"]})
        keys, times = np.unique(np.asarray(uses, dtype=np.int64), return_counts=True)
        repeated = frozenset(keys[times >= self.settings.repeated].tolist()) - {0}
        known = _Known(self.of_last_night(IMAGES.name, run) if documents.rows else None)
        computed = 0
        out: Counter[str] = Counter()
        with run.writer(IMAGES) as writer:
            for batch in map(_own, documents.batches(list(_READ))):
                rows: list[Row] = []
                for document in batch.to_pylist():
                    flags = [_use(document["site"], image["url"]) in repeated for image in document["images"]]
                    # Digest of what the images of a document depend on.
                    said = [[image[name] for name in _SAID] for image in document["images"]]
                    digest = text_digest(document["digest"], document["site"], json.dumps(said), json.dumps(flags))
                    same = known.rows(document["doc_id"], digest)
                    if same is None:
                        same = self._rows(document, flags, digest)
                        computed += len(same)
                    rows += same
                out.update(row["out_by"] for row in rows if row["out_by"])
                if rows:
                    writer.write(pa.RecordBatch.from_pylist(rows, schema=IMAGES.schema))
        made = writer.stage()
        notes = {f"out_{rule}": n for rule, n in sorted(out.items())}
        return Made((made,), Counts(documents.rows, made.rows, made.rows - computed, computed, 0, notes=notes))

    def _rows(self, document: Row, repeated: list[bool], digest: str) -> list[Row]:
        lines = Lines(document["text"])
        rows = []
        for place, (image, of_site) in enumerate(zip(document["images"], repeated, strict=True), 1):
            said = {name: image[name] for name in ("url", "alt", "caption", "width", "height", "link")}
            picture = Picture(**said, site=document["site"])
            width, height = picture.size
            start, end = lines.span(image["before"]) or lines.span(image["after"]) or (None, None)
            rows.append(
                {
                    "image_id": text_digest(document["doc_id"], picture.url)[:20],
                    "doc_id": document["doc_id"],
                    "url": picture.url,
                    "alt": picture.alt,
                    "caption": picture.caption,
                    "width": width,
                    "height": height,
                    "heading": image["heading"],
                    "place": place,
                    "start": start,
                    "end": end,
                    "out_by": out_by(picture, self.settings.least_side, repeated=of_site),
                    "digest": digest,
                }
            )
        return rows


def _own(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Documents that have images and repeat no other."""
    some = pc.greater(pc.list_value_length(batch.column("images")), 0)
    return batch.filter(pc.and_(some, pc.is_null(batch.column("duplicate_of"))))


def _use(site: str | None, url: str) -> int:
    """What stands for the use of an image by a site; 0 where the site is not known."""
    key = f"{site}\n{url}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big", signed=True) if site else 0


class Lines:
    """The paragraphs of a text, by their letters alone: markup is spaced otherwise than the main text."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        squashed = [_squashed(line) for line in lines]
        self._letters = "".join(squashed)
        self._first = [0, *accumulate(map(len, squashed))][:-1]
        self._start = [0, *accumulate(len(line) + 1 for line in lines)]
        self._length = [*map(len, lines)]

    def span(self, opening: str | None) -> tuple[int, int] | None:
        """Characters of the paragraph that begins so, or holds it; null if there is none."""
        # Letters of a neighbouring paragraph by which it is found in the main text: two seldom begin with the same
        # sixty.
        wanted = _squashed(opening or "")[:60]
        at = self._letters.find(wanted) if wanted else -1
        if at < 0:
            return None
        line = bisect_right(self._first, at) - 1
        return self._start[line], self._start[line] + self._length[line]


def _squashed(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


class _Known:
    """The previous build's rows, in memory, if made in the same way, and as they were written."""

    def __init__(self, published: Stage | None) -> None:
        batches = published.batches(IMAGES.schema.names) if published else ()
        self._table = pa.Table.from_batches(batches, IMAGES.schema)
        # Document and digest to the first and the number of its rows in the table, which stand together.
        self._of: dict[tuple[str, str], tuple[int, int]] = {}
        keys = (batch.select(["doc_id", "digest"]).columns for batch in self._table.to_batches())
        pairs = (pair for columns in keys for pair in zip(*(c.to_pylist() for c in columns), strict=True))
        for at, key in enumerate(pairs):
            first, count = self._of.get(key, (at, 0))
            self._of[key] = first, count + 1

    def rows(self, doc_id: str, digest: str) -> list[Row] | None:
        """The images of a document in the previous build, if they depend on the same."""
        at = self._of.get((doc_id, digest))
        # A slice: to take rows of a table in many parts, Arrow goes through all of them each time.
        rows: list[Row] | None = None if at is None else self._table.slice(*at).to_pylist()
        return rows
