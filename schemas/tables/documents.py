"""Table `documents`: main text and metadata of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from quern.schemas.arrow_models import TIMESTAMP
from quern.schemas.contract.expectations import Between, Dated, Expectation, Known, KnownShare, Limits, OneOf, Quantiles
from quern.schemas.contract.table import TEXT_LENGTH, Listing, Table, column, columns, optional

_IMAGE = pa.struct(
    {
        **dict.fromkeys(("url", "alt", "caption"), pa.string()),
        **dict.fromkeys(("width", "height"), pa.int32()),
        **dict.fromkeys(("link", "heading", "before", "after"), pa.string()),
    }
)
_STATED = pa.struct([("field", pa.string()), ("by", pa.string())])
_WARNINGS = frozenset({"pages_without_text"})
_COUNT = pa.struct([("type", pa.string()), ("count", pa.int32())])


def _lengths(limits: Limits) -> Iterator[Expectation]:
    settings = limits.settings
    median = (settings.min_median_characters, settings.max_median_characters)
    bounds = {0.5: median, 0.95: (None, settings.max_p95_characters)}
    yield Quantiles("text_length", bounds, severity="warning", setting="audit.min_median_characters and the next two")


def _shares(limits: Limits) -> Iterator[Expectation]:
    settings = limits.settings
    share = 1 - settings.max_unknown_language
    yield KnownShare("language", share, severity="warning", setting="audit.max_unknown_language")
    if settings.languages:
        least = 1 - settings.max_other_language
        yield OneOf("language", settings.languages, least, severity="warning", setting="audit.max_other_language")
    title, most = "documents.duplicate_of duplicates share", settings.max_duplicates
    yield KnownShare("duplicate_of", 0, most, severity="warning", title=title, setting="audit.max_duplicates")


DOCUMENTS = Table(
    "documents",
    ("doc_id",),
    columns(
        column("doc_id", pa.string(), "Given by a JSONL document, else made from the canonical URL."),
        column("page_url", pa.string(), "`pages.url` it was made from."),
        optional("url", pa.string(), "Canonical URL."),
        optional("site", pa.string(), "Host name without `www.`, or as given."),
        optional("site_name", pa.string(), "Name of the site, as it calls itself."),
        optional("title", pa.string(), "Title of the document, without the site's name where that is known."),
        optional("author", pa.string(), "Author as named on the page."),
        optional("published_at", TIMESTAMP, "Publication time; a date alone is midnight UTC."),
        optional("utc_offset", pa.int32(), "Minutes that the page's own time is ahead of UTC; null for UTC."),
        optional("modified_at", TIMESTAMP, "Last modification, where the page states one."),
        optional("language", pa.string(), "ISO 639-1 code of the text."),
        column("text", pa.string(), "Main text as on the page, a paragraph a line; personal data is marked."),
        optional("page_starts", pa.list_(pa.int32()), "First character of each page of a file in `text`."),
        column(
            "images",
            pa.list_(_IMAGE),
            "Images beside the main text; width and height in pixels where stated; the page "
            "it leads to, the heading above, and how the paragraphs before and after begin.",
        ),
        column("metadata_from", pa.list_(_STATED), "What stated each metadata field: `json-ld`, `open-graph`..."),
        column("metadata", pa.map_(pa.string(), pa.string()), "What was given of it beside these fields, by name."),
        column("personal_data", pa.list_(_COUNT), "Personal data found in the text: how many of each type."),
        column("digest", pa.string(), "BLAKE2b-128 of title and text, hexadecimal: what changed shows here."),
        optional("duplicate_of", pa.string(), "`doc_id` of the document that this one repeats."),
    ),
    served=True,
    doc="The main text of a page, and what the page states about it.",
    row="document",
    references={"page_url": "pages", "duplicate_of": "documents"},
    indexes=("doc_id",),
    prose=("title", "text"),
    derived=(TEXT_LENGTH,),
    expects=(
        Known("page_url"),
        Known("text"),
        Between("text_length", 1),
        _lengths,
        Dated("published_at"),
        Dated("modified_at"),
        _shares,
    ),
    shrinks=False,
    no_loss=_WARNINGS | {"exact_duplicate", "near_duplicate"},
    warnings=_WARNINGS,
    listings=(Listing("documents", "page_url"),),
)
