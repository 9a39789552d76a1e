"""The table `entities`: what triplets name, under all forms of its name, with what is stated of it.

Needs the whole tables of triplets and documents. What is named goes to files of some names each, one of which is in
memory at a time; beside it are the titles and addresses of documents, some 1.2 KB each. Names are folded anew each
night, for a page may join or part two of them; an entity that comes out as it was counts as taken over.

Within a document a name stands for the only longer name that ends with it: `Tighe` for `Lorcan Tighe`, not `Brannock`
for `University of Brannock`. An alias that a page states, titles of copies and names in addresses are forms of the
same. Names are kept apart where pages say so by words in parentheses behind their titles.
"""

from __future__ import annotations

import re
import shutil
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.stages import BATCH_ROWS, Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.queries.rules.english import PERSON_NOUN
from quern.jobs.text.names import ASIDE, display_name, name_key
from quern.schemas.digests import text_digest
from quern.schemas.tables import ENTITIES, Table

_IS: Final = ("is", "are", "was", "were", "是")
_ALIAS: Final = re.compile(r"(?:known as|called|nicknamed|renamed(?: as| to)?|abbreviated(?: as| to)?|又称|简称)$")
_ALIAS_ANYWHERE: Final = _ALIAS.pattern.removesuffix("$")  # Which RE2 and Python take in the same way.
_BORN: Final = re.compile(r"\bborn (?:in|on|at)$|出生于$|毕业于$")


@dataclass(frozen=True, slots=True)
class Page:
    """A document as entities need it."""

    title: str  # Its title; may be empty.
    site: str  # Its site; may be empty.
    others: tuple[str, ...] = ()  # Titles of its copies, and names in addresses that led to it.

    @property
    def name(self) -> str:
        """Its title without the words in parentheses behind it."""
        return ASIDE.sub("", self.title)

    @property
    def aside(self) -> str:
        """These words; empty where there are none."""
        match = ASIDE.search(self.title)
        return match["aside"] if match else ""


@dataclass(frozen=True, slots=True)
class Told:
    """A triplet as entities need it."""

    triplet_id: str  # Its key.
    doc_id: str  # Its document.
    subject: str  # The name that its subject is; may be empty.
    relation: str  # Its relation.
    object: str  # Its object.
    object_name: str  # The name that its object is; may be empty.
    published: str = "9999"  # When its document was published; after all others where that is not known.
    start: int = 0  # Where it stands in its document.


class Known(NamedTuple):
    """By what an entity is known: the key of its name, and what keeps it apart from others of that name."""

    key: str
    apart: str = ""


class Mention(NamedTuple):
    """A name where a triplet has it, or where the title or the address of a page has it."""

    key: str  # The key of the name that it stands for.
    apart: str  # What keeps that apart from others.
    name: str  # The name as it stands.
    doc_id: str  # The document; empty in a title.
    published: str  # When that was published.
    start: int  # Where the triplet stands there.
    triplet_id: str  # The triplet; empty in a title.
    kind: str  # What the triplet says that the name is; may be empty.


@dataclass
class Folded:
    """What is known of an entity."""

    forms: Counter[str] = field(default_factory=Counter)  # Its names, with how often each stands.
    documents: set[str] = field(default_factory=set)  # Documents that state something of it.
    facts: set[tuple[str, str, int, str]] = field(default_factory=set)  # What they state, in the order of time.
    kinds: Counter[str] = field(default_factory=Counter)  # What they say it is.


