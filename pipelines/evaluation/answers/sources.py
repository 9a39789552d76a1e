"""What the citations of answers are worth: do they name the gold sources, and do their quotes stand there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quern.indexes.catalog import Snapshot
from quern.pipelines.answers.gate import dropped
from quern.schemas.answers import Answer, Citation

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True)
class Cited:
    """The citations of one answer, counted; a citation counts once for each sentence that rests on it.

    Attributes:
        sentences: Sentences of the answer.
        cited: Those with a citation.
        supported: Those with citations whose quotes and years of publication, together, hold every number of the
            sentence: `8 May 2024` may rest on `on 8 May` in a page of that year.
        citations: Citations of all sentences.
        gold: Those whose source is one that the question names.
        precise: Those of them whose sentence is supported.
        quotes: Quotes, those among them that the gate on quotes dropped.
        equal: Those that equal `documents.text` at their span.
    """

    sentences: int
    cited: int
    supported: int
    citations: int
    gold: int
    precise: int
    quotes: int
    equal: int


def cited_of(snapshot: Snapshot, answers: Sequence[Answer], accepted: Sequence[frozenset[str]]) -> list[Cited]:
    """The citations of `answers`, of which those to `accepted` documents are right."""
    ids = sorted({c.doc_id for a in answers for c in a.citations})
    rows = snapshot.table("documents").lookup("doc_id", ids, ["doc_id", "text"]).to_pylist() if ids else []
    texts = {row["doc_id"]: row["text"] for row in rows}
    return [_cited(a, right, texts) for a, right in zip(answers, accepted, strict=True)]


def _cited(answer: Answer, accepted: frozenset[str], texts: dict[str, str]) -> Cited:
    source = {c.number: c for c in answer.citations}
    cited = supported = citations = gold = precise = 0
    for sentence in answer.sentences:
        named = [source[n] for n in sentence.citations]
        holds = numbers(sentence.text) <= {n for c in named for n in _numbers_of(c)}
        right = sum(c.doc_id in accepted for c in named)
        cited += bool(named)
        supported += bool(named) and holds
        citations += len(named)
        gold += right
        precise += right if holds else 0
    equal = sum(texts.get(c.doc_id, "")[c.start : c.end] == c.quote for c in answer.citations)
    quotes = len(answer.citations) + dropped(answer)
    return Cited(len(answer.sentences), cited, supported, citations, gold, precise, quotes, equal)


def _numbers_of(citation: Citation) -> set[str]:
    day = citation.published_at
    return numbers(citation.quote) | ({str(day.year)} if day else set())


def numbers(text: str) -> set[str]:
    """The numbers in a text, written one way: `1,200` is `1200`."""
    return {n.replace(",", "") for n in _NUMBER.findall(unicodedata.normalize("NFKC", text))}
