"""Settings of documents: how pages are read, cleaned, normalised, judged and cut."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from quern.schemas.setting_group import HOW, Group, Positive, Share
from quern.schemas.words.fields import names_of_fields

DOCUMENT_FIELDS: Final = (
    *("doc_id", "text", "url", "title", "author", "site", "site_name", "language"),
    *("published_at", "modified_at"),
)
"""What a document can be given with."""


class IngestSettings(Group):
    """Reading of folders, JSONL and WARC files."""

    max_page_bytes: Positive = Field(
        10_000_000, description="Largest page in bytes, decompressed; larger ones are rejected."
    )
    max_file_bytes: Positive = Field(
        50_000_000, description="Largest PDF or DOCX file in bytes; larger ones are rejected."
    )
    max_ratio: Positive = Field(
        200, description="Largest decompressed/compressed ratio of a compressed file over 1 MB."
    )
    map: tuple[str, ...] = Field(
        (),
        description="What files call the fields of documents: text=body, doc_id=id (`--map text=body,doc_id=id`); "
        "text=subject+body joins two columns by a blank line, other fields are joined by a space; text=document.body "
        'is a field within a field; a column whose name has a comma stands in quotes: doc_id="id, internal".',
    )
    csv_escape: str = Field(
        "",
        pattern=r"^[^\w\s\",;|]?$",
        description="The character before a quote within a cell of CSV, which Spark writes as a "
        "backslash. Unset, a backslash is detected from the first rows; quotes may always be doubled.",
    )
    skip_lines: int | None = Field(
        None,
        ge=0,
        description="Lines of CSV and TSV before the header. Unset, the header is the first of 50 "
        "lines that names the fields of documents.",
    )
    day_first: bool | None = Field(
        None,
        description="Whether the day is before the month in 03/05/2024 (`--day-first`, `--month-first`). Unset, such a "
        "day is left out with a warning, unless one of its numbers is over 12. With dots the day is always first.",
    )
    task_bytes: Positive = Field(
        64 << 20,
        description="Bytes of files that one task reads; larger archives are split at their records.",
        json_schema_extra=HOW,
    )

    @field_validator("map")
    @classmethod
    def _known(cls, pairs: tuple[str, ...]) -> tuple[str, ...]:
        """Each names a field of documents, and no name or field stands twice."""
        names_of_fields(pairs, DOCUMENT_FIELDS, "documents")
        return pairs

    @property
    def names(self) -> dict[str, str]:
        """What files call fields, by the names of these; `+` joins several columns, which may stand in quotes."""
        return {name.strip(): called.strip() for name, _, called in (pair.partition("=") for pair in self.map)}


class CleanSettings(Group):
    """Main text and metadata of pages."""

    seconds_per_page: float = Field(20.0, gt=0, description="Time limit of one page in its child process, seconds.")
    memory_per_page: Positive = Field(
        2048, description="Address space that the child process may add while parsing, MiB."
    )
    seconds_per_file: float = Field(
        120.0, gt=0, description="Time limit of one PDF or DOCX file in its child process, seconds."
    )
    ocr: bool = Field(
        False,
        description="Whether scanned pages of PDF files are read (OCR, extra `ocr`; some 6 s a page on one core). Each "
        "adds `clean.seconds_per_page` to the limit of its file.",
    )
    max_pages: Positive = Field(5_000, description="A PDF file of more pages is rejected as `too_long`.")
    min_characters: int = Field(
        60,
        ge=0,
        description="A page whose main text is shorter is rejected as `no_text`; a Chinese, Japanese or Korean "
        "character counts four.",
    )
    max_characters: Positive = Field(5_000_000, description="A longer main text is rejected as `too_long`.")


class NormaliseSettings(Group):
    """What a text loses, and the form of characters and numbers in which it is searched (Xinyu, suppl. C)."""

    noise: bool = Field(
        True, description="Whether `Read more` lines are left out, and emoji and format characters not searched."
    )
    noise_phrases: tuple[str, ...] = Field((), description="Further phrases left out as `Read more` is.")
    punctuation: Literal["outside_cjk", "all"] = Field(
        "outside_cjk",
        description="Full-width punctuation searched as half-width: all, as in Xinyu, or not the commas and sentence "
        "ends of Chinese, Japanese and Korean text.",
    )
    chinese_numerals: bool = Field(
        True, description="Chinese numerals are searched as Arabic digits, in Chinese texts (Xinyu)."
    )
    repeated_documents: int = Field(
        5, ge=2, description="A line in fewer documents of a site than this is no boilerplate."
    )
    repeated_share: Share = Field(0.3, description="Nor is one in a smaller share of the site's documents.")
    repeated_characters: Positive = Field(200, description="Nor is a longer line.")
    repeated_of_text: Share = Field(
        0.5, description="Where repeated lines are a larger share of a document's text than this, all of them stay."
    )
    personal_data: Literal["mark", "remove", "keep"] = Field(
        "mark", description="What becomes of personal data: a typed mark such as [EMAIL], nothing, or as it is."
    )
    personal_data_types: tuple[
        Literal["EMAIL", "PHONE", "IBAN", "NATIONAL_ID", "CREDIT_CARD", "SSN", "IP", "HANDLE"], ...
    ] = Field(
        ("EMAIL", "PHONE", "IBAN", "NATIONAL_ID", "CREDIT_CARD", "SSN", "IP", "HANDLE"),
        description="Types of personal data that are looked for.",
    )


class QualitySettings(Group):
    """Rules that the text of a web page must pass, in the manner of Gopher and C4.

    The papers filter what a model is trained on; a search corpus needs short notices, tables and lists too. So
    lengths and rules of shape are looser here; each description names the paper's value.
    """

    enabled: bool = Field(True, description="Whether the rules are applied.")
    min_words: int = Field(5, ge=0, description="Least words; two Chinese characters are one (Gopher, A1: 50).")
    short_words: float = Field(2.5, ge=0, description="Least mean length of English words (Gopher, A1: 3).")
    long_words: float = Field(12.0, ge=0, description="Greatest mean length of English words (Gopher, A1: 10).")
    symbols: float = Field(0.1, ge=0, description="Most # signs and ellipses a word, each (Gopher, A1: 0.1).")
    ellipsis: Share = Field(0.5, description="Most lines that end with an ellipsis (Gopher, A1: 0.3).")
    letters: Share = Field(0.3, description="Least share of words with a letter; tables have few (Gopher, A1: 0.8).")
    stop_words: int = Field(2, ge=0, description="Least stop words, of `stop_words_from` words on (Gopher, A1: 2).")
    stop_words_from: int = Field(100, ge=0, description="Words of a text from which it must have stop words.")
    repetition_from: int = Field(
        80, ge=0, description="Words of a text from which the rules on repetition hold; a short notice may repeat."
    )
    duplicate_lines: Share = Field(0.75, description="Most lines that repeat an earlier line (Gopher, A1: 0.3).")
    duplicate_line_characters: Share = Field(0.6, description="Most characters in such lines (Gopher, A1: 0.2).")
    top_ngrams: tuple[Share, ...] = Field(
        (0.2, 0.18, 0.16), description="Most characters in the commonest 2-, 3- and 4-gram (Gopher, A1)."
    )
    duplicate_ngrams: tuple[Share, ...] = Field(
        (0.8, 0.8, 0.78, 0.77, 0.76, 0.75),
        description="Most characters in repeated 5- to 10-grams; a register repeats its wording in every row "
        "(Gopher, A1: 0.15 to 0.10).",
    )
    curly: Share = Field(0.01, description="Most braces a character (C4, section 2.2, rejects a page with one).")
    lorem_ipsum: Positive = Field(
        2000, description="`Lorem ipsum` may stand once in so many characters (C4, section 2.2: never)."
    )


class DeduplicateSettings(Group):
    """Exact and near duplicates."""

    similarity: float = Field(
        0.8, gt=0.0, le=1.0, description="Least Jaccard similarity of word shingles of near duplicates."
    )
    shingle: Positive = Field(
        5, description="Words of a shingle; characters in scripts without spaces (GPT-3 and FineWeb take 5 words)."
    )
    bands: Annotated[int, Field(ge=1, le=256)] = Field(
        20, description="b: bands of a MinHash signature; pairs of similarity s are compared with odds 1 - (1 - s^r)^b."
    )
    rows: Annotated[int, Field(ge=1, le=64)] = Field(
        8, description="r: values of a band; 20 bands of 8 find .998 of the pairs at s = .85, .975 at .8, .08 at .5."
    )
    min_shingles: Positive = Field(
        10, description="A text with fewer distinct shingles is compared for exact duplicates only."
    )
    short_words: int = Field(
        50,
        ge=0,
        description="Texts with fewer words that were published on different days are no near duplicates; two "
        "characters of scripts without spaces are a word. 0 for no text. LiHua-World's chats that repeat have 29.",
    )
    bucket: Annotated[int, Field(ge=2, le=1024)] = Field(
        16, description="Of texts that share a band so many are compared with one another, all pairs."
    )
    neighbours: Annotated[int, Field(ge=1, le=64)] = Field(
        3, description="Further texts that share it are compared with so many beside them..."
    )
    representatives: Annotated[int, Field(ge=1, le=64)] = Field(
        3, description="...and with so many of the first ones, so that a huge bucket stays linear."
    )


class ChunkSettings(Group):
    """Cutting documents into chunks."""

    tokens: Positive = Field(
        350, description="Most tokens of a chunk, of the embedder's tokenizer (Xinyu, section 3.4)."
    )
    overlap: float = Field(
        0.25, ge=0.0, lt=0.9, description="Share of a chunk that repeats the one before (Xinyu, section 3.4)."
    )
    max_characters: Positive = Field(
        4000,
        description="Most characters of a chunk, where its tokens are long, as in text without spaces. Over twice the "
        "longest chunk of 350 tokens in the sample corpus, LiHua-World, MuSiQue and CMRC 2018 (1,781).",
    )
