"""The gate on answers: what they cite must stand word for word in its document, or it is no citation.

Quotes are cut from chunks when evidence is read; here they are compared with `documents.text` itself, which is as the
page has it (`jobs.documents.normalise`). A snapshot whose tables disagree, or a fault of ours, cites nothing false.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from quern.indexes.catalog.folder import Snapshot
from quern.schemas.answers import Answer, AnswerEvent, Citation

log = logging.getLogger(__name__)

_DROPPED: Final = "A citation was dropped: "


@dataclass(frozen=True)
class Violation:
    """A citation whose quote is not what its document has at its span."""

    position: int  # Of the answer, in the batch.
    query_id: str
    citation: Citation

    @property
    def detail(self) -> str:
        """What is wrong, in words for a reader."""
        c = self.citation
        return f"document {c.doc_id} does not have the words {c.quote[:80]!r} at its characters {c.start} to {c.end}"


def gated(answers: Sequence[Answer], snapshot: Snapshot) -> list[Answer]:
    """The answers without citations that their documents do not bear out; each of these is logged as an error.

    A sentence stays without its citation, and the answer's notes say so.
    """
    # The texts of the documents that `answers` quote.
    cited = {citation.doc_id for answer in answers for citation in answer.citations}
    told = {event.doc_id for answer in answers for event in answer.timeline}
    aligned = {hit.doc_id for answer in answers for hit in answer.alignments}
    keys = sorted(cited | told | aligned)
    rows = snapshot.table("documents").lookup("doc_id", keys, ["doc_id", "text"])
    texts = dict(zip(rows["doc_id"].to_pylist(), rows["text"].to_pylist(), strict=True))
    answers = [_with_quoted_segments(_with_quoted_events(answer, texts), texts) for answer in answers]
    violations = [
        Violation(n, answer.query_id, citation)
        for n, answer in enumerate(answers)
        for citation in answer.citations
        if not _is_quoted(citation, texts)
    ]
    for violation in violations:
        log.error("gate=quotes query_id=%s dropped=%s", violation.query_id, violation.detail)
    if not violations:
        return list(answers)
    wrong: dict[int, list[Violation]] = {}
    for violation in violations:
        wrong.setdefault(violation.position, []).append(violation)
    return [_without(answer, wrong.get(n, ())) for n, answer in enumerate(answers)]


def dropped(answer: Answer) -> int:
    """How many citations of an answer that went through the gate were dropped, by its notes."""
    return sum(note.startswith(_DROPPED) for note in answer.notes)


def _with_quoted_events(answer: Answer, texts: Mapping[str, str]) -> Answer:
    """The answer without events whose sentence is not what the document has; each of these is logged as an error."""
    kept = [event for event in answer.timeline if _is_quoted(event, texts)]
    if len(kept) == len(answer.timeline):
        return answer
    log.error("gate=events query_id=%s dropped=%d", answer.query_id, len(answer.timeline) - len(kept))
    return answer.model_copy(update={"timeline": kept if len(kept) > 1 else []})


def _with_quoted_segments(answer: Answer, texts: Mapping[str, str]) -> Answer:
    """The answer without alignments of hits that are not what the document has; each is logged as an error."""
    kept = [
        hit
        for hit, text in ((hit, texts.get(hit.doc_id, "")) for hit in answer.alignments)
        if all(0 <= s.start <= s.end <= len(text) and text[s.start : s.end] == s.quote for s in hit.segments)
    ]
    if len(kept) == len(answer.alignments):
        return answer
    log.error("gate=alignments query_id=%s dropped=%d", answer.query_id, len(answer.alignments) - len(kept))
    return answer.model_copy(update={"alignments": kept})


def _is_quoted(citation: Citation | AnswerEvent, texts: Mapping[str, str]) -> bool:
    text, start, end = texts.get(citation.doc_id, ""), citation.start, citation.end
    return 0 <= start < end <= len(text) and text[start:end] == citation.quote


def _without(answer: Answer, violations: Sequence[Violation]) -> Answer:
    """The answer with the citations that are left, numbered anew."""
    wrong = {violation.citation.number for violation in violations}
    if not wrong:
        return answer
    kept = [c for c in answer.citations if c.number not in wrong]
    numbers = {c.number: n for n, c in enumerate(kept, 1)}

    def renumbered(cited: Iterable[int]) -> list[int]:
        return [numbers[n] for n in cited if n in numbers]

    subs = answer.sub_questions
    return answer.model_copy(
        update={
            "sentences": [s.model_copy(update={"citations": renumbered(s.citations)}) for s in answer.sentences],
            "sub_questions": [s.model_copy(update={"citations": renumbered(s.citations)}) for s in subs],
            "timeline": [e.model_copy(update={"citation": numbers.get(e.citation or 0)}) for e in answer.timeline],
            "citations": [c.model_copy(update={"number": numbers[c.number]}) for c in kept],
            "notes": [*answer.notes, *(f"{_DROPPED}{v.detail}." for v in violations)],
        }
    )
