"""Citation recall and precision (ALCE, section 4.3): does what a sentence cites entail it, and is each citation of use.

A sentence is recalled if its citations together entail it; one without citations, or with one of a document that there
is not, is not. A citation is precise if its sentence is recalled and it entails it alone, or the others do not without
it. As in ALCE's code, at most the first three citations of a sentence count, those of a sentence with a wrong number
not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from quern.jobs.reasoning.entailment.features import Encode, with_cosines
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.reasoning.entailment.task import entailment_task
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.evaluation.alce.records import AlceRecord

Entails = Callable[[Sequence[EntailmentInput]], list[bool]]


def entails_by(reasoner: Reasoner, encode: Encode | None = None) -> Entails:
    """Verdicts of the task of entailment, with cosines where there is an embedder."""

    def entails(inputs: Sequence[EntailmentInput]) -> list[bool]:
        given = with_cosines(inputs, encode) if encode else inputs
        return [done.output.entailed for done in reasoner.run(entailment_task(), given)]

    return entails


@dataclass(frozen=True)
class CitationCounts:
    """The citations of an answer, counted."""

    sentences: int = 0  # Of the answer.
    recalled: int = 0  # Sentences that are entailed by their citations together.
    citations: int = 0  # Of sentences whose citations all exist.
    precise: int = 0  # Citations that are of use.

    @property
    def recall(self) -> float:
        """Share of the sentences that are recalled; NaN where there is no sentence."""
        return self.recalled / self.sentences if self.sentences else float("nan")

    @property
    def precision(self) -> float:
        """Share of the citations that are precise, 0 where nothing is cited; NaN where there is no sentence."""
        if not self.sentences:
            return float("nan")
        return self.precise / self.citations if self.citations else 0.0


@dataclass(frozen=True)
class _Cited:
    """A sentence with citations that all exist: the answer's place, what is to be entailed, by which documents."""

    answer: int
    given: EntailmentInput

    def by(self, passages: Sequence[Passage]) -> EntailmentInput:
        return replace(self.given, passages=passages)


def citation_counts(answers: Sequence[AlceRecord], entails: Entails) -> list[CitationCounts]:
    """The counts of each answer; all sentences are judged together, in three rounds."""
    cited = [one for n, answer in enumerate(answers) for one in _citing(n, answer)]
    held = [one for one, is_so in zip(cited, entails([c.given for c in cited]), strict=True) if is_so]
    several = [(one, n) for one in held if len(one.given.passages) > 1 for n in range(len(one.given.passages))]
    alone = entails([one.by([one.given.passages[n]]) for one, n in several])
    doubtful = [pair for pair, is_so in zip(several, alone, strict=True) if not is_so]
    spared = entails([one.by([p for m, p in enumerate(one.given.passages) if m != n]) for one, n in doubtful])
    recalled = Counter(one.answer for one in held)
    named, precise = Counter[int](), Counter[int]()
    for one in cited:
        named[one.answer] += len(one.given.passages)
    for one in held:
        precise[one.answer] += len(one.given.passages)
    precise.subtract(one.answer for (one, _), is_so in zip(doubtful, spared, strict=True) if is_so)
    return [CitationCounts(len(a.sentences), recalled[n], named[n], precise[n]) for n, a in enumerate(answers)]


def _citing(number: int, answer: AlceRecord) -> list[_Cited]:
    last = len(answer.documents)
    return [
        _Cited(number, EntailmentInput(s.text, [answer.documents[n - 1] for n in named], answer.question))
        for s in answer.sentences
        if s.citations and all(1 <= n <= last for n in s.citations)
        for named in [s.citations[:3]]
    ]