def address_name(address: str) -> str:
    """The name in the last part of a web address: `https://x.example/wiki/Lady_Orrin.html` is of `Lady Orrin`."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https"):
        return ""  # The key of a document is no name of what it is about.
    last = unquote(parts.path).rstrip("/").rpartition("/")[2]
    name = " ".join(re.sub(r"\.\w{2,5}$|[_\-+]+", " ", last).split())
    return name if name[:1].isupper() else ""


def kind_said(told: Told) -> str:
    """What a statement says that its subject is, `person` or `thing`; empty where it does not."""
    if _BORN.search(told.relation):
        return "person"
    if told.relation.endswith(_IS):
        if PERSON_NOUN.match(told.object):
            return "person"
        if re.match(r"(?:an?|the) [a-z]", told.object):
            return "thing"
    return ""


class Names:
    """What names stand for."""

    def __init__(self, told: Iterable[Told], pages: Mapping[str, Page]) -> None:
        """Args: `told` are triplets, all that state an alias among them."""
        self._pages, self._apart = pages, _apart(pages)
        self._aliases = _aliases(told, pages)

    def mentions(self, told: Sequence[Told]) -> Iterator[Mention]:
        """The names in the triplets of one document."""
        keys = {key for one in told for name in (one.subject, one.object_name) if name and (key := name_key(name))}
        # Key to the one longer key that ends with it, where there is one only, and the shorter is no place behind `of`.
        ends: defaultdict[str, set[str]] = defaultdict(set)
        for key in keys:
            words = key.split()
            for n in range(1, len(words)) if len(words) <= 4 and "of" not in words else ():
                ends[" ".join(words[n:])].add(key)
        longer = {short: next(iter(candidates)) for short, candidates in ends.items() if len(candidates) == 1}
        stands_for = {key: self._aliases.get(longer.get(key, key), longer.get(key, key)) for key in keys}
        for one in told:
            for name in dict.fromkeys((one.subject, one.object_name)):
                if not name or not (key := stands_for.get(name_key(name), "")):
                    continue
                site = self._pages[one.doc_id].site if one.doc_id in self._pages else ""
                titles = self._apart.get(key, {})
                apart = titles.get(one.doc_id, titles.get(site, ""))
                kind = kind_said(one) if name == one.subject else ""
                yield Mention(key, apart, name, one.doc_id, one.published, one.start, one.triplet_id, kind)

    def titles(self) -> Iterator[Mention]:
        """The titles of pages, and other names under which they were found: forms of what is named elsewhere."""
        for page in self._pages.values():
            key = name_key(page.name)
            for name in dict.fromkeys((page.name, *page.others)):
                if name and name_key(name):
                    yield Mention(self._aliases.get(key, key), page.aside, name, "", "", 0, "", "")


def folded(mentions: Iterable[Mention]) -> dict[Known, Folded]:
    """The entities that are mentioned; titles come after all triplets."""
    entities: dict[Known, Folded] = {}
    of_key: defaultdict[str, list[Known]] = defaultdict(list)
    for one in mentions:
        identity = Known(one.key, one.apart)
        if not one.triplet_id:
            identity = of_key[one.key][0] if len(of_key[one.key]) == 1 else identity
            if identity in entities:
                entities[identity].forms[one.name] += 1
            continue
        if identity not in entities:
            entities[identity] = Folded()
            of_key[one.key].append(identity)
        entity = entities[identity]
        entity.forms[one.name] += 1
        entity.documents.add(one.doc_id)
        entity.facts.add((one.published, one.doc_id, one.start, one.triplet_id))
        if one.kind:
            entity.kinds[one.kind] += 1
    return entities


def _aliases(triplets: Iterable[Told], pages: Mapping[str, Page]) -> dict[str, str]:
    """Key of an alias to the key of what it is an alias of, where pages say so and none says otherwise.

    Of a name that is the title of a page, others cannot say that it is an alias.
    """
    claims = [
        (alias, key, one.doc_id)
        for one in triplets
        if one.subject and _ALIAS.search(one.relation) and len(one.object) <= 60
        if (alias := name_key(one.object_name or one.object)) and (key := name_key(one.subject)) and alias != key
    ]
    alias_keys = {alias for alias, _, _ in claims}
    documents: defaultdict[str, set[str]] = defaultdict(set)
    for doc, page in pages.items() if alias_keys else ():
        if (key := name_key(page.name)) in alias_keys:
            documents[key].add(doc)
    targets: defaultdict[str, set[str]] = defaultdict(set)
    for alias, key, doc in claims:
        if alias not in documents or doc in documents[alias]:
            targets[alias].add(key)
    aliases = {alias: next(iter(keys)) for alias, keys in targets.items() if len(keys) == 1}
    # Of two that are each other's alias the first by alphabet stays; an alias of an alias is left as it is.
    return {a: key for a, key in sorted(aliases.items()) if key not in aliases or (aliases[key] == a and key < a)}


def _apart(pages: Mapping[str, Page]) -> dict[str, dict[str, str]]:
    """Key to document, or site, to the words behind its title; of keys where these differ, of sites that have one."""

    def titles() -> Iterator[tuple[str, str, str]]:
        for doc, page in pages.items():
            if key := name_key(page.name):
                yield key, page.aside, doc

    first: dict[str, str] = {}
    ambiguous = {key for key, words, _ in titles() if first.setdefault(key, words) != words}
    by_document: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for key, words, doc in titles() if ambiguous else ():
        if key in ambiguous:
            by_document[key][doc] = words
    apart: dict[str, dict[str, str]] = {}
    for key, documents in by_document.items():
        sites: defaultdict[str, set[str]] = defaultdict(set)
        for doc, words in documents.items():
            sites[pages[doc].site].add(words)
        apart[key] = {site: next(iter(one)) for site, one in sites.items() if site and len(one) == 1} | documents
    return apart


_MOST_FACTS: Final = 1000
_AT_ONCE: Final = 250_000  # Triplets, on average, whose names are in memory at a time: some 300 MB.
_DOCUMENT: Final = attrgetter("doc_id")
_TEXTS: Final = [(name, pa.string()) for name in Mention._fields]
_MENTIONS: Final = pa.schema([(name, pa.int64() if name == "start" else kind) for name, kind in _TEXTS])
_COLUMNS: Final = "triplet_id doc_id start subject_name relation object object_name published_at".split()


@dataclass(frozen=True)
class FoldEntities(TableJob):
    """The entities that triplets name."""

    name: ClassVar[str] = "entities"
    version: ClassVar[int] = 3
    incremental: ClassVar[bool] = True
    tables: ClassVar[tuple[Table, ...]] = (ENTITIES,)

    def configuration(self) -> Mapping[str, object]:
        """Nothing beside what it reads."""
        return {"most_facts": _MOST_FACTS}

    def run(self, inputs: Mapping[str, Stage], run: Run) -> Made:
        """The entities of `triplets`; `documents` give titles, sites and addresses."""
        triplets = inputs["triplets"]
        names = Names(_told(triplets, _ALIAS_ANYWHERE), _pages(inputs["documents"]))
        of_documents = (names.mentions([*of]) for _, of in groupby(_told(triplets), _DOCUMENT))
        mentions = chain(chain.from_iterable(of_documents), names.titles())
        files = _by_key(mentions, run.work / self.name, max(1, -(-triplets.rows // _AT_ONCE)))
        previous, computed = self.of_last_night(ENTITIES.name, run), 0
        batches = previous.batches(["digest"]) if previous else ()
        before = {digest for batch in batches for digest in batch.column(0).to_pylist()}
        with run.writer(ENTITIES) as writer:
            for of_file in files:
                for identity, entity in sorted(folded(of_file).items()):
                    row = _row(identity, entity)
                    computed += row["digest"] not in before
                    writer.add(row)
        stage = writer.stage()
        return Made((stage,), Counts(triplets.rows, stage.rows, stage.rows - computed, computed, 0))


def _by_key(mentions: Iterable[Mention], folder: Path, count: int) -> Iterator[Iterator[Mention]]:
    """The mentions through `count` files, those of one key in one of them, in their order; then the files are gone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    paths = [str(folder / f"{n}.arrow") for n in range(count)]
    buffers: list[list[Mention]] = [[] for _ in paths]
    with ExitStack() as stack:
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        files = [stack.enter_context(pa.OSFile(path, "wb")) for path in paths]
        writers = [stack.enter_context(pa.ipc.new_stream(file, _MENTIONS, options=options)) for file in files]

        def write(number: int) -> None:
            columns = [*map(pa.array, zip(*buffers[number], strict=True), _MENTIONS.types)]
            writers[number].write_batch(pa.RecordBatch.from_arrays(columns, schema=_MENTIONS))
            buffers[number] = []

        for one in mentions:
            number = zlib.crc32(one.key.encode()) % count
            buffers[number].append(one)
            if len(buffers[number]) == BATCH_ROWS:
                write(number)
        for number in (n for n, rest in enumerate(buffers) if rest):
            write(number)
    for path in paths:
        with pa.OSFile(path) as file, pa.ipc.open_stream(file) as batches:
            yield (Mention(*row) for b in batches for row in zip(*(c.to_pylist() for c in b.columns), strict=True))
    shutil.rmtree(folder)


