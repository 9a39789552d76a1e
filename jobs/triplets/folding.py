"""Which names are one: full form and short form, aliases, titles under which a page was found; and which are not.

What a name is compared by is `name_key`. Within a document a name stands for the only longer name that ends with it:
`Tighe` for `Lorcan Tighe`, `the Census` for `the Pell Ledges Census`; not `Brannock` for `University of Brannock`.
Where that longer name is the title of the document, other documents mean it too. An alias that a page states, unless it
is another's title, a title of a copy, and the address by which a page was found before its canonical link led elsewhere
are forms of the same.

Two are kept apart where pages say so: by words in parentheses behind their titles, or by saying of one that it is a
person, of the other that it is none. A mention on another page is of the one that its own site has a page of, else of
none of them in particular.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from quern.jobs.queries.rules.pronouns import PERSON_NOUN
from quern.jobs.timelines.topics import name_key

Kind = Literal["person", "thing"]

_ASIDE: Final = re.compile(r"\s*[(（](?P<aside>[^()（）]{1,60})[)）]\s*$")
_IS: Final = re.compile(r"(?:is|are|was|were)$|是$")
_ALIAS: Final = re.compile(
    r"\($|(?:also |better |commonly |formerly |now |previously |sometimes )?(?:known as|called|nicknamed|"
    r"renamed(?: as| to)?|abbreviated(?: as| to)?)$|"
    r"又称$|又称为$|又名$|别名$|亦称$|简称$|原名$|本名$|全名$|现名$|改名为$|更名为$"
)
_PREFIX: Final = re.compile(r"[A-Z]{2,4}\s+(?=\S+\s+\S)")
_MOST_WORDS: Final = 4
_WORDS: Final = re.compile(r"[_\-+]+")
_BORN_PERSON: Final = re.compile(r"^born$|\bborn (?:in|on|at)$|出生于$|毕业于$")


@dataclass(frozen=True)
class Page:
    """A document as entities need it.

    Attributes:
        title: Its title; may be empty.
        site: Its site; may be empty.
        others: Titles of its copies, and names in addresses that led to it.
    """

    title: str
    site: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """A triplet as entities need it.

    Attributes:
        triplet_id: Its key.
        doc_id: Its document.
        subject: The name that its subject is; may be empty.
        relation: Its relation.
        object: Its object.
        object_name: The name that its object is; may be empty.
        order: What it is sorted by among the facts of an entity.
    """

    triplet_id: str
    doc_id: str
    subject: str
    relation: str
    object: str
    object_name: str
    order: tuple[str, str, int] = ("", "", 0)


@dataclass(frozen=True, order=True)
class Known:
    """By what an entity is known: the key of its name, and what keeps it apart from others of that name."""

    key: str
    apart: str = ""


@dataclass
class Folded:
    """What is known of an entity.

    Attributes:
        forms: Its names, with how often each stands.
        documents: Documents that state something of it.
        facts: What they state.
        kinds: What they say it is.
    """

    forms: Counter[str] = field(default_factory=Counter)
    documents: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)


def address_name(address: str) -> str:
    """The name in the last part of a web address: `https://x.example/wiki/Lady_Orrin.html` is of `Lady Orrin`."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https"):
        return ""  # The key of a document is no name of what it is about.
    last = unquote(parts.path).rstrip("/").rpartition("/")[2]
    name = " ".join(_WORDS.sub(" ", re.sub(r"\.\w{2,5}$", "", last)).split())
    return name if name[:1].isupper() else ""


def kind_said(told: Told) -> Kind | None:
    """What a statement says that its subject is; None where it does not."""
    if _BORN_PERSON.search(told.relation):
        return "person"
    if _IS.search(told.relation):
        if PERSON_NOUN.match(told.object):
            return "person"
        if re.match(r"(?:an?|the) [a-z]", told.object):
            return "thing"
    return None


def folded(told: Iterable[Told], pages: Mapping[str, Page]) -> dict[Known, Folded]:
    """The entities that triplets name, by what they are known by."""
    rows = list(told)
    groups = {doc: _keys(group) for doc, group in _by_document(rows).items()}
    aliases = _titles_in_short(groups, pages) | _aliases(rows, pages)
    of_document = {doc: _within(keys, aliases) for doc, keys in groups.items()}
    apart = _Apart.of(rows, pages, of_document)
    found: defaultdict[Known, Folded] = defaultdict(Folded)
    for one in rows:
        for name in dict.fromkeys((one.subject, one.object_name)):
            if not name or not (key := of_document[one.doc_id].get(name_key(name), "")):
                continue
            entity = found[apart.known(key, one.doc_id)]
            entity.forms[name] += 1
            entity.documents.add(one.doc_id)
            entity.facts.add(one.triplet_id)
            if name == one.subject and (kind := kind_said(one)):
                entity.kinds[kind] += 1
    _add_titles(found, pages, aliases)
    return dict(found)


def _by_document(rows: Iterable[Told]) -> dict[str, list[Told]]:
    grouped: defaultdict[str, list[Told]] = defaultdict(list)
    for one in rows:
        grouped[one.doc_id].append(one)
    return grouped


def _keys(rows: Iterable[Told]) -> set[str]:
    return {key for one in rows for name in (one.subject, one.object_name) if name and (key := name_key(name))}


def _within(keys: set[str], aliases: Mapping[str, str]) -> dict[str, str]:
    """Key to the key that it stands for, in one document."""
    longer = _ending(keys)
    short = {key: longer.get(key, key) for key in keys}
    return {key: aliases.get(full, full) for key, full in short.items()}


