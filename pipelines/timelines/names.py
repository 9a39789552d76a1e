"""The events of a snapshot by the names that they have, as timelines of entities and topics search them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cached_property
from math import log

import pyarrow as pa
import pyarrow.compute as pc

from quern.indexes.vectors import Floats, vector_matrix
from quern.jobs.text.names import display_name, name_key
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.timelines.events import EventIndex
from quern.schemas.tables import EVENTS


class NamedEvents(EventIndex):
    """An index of events that is searched by names and words of names too."""

    @cached_property
    def names(self) -> dict[str, dict[str, int]]:
        """Each name as it is compared, with its forms and how many events have each."""
        found: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        for named in self._rows["entities"].to_pylist():
            for name in named:
                found[name_key(name)][name] += 1
        return {key: dict(forms) for key, forms in found.items()}

    @cached_property
    def _by_word(self) -> dict[str, set[str]]:
        """Word to the names that have it."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for key in self.names:
            for word in key.split():
                found[word].add(key)
        return dict(found)

    def of_documents(self, doc_ids: Sequence[str]) -> dict[str, list[str]]:
        """Keys of the events that each document was the first to report, in no particular order."""
        documents = pc.list_element(self._rows["sources"].combine_chunks(), 0).field("doc_id")
        rows = pc.is_in(documents, pa.array(doc_ids, pa.string()))
        found: defaultdict[str, list[str]] = defaultdict(list)
        for document, event in zip(documents.filter(rows), self._rows["event_id"].filter(rows), strict=True):
            found[document.as_py()].append(event.as_py())
        return dict(found)

    def called(self, key: str) -> str:
        """The commonest form of a name."""
        return display_name(Counter(self.names[key]))

    def rarity(self, word: str) -> float:
        """How much a word of a name tells: its idf among names."""
        return log(1 + len(self.names) / (1 + len(self._by_word.get(word, ()))))

    def near_names(self, name: str) -> dict[str, float]:
        """Names that share words with `name`, each with how alike they are, in (0, 1]: Dice's measure by rarity."""
        words = set(name_key(name).split())
        weight = {word: self.rarity(word) for word in words}
        found = {}
        for key in sorted({key for word in words for key in self._by_word.get(word, ())}):
            others = set(key.split())
            shared = sum(weight[word] for word in words & others)
            found[key] = 2 * shared / (sum(weight.values()) + sum(map(self.rarity, others)))
        return found

    def spelt_like(self, name: str) -> list[str]:
        """The names that are spelt most like `name`, in their commonest forms; the likest first."""
        # Ratio of Ratcliff and Obershelp; at the .6 of `difflib` short names match many.
        near = get_close_matches(name_key(name), self.names, n=3, cutoff=0.7)
        return [self.called(key) for key in near]

    def naming(self, keys: dict[str, float]) -> dict[str, float]:
        """Keys of the events that have one of these names, each with the most that a name of it counts."""
        found: dict[str, float] = {}
        for event, named in zip(self._rows["event_id"].to_pylist(), self._rows["entities"].to_pylist(), strict=True):
            best = max((keys.get(name_key(name), 0.0) for name in named), default=0.0)
            if best > 0:
                found[event] = best
        return found

    def vectors(self, event_ids: Sequence[str]) -> Floats:
        """The vectors of these events, in their order, shape (events, d)."""
        rows = self.snapshot.table(EVENTS.name).lookup("event_id", list(event_ids), ["event_id", "vector"])
        place = {key: at for at, key in enumerate(rows["event_id"].to_pylist())}
        matrix = vector_matrix(rows["vector"].combine_chunks())
        return matrix[[place[key] for key in event_ids]]


def events_by_name(searcher: Searcher) -> NamedEvents:
    """The events of a searcher's snapshot, read once."""
    return searcher.held(_named)


def _named(searcher: Searcher) -> NamedEvents:
    return NamedEvents(searcher.snapshot)
