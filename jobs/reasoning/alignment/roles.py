"""The constituents of a question: what its evidence must match, one by one (GGatrieval, section on FGA).

Whoever parses, a constituent is a run of words of the question: the head of a phrase with what stands before it.
Phrases that hang on it (`of the ship`, `in 1907`) are constituents of their own. Words without content are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Role = Literal["subject", "predicate", "object", "predicative", "attribute", "adverbial", "complement", "apposition"]
Parser = Literal["spacy", "lac", "shallow"]

# A question of 400 words is parsed by its last 120, where what is asked usually stands; of more than sixteen
# constituents no window of a chunk has a share worth telling. Both by looking at long questions, not fitted.
MOST_WORDS: Final = 120
MOST_CONSTITUENTS: Final = 16


@dataclass(frozen=True)
class Constituent:
    """A constituent of a question.

    Attributes:
        role: What it does in its clause.
        text: Its characters.
        start: The first of them in the question.
        end: The one after the last.
        asked: Whether it is what is asked for (`when`, `how many crowns`): a value of that kind matches it.
    """

    role: Role
    text: str
    start: int
    end: int
    asked: bool = False


@dataclass(frozen=True)
class Parsed:
    """A question with its constituents, in its order.

    Attributes:
        question: What was parsed.
        constituents: None where it has no word of content.
        by: Which parser found them.
        flaw: Why another parser that should have found them did not; empty where all is well.
    """

    question: str
    constituents: tuple[Constituent, ...]
    by: Parser
    flaw: str = ""
