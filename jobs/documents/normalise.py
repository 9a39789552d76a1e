"""Documents as their pages word them: lines of noise, boilerplate and personal data out, quality judged.

Xinyu, supplementary material C, but that nothing is rewritten: what is quoted from a document stands so on its page.
Numbers and widths are unified where a text is searched (`jobs.text.search_form`). Only personal data is replaced by
marks, where the settings say so. JSONL documents and files of text keep their text but for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version as installed
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from quern.indexes.stages import Stage
from quern.jobs.core.contract import Job, Outcome, Reject, Source
from quern.jobs.documents.boilerplate import COLUMN, GIVEN, marked_drafts
from quern.jobs.pages.formats.files import is_text_file
from quern.jobs.text.noise import without_noise
from quern.jobs.text.personal_data import Span, counts, find, replace
from quern.jobs.text.plain_text import one_line, printable
from quern.jobs.text.quality import verdict
from quern.jobs.text.search_form import SearchForm, places, plain_characters
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

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """The documents of `batch` in their final form; those that fail a rule are rejected."""
        outputs: dict[str, list[Any]] = {name: [] for name in _CHANGED}
        positions: list[int] = []
        rejects: list[Reject] = []
        columns = ("page_url", "language", "title", "author", "text", "page_starts", "images", COLUMN)
        # One document at a time: each step is one pass of a compiled expression over its text.
        for i, row in enumerate(zip(*(batch.column(c).to_pylist() for c in columns), strict=True)):
            page, language, title, author, text, starts, images, repeated = row
            given = page.startswith(GIVEN) or is_text_file(page)
            spans: list[Span] = []
            if starts:
                text, starts = self._by_pages(text, starts, repeated, language, spans)
            else:
                text = self._treated(text if given else self._without_noise(text, repeated), language, spans)
            title = self._described(title if given else one_line(title), language, spans) or None
            if not text.strip():
                rejects.append(Reject(i, "no_text", "nothing is left without noise, repeated lines and personal data"))
                continue
            if not given and (fault := verdict(SearchForm(self.settings)(text), language, self.quality)):
                rejects.append(Reject(i, *fault))
                continue
            positions.append(i)
            author = self._described(author, language, spans)
            images = images and [
                image | {name: self._described(image.get(name), language, spans) for name in _DESCRIBING}
                for image in images
            ]
            values = (title, author, text, starts, images, counts(spans), text_digest(title, text))
            for name, value in zip(_CHANGED, values, strict=True):
                outputs[name].append(value)
        rows = batch.take(pa.array(positions, pa.int64()))
        fields = DOCUMENTS.schema
        arrays = [pa.array(outputs[f.name], f.type) if f.name in outputs else rows.column(f.name) for f in fields]
        rows = pa.RecordBatch.from_arrays(arrays, schema=fields)
        return Outcome(rows, np.asarray(positions, np.int64), tuple(rejects))

    def _without_noise(self, text: str, repeated: list[int]) -> str:
        """`text` without the lines numbered `repeated` and those that say nothing; the others as they stand."""
        numbers = set(repeated)
        text = "\n".join(line for n, line in enumerate(printable(text).split("\n")) if n not in numbers)
        if not self.settings.noise:
            return text.strip("\n")
        lines: list[str] = []
        for line, plain in zip(text.split("\n"), plain_characters(text).split("\n"), strict=True):
            remainder = without_noise(plain, self.settings.noise_phrases) if line.strip() else plain
            # A line goes without what asks for a click, or whole where nothing else is in it.
            if remainder.strip() or not line.strip():
                lines.append(line if remainder == plain else line[: places(line, plain)[len(remainder)]])
        return "\n".join(lines).strip("\n")

    def _by_pages(
        self, text: str, starts: list[int], repeated: list[int], language: str | None, spans: list[Span]
    ) -> tuple[str, list[int]]:
        """The text of a document that has pages, page by page, and where each begins then."""
        result, new_starts = "", list[int]()
        for start, end in pairwise([*starts, len(text)]):
            above = text.count("\n", 0, start)
            part = self._without_noise(text[start:end], [n - above for n in repeated])
            part = self._treated(part, language, spans)
            # A paragraph may go on over the page's end.
            between = "\n" if text[start - 1 : start] == "\n" else "" if result.endswith(" ") else " "
            new_starts.append(len(result) + (len(between) if result and part else 0))
            result += between + part if result and part else part
        return result, new_starts

    def _treated(self, text: str, language: str | None, all_spans: list[Span]) -> str:
        """A text with personal data treated as the settings say; its spans are added to `all_spans`."""
        plain = plain_characters(text)
        spans = find(plain, language, self.settings.personal_data_types)
        all_spans += spans
        if self.settings.personal_data == "keep" or not spans:
            return text
        at = places(text, plain)
        spans = [Span(at[span.start], at[span.end - 1] + 1, span.type) for span in spans]
        return replace(text, spans, mark=self.settings.personal_data == "mark")

    def _described(self, text: str | None, language: str | None, spans: list[Span]) -> str | None:
        """What stands beside the text, treated like it; null where nothing is left."""
        return (self._treated(text, language, spans) or None) if text else text
