"""The table `triplets`: what each chunk states, by rule or by a model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

import pyarrow as pa

from quern.jobs.core.contract import Outcome, outcome
from quern.jobs.tasks.table import TaskJob
from quern.jobs.tasks.task import Task
from quern.jobs.text.names import names
from quern.jobs.triplets.rule import read_statements
from quern.jobs.triplets.statement import Passage, Statement
from quern.jobs.triplets.task import ChunkTriplets, TripletInput, located, triplet_task
from quern.schemas.contract.table import Table
from quern.schemas.digests import text_digest
from quern.schemas.settings import GeneratorSettings, TripletSettings
from quern.schemas.tables import TRIPLETS
from quern.schemas.words import sentences
from quern.schemas.words.calendar import MONTH_START, WEEKDAY
from quern.schemas.words.scripts import HAN

_ARTICLE: Final = re.compile(r"^(?:[Tt]he|[Aa]n?)\s+")
_DATE: Final = re.compile(rf"{MONTH_START}[a-z]*\b[\s\d,]*$|{WEEKDAY}")
_CHINESE: Final = re.compile(f"《[^》]+》|[{HAN}·A-Za-z0-9]{{2,12}}")
_TITLE: Final = re.compile(r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Captain|Councillor)\.? )?\S+")


@dataclass(frozen=True)
class NamesOf:
    """The names of one chunk."""

    passage: Passage

    def name(self, part: str, *, heads: bool) -> str | None:
        """The name that `part` is, without its article; a family name alone as the whole name, where there is one.

        A Chinese name is one that heads a sentence, and that the title or another place of the chunk has too.

        Args:
            part: Subject or object of a statement.
            heads: It begins its sentence, where every word has a capital.
        """
        text, title = self.passage.text, self.passage.title
        if re.search(f"[{HAN}]", part):
            known = part.startswith("《") or "·" in part or part in title or text.count(part) > 1
            return part.strip("《》") if heads and known and _CHINESE.fullmatch(part) else None
        plain = _ARTICLE.sub("", part)
        found = names(f"the {plain}")
        if len(plain) > 80 or not found or found[0].text != plain or _DATE.match(plain):
            return None
        if heads and plain.isalpha() and plain[1:].islower() and plain not in title.split():
            inside = rf"(?<=[\w,;’'-] ){re.escape(plain)}\b|{re.escape(plain)}: "
            if re.search(inside, text) is None:
                return None
        return self._whole.get(plain.rsplit(" ", 1)[-1], plain) if _TITLE.fullmatch(plain) else plain

    @cached_property
    def _whole(self) -> dict[str, str]:
        """Last word to whole name of the names of the chunk, where only one ends in it."""
        whole: defaultdict[str, set[str]] = defaultdict(set)
        for text in (self.passage.title, *(span.of(self.passage.text) for span in self.passage.sentences)):
            for name in names(text):
                if " " in name.text and not re.fullmatch(_TITLE, name.text):
                    whole[name.text.rsplit(" ", 1)[1]].add(name.text)
        return {last: next(iter(found)) for last, found in whole.items() if len(found) == 1}


@dataclass(frozen=True)
class FindTriplets(TaskJob[TripletInput, ChunkTriplets]):
    """The triplets of each chunk, by rule or by a model."""

    settings: TripletSettings = field(default_factory=TripletSettings)  # How many.
    generator: GeneratorSettings = field(default_factory=GeneratorSettings)  # What finds them.

    name: ClassVar[str] = "triplets"
    version: ClassVar[int] = 5
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("chunk_id", "doc_id", "text", "start", "title", "published_at")
    key: ClassVar[str] = "chunk_id"

    @property
    def makes(self) -> Table:
        """`triplets`."""
        return TRIPLETS

    @property
    def task(self) -> Task[TripletInput, ChunkTriplets]:
        """Finding triplets with these settings."""
        return triplet_task(self.settings.per_chunk)

    def configuration(self) -> Mapping[str, object]:
        """How many triplets, and what finds them; of a model also the prompt."""
        kept = {"per_chunk": self.settings.per_chunk, "sentences": sentences.VERSION}
        return {**kept, **self.task.configuration(self.generator)}

    def inputs(self, rows: Sequence[Mapping[str, Any]]) -> list[TripletInput]:
        """Text and title of each chunk."""
        return [TripletInput(_passage(row)) for row in rows]

    def made(self, row: Mapping[str, Any], output: ChunkTriplets) -> list[dict[str, object]]:
        """A row for each triplet of a model."""
        passage = _passage(row)
        found = (located(passage, triplet) for triplet in output.triplets)
        return _rows(row, passage, (one for one in found if one is not None))

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """What the rule finds in each chunk."""
        made: list[dict[str, object]] = []
        parents: list[int] = []
        # Python per row: patterns over its sentences.
        for n, (row, given) in enumerate(zip(*self.given(batch), strict=True)):
            found = read_statements(given.passage, self.settings.per_chunk)
            rows = _rows(row, given.passage, found)
            made += rows
            parents += [n] * len(rows)
        return outcome(self.makes, made, parents)


def find_triplets(settings: TripletSettings, generator: GeneratorSettings) -> FindTriplets:
    """The job with these settings: by the rule, unless a model is wanted for triplets too."""
    return FindTriplets(settings, generator if settings.by_model else GeneratorSettings())


def _passage(chunk: Mapping[str, Any]) -> Passage:
    return Passage(chunk["text"], chunk["title"] or "")


def _rows(chunk: Mapping[str, Any], passage: Passage, found: Iterable[Statement]) -> list[dict[str, object]]:
    named = NamesOf(passage)
    heads = {span.start for span in passage.sentences}
    return [_row(chunk, passage, one, named, heads) for one in found]


def _row(
    chunk: Mapping[str, Any], passage: Passage, one: Statement, named: NamesOf, heads: set[int]
) -> dict[str, object]:
    words, at = one.words(passage.text), chunk["start"]
    row: dict[str, object] = {"start": at + one.start, "end": at + one.end}
    for name, part, text in zip(
        ("subject", "relation", "object"), (one.subject, one.relation, one.object), words, strict=True
    ):
        row |= {name: text, f"{name}_start": at + part.start, f"{name}_end": at + part.end}
    return {
        "triplet_id": text_digest(chunk["chunk_id"], *words)[:20],
        "chunk_id": chunk["chunk_id"],
        "doc_id": chunk["doc_id"],
        **row,
        "how": one.how,
        "subject_name": named.name(words[0], heads=one.subject.start in heads or one.how == "row"),
        "object_name": named.name(words[2], heads=False),
        "published_at": chunk["published_at"],
    }
