"""What judges say of answers: a line of `judgements.jsonl` an answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Judgement(BaseModel):
    """What one judge says of one answer, or of two."""

    model_config = ConfigDict(frozen=True)

    # 0 or 1; a score from 0 to 10; of two answers from -2, the other is far better, to 2, the answer is. None where the
    # judge had nothing to go by.
    value: float | None
    by: str  # `rules`, or the kind of generator whose model judged.
    reason: str = ""  # How the value came about.
    issues: list[str] = Field(default_factory=list)  # The faults that were found.
    # Of two answers, what was said of them in either order, the second turned round.
    orders: list[float] = Field(default_factory=list)
    # Codes of what was wrong with a model's replies, where the rule stood in or nothing did.
    rejected: list[str] = Field(default_factory=list)


class JudgedAnswer(BaseModel):
    """An answer with what was said of it, judge by judge."""

    model_config = ConfigDict(frozen=True)

    query_id: str
    question: str
    judgements: dict[str, Judgement]
