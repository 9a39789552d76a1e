"""Any row of a snapshot, what it came from and what it led to; of someone or something all that is stated of it."""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.catalog import Snapshot
from quern.jobs.pages.formats.files import FILE_TYPES, MARKDOWN_TYPE, MDX_TYPE, TEXT_TYPE
from quern.jobs.pages.formats.rows import JSON_TYPE
from quern.jobs.pages.inputs import location_in
from quern.jobs.pages.originals import Original, OriginalError, original
from quern.jobs.text.charsets import decode_page
from quern.jobs.text.markdown import silent_spans
from quern.jobs.text.names import name_key
from quern.jobs.text.personal_data import TYPES
from quern.jobs.text.plain_text import publication
from quern.pipelines.build.history import builds_of
from quern.pipelines.pages.store import PAGE_STORE
from quern.schemas.addresses import parse_address
from quern.schemas.errors import QuernError
from quern.schemas.tables import BUILDS, DOCUMENTS, ENTITIES, PAGES, TABLES, Table
from quern.schemas.words.meant import meant, no_such
from quern.schemas.words.sentences import sentence_spans

_SAYS_NOTHING: Final = re.compile(
    r"<!--.*?-->|<(?P<tag>script|style|noscript|template)\b.*?</(?P=tag)\s*>|</?[A-Za-z!?][^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_ESCAPE: Final = re.compile(r'(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]')
_LIST_MARK: Final = re.compile(r"^- ", re.MULTILINE)
_APART: Final = re.compile(r"[\s|]+")
_MARK: Final = re.compile(rf"\[(?:{'|'.join(TYPES)})\]")


@dataclass(frozen=True)
class _Said:
    """Characters that a page says, and the characters of its body from `start` to `end` that say them."""

    text: str
    start: int
    end: int


def place_on_page(quote: str, body: str, content_type: str | None, occurrence: int = 0) -> tuple[int, int] | None:
    """First character of `quote` in `body` and the one behind its last; None where it cannot be found again.

    Args:
        quote: Words of a document.
        body: The body of its page, decoded.
        content_type: Media type of the page.
        occurrence: How often the document has the same words before these.
    """
    characters, starts, ends = [], [], []
    for span in _said(body, content_type):
        whole = len(span.text) == span.end - span.start
        for n, character in enumerate(span.text):
            if not _APART.match(character):
                characters.append(character)
                starts.append(span.start + n if whole else span.start)
                ends.append(span.start + n + 1 if whole else span.end)
    patterns = [re.escape(_APART.sub("", part)) for part in _MARK.split(_LIST_MARK.sub("", quote))]
    if not any(patterns):
        return None
    # A mark stands for at most 120 characters of the page.
    matches = list(re.finditer(".{1,120}?".join(patterns), "".join(characters), re.DOTALL))
    if not matches:
        return None
    match = matches[min(occurrence, len(matches) - 1)]
    return starts[match.start()], ends[match.end() - 1]


def _said(body: str, content_type: str | None) -> Iterator[_Said]:
    if content_type in (TEXT_TYPE, MARKDOWN_TYPE):
        yield _Said(body, 0, len(body))
    elif content_type == MDX_TYPE:
        at = 0
        for start, end in silent_spans(body):
            yield _Said(body[at:start], at, start)
            at = end
        yield _Said(body[at:], at, len(body))
    elif content_type == JSON_TYPE:
        yield from _read(body, 0, len(body), _ESCAPE, lambda escape: str(json.loads(f'"{escape}"')))
    else:
        at = 0
        for silent in _SAYS_NOTHING.finditer(body):
            yield from _read(body, at, silent.start(), _REFERENCE, html.unescape)
            at = silent.end()
        yield from _read(body, at, len(body), _REFERENCE, html.unescape)


def _read(body: str, start: int, end: int, coded: re.Pattern[str], decode: Callable[[str], str]) -> Iterator[_Said]:
    """What `body[start:end]` says, where `coded` characters stand for others."""
    for code in coded.finditer(body, start, end):
        yield _Said(body[start : code.start()], start, code.start())
        yield _Said(decode(code[0]), *code.span())
        start = code.end()
    yield _Said(body[start:end], start, end)


CITATION = "citation"
ENTITY = "entity"
_NOWHERE: dict[str, str | int] = {
    "characters": "not found again: the words were put together from several places of the page"
}
_SPAN = re.compile(r"(?P<doc_id>.+):(?P<start>\d{1,12})-(?P<end>\d{1,12})", re.DOTALL)


class NotInSnapshotError(QuernError):
    """A key that the snapshot does not hold; the message says where to look."""


def show(snapshot: Snapshot, kind: str, key: str) -> dict[str, Any]:
    """The row `key` of a `kind` with its lineage: `{"row": ..., "from": ..., "to": ...}`.

    A `citation` is no row of a table: its key is `DOC_ID:START-END`, of which each citation of an answer has the parts.

    Raises:
        NotInSnapshotError: There is no such row; where it was rejected, the message says why.
    """
    tables = {table.row: table for table in _tables(snapshot) if table.row}
    if kind == CITATION:
        return _citation(snapshot, key)
    if kind == BUILDS.row:
        # A build, whether its snapshot is kept or not.
        builds = {build.build_id: build for build in builds_of(snapshot.warehouse)}
        if key not in builds:
            raise NotInSnapshotError(no_such("build", key, [*builds]))
        row = builds[key].model_dump(exclude=set(BUILDS.hidden))
        return {"row": row, "from": {BUILDS.row: row["parent"]}, "to": {}}
    if kind not in tables:
        raise NotInSnapshotError(no_such("kind of row", kind, [*tables, CITATION, ENTITY, BUILDS.row]))
    table = tables[kind]
    row = _row(snapshot, table, key)
    # What a row came from: its references to other tables, under what one of their rows is called.
    others = {column: TABLES[name] for column, name in table.references.items() if name != table.name}
    view = {
        "row": {name: value for name, value in row.items() if name not in table.hidden},
        "from": {other.row: row[column] for column, other in others.items()},
        "to": {name: rows for other in _tables(snapshot) for name, rows in _listed(snapshot, other, table, key)},
    }
    return _with_archive(snapshot, view) if table is PAGES else view


def _tables(snapshot: Snapshot) -> list[Table]:
    """The tables that a snapshot has, in the order of their making."""
    return [TABLES[name] for name in snapshot.manifest.tables if name in TABLES]


def _listed(snapshot: Snapshot, table: Table, to: Table, key: str) -> Iterator[tuple[str, Any]]:
    """Name and rows of each list of those rows of `table` that refer to the row `key` of `to`."""
    for listing in table.listings:
        if table.references[listing.column] != to.name:
            continue
        rows = _rows(snapshot, table.name, listing.column, key)
        if listing.where:
            rows = [row for row in rows if row[listing.where[0]] == listing.where[1]]
        shown = [{c: row[c] for c in listing.columns} if listing.columns else row[table.key[0]] for row in rows]
        # Of rows with the key that they refer to there is one at most.
        yield listing.name, next(iter(shown), None) if table.key == (listing.column,) else shown


def _citation(snapshot: Snapshot, key: str) -> dict[str, Any]:
    """A quote, the chunks and sentences that it is of, its document and page, and where the page has it."""
    span = _SPAN.fullmatch(key)
    if span is None:
        raise NotInSnapshotError(f"a citation is named by document and characters, DOC_ID:START-END; {key!r} is not")
    document = _row(snapshot, DOCUMENTS, span["doc_id"])
    text, start, end = document["text"], int(span["start"]), int(span["end"])
    if not start < end <= len(text):
        raise NotInSnapshotError(f"document {span['doc_id']} has {len(text)} characters, and not those of {key}")
    page = _row(snapshot, PAGES, document["page_url"])
    file = page["content_type"] in FILE_TYPES.values()
    body = "" if file else decode_page(page["body"], page["charset"])
    # The same words may stand on the page more than once.
    place = place_on_page(text[start:end], body, page["content_type"], text.count(text[start:end], 0, start))
    chunks = _rows(snapshot, "chunks", "doc_id", document["doc_id"])
    # A document of a table is kept as JSON, whose characters are no place in the file that it was read from.
    row = page["content_type"] == JSON_TYPE and not page["warc_file"]
    where: dict[str, str | int] = (
        {"characters of the row" if row else "characters": f"{place[0]} to {place[1]}", "markup": body[slice(*place)]}
        if place
        else _NOWHERE
    )
    if file:
        number = bisect_right(document.get("page_starts") or [], start)
        where = {"page number": number} if number else {}
    elif row and page["warc_offset"]:  # Which row or line of its file a document is.
        where = {"row" if page["source_file"].endswith(".parquet") else "line": page["warc_offset"], **where}
    return {
        "row": {
            **{name: document[name] for name in ("doc_id", "title", "url")},
            "published_at": publication(document),
            "quote": text[start:end],
            "sentences": [text[a:b] for a, b in sentence_spans(text) if a < end and start < b],
        },
        "from": {
            "chunk": sorted(c["chunk_id"] for c in chunks if c["start"] < end and start < c["end"]),
            "document": document["doc_id"],
            "page": page["url"],
            "file": page["source_file"],
            **(_archived(snapshot, page) if page["warc_file"] else {}),
            **where,
        },
        "to": {},
    }


def _row(snapshot: Snapshot, table: Table, key: str) -> dict[str, Any]:
    (column,) = table.key
    rows = _rows(snapshot, table.name, column, key)
    if not rows:
        rejected = _rejects(snapshot, key) or (_rejected_captures(snapshot, key) if table is PAGES else [])
        reasons = [f"{r['job']} rejected it: {r['reason']} ({r['detail']})" for r in rejected[:5]]
        if table is PAGES:
            reasons += [f"document {d['doc_id']} has this url" for d in _rows(snapshot, "documents", "url", key)]
        why = "; ".join(reasons[:5])
        raise NotInSnapshotError(
            f"snapshot {snapshot.manifest.build_id} has no {column} {key!r}" + (f"; {why}" if why else "")
        )
    return rows[0]


def _rows(snapshot: Snapshot, table: str, column: str, key: str) -> list[dict[str, Any]]:
    rows = snapshot.stage(table).lookup(column, [key])
    plain = rows.drop_columns([f.name for f in rows.schema if pa.types.is_fixed_size_list(f.type)])
    return [dict(row) for row in plain.to_pylist(maps_as_pydicts="strict")]


def _rejects(snapshot: Snapshot, key: str) -> list[dict[str, Any]]:
    if "rejects" not in snapshot.manifest.tables:
        return []
    return [{k: r[k] for k in ("job", "reason", "detail")} for r in _rows(snapshot, "rejects", "key", key)]


def _rejected_captures(snapshot: Snapshot, url: str) -> list[dict[str, Any]]:
    """Rejects of archived captures of `url`: their key is a place in a file, their detail begins with the address."""
    if "rejects" not in snapshot.manifest.tables:
        return []
    rows: list[dict[str, Any]] = []
    for batch in snapshot.stage("rejects").batches(["job", "key", "reason", "detail"]):
        rows += batch.filter(pc.starts_with(batch.column("detail"), f"{url}: ")).to_pylist()
    return [{"job": r["job"], "reason": r["reason"], "detail": f"{r['detail']}; {r['key']}"} for r in rows]


def original_of(snapshot: Snapshot, url: str) -> Original:
    """The archived record that the page `url` was made from.

    Raises:
        NotInSnapshotError: There is no such page, or it was not read from an archive.
        OriginalError: The archive is gone, or was changed.
    """
    row = _row(snapshot, PAGES, url)
    if row["warc_file"] is None:
        raise NotInSnapshotError(f"{url} was read from {row['source_file']}, which is no archive")
    return original(_location(snapshot, row["warc_file"]), row["warc_offset"], url)


def _location(snapshot: Snapshot, file: str) -> str:
    """Where the archive `file` of a snapshot's pages is: in its source, in the warehouse, or where it says itself."""
    if file.startswith(("s3://", "/")):
        return file
    source = snapshot.manifest.source
    return location_in(snapshot.warehouse.root if source == PAGE_STORE else parse_address(source), file)


def _archived(snapshot: Snapshot, row: Mapping[str, Any]) -> dict[str, Any]:
    """Where the archived record of a page is, and its header."""
    location = _location(snapshot, row["warc_file"])
    try:
        head = original(location, row["warc_offset"], row["url"]).head
    except OriginalError as error:
        return {"archive": location, "offset": row["warc_offset"], "record": str(error)}
    lines = head.decode("utf-8", "replace").split("\n")
    return {"archive": location, "offset": row["warc_offset"], "record": [x.strip() for x in lines if x.strip()]}


def _with_archive(snapshot: Snapshot, view: dict[str, Any]) -> dict[str, Any]:
    """A page as a person reads it: the beginning of its text, where it was read from, and what was rejected of it."""
    row = view["row"]
    body = row.pop("body")
    row["bytes"] = len(body)
    row["body"] = "" if row["content_type"] in FILE_TYPES.values() else decode_page(body, row["charset"])[:300]
    view["from"] = {"file": row["source_file"], **(_archived(snapshot, row) if row["warc_file"] else {})}
    view["to"]["rejects"] = _rejects(snapshot, row["url"])
    return view


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
        forms = {form: row["name"] for row in _names(snapshot) for form in row["forms"]}
        near = meant(name, sorted(forms))
        hint = f"; did you mean {forms[near]}?" if near else ""
        raise NotInSnapshotError(f"snapshot {snapshot.manifest.build_id} states nothing of {name!r}{hint}")
    entities = snapshot.stage(ENTITIES.name).lookup("entity_id", called, list(_COLUMNS)).to_pylist()
    entities.sort(key=lambda row: (-row["fact_count"], row["entity_id"]))
    shown = []
    for row in entities:
        triplets = snapshot.stage("triplets").lookup("triplet_id", row["facts"]).to_pylist()
        by_id = {triplet["triplet_id"]: triplet for triplet in triplets}
        columns = ["doc_id", "title", "url", "utc_offset"]
        documents = snapshot.stage("documents").lookup("doc_id", row["documents"], columns).to_pylist()
        pages = {page["doc_id"]: page for page in documents}
        sources = [f"{pages[doc]['title'] or doc} ({pages[doc]['url'] or doc})" for doc in row["documents"]]
        facts = list(_facts([by_id[fact] for fact in row["facts"]], pages))
        own = {column: row[column] for column in ("name", "apart", "kind", "forms", "fact_count")}
        shown.append({"row": own, "from": {"documents": sources}, "to": {"facts": facts}})
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
