"""How an answer is composed: its sentences, each with the citations that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.task import Alignment
from quern.jobs.reasoning.answering.course import ToldEvent
from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.schemas.answers import (
    AlignedHit,
    AlignedSegment,
    AnswerEvent,
    Citation,
    Hit,
    QuestionPart,
    Sentence,
    SubAnswer,
)


class Citations:
    """The citations of one answer: a sentence of the evidence gets its number when it is first cited."""

    def __init__(self, given: AnswerInput, hits: Sequence[Hit]) -> None:
        """`hits` are the chunks of the evidence of `given`, in its order."""
        self._given, self._hits = given, hits
        self._numbers: dict[int, int] = {}

    def numbers(self, sentences: Iterable[int]) -> list[int]:
        """The numbers of the citations of these sentences of the evidence."""
        return [self._numbers.setdefault(n, len(self._numbers) + 1) for n in dict.fromkeys(sentences)]

    def number(self, sentence: int) -> int | None:
        """The number of the citation of a sentence of the evidence, if it is cited."""
        return self._numbers.get(sentence)

    def all(self) -> list[Citation]:
        """The citations in the order of their numbers."""
        citations = []
        for sentence, number in self._numbers.items():
            at, start, end = self._given.sentences[sentence - 1]
            hit = self._hits[at]
            source = {name: getattr(hit, name) for name in ("doc_id", "chunk_id", "url", "title", "published_at")}
            citations.append(
                Citation(
                    number=number,
                    start=hit.start + start,
                    end=hit.start + end,
                    quote=hit.text[start:end],
                    page=hit.page_at(hit.start + start),
                    **source,
                )
            )
        return citations


def sentences_of(draft: Draft, citations: Citations) -> list[Sentence]:
    """The sentences of an answer with the numbers of their citations."""
    return [Sentence(text=" ".join(s.text.split()), citations=citations.numbers(s.rests_on)) for s in draft.sentences]


def sub_answers(
    before: Sequence[AskedBefore], parents: Sequence[Sequence[int]], citations: Citations
) -> list[SubAnswer]:
    """The sub-questions of an answer, with the numbers of their parents."""
    return [
        SubAnswer(
            number=number,
            parents=[*of],
            question=b.question,
            answer=b.answer or None,
            citations=citations.numbers(b.rests_on),
        )
        for number, (b, of) in enumerate(zip(before, parents, strict=True), 1)
    ]


def timeline_of(events: Sequence[ToldEvent], citations: Citations, hits: Sequence[Hit]) -> list[AnswerEvent]:
    """The events of an answer with what leads to their reports; `hits` are the chunks of the evidence, in its order."""
    names = ("event_id", "timex", "from_day", "to_day", "precision", "date_from", "expected", "title")
    return [
        AnswerEvent(
            **{name: getattr(event, name) for name in names},
            doc_id=hit.doc_id,
            chunk_id=hit.chunk_id,
            start=hit.start + event.start,
            end=hit.start + event.end,
            quote=hit.text[event.start : event.end],
            rank=hit.rank,
            citation=citations.number(told.number),
        )
        for told, event, hit in ((told, told.event, hits[told.evidence]) for told in events)
    ]


def question_parts(question: str) -> list[QuestionPart]:
    """The constituents of a question as its answer shows them."""
    return [
        QuestionPart(number=n, text=c.text, start=c.start, end=c.end)
        for n, c in enumerate(parsed(question).constituents, 1)
    ]


def aligned_hit(alignment: Alignment, hit: Hit) -> AlignedHit:
    """What of the question a hit matches, by the characters of its document."""
    segments = [
        AlignedSegment(
            part=m.constituent + 1,
            start=hit.start + m.start,
            end=hit.start + m.end,
            quote=hit.text[m.start : m.end],
            how=m.how,
        )
        for m in alignment.matches
    ]
    return AlignedHit(
        rank=hit.rank,
        chunk_id=hit.chunk_id,
        doc_id=hit.doc_id,
        label=alignment.label,
        share=alignment.share,
        segments=segments,
    )
