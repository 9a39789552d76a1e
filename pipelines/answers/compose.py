"""How an answer is composed: the sentences that were chosen, each with the citation that it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from quern.jobs.reasoning.answer import AnswerInput, AnswerSentences
from quern.jobs.reasoning.runner import Done
from quern.schemas.answers import Answer, Citation, Hit, PathNode, Question, Sentence


def composed(
    question: Question,
    given: AnswerInput,
    chosen: Done[AnswerSentences],
    hits: Sequence[Hit],
    path: Sequence[PathNode],
    recipe: str,
) -> Answer:
    """The answer to `question`.

    Args:
        question: What was asked.
        given: The evidence that it was answered from.
        chosen: Which of its sentences answer.
        hits: The chunks of the evidence, in its order.
        path: Nodes that led to them.
        recipe: Name of the recipe that found them.
    """
    spans = [given.sentences[number - 1] for number in chosen.output.sentences]
    citations = [_citation(n, hits[at], start, end) for n, (at, start, end) in enumerate(spans, 1)]
    return Answer(
        query_id=question.query_id,
        question=question.question,
        sentences=[Sentence(text=" ".join(c.quote.split()), citations=[c.number]) for c in citations],
        score=given.strength,
        by=chosen.by,
        recipe=recipe,
        citations=citations,
        hits=list(hits),
        path=list(path),
    )


def _citation(number: int, hit: Hit, start: int, end: int) -> Citation:
    """A citation of the characters `start` to `end` of a hit's text."""
    source = {name: getattr(hit, name) for name in ("doc_id", "chunk_id", "url", "title", "published_at")}
    return Citation(number=number, start=hit.start + start, end=hit.start + end, quote=hit.text[start:end], **source)
