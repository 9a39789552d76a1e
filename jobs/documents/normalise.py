"""Documents as their pages word them: lines of noise, boilerplate and personal data out, quality judged.

Xinyu, supplementary material C, but that nothing is rewritten: what is quoted from a document stands so on its page.
Numbers and widths are unified where a text is searched (`jobs.text.search_form`). Only personal data is replaced by
marks, where the settings say so. JSONL documents and files of text keep their text but for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version as installed
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Job, Outcome, Reject, Source
from quern.jobs.documents.boilerplate import COLUMN, GIVEN, marked_drafts
from quern.jobs.pages.formats.files import is_text_file
from quern.jobs.text.noise import Noise
from quern.jobs.text.personal_data import counts, find, replace
from quern.jobs.text.plain_text import one_line, printable
from quern.jobs.text.quality import verdict
from quern.jobs.text.search_form import SearchForm, places, plain_characters
from quern.jobs.text.spans import Span
from quern.schemas.digests import text_digest
from quern.schemas.settings import NormaliseSettings, QualitySettings
from quern.schemas.tables import DOCUMENTS, Table

_DESCRIBING = ("alt", "caption", "heading", "before", "after")
_CHANGED = ("title", "author", "text", "page_starts", "images", "personal_data", "digest")


@dataclass(frozen=True)
class Normalise(Job):
    """Drafts of documents in their final form, with the personal data counted and low quality left out."""

    settings: NormaliseSettings = field(default_factory=NormaliseSettings)
    quality: QualitySettings = field(default_factory=QualitySettings)

    name: ClassVar[str] = "normalise"
    version: ClassVar[int] = 8
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = (*DOCUMENTS.schema.names, COLUMN)
    key: ClassVar[str] = "page_url"

    @property
    def makes(self) -> Table:
        """Documents."""
        return DOCUMENTS

    def configuration(self) -> Mapping[str, object]:
        """The settings, and the numbering plans of the library for telephone numbers."""
        return {
            "settings": self.settings.model_dump(),
            "quality": self.quality.model_dump(),
            "libraries": {"phonenumbers": installed("phonenumbers")},
        }

    def source(self, inputs: Mapping[str, Stage]) -> Source:
        """The drafts, with the lines marked that repeat over their sites."""
        return marked_drafts(inputs["drafts"], inputs["repeated_lines"], self.settings)

    @cached_property
    def _noise(self) -> Noise:
        return Noise(self.settings.noise_phrases)

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """The documents of `batch` in their final form; those that fail a rule are rejected."""
        made: dict[str, list[Any]] = {name: [] for name in _CHANGED}
        kept: list[int] = []
        rejects: list[Reject] = []
        columns = ("page_url", "language", "title", "author", "text", "page_starts", "images", COLUMN)
        # One document at a time: each step is one pass of a compiled expression over its text.
        for i, row in enumerate(zip(*(batch.column(c).to_pylist() for c in columns), strict=True)):
            page, language, title, author, text, starts, images, repeated = row
            given = page.startswith(GIVEN) or is_text_file(page)
            if starts:
                text, starts, found = self._by_pages(text, starts, repeated, language)
            else:
                text, found = self._text(text, repeated, language, given=given)
            title, found = self._title(title, found, language, given=given)
            if fault := self._fault(text, language, given=given):
                rejects.append(Reject(i, *fault))
                continue
            kept.append(i)
            author, images, beside = self._beside(author, images, language)
            changed = (title, author, text, starts, images, counts(found + beside), text_digest(title, text))
            for name, made_of_row in zip(_CHANGED, changed, strict=True):
                made[name].append(made_of_row)
        return Outcome(_with(batch.take(pa.array(kept, pa.int64())), made), np.asarray(kept, np.int64), tuple(rejects))

    def _without_noise(self, text: str, repeated: list[int]) -> str:
        """`text` without the lines numbered `repeated` and those that say nothing; the others as they stand."""
        gone = set(repeated)
        text = "\n".join(line for n, line in enumerate(printable(text).split("\n")) if n not in gone)
        if not self.settings.noise:
            return text.strip("\n")
        plain = plain_characters(text, noise=True)
        pairs = zip(text.split("\n"), plain.split("\n"), strict=True)
        lines = (self._without_end(*pair) if pair[0].strip() else pair[0] for pair in pairs)
        return "\n".join(line for line in lines if line is not None).strip("\n")

    def _without_end(self, line: str, plain: str) -> str | None:
        """`line`, whose plain characters are `plain`, without what asks for a click; None where nothing else is."""
        kept = self._noise.without(plain)
        if not kept.strip():
            return None
        return line if kept == plain else line[: places(line, plain)[len(kept)]]

    def _text(self, text: str, repeated: list[int], language: str | None, *, given: bool) -> tuple[str, list[Span]]:
        """The text with personal data treated as the settings say, without noise, and what was found in it."""
        if given:
            return self._without_personal_data(text, language)
        return self._without_personal_data(self._without_noise(text, repeated), language)

    def _by_pages(
        self, text: str, starts: list[int], repeated: list[int], language: str | None
    ) -> tuple[str, list[int], list[Span]]:
        """The same of a text that has pages, page by page, and where each begins then."""
        made, moved, every = "", [], list[Span]()
        for start, end in pairwise([*starts, len(text)]):
            above = text.count("\n", 0, start)
            part, found = self._text(text[start:end], [n - above for n in repeated], language, given=False)
            # A paragraph may go on over the page's end.
            between = "\n" if text[start - 1 : start] == "\n" else "" if made.endswith(" ") else " "
            moved.append(len(made) + (len(between) if made and part else 0))
            made += between + part if made and part else part
            every += found
        return made, moved, every

    def _title(
        self, title: str | None, found: list[Span], language: str | None, *, given: bool
    ) -> tuple[str | None, list[Span]]:
        """The title with personal data treated alike, and what was found in it and before."""
        title = one_line(title) if not given else title
        if title:
            title, found_there = self._without_personal_data(title, language)
            found = found + found_there
        return title or None, found

    def _beside(
        self, author: str | None, images: list[dict[str, Any]] | None, language: str | None
    ) -> tuple[str | None, list[dict[str, Any]] | None, list[Span]]:
        """Author and images, and the personal data that was found in the author and in what describes images."""
        every: list[Span] = []

        def treated(text: str | None) -> str | None:
            if not text:
                return text
            text, found = self._without_personal_data(text, language)
            every.extend(found)
            return text or None

        author = treated(author)
        images = images and [image | {name: treated(image.get(name)) for name in _DESCRIBING} for image in images]
        return author, images, every

    def _without_personal_data(self, text: str, language: str | None) -> tuple[str, list[Span]]:
        plain = plain_characters(text, noise=True)
        found = find(plain, language, self.settings.personal_data_types)
        if self.settings.personal_data == "keep" or not found:
            return text, found
        at = places(text, plain)
        found = [Span(at[span.start], at[span.end - 1] + 1, span.type) for span in found]
        return replace(text, found, mark=self.settings.personal_data == "mark"), found

    def _fault(self, text: str, language: str | None, *, given: bool) -> tuple[str, str] | None:
        """Reason and detail of a text that is left out."""
        if not text.strip():
            return "no_text", "nothing is left without noise, repeated lines and personal data"
        return None if given else verdict(SearchForm(self.settings)(text), language, self.quality)


def _with(rows: pa.RecordBatch, made: Mapping[str, list[Any]]) -> pa.RecordBatch:
    """`rows` as documents, with the changed columns."""
    fields = DOCUMENTS.schema
    columns = [pa.array(made[f.name], f.type) if f.name in made else rows.column(f.name) for f in fields]
    return pa.RecordBatch.from_arrays(columns, schema=fields)