def _ending(keys: Iterable[str]) -> dict[str, str]:
    """Key to the one longer key that ends with it, where there is one only, and the shorter is no place behind `of`."""
    longer: defaultdict[str, set[str]] = defaultdict(set)
    for key in keys:
        words = key.split()
        if len(words) <= _MOST_WORDS and "of" not in words:
            for n in range(1, len(words)):
                longer[" ".join(words[n:])].add(key)
    return {short: next(iter(found)) for short, found in longer.items() if len(found) == 1}


def _aliases(rows: Iterable[Told], pages: Mapping[str, Page]) -> dict[str, str]:
    """Key of an alias to the key of what it is an alias of, where pages say so and none says otherwise.

    Of a name that is the title of a page, others cannot say that it is an alias.
    """
    titled: defaultdict[str, set[str]] = defaultdict(set)
    for doc, page in pages.items():
        titled[name_key(_ASIDE.sub("", page.title))].add(doc)
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


def _titles_in_short(groups: Mapping[str, set[str]], pages: Mapping[str, Page]) -> dict[str, str]:
    """Short form to the title of the page that uses it for what it is about; none that titles or ends others too.

    What stands behind capitals before a title is one too: `Lady Orrin` for `MV Lady Orrin`.
    """
    titles = {doc: name_key(_ASIDE.sub("", page.title)) for doc, page in pages.items()}
    everywhere = _ending({key for keys in groups.values() for key in keys} | set(titles.values()))
    own = set(titles.values())
    found: dict[str, str] = {}
    for doc, keys in groups.items():
        prefixed = _PREFIX.match(pages[doc].title) if doc in pages else None
        short = name_key(_ASIDE.sub("", pages[doc].title[prefixed.end() :])) if prefixed else ""
        for key in {*keys, short}:
            full = everywhere.get(key)
            if full is not None and full == titles.get(doc) and key not in own and " " in key:
                found[key] = full
    return found


@dataclass(frozen=True)
class _Differing:
    """What documents say of those that share a name.

    Attributes:
        of_document: What each that says something says.
        of_site: Site to what its documents say, where that is one thing.
    """

    of_document: Mapping[str, str]
    of_site: Mapping[str, str]

    @classmethod
    def of(cls, said: Mapping[str, str], sites: Mapping[str, str]) -> _Differing:
        """Of documents and what each says, and the sites of documents."""
        together: defaultdict[str, set[str]] = defaultdict(set)
        for doc, apart in said.items():
            if site := sites.get(doc):
                together[site].add(apart)
        return cls(said, {site: next(iter(one)) for site, one in together.items() if len(one) == 1})


@dataclass(frozen=True)
class _Apart:
    """How entities of one name are told apart.

    Attributes:
        pages: Key to what the titles of documents of that name say behind it, where they differ.
        kinds: Key to what each document says that it is, where they differ.
        sites: Document to its site.
    """

    pages: Mapping[str, _Differing]
    kinds: Mapping[str, _Differing]
    sites: Mapping[str, str]

    @classmethod
    def of(cls, rows: Iterable[Told], pages: Mapping[str, Page], keys: Mapping[str, Mapping[str, str]]) -> _Apart:
        """What titles and statements keep apart."""
        titled: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for doc, page in pages.items():
            aside = _ASIDE.search(page.title)
            if key := name_key(_ASIDE.sub("", page.title)):
                titled[key][doc] = aside["aside"] if aside else ""
        said: defaultdict[str, dict[str, Counter[str]]] = defaultdict(dict)
        for one in rows:
            kind = kind_said(one) if one.subject else None
            if kind and (key := keys[one.doc_id].get(name_key(one.subject), "")):
                said[key].setdefault(one.doc_id, Counter())[kind] += 1
        kinds = {key: {doc: _most(c) for doc, c in docs.items()} for key, docs in said.items()}
        sites = {doc: page.site for doc, page in pages.items()}
        return cls(_differing(titled, sites), _differing(kinds, sites), sites)

    def known(self, key: str, doc: str) -> Known:
        """Which of those that have a name a document means."""
        for told in (self.pages.get(key), self.kinds.get(key)):
            if told is not None:
                said = told.of_document.get(doc)
                return Known(key, told.of_site.get(self.sites.get(doc, ""), "") if said is None else said)
        return Known(key)


def _differing(said: Mapping[str, Mapping[str, str]], sites: Mapping[str, str]) -> dict[str, _Differing]:
    """Of each key what documents say, where they differ."""
    return {key: _Differing.of(docs, sites) for key, docs in said.items() if len(set(docs.values())) > 1}


def _most(counted: Counter[str]) -> str:
    return min(counted, key=lambda kind: (-counted[kind], kind))


def _add_titles(found: Mapping[Known, Folded], pages: Mapping[str, Page], aliases: Mapping[str, str]) -> None:
    """Add the titles of pages that are about an entity, and other names under which they were found, to its forms."""
    known: defaultdict[str, list[Known]] = defaultdict(list)
    for one in found:
        known[one.key].append(one)
    for page in pages.values():
        aside = _ASIDE.search(page.title)
        key = name_key(_ASIDE.sub("", page.title))
        key = aliases.get(key, key)
        of_key = known.get(key, ())
        own = of_key[0] if len(of_key) == 1 else Known(key, aside["aside"] if aside else "")
        if own in found:
            for name in dict.fromkeys((_ASIDE.sub("", page.title), *page.others)):
                if name and name_key(name):
                    found[own].forms[name] += 1
