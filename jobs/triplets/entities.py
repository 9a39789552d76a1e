"""The table `entities`: what triplets name, under all forms of its name, with what is stated of it.

Needs the whole tables of triplets and documents: in memory are some 800 bytes a triplet that names something, and the
titles and addresses of documents. Names are folded anew each night, for a page may join or part two of them; an entity
that comes out as it was counts as taken over.

Within a document a name stands for the only longer name that ends with it: `Tighe` for `Lorcan Tighe`, not `Brannock`
for `University of Brannock`. An alias that a page states, titles of copies and names in addresses are forms of the
same. Names are kept apart where pages say so by words in parentheses behind their titles.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal
from urllib.parse import unquote, urlsplit

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Counts, Made
from quern.jobs.core.run import Run, TableJob
from quern.jobs.queries.rules.english import PERSON_NOUN
from quern.jobs.text.name_forms import ASIDE, display_name, name_key
from quern.schemas.digests import text_digest
from quern.schemas.tables import ENTITIES, Table

Kind = Literal["person", "thing"]

_IS: Final = ("is", "are", "was", "were", "是")
_ALIAS: Final = re.compile(r"(?:known as|called|nicknamed|renamed(?: as| to)?|abbreviated(?: as| to)?|又称|简称)$")
_BORN: Final = re.compile(r"\bborn (?:in|on|at)$|出生于$|毕业于$")


@dataclass(frozen=True, slots=True)
class Page:
    """A document as entities need it."""

    title: str  # Its title; may be empty.
    site: str  # Its site; may be empty.
    others: tuple[str, ...] = ()  # Titles of its copies, and names in addresses that led to it.


@dataclass(frozen=True, slots=True)
class Told:
    """A triplet as entities need it."""

    triplet_id: str  # Its key.
    doc_id: str  # Its document.
    subject: str  # The name that its subject is; may be empty.
    relation: str  # Its relation.
    object: str  # Its object.
    object_name: str  # The name that its object is; may be empty.
    order: tuple[str, str, int] = ("", "", 0)  # What it is sorted by among the facts of an entity.


@dataclass(frozen=True, order=True, slots=True)
class Known:
    """By what an entity is known: the key of its name, and what keeps it apart from others of that name."""

    key: str
    apart: str = ""


@dataclass
class Folded:
    """What is known of an entity."""

    forms: Counter[str] = field(default_factory=Counter)  # Its names, with how often each stands.
    documents: set[str] = field(default_factory=set)  # Documents that state something of it.
    facts: list[str] = field(default_factory=list)  # What they state, some of it twice.
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


def kind_said(told: Told) -> Kind | None:
    """What a statement says that its subject is; None where it does not."""
    if _BORN.search(told.relation):
        return "person"
    if told.relation.endswith(_IS):
        if PERSON_NOUN.match(told.object):
            return "person"
        if re.match(r"(?:an?|the) [a-z]", told.object):
            return "thing"
    return None


def folded(told: Iterable[Told], pages: Mapping[str, Page]) -> dict[Known, Folded]:
    """The entities that triplets name, by what they are known by."""
    rows = list(told)
    aliases = _aliases(rows, pages)
    of_document = {doc: _within(group, aliases) for doc, group in _by_document(rows).items()}
    apart = _apart(pages)
    found: defaultdict[Known, Folded] = defaultdict(Folded)
    for one in rows:
        for name in dict.fromkeys((one.subject, one.object_name)):
            if not name or not (key := of_document[one.doc_id].get(name_key(name), "")):
                continue
            site = pages[one.doc_id].site if one.doc_id in pages else ""
            titles = apart.get(key, {})
            entity = found[Known(key, titles.get(one.doc_id, titles.get(site, "")))]
            entity.forms[name] += 1
            entity.documents.add(one.doc_id)
            entity.facts.append(one.triplet_id)
            if name == one.subject and (kind := kind_said(one)):
                entity.kinds[kind] += 1
    _add_titles(found, pages, aliases)
    return dict(found)


def _by_document(rows: Iterable[Told]) -> dict[str, list[Told]]:
    grouped: defaultdict[str, list[Told]] = defaultdict(list)
    for one in rows:
        grouped[one.doc_id].append(one)
    return grouped


def _within(rows: Iterable[Told], aliases: Mapping[str, str]) -> dict[str, str]:
    """Key to the key that it stands for, in one document."""
    keys = {key for one in rows for name in (one.subject, one.object_name) if name and (key := name_key(name))}
    longer = _ending(keys)
    return {key: aliases.get(longer.get(key, key), longer.get(key, key)) for key in keys}


def _ending(keys: Iterable[str]) -> dict[str, str]:
    """Key to the one longer key that ends with it, where there is one only, and the shorter is no place behind `of`."""
    longer: defaultdict[str, set[str]] = defaultdict(set)
    for key in keys:
        words = key.split()
        if len(words) <= 4 and "of" not in words:
            for n in range(1, len(words)):
                longer[" ".join(words[n:])].add(key)
    return {short: next(iter(found)) for short, found in longer.items() if len(found) == 1}


def _aliases(rows: Iterable[Told], pages: Mapping[str, Page]) -> dict[str, str]:
    """Key of an alias to the key of what it is an alias of, where pages say so and none says otherwise.

    Of a name that is the title of a page, others cannot say that it is an alias.
    """
    titled: defaultdict[str, set[str]] = defaultdict(set)
    for doc, page in pages.items():
        titled[name_key(ASIDE.sub("", page.title))].add(doc)
    said: defaultdict[str, set[str]] = defaultdict(set)
    for one in rows:
        if one.subject and _ALIAS.search(one.relation):
            alias, key = name_key(one.object_name or one.object), name_key(one.subject)
            own = alias not in titled or one.doc_id in titled[alias]
            if alias and key and alias != key and own and len(one.object) <= 60:
                said[alias].add(key)
    found = {alias: next(iter(keys)) for alias, keys in said.items() if len(keys) == 1}
    # Of two that are each other's alias the first by alphabet stays; an alias of an alias is left as it is.
    return {a: key for a, key in sorted(found.items()) if key not in found or (found[key] == a and key < a)}


def _apart(pages: Mapping[str, Page]) -> dict[str, dict[str, str]]:
    """Key to document, or site, to the words behind its title; of keys where these differ, of sites that have one."""
    titled: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for doc, page in pages.items():
        aside = ASIDE.search(page.title)
        if key := name_key(ASIDE.sub("", page.title)):
            titled[key][doc] = aside["aside"] if aside else ""
    apart: dict[str, dict[str, str]] = {}
    for key, said in titled.items():
        if len(set(said.values())) > 1:
            sites: defaultdict[str, set[str]] = defaultdict(set)
            for doc, words in said.items():
                sites[pages[doc].site].add(words)
            apart[key] = {site: next(iter(one)) for site, one in sites.items() if site and len(one) == 1} | said
    return apart


def _add_titles(found: Mapping[Known, Folded], pages: Mapping[str, Page], aliases: Mapping[str, str]) -> None:
    """Add the titles of pages that are about an entity, and other names under which they were found, to its forms."""
    known: defaultdict[str, list[Known]] = defaultdict(list)
    for one in found:
        known[one.key].append(one)
    for page in pages.values():
        aside = ASIDE.search(page.title)
        key = name_key(ASIDE.sub("", page.title))
        key = aliases.get(key, key)
        of_key = known.get(key, ())
        own = of_key[0] if len(of_key) == 1 else Known(key, aside["aside"] if aside else "")
        if own in found:
            for name in dict.fromkeys((ASIDE.sub("", page.title), *page.others)):
                if name and name_key(name):
                    found[own].forms[name] += 1


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
    found: list[Told] = []
    held: dict[str, str] = {}  # Equal texts are held once.

    def once(text: str | None) -> str:
        return held.setdefault(text, text) if text else ""

    for batch in triplets.batches(list(_COLUMNS)):
        for row in batch.to_pylist():
            if row["subject_name"] or row["object_name"]:
                published = once(row["published_at"].isoformat() if row["published_at"] else "9999")
                subject, relation, object_name = (once(row[c]) for c in ("subject_name", "relation", "object_name"))
                order = (published, doc := once(row["doc_id"]), row["start"])
                found.append(Told(row["triplet_id"], doc, subject, relation, once(row["object"]), object_name, order))
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
    facts = sorted({*entity.facts}, key=lambda fact: (place[fact], fact))
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
