"""Settings of documents: how pages are read, cleaned, normalised, judged and cut."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, field_validator

from quern.schemas.setting_group import Group, Positive, Share, setting
from quern.schemas.words.fields import names_of_fields

DOCUMENT_FIELDS: Final = (
    *("doc_id", "text", "url", "title", "author", "site", "site_name", "language"),
    *("published_at", "modified_at"),
)
"""What a document can be given with."""
PersonalData = Literal["EMAIL", "PHONE", "IBAN", "NATIONAL_ID", "CREDIT_CARD", "SSN", "IP", "HANDLE"]


class IngestSettings(Group):
    """Reading of folders, JSONL and WARC files."""

    max_page_bytes: Positive = setting(10_000_000, "Largest page in bytes, decompressed; larger ones are rejected.")
    max_file_bytes: Positive = setting(50_000_000, "Largest PDF or DOCX file in bytes; larger ones are rejected.")
    max_ratio: Positive = setting(200, "Largest decompressed/compressed ratio of a compressed file over 1 MB.")
    map: tuple[str, ...] = setting(
        (), "What files call fields (`--map text=body,doc_id=id`); see docs/howto/ingest.md."
    )
    csv_escape: str = setting(
        "",
        "Character before a quote within a cell of CSV; unset, a backslash is detected.",
        pattern=r"^[^\w\s\",;|]?$",
    )
    skip_lines: int | None = setting(
        None, "Lines of CSV before the header; unset, the first of 50 that names fields.", ge=0
    )
    day_first: bool | None = setting(
        None, "Whether 03/05/2024 is in May (`--day-first`, `--month-first`); unset, such a day is left out."
    )
    task_bytes: Positive = setting(64 << 20, "Bytes of files that one task reads; larger archives are split.", how=True)

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

    seconds_per_page: PositiveFloat = setting(20.0, "Time limit of one page in its child process, seconds.")
    memory_per_page: Positive = setting(2048, "Address space that the child process may add while parsing, MiB.")
    seconds_per_file: PositiveFloat = setting(
        120.0, "Time limit of one PDF or DOCX file in its child process, seconds."
    )
    ocr: bool = setting(
        False, "Whether scanned pages of PDF files are read (extra `ocr`), each in `seconds_per_page` more."
    )
    max_pages: Positive = setting(5_000, "A PDF file of more pages is rejected as `too_long`.")
    min_characters: NonNegativeInt = setting(
        60, "Shorter main text is rejected as `no_text`; a Chinese, Japanese or Korean character counts four."
    )
    max_characters: Positive = setting(5_000_000, "A longer main text is rejected as `too_long`.")


class NormaliseSettings(Group):
    """What a text loses, and the form of characters and numbers in which it is searched (Xinyu, suppl. C)."""

    noise: bool = setting(True, "Whether `Read more` lines are left out, and emoji and format characters not searched.")
    noise_phrases: tuple[str, ...] = setting((), "Further phrases left out as `Read more` is.")
    punctuation: Literal["outside_cjk", "all"] = setting(
        "outside_cjk", "Full-width punctuation searched as half-width: but that of CJK sentences, or all as in Xinyu."
    )
    chinese_numerals: bool = setting(True, "Chinese numerals are searched as Arabic digits, in Chinese texts (Xinyu).")
    repeated_documents: int = setting(5, "A line in fewer documents of a site than this is no boilerplate.", ge=2)
    repeated_share: Share = setting(0.3, "Nor is one in a smaller share of the site's documents.")
    repeated_characters: Positive = setting(200, "Nor is a longer line.")
    repeated_of_text: Share = setting(
        0.5, "Where repeated lines are a larger share of a document's text, all of them stay."
    )
    personal_data: Literal["mark", "remove", "keep"] = setting(
        "mark", "What becomes of personal data: a mark such as [EMAIL], nothing, or as it is."
    )
    personal_data_types: tuple[PersonalData, ...] = setting(
        get_args(PersonalData),
        "Types of personal data that are looked for.",
    )


class QualitySettings(Group):
    """Rules that the text of a web page must pass, in the manner of Gopher and C4.

    The papers filter what a model is trained on; a search corpus needs short notices, tables and lists too. So
    lengths and rules of shape are looser here; each description names the paper's value.
    """

    enabled: bool = setting(True, "Whether the rules are applied.")
    min_words: NonNegativeInt = setting(5, "Least words; two Chinese characters are one (Gopher, A1: 50).")
    short_words: NonNegativeFloat = setting(2.5, "Least mean length of English words (Gopher, A1: 3).")
    long_words: NonNegativeFloat = setting(12.0, "Greatest mean length of English words (Gopher, A1: 10).")
    symbols: NonNegativeFloat = setting(0.1, "Most # signs and ellipses a word, each (Gopher, A1: 0.1).")
    ellipsis: Share = setting(0.5, "Most lines that end with an ellipsis (Gopher, A1: 0.3).")
    letters: Share = setting(0.3, "Least share of words with a letter; tables have few (Gopher, A1: 0.8).")
    stop_words: NonNegativeInt = setting(2, "Least stop words, of `stop_words_from` words on (Gopher, A1: 2).")
    stop_words_from: NonNegativeInt = setting(100, "Words of a text from which it must have stop words.")
    repetition_from: NonNegativeInt = setting(80, "Words of a text from which the rules on repetition hold.")
    duplicate_lines: Share = setting(0.75, "Most lines that repeat an earlier line (Gopher, A1: 0.3).")
    duplicate_line_characters: Share = setting(0.6, "Most characters in such lines (Gopher, A1: 0.2).")
    top_ngrams: tuple[Share, ...] = setting(
        (0.2, 0.18, 0.16), "Most characters in the commonest 2-, 3- and 4-gram (Gopher, A1)."
    )
    duplicate_ngrams: tuple[Share, ...] = setting(
        (0.8, 0.8, 0.78, 0.77, 0.76, 0.75),
        "Most characters in repeated 5- to 10-grams, which registers have (Gopher, A1: 0.15 to 0.10).",
    )
    curly: Share = setting(0.01, "Most braces a character (C4, section 2.2, rejects a page with one).")
    lorem_ipsum: Positive = setting(2000, "`Lorem ipsum` may stand once in so many characters (C4, 2.2: never).")


class DeduplicateSettings(Group):
    """Exact and near duplicates."""

    similarity: float = setting(0.8, "Least Jaccard similarity of word shingles of near duplicates.", gt=0.0, le=1.0)
    shingle: Positive = setting(5, "Words of a shingle; characters in scripts without spaces (GPT-3, FineWeb).")
    bands: Annotated[int, Field(ge=1, le=256)] = setting(
        20, "b: bands of a MinHash signature; pairs of similarity s are compared with odds 1 - (1 - s^r)^b."
    )
    rows: Annotated[int, Field(ge=1, le=64)] = setting(
        8, "r: values of a band; 20 bands of 8 find .998 of the pairs at s = .85, .975 at .8, .08 at .5."
    )
    min_shingles: Positive = setting(10, "A text with fewer distinct shingles is compared for exact duplicates only.")
    short_words: NonNegativeInt = setting(
        50, "Texts with fewer words of different days are no near duplicates; LiHua-World's chats have 29."
    )
    bucket: Annotated[int, Field(ge=2, le=1024)] = setting(
        16, "Of texts that share a band so many are compared with one another, all pairs."
    )
    neighbours: Annotated[int, Field(ge=1, le=64)] = setting(
        3, "Further texts that share it are compared with so many beside them..."
    )
    representatives: Annotated[int, Field(ge=1, le=64)] = setting(
        3, "...and with so many of the first ones, so that a huge bucket stays linear."
    )


class ChunkSettings(Group):
    """Cutting documents into chunks."""

    tokens: Positive = setting(350, "Most tokens of a chunk, of the embedder's tokenizer (Xinyu, section 3.4).")
    overlap: float = setting(0.25, "Share of a chunk that repeats the one before (Xinyu, section 3.4).", ge=0.0, lt=0.9)
    max_characters: Positive = setting(
        4000, "Most characters of a chunk, for text without spaces; twice the longest of four corpora."
    )