def _told(triplets: Stage, relations: str = "") -> Iterator[Told]:
    """The triplets that name something, those of a document one after the other; with such relations, a pattern."""
    for batch in triplets.batches(_COLUMNS):
        rows = batch.filter(pc.match_substring_regex(batch.column("relation"), relations)) if relations else batch
        for row in rows.to_pylist():
            subject, object_name, published = (row.pop(c) for c in ("subject_name", "object_name", "published_at"))
            if subject or object_name:
                when = published.isoformat() if published else "9999"
                yield Told(**row, subject=subject or "", object_name=object_name or "", published=when)


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
            name = address_name(row["page_url"] or "")
            if name and row["url"] and name != address_name(row["url"]):
                others[row["doc_id"]].append(name)
    return {
        doc: Page(row["title"] or "", row["site"] or "", tuple(sorted(filter(None, others[doc]))))
        for doc, row in sorted(rows.items())
    }


def _row(identity: Known, entity: Folded) -> dict[str, Any]:
    facts = [triplet for *_, triplet in sorted(entity.facts)]
    forms = sorted(entity.forms, key=lambda form: (-entity.forms[form], form))
    row: dict[str, Any] = {
        "entity_id": text_digest(identity.key, identity.apart)[:20],
        "name": display_name(entity.forms),
        "apart": identity.apart or None,
        "kind": min(entity.kinds, key=lambda kind: (-entity.kinds[kind], kind)) if entity.kinds else None,
        "forms": forms,
        "documents": sorted(entity.documents),
        "facts": facts[:_MOST_FACTS],
        "fact_count": len(facts),
    }
    flat = ((len(value), *value) if isinstance(value, list) else (value,) for value in row.values())
    return {**row, "digest": text_digest(*map(str, chain.from_iterable(flat)))}
