"""Citation recall and precision (ALCE, section 4.3): does what a sentence cites entail it, and is each citation of use.

A sentence is recalled if its citations together entail it; one without citations, or with one of a document that there
is not, is not. A citation is precise if its sentence is recalled and it entails it alone, or the others do not without
it. As in ALCE's code, at most the first three citations of a sentence count, those of a sentence with a wrong number
not at all.

Answers with `[n]` in their text are sentences and what each of them cites.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from quern.jobs.reasoning.entailment.features import Encode, with_cosines
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.reasoning.entailment.task import entailment_task
from quern.jobs.tasks.runner import Reasoner
from quern.schemas.words.sentences import sentences

if TYPE_CHECKING:
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
    cited = []
    for number, answer in enumerate(answers):
        for sentence in answer.sentences:
            if sentence.citations and all(1 <= n <= len(answer.documents) for n in sentence.citations):
                passages = [answer.documents[n - 1] for n in sentence.citations[:3]]
                cited.append(_Cited(number, EntailmentInput(sentence.text, passages, answer.question)))
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


# Of a longer number there is no document, and Python reads none of more than 4,300 digits.
_NUMBERS: Final = r"\[\d{1,9}(?:\s*[,;]\s*\d{1,9})*\]"
# Each begins where its run begins, so that a long run of spaces or stops is read once.
_MARK: Final = re.compile(rf"(?<!\s)\s*{_NUMBERS}")
# A citation after the full stop, on the same line, belongs to the sentence before it.
_LATE: Final = re.compile(rf"(?<![.!?。！？])(?P<end>[.!?。！？]+[\"'”’」』)）]*)(?P<marks>(?:[^\S\n]*{_NUMBERS})+)")
_NUMBER: Final = re.compile(r"\d+")
_END_OF_TURN: Final = "<|im_end|>"  # ALCE takes this mark of a chat out of answers.


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer."""

    text: str  # Its words, without marks of citations.
    citations: tuple[int, ...]  # Numbers of the documents that it cites, counted from 1, in the order of the text.


def first_line(output: str) -> str:
    """What ALCE measures of an answer: its first line."""
    return output.replace(_END_OF_TURN, "").strip().partition("\n")[0]


def without_marks(text: str) -> str:
    """`text` without the marks of its citations."""
    return " ".join(_MARK.sub("", text).split())


def cited_sentences(output: str) -> list[CitedSentence]:
    """The sentences of an answer's first line."""
    return marked_sentences(first_line(output))


def marked_sentences(text: str) -> list[CitedSentence]:
    """The sentences of a text."""
    text = _LATE.sub(lambda late: f" {late['marks'].strip()}{late['end']} ", text)
    found = (_cited(sentence) for sentence in sentences(text))
    return [sentence for sentence in found if sentence.text or sentence.citations]


def listed(output: str) -> list[str]:
    """The items of an answer that is a list, with their marks: ALCE splits at commas, but for those within a mark."""
    line = _MARK.sub(lambda mark: "".join(f"[{n}]" for n in _NUMBER.findall(mark[0])), first_line(output))
    return [item.strip() for item in line.rstrip().rstrip(".").rstrip(",").split(",")]


def cited_items(question: str, output: str) -> list[CitedSentence]:
    """Each item of a list after the question that it answers, as ALCE asks whether it is entailed."""
    items = (_cited(item) for item in listed(output))
    return [CitedSentence(f"{question} {item.text}", item.citations) for item in items if item.text]


def _cited(text: str) -> CitedSentence:
    numbers = (int(n) for mark in _MARK.findall(text) for n in _NUMBER.findall(mark))
    return CitedSentence(without_marks(text), tuple(numbers))
