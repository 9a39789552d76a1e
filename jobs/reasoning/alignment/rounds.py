"""The tasks of GGatrieval's search rounds: select chunks, verify that they answer, compensate for what is missing.

A rule stands in for each. It selects by relevance and by what a chunk matches of the question beside those chosen
before it, verifies where one chunk matches every constituent, and asks again with the chunk's own sentences. Only a
model replaces missing constituents by other words and writes the passage that would match them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pydantic import Field

from quern.jobs.reasoning.alignment.constituents import Parsed
from quern.jobs.reasoning.alignment.task import Alignment
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.tasks.prompts import disarmed, quoted
from quern.jobs.tasks.task import Checked, OutputModel, Problem, Task
from quern.schemas.settings import GGatrievalSettings

_LONGEST: Final = 600  # Characters of a query's passage: what the default model reads beside a question.


@dataclass(frozen=True)
class Labelled:
    """A chunk that was aligned with a question."""

    evidence: Evidence  # The chunk.
    alignment: Alignment  # What of the question it matches.
    place: int  # Its place by relevance among all that was found for the question, from 0.

    @cached_property
    def matched(self) -> frozenset[int]:
        """The constituents that it matches."""
        return frozenset(m.constituent for m in self.alignment.matches)

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt, with the numbers of the constituents that it matches."""
        return {
            "title": quoted(self.evidence.title or "", 300),
            "text": disarmed(self.evidence.text[: 2 * _LONGEST]),
            "matched": sorted(self.matched),
        }


def _quoted_constituents(parsed: Parsed) -> list[tuple[int, str]]:
    return [(n, disarmed(c.text)) for n, c in enumerate(parsed.constituents)]


@dataclass(frozen=True)
class LabelledChunks:
    """A question and chunks that were aligned with it: what is selected from, or verified."""

    parsed: Parsed  # The question with its constituents.
    # Best first, numbered by their places here, from 0: those kept so far, then what is new.
    chunks: Sequence[Labelled]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {
            "question": disarmed(self.parsed.question),
            "constituents": _quoted_constituents(self.parsed),
            "chunks": [chunk.quoted for chunk in self.chunks],
        }


class Selection(OutputModel):
    """The numbers of the chunks that are kept, best first."""

    kept: list[int] = Field(description="Numbers of the passages that are kept, best first.")


_SELECT: Final = """\
Which passages together answer a question best?

Question: {{ question }}

Its parts:
{% for n, text in constituents %}{{ n }}. {{ text }}
{% endfor %}
{% for c in chunks %}<passage number="{{ loop.index0 }}" title="{{ c.title }}" parts="{{ c.matched | join(', ') }}">
{{ c.text }}
</passage>
{% endfor %}
Choose at most {{ keep }}, best first: those that match most parts of the question in one place, and of these the ones
that answer it. Leave out a passage that only repeats another.

Return JSON: {"kept": [number, ...]}
"""


def select_task(settings: GGatrievalSettings) -> Task[LabelledChunks, Selection]:
    """Progressive selection: of the chunks kept so far and a window of further ones, the best `keep`."""
    keep = settings.keep

    def rule(given: LabelledChunks) -> Selection:
        """The chunks that are worth most, each beside those chosen before it."""
        chunks, count = given.chunks, max(1, len(given.parsed.constituents))
        left, covered = list(range(len(chunks))), frozenset[int]()
        best: list[int] = []
        while left and len(best) < keep:
            # What the share of constituents that a chunk alone matches is worth beside its place by relevance, -ln(2 +
            # place). Chosen on the sample corpus and musique_train100, in the middle of where no question of them loses
            # a document (1 to 1.5); of lihua_world's 571 questions one loses one of its documents from 1.25 on, of
            # cmrc2018's none.
            worth = {n: 1.25 * len(chunks[n].matched - covered) / count - math.log(2 + chunks[n].place) for n in left}
            chosen = max(left, key=lambda n: (worth[n], -chunks[n].place))
            best.append(chosen)
            left.remove(chosen)
            covered |= chunks[chosen].matched
        return Selection(kept=best)

    def check(given: LabelledChunks, output: Selection) -> Checked[Selection]:
        numbers = [n for n in dict.fromkeys(output.kept) if 0 <= n < len(given.chunks)]
        problems = () if len(numbers) == len(output.kept) else (Problem("unknown_passage", "a number is no passage's"),)
        return Checked(Selection(kept=numbers[:keep]) if numbers else None, problems)

    return Task(
        "select", 2, _SELECT, Selection, rule, check, enough=lambda said: bool(said.kept), constants={"keep": keep}
    )


