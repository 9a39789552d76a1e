"""What questions name as their evidence, as documents of a snapshot: by id, or by the address of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot
from quern.schemas.answers import Question


@dataclass(frozen=True)
class GoldDocuments:
    """The documents that questions name; one that is a duplicate is replaced by the document kept for it.

    Only the kept copy is searched; to find it is to find the evidence.
    """

    # Ids of each question's evidence; an address that no document has stands for itself, and is missed.
    evidence: list[list[str]]
    accepted: list[frozenset[str]]  # Ids that are right to cite: the evidence, and what `also_urls` names.
    # Where several documents have one address, each of them to the first: any one is the page.
    first_of_page: Mapping[str, str]
    kept: Mapping[str, str]  # Documents that are duplicates, each with the one that was kept for it.


def gold_documents(snapshot: Snapshot, questions: Sequence[Question]) -> GoldDocuments:
    """The documents that `questions` name."""
    keeper = _keepers(snapshot, {d for q in questions for d in q.evidence_doc_ids})
    pages = _pages(snapshot, {u for q in questions for u in (*q.evidence_urls, *q.also_urls)})
    evidence = [
        list(dict.fromkeys([*(keeper.get(d, d) for d in q.evidence_doc_ids), *(pages[u][0] for u in q.evidence_urls)]))
        for q in questions
    ]
    accepted = [
        frozenset([*ids, *(d for u in (*q.evidence_urls, *q.also_urls) for d in pages[u])])
        for q, ids in zip(questions, evidence, strict=True)
    ]
    return GoldDocuments(evidence, accepted, {d: ids[0] for ids in pages.values() for d in ids}, keeper)


def _keepers(snapshot: Snapshot, ids: set[str]) -> dict[str, str]:
    """The documents of `ids` that are duplicates, each with the one that was kept for it."""
    wanted = pa.array(sorted(ids), pa.string())
    rows = _documents(snapshot, lambda b: pc.and_(pc.is_in(b["doc_id"], wanted), pc.is_valid(b["duplicate_of"])))
    return {row["doc_id"]: row["duplicate_of"] for row in rows} if ids else {}


def _pages(snapshot: Snapshot, urls: set[str]) -> dict[str, list[str]]:
    """The documents of each address, an address that none has standing for itself.

    An address is looked up as it is written; only what is not found so is compared in the one form that the crawler
    gives to addresses, which takes a look at every document's.
    """
    found: dict[str, list[str]] = {url: [] for url in urls}
    wanted = pa.array(sorted(urls), pa.string())
    for row in _documents(snapshot, lambda b: pc.is_in(b["url"], wanted)) if urls else ():
        found[row["url"]].append(row["duplicate_of"] or row["doc_id"])
    if missing := [url for url, ids in found.items() if not ids]:
        same: dict[bytes, list[str]] = {_page_key(url): [] for url in missing}
        for row in _documents(snapshot, lambda b: pc.is_valid(b["url"])):
            same.get(_page_key(row["url"]), []).append(row["duplicate_of"] or row["doc_id"])
        found |= {url: same[_page_key(url)] for url in missing}
    return {url: list(dict.fromkeys(ids)) or [url] for url, ids in found.items()}


def _documents(snapshot: Snapshot, which: Callable[[pa.RecordBatch], pa.Array]) -> Iterator[dict[str, str]]:
    for batch in snapshot.table("documents").batches(["doc_id", "url", "duplicate_of"]):
        yield from batch.filter(which(batch)).to_pylist()


def _page_key(url: str) -> bytes:
    """What all ways to write the address of one page share."""
    from quern.jobs.crawl.urls import BadAddressError, parse_address  # Scrapy takes a second to import.

    try:
        return parse_address(url).key
    except BadAddressError:
        return url.encode("utf-8", "surrogatepass")
