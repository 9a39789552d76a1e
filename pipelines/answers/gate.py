"""The gate on answers: what they cite must stand word for word in its document, or it is no citation.

Quotes are cut from chunks when evidence is read; here they are compared with `documents.text` itself, which is as the
page has it (`jobs.documents.normalise`). A snapshot whose tables disagree, or a fault of ours, cites nothing false.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quern.indexes.catalog.folder import Snapshot
from quern.schemas.answers import AlignedSegment, Answer, AnswerEvent, Citation

log = logging.getLogger(__name__)

_DROPPED: Final = "A citation was dropped: "


def gated(answers: Sequence[Answer], snapshot: Snapshot) -> list[Answer]:
    """The answers without citations that their documents do not bear out; each of these is logged as an error.

    A sentence stays without its citation, and the answer's notes say so. Events and alignments whose words are not
    what the document has are left out, and counted in the log.
    """
    # The texts of the documents that `answers` quote.
    keys = {citation.doc_id for answer in answers for citation in answer.citations}
    keys |= {event.doc_id for answer in answers for event in answer.timeline}
    keys |= {hit.doc_id for answer in answers for hit in answer.alignments}
    rows = snapshot.table("documents").lookup("doc_id", sorted(keys), ["doc_id", "text"])
    texts = dict(zip(rows["doc_id"].to_pylist(), rows["text"].to_pylist(), strict=True))
    return [_gated(answer, texts) for answer in answers]


def dropped(answer: Answer) -> int:
    """How many citations of an answer that went through the gate were dropped, by its notes."""
    return sum(note.startswith(_DROPPED) for note in answer.notes)


def _is_quoted(quote: Citation | AnswerEvent | AlignedSegment, text: str, least: int = 1) -> bool:
    """Whether a text has a quote, of `least` characters or more, at its span."""
    spans = 0 <= quote.start <= quote.end - least <= quote.end <= len(text)
    return spans and text[quote.start : quote.end] == quote.quote


def _gated(answer: Answer, texts: Mapping[str, str]) -> Answer:
    """The answer with what its documents have, its citations numbered anew."""
    events = [event for event in answer.timeline if _is_quoted(event, texts.get(event.doc_id, ""))]
    if len(events) < len(answer.timeline):
        log.error("gate=events query_id=%s dropped=%d", answer.query_id, len(answer.timeline) - len(events))
        answer = answer.model_copy(update={"timeline": events if len(events) > 1 else []})
    # A match of the title has no characters.
    hits = [h for h in answer.alignments if all(_is_quoted(s, texts.get(h.doc_id, ""), 0) for s in h.segments)]
    if len(hits) < len(answer.alignments):
        log.error("gate=alignments query_id=%s dropped=%d", answer.query_id, len(answer.alignments) - len(hits))
        answer = answer.model_copy(update={"alignments": hits})
    citations, notes = [], list(answer.notes)
    for c in answer.citations:
        if _is_quoted(c, texts.get(c.doc_id, "")):
            citations.append(c)
            continue
        detail = f"document {c.doc_id} does not have the words {c.quote[:80]!r} at its characters {c.start} to {c.end}"
        log.error("gate=quotes query_id=%s dropped=%s", answer.query_id, detail)
        notes.append(f"{_DROPPED}{detail}.")
    if len(citations) == len(answer.citations):
        return answer
    numbers = {c.number: n for n, c in enumerate(citations, 1)}

    def renumbered(cited: Iterable[int]) -> list[int]:
        return [numbers[n] for n in cited if n in numbers]

    subs = answer.sub_questions
    return answer.model_copy(
        update={
            "sentences": [s.model_copy(update={"citations": renumbered(s.citations)}) for s in answer.sentences],
            "sub_questions": [s.model_copy(update={"citations": renumbered(s.citations)}) for s in subs],
            "timeline": [e.model_copy(update={"citation": numbers.get(e.citation or 0)}) for e in answer.timeline],
            "citations": [c.model_copy(update={"number": numbers[c.number]}) for c in citations],
            "notes": notes,
        }
    )
