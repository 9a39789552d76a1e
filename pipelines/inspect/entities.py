"""What a snapshot states of someone or something: its facts, each with its source and date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from quern.indexes.catalog import Snapshot
from quern.jobs.text.names import name_key
from quern.jobs.text.plain_text import publication
from quern.pipelines.inspect.show import NotInSnapshotError
from quern.schemas.tables import ENTITIES

_COLUMNS: Final = ("entity_id", "name", "apart", "kind", "forms", "documents", "facts", "fact_count")


def entities_named(snapshot: Snapshot, name: str) -> list[dict[str, Any]]:
    """Those called `name`, each as `{"row": ..., "from": ..., "to": {"facts": [...]}}`, the best known first.

    Raises:
        NotInSnapshotError: There is none; the message says whom it may be meant for.
    """
    if ENTITIES.name not in snapshot.manifest.tables:
        raise NotInSnapshotError(
            f"snapshot {snapshot.manifest.build_id} has no table entities: it was built before there was one"
        )
    key = name_key(name)
    called = [
        row["entity_id"]
        for row in _names(snapshot)
        if row["entity_id"] == name or key in map(name_key, (row["name"], *row["forms"]))
    ]
    if not called:
        # That there is no such entity, and which names are like it: that have a word of it, or nearly its letters.
        forms = {form.lower(): row["name"] for row in _names(snapshot) for form in row["forms"]}
        words = set(name_key(name).split())
        near = [forms[form] for form in get_close_matches(name.lower(), sorted(forms), 5, 0.6)]
        sharing = [full for form, full in sorted(forms.items()) if words & set(name_key(form).split())]
        likely = list(dict.fromkeys([*near, *sharing]))[:5]
        hint = f"; did you mean {', '.join(likely)}?" if likely else ""
        raise NotInSnapshotError(f"snapshot {snapshot.manifest.build_id} states nothing of {name!r}{hint}")
    found = snapshot.stage(ENTITIES.name).lookup("entity_id", called, list(_COLUMNS)).to_pylist()
    found.sort(key=lambda row: (-row["fact_count"], row["entity_id"]))
    shown = []
    for row in found:
        triplets = snapshot.stage("triplets").lookup("triplet_id", row["facts"]).to_pylist()
        by_id = {triplet["triplet_id"]: triplet for triplet in triplets}
        columns = ["doc_id", "title", "url", "utc_offset"]
        documents = snapshot.stage("documents").lookup("doc_id", row["documents"], columns).to_pylist()
        pages = {page["doc_id"]: page for page in documents}
        named = [f"{pages[doc]['title'] or doc} ({pages[doc]['url'] or doc})" for doc in row["documents"]]
        facts = list(_facts([by_id[fact] for fact in row["facts"]], pages))
        own = {column: row[column] for column in ("name", "apart", "kind", "forms", "fact_count")}
        shown.append({"row": own, "from": {"documents": named}, "to": {"facts": facts}})
    return shown


def _names(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """The names of all entities, without what is stated of them: of a name on every page that is long."""
    for batch in snapshot.stage(ENTITIES.name).batches(["entity_id", "name", "forms"]):
        yield from batch.to_pylist()


def _facts(triplets: Iterable[Mapping[str, Any]], pages: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The facts, each once, though two chunks that overlap state it."""
    seen: set[tuple[str, int, int]] = set()
    for one in triplets:
        place = (one["doc_id"], one["relation_start"], one["object_start"])
        if place in seen:
            continue
        seen.add(place)
        published = publication({**pages[one["doc_id"]], "published_at": one["published_at"]})
        yield {
            "subject": one["subject"],
            "relation": one["relation"],
            "object": one["object"],
            "source": pages[one["doc_id"]]["url"] or one["doc_id"],
            "date": published.date().isoformat() if published else None,
            "citation": f"{one['doc_id']}:{one['start']}-{one['end']}",
        }
