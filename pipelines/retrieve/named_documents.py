"""Documents that a question names by their key, address or metadata: `HD-1033`, which their texts need not have.

A value of metadata of several words, such as `Lagerhaus North`, names a document too, where no text has one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.keys import positions_in
from quern.indexes.lexical import in_order
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.words.terms import STOP_WORDS, search_terms

_LONGEST: Final = 300  # Characters of a key or an address.
_MOST: Final = 3  # Keys of one question that are looked up, and chunks of a document that are put first.
_ADDRESS: Final = re.compile(r"https?://\S+?(?=[?!.,;)]*(?:\s|$))")
# A code with a mark in it, or of two digits or more: `HD-1033`, `SB535`.
_CODE: Final = re.compile(
    r"(?<![\w/.@-])(?=[\w/-]*[^\W\d_])(?=\S*(?:[-_/]\S*\d|\d\D*\d))[^\W_][\w/-]{1,38}\w", re.ASCII
)
_ENDING: Final = re.compile(r"\.\w{2,5}$")
# Words of a value that names a document, and characters of the longest.
_WORDS: Final = range(2, 7)
_LONGEST_VALUE: Final = 100


def keys_named(question: str) -> list[str]:
    """What of a question may be the key or the address of a document: codes, addresses, or all of it as one word."""
    whole = question.strip().strip("?!.\"'“”")
    keys = [*_ADDRESS.findall(question), *_CODE.findall(question)]
    if whole and len(whole) <= _LONGEST and not re.search(r"\s", whole) and re.search(r"\d", whole):
        keys.insert(0, whole)
    return list(dict.fromkeys(keys))[:_MOST]


def named_documents(batch: Batch) -> dict[int, dict[int, str]]:
    """Of each question that names documents their positions, and what each is named by."""
    keys_of = {n: keys for n, q in enumerate(batch.questions) if (keys := keys_named(q))}
    every = sorted({form for keys in keys_of.values() for key in keys for form in _forms(key)})
    rows = batch.searcher.snapshot.table("documents").lookup("doc_id", every, ["doc_id"]) if every else None
    doc_ids = set(rows["doc_id"].to_pylist()) if rows is not None else set()
    by_key: dict[int, dict[int, str]] = {}
    for n, keys in keys_of.items():
        for key in keys:
            ids = [form for form in _forms(key) if form in doc_ids]
            at = positions_in(batch.graph.documents.keys, pa.array(ids, pa.string())).tolist() if ids else []
            if not at:
                # The document with this address or one that ends in the key, or the few that have the key as a code.
                names = batch.searcher.held(_Hashes, _names)
                address = names.at(_whole(key) if _ADDRESS.match(key) else _last_part(key))
                said = names.at(_said(key))
                at = address if len(address) == 1 else said if len(said) <= _MOST else []
            if places := [place for place in at if place >= 0]:
                by_key.setdefault(n, {}).update(dict.fromkeys(places, key))
    # Values are looked through where a question has a word that no text has: that costs .7 s for 100,000 documents.
    by_value: dict[int, dict[int, str]] = {}
    for n, question in enumerate(batch.searched):
        words = search_terms(question).split()
        unknown = {word for word in words if word not in STOP_WORDS and not batch.graph.lexical.frequency(word)}
        spans = (words[at : at + size] for size in reversed(_WORDS) for at in range(len(words) - size + 1))
        for phrase in (" ".join(span) for span in spans if unknown & set(span)):
            at = batch.searcher.held(_Hashes, _values).at(phrase)
            if 0 < len(at) <= _MOST:
                by_value[n] = dict.fromkeys(at, phrase)
                break  # The longest says most.
    return by_value | by_key


def with_named(batch: Batch, ranking: Ranking, named: dict[int, dict[int, str]]) -> Ranking:
    """The ranking with the first chunks of the documents that questions name before all others."""
    if not named:
        return ranking
    of_chunk, scored = batch.graph.documents.of_chunk, ranking.chunks
    first: list[tuple[int, int]] = []
    for question, documents in named.items():
        for document in documents:
            own = np.flatnonzero(of_chunk == document)[:_MOST]
            allowed = batch.allows(np.full(len(own), question), own)
            first += [(question, at) for at in own[allowed].tolist()]
    if not first:
        return ranking
    width = len(batch.graph.chunks.keys)
    asker, chunk = (np.array(column, dtype=np.int64) for column in zip(*first, strict=True))
    other = ~np.isin(scored.question * width + scored.chunk, asker * width + chunk)
    best = np.zeros(len(batch), dtype=np.float32)
    np.maximum.at(best, scored.question, scored.score)
    chunks = in_order(
        np.concatenate([scored.question[other], asker]),
        np.concatenate([scored.chunk[other], chunk]),
        np.concatenate([scored.score[other], np.nextafter(best, np.float32(np.inf))[asker]]).astype(np.float32),
    )
    return replace(ranking, chunks=chunks)


def _forms(key: str) -> Sequence[str]:
    return tuple(dict.fromkeys((key, key.upper(), key.lower())))


class _Hashes:
    """Names of documents as hashes: 16 bytes each."""

    def __init__(self, searcher: Searcher, keys: Callable[[Searcher], Iterator[tuple[str, int]]]) -> None:
        """`keys` gives keys of documents with the hashes of their names."""
        rows = list(keys(searcher))
        hashes = np.array([name for _, name in rows], dtype=np.uint64)
        places = positions_in(searcher.graph.documents.keys, pa.array([key for key, _ in rows], pa.string()))
        order = np.argsort(hashes, kind="stable")
        self._hashes: npt.NDArray[np.uint64] = hashes[order]
        self._places = places[order]

    def at(self, name: str) -> list[int]:
        """Positions of the documents that have a name."""
        key = np.uint64(_hash(name))
        start, end = np.searchsorted(self._hashes, key), np.searchsorted(self._hashes, key, side="right")
        places: list[int] = np.unique(self._places[start:end]).tolist()
        return [place for place in places if place >= 0]


def _values(searcher: Searcher) -> Iterator[tuple[str, int]]:
    """The documents' values of metadata that have several words, in the form that is searched."""
    for batch in searcher.snapshot.table("documents").batches(["doc_id", "metadata"]):
        ids, said = batch.columns
        offsets = said.offsets.to_numpy()
        owner, items = np.repeat(np.arange(len(said)), np.diff(offsets)), said.items[offsets[0] : offsets[-1]]
        short = pc.less_equal(pc.utf8_length(items), _LONGEST_VALUE)
        fit = pc.and_(short, pc.match_substring_regex(items, "[^0-9A-Za-z]"))
        values = items.filter(fit).dictionary_encode()
        words = [search_terms(searcher.form(value)).split() for value in values.dictionary.to_pylist()]
        # Dates and codes are no names: of those two words at least are no numbers.
        names = [len(w) in _WORDS and sum(not word.isdigit() for word in w) > 1 and _hash(" ".join(w)) for w in words]
        keys = ids.take(pa.array(owner)).filter(fit).to_pylist()
        yield from ((key, name) for key, n in zip(keys, values.indices.to_pylist(), strict=True) if (name := names[n]))


def _names(searcher: Searcher) -> Iterator[tuple[str, int]]:
    """The documents' addresses, whole and by their last part, ids and codes of metadata."""
    for batch in searcher.snapshot.table("documents").batches(["doc_id", "url", "metadata"]):
        for key, url, metadata in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            values = [key, *(value for _, value in metadata if len(value) <= _LONGEST)]
            names = [_said(code) for value in values for code in keys_named(value)]
            for name in [*names, *([_whole(url), _last_part(url)] if url else [])]:
                yield key, _hash(name)


def _whole(url: str) -> str:
    """An address without what two forms of it may differ in; it has a slash, which no last part has."""
    host, _, path = url.lower().partition("#")[0].partition("://")[2].removeprefix("www.").partition("/")
    return f"{host}/{path.rstrip('/')}"


def _said(code: str) -> str:
    """A code of metadata or an id, apart from last parts of addresses, which have no such mark."""
    return f"\0{code.casefold()}"


def _last_part(url: str) -> str:
    return _ENDING.sub("", url.split("?")[0].rstrip("/").rpartition("/")[2]).lower()


def _hash(part: str) -> int:
    return int.from_bytes(blake2b(part.encode(), digest_size=8).digest(), "big")
