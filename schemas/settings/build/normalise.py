"""Group `normalise`: what is left out of documents, and the form in which they are searched."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive, Share


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
    number_words: bool = Field(
        False, description="English numbers of two words and more are searched as digits: twenty-five."
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
