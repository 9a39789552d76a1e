"""Group `deduplicate`: which documents repeat another."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


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
