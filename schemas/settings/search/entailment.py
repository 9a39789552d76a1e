"""Group `entailment`: how it is judged whether texts bear out a statement."""

from __future__ import annotations

from pydantic import Field

from quern.schemas.setting_group import Group


class EntailmentSettings(Group):
    """Whether texts bear out a statement: what citations and claims are measured by (ALCE)."""

    vectors: bool = Field(
        True,
        description="Compare vectors of statements and texts too, some 5 ms each; without, words alone decide, which "
        "tell a text of another question from the one meant less well where answers paraphrase (area under ROC .89 "
        "instead of .96 on claims of ExpertQA).",
    )
