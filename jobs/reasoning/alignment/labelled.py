"""A chunk with what of a question it matches: what selection and verification look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from quern.jobs.reasoning.alignment.alignment import Alignment
from quern.jobs.reasoning.alignment.roles import Parsed
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.reasoning.prompts import disarmed, quoted

_SHOWN: Final = 1200  # Characters of a chunk in a prompt.
_LONGEST_TITLE: Final = 300


@dataclass(frozen=True)
class Labelled:
    """A chunk that was compared with a question.

    Attributes:
        evidence: The chunk.
        alignment: What of the question it matches.
        place: Its place by relevance among all that was found for the question, from 0.
    """

    evidence: Evidence
    alignment: Alignment
    place: int

    @cached_property
    def matched(self) -> frozenset[int]:
        """The constituents that it matches."""
        return frozenset(m.constituent for m in self.alignment.matches)


def quoted_constituents(parsed: Parsed) -> list[tuple[int, str]]:
    """The constituents of a question with their numbers, for a prompt."""
    return [(n, disarmed(c.text)) for n, c in enumerate(parsed.constituents)]


def quoted_chunk(chunk: Labelled) -> dict[str, object]:
    """A chunk for a prompt, with the numbers of the constituents that it matches."""
    return {
        "title": quoted(chunk.evidence.title or "", _LONGEST_TITLE),
        "text": disarmed(chunk.evidence.text[:_SHOWN]),
        "matched": sorted(chunk.matched),
    }


@dataclass(frozen=True)
class LabelledChunks:
    """A question and chunks that were compared with it: what is selected from, or verified.

    Attributes:
        parsed: The question with its constituents.
        chunks: Best first, numbered by their places here, from 0: those kept so far, then what is new.
    """

    parsed: Parsed
    chunks: Sequence[Labelled]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {
            "question": disarmed(self.parsed.question),
            "constituents": quoted_constituents(self.parsed),
            "chunks": [quoted_chunk(chunk) for chunk in self.chunks],
        }
