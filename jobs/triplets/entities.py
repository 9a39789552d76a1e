"""The table `entities`: what triplets name, under all forms of its name, with what is stated of it.

Needs the whole tables of triplets and documents: in memory are some 300 bytes a triplet that names something, and the
titles and addresses of documents. Names are folded anew each night, for a page may join or part two of them; an entity
that comes out as it was counts as taken over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.text.name_forms import display_name
from quern.jobs.triplets.folding import Folded, Known, Page, Told, address_name, folded
from quern.schemas.digests import text_digest
from quern.schemas.tables import ENTITIES, Table

_MOST_FACTS: Final = 1000
_COLUMNS: Final = (
    *("triplet_id", "doc_id", "start", "subject_name", "relation", "object", "object_name", "published_at"),
)


@dataclass(frozen=True)
class FoldEntities(TableJob):
    """The entities that triplets name."""

    name: ClassVar[str] = "entities"
    version: ClassVar[int] = 3

    @property
    def incremental(self) -> bool:
        """Entities that come out as last night are told from those that changed."""
        return True

    @property
    def tables(self) -> tuple[Table, ...]:
        """`entities`."""
        return (ENTITIES,)

    def configuration(self) -> Mapping[str, object]:
        """Nothing beside what it reads."""
        return {"most_facts": _MOST_FACTS}

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """The entities of `triplets`; `documents` give titles, sites and addresses."""
        told = _told(inputs["triplets"])
        place = {one.triplet_id: one.order for one in told}
        before = self._digests(run)
        found = folded(told, _pages(inputs["documents"]))
        computed = 0
        with run.writer(ENTITIES) as writer:
            for known, entity in sorted(found.items()):
                row = _row(known, entity, place)
                computed += row["digest"] not in before
                writer.add(row)
        made = writer.stage()
        counts = Counts(inputs["triplets"].rows, made.rows, made.rows - computed, computed, 0)
        return Made((made,), counts)

    def _digests(self, run: Run) -> set[str]:
        """Digests of last night's entities, if made in the same way, and as they were written."""
        published = self.of_last_night(ENTITIES.name, run)
        if published is None:
            return set()
        return {digest for batch in published.batches(["digest"]) for digest in batch.column(0).to_pylist()}


def _told(triplets: Stage) -> list[Told]:
    """The triplets that name something, in the order of their keys, so that equal tables give equal entities."""
    found = []
    for batch in triplets.batches(list(_COLUMNS)):
        for row in batch.to_pylist():
            if row["subject_name"] or row["object_name"]:
                published = row["published_at"].isoformat() if row["published_at"] else "9999"
                found.append(
                    Told(
                        row["triplet_id"],
                        row["doc_id"],
                        row["subject_name"] or "",
                        row["relation"],
                        row["object"],
                        row["object_name"] or "",
                        (published, row["doc_id"], row["start"]),
                    )
                )
    return sorted(found, key=lambda one: one.triplet_id)


def _pages(documents: Stage) -> dict[str, Page]:
    """The documents that are searched, each with other names that it was found under."""
    rows: dict[str, dict[str, Any]] = {}
    others: defaultdict[str, list[str]] = defaultdict(list)
    for batch in documents.batches(["doc_id", "title", "site", "url", "page_url", "duplicate_of"]):
        for row in batch.to_pylist():
            if row["duplicate_of"] is not None:
                others[row["duplicate_of"]].append(row["title"] or "")
                continue
            rows[row["doc_id"]] = row
            asked = address_name(row["page_url"] or "")
            if asked and row["url"] and asked != address_name(row["url"]):
                others[row["doc_id"]].append(asked)
    return {
        doc: Page(row["title"] or "", row["site"] or "", tuple(sorted(filter(None, others[doc]))))
        for doc, row in sorted(rows.items())
    }


def _row(known: Known, entity: Folded, place: Mapping[str, tuple[str, str, int]]) -> dict[str, Any]:
    facts = sorted(entity.facts, key=lambda fact: (place[fact], fact))
    forms = sorted(entity.forms, key=lambda form: (-entity.forms[form], form))
    row: dict[str, Any] = {
        "entity_id": text_digest(known.key, known.apart)[:20],
        "name": display_name(entity.forms),
        "apart": known.apart or None,
        "kind": min(entity.kinds, key=lambda kind: (-entity.kinds[kind], kind)) if entity.kinds else None,
        "forms": forms,
        "documents": sorted(entity.documents),
        "facts": facts[:_MOST_FACTS],
        "fact_count": len(facts),
    }
    return {**row, "digest": text_digest(*_flat(row))}


def _flat(row: Mapping[str, Any]) -> Iterator[str]:
    for value in row.values():
        yield from (str(value),) if not isinstance(value, list) else (f"{len(value)}", *map(str, value))