class Verification(OutputModel):
    """Whether chunks answer a question, and the numbers of the constituents that none of them matches."""

    answers: bool = Field(description="Whether the passages, together, answer the question.")
    missing: list[int] = Field(default=[], description="Numbers of the parts that no passage says anything of.")


_VERIFY: Final = """\
Do these passages answer the question?

Question: {{ question }}

Its parts:
{% for n, text in constituents %}{{ n }}. {{ text }}
{% endfor %}
{% for c in chunks %}<passage title="{{ c.title }}">
{{ c.text }}
</passage>
{% endfor %}
They answer it only if what is asked is stated there, of the very persons, things and times that the question names.

Return JSON: {"answers": true or false, "missing": [number of a part that no passage says anything of, ...]}
"""


def verify_task() -> Task[LabelledChunks, Verification]:
    """Verification: whether the chunks that were selected answer the question."""

    def rule(given: LabelledChunks) -> Verification:
        matched = frozenset[int]().union(*(c.matched for c in given.chunks))
        missing = [n for n in range(len(given.parsed.constituents)) if n not in matched]
        return Verification(answers=any(c.alignment.label == "full" for c in given.chunks), missing=missing)

    def check(given: LabelledChunks, output: Verification) -> Checked[Verification]:
        """A model's verdict without numbers that are no part's; of no chunk at all only the rule judges."""
        if not given.chunks:
            return Checked(rule(given))
        numbers = [n for n in dict.fromkeys(output.missing) if 0 <= n < len(given.parsed.constituents)]
        problems = () if len(numbers) == len(output.missing) else (Problem("unknown_part", "a number is no part's"),)
        return Checked(output.model_copy(update={"missing": numbers}), problems)

    return Task("verify", 2, _VERIFY, Verification, rule, check, enough=lambda _: True)


@dataclass(frozen=True)
class CompensateInput:
    """A question, and a chunk that does not match all of it."""

    parsed: Parsed
    chunk: Labelled

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        constituents = _quoted_constituents(self.parsed)
        return {
            "question": disarmed(self.parsed.question),
            "constituents": constituents,
            "missing": [text for n, text in constituents if n not in self.chunk.matched],
            "chunk": self.chunk.quoted,
            "share": self.chunk.alignment.share,
        }


class Compensation(OutputModel):
    """A further query: a question, and a passage that is looked for with it."""

    question: str = Field(description="The question, what is missing said in other words.", max_length=_LONGEST)
    passage: str = Field(description="A passage that would answer it.", max_length=4 * _LONGEST)

    @property
    def query(self) -> str:
        """What is looked for."""
        return f"{self.question} {self.passage}".strip()


_COMPENSATE: Final = """\
A search for evidence found a passage that answers a question only in part. Write what to search for next.

Question: {{ question }}

Its parts:
{% for n, text in constituents %}{{ n }}. {{ text }}
{% endfor %}
<passage title="{{ chunk.title }}">
{{ chunk.text }}
</passage>
Of the parts it says nothing of: {{ missing | join("; ") }}.

question: the question with each missing part replaced by a description that means the same.
passage: {% if share >= similar %}the sentences of the passage that belong to the question{% else %}a short passage \
in which every part of that question has a match, and which answers it{% endif %}.

Return JSON: {"question": "...", "passage": "..."}
"""


def compensate_task(settings: GGatrievalSettings) -> Task[CompensateInput, Compensation]:
    """Compensation (SCQA): `Q + D` where the chunk D matches a share tau of Q, else Q' with a passage that matches it.

    Q' has synonymous descriptions for what D lacks. The rule writes none: then it asks nothing new.
    """
    similar = settings.similar

    def rule(given: CompensateInput) -> Compensation:
        alignment, text = given.chunk.alignment, given.chunk.evidence.text
        start, end = alignment.window or (0, len(text))
        own = " ".join(text[start:end].split())[:_LONGEST] if alignment.share >= similar else ""
        return Compensation(question=given.parsed.question[:_LONGEST], passage=own)

    def check(_: CompensateInput, output: Compensation) -> Checked[Compensation]:
        blank = not output.question.strip()
        return Checked(None, (Problem("blank", "the question is blank"),)) if blank else Checked(output)

    return Task("compensate", 2, _COMPENSATE, Compensation, rule, check, constants={"similar": similar})
