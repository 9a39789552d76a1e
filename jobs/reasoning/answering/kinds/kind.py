"""The kinds of answer that a question may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

KindName = Literal[
    "when",
    "who",
    "where",
    "how_many",
    "how_much",
    "how_long",
    "which",
    "yes_no",
    "list",
    "why",
    "how",
    "what_happened",
    "definition",
    "other",
]

MEASURED: Final = frozenset({"when", "how_many", "how_much", "how_long"})  # Answered by a time or an amount.
VALUED: Final = MEASURED | {"who", "where"}  # Answered by a value that stands in a sentence.
NAMED: Final = "name"  # The verb where the name of a thing is asked for.
NAMESAKE: Final = "name after"  # The same where it is asked whom or what a thing is named after.
OFTEN: Final = "often"  # The same where it is asked how often something is or was.
PHONE: Final = "phone"  # The same where a number to ring is asked for.


@dataclass(frozen=True)
class Kind:
    """What is asked for.

    Attributes:
        name: The kind of answer.
        noun: Stems of the words that name the thing asked for: `passengers` in `how many passengers`.
        units: Units that an answer may have; empty where any will do. `name` of a unit as in `Quantity.unit`.
        verb: Stem of the verb whose object or complement is asked for: `find` in `what did the divers find`.
        grain: How exact a time is asked for: `year`, `month` or `day`; empty where any will do.
    """

    name: KindName
    noun: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    verb: str = ""
    grain: str = ""
