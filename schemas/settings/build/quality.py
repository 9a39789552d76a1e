"""Group `quality`: what the text of a web page must be like."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group, Positive, Share


class QualitySettings(Group):
    """Rules that the text of a web page must pass, in the manner of Gopher, C4 and FineWeb.

    The papers filter what a model is trained on; a search corpus needs short notices, tables and lists too. So
    lengths and rules of shape are looser here; each description names the paper's value.
    """

    enabled: bool = Field(True, description="Whether the rules are applied.")
    min_words: int = Field(5, ge=0, description="Least words; two Chinese characters are one (Gopher, A1: 50).")
    short_words: float = Field(2.5, ge=0, description="Least mean length of English words (Gopher, A1: 3).")
    long_words: float = Field(12.0, ge=0, description="Greatest mean length of English words (Gopher, A1: 10).")
    symbols: float = Field(0.1, ge=0, description="Most # signs and ellipses a word, each (Gopher, A1: 0.1).")
    bullets: Share = Field(1.0, description="Most lines that start with a bullet; 1 for no limit (Gopher, A1: 0.9).")
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
    short_lines: Share = Field(
        1.0, description="Most lines under 30 characters; 1 for no limit, lists are content (FineWeb, 3.6: 0.67)."
    )
    line_ends: Share = Field(
        0.0, description="Least lines that end with punctuation; tables have none (FineWeb, section 3.6: 0.12)."
    )
