"""Statements with texts that are known to entail them, or not: what entailment is fitted to and measured on.

Experts' verdicts are few and lean to "supported"; so that a model learns what no expert's claim shows, statements that
are supported are set beside the texts nearest to them that speak of something else, and are made false: another number,
another name, a denial put in or taken out.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quern.jobs.reasoning.entailment.features import denies
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage, is_fragment
from quern.jobs.text.stems import content_words
from quern.schemas.words.sentences import sentences

_NUMBER = re.compile(r"(?<![\w.,-])\d{1,4}(?:\.\d+)?(?![\w,-]|\.\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}(?: [A-Z][a-z]+)*")
_VERB = re.compile(r"\b(is|are|was|were|can|could|will|would|should|has|have|had|does|did|must)\b(?! not)")
_NOT = re.compile(r"\b(is|are|was|were|can|could|will|would|should|does|did|must) not\b")


@dataclass(frozen=True)
class Claim:
    """A statement with texts."""

    set: str  # The set that it is of.
    # `judged` by people, or how the pair was made: `other text`, `number`, `name`, `denial`; `unread` where only the
    # address of its text is known, `bare` where it has none.
    kind: str
    group: str  # Claims of one question stay together when claims are held out.
    given: EntailmentInput
    entailed: bool  # Whether the texts entail it.


def expert_claims(folder: Path) -> Iterator[Claim]:
    """ExpertQA: `Complete` against `Incomplete` and `Missing`; the other verdicts say neither."""
    for row in _rows(folder / "expertqa_claims" / "claims.jsonl"):
        if row["support"] not in ("Complete", "Incomplete", "Missing"):
            continue
        passages = [Passage.read(e) for e in dict.fromkeys(row["evidence"])]
        given = EntailmentInput(row["claim"], passages, row["question"])
        kind = "judged" if given.read else "unread" if passages else "bare"
        yield Claim("expertqa", kind, row["question"], given, row["support"] == "Complete")


def clapnq_claims(folder: Path) -> Iterator[Claim]:
    """Sentences of people's answers with the passage that they were written from."""
    for row in _rows(folder / "clapnq" / "answerable.jsonl"):
        (passage,) = row["passages"]
        for sentence in sentences(row["output"][0]["answer"]):
            if not is_fragment(sentence):
                text = Passage(passage["text"], passage["title"])
                yield Claim("clapnq", "judged", row["id"], EntailmentInput(sentence, [text], row["input"]), True)


def made_false(claims: Sequence[Claim]) -> Iterator[Claim]:
    """What is supported, with the nearest text of another question, and made false in each way that it can be."""
    true = [c for c in claims if c.entailed and c.kind == "judged"]
    chance = random.Random(0)
    texts = [
        (c.group, c.given.passages, frozenset().union(*(content_words(p.text) for p in c.given.read))) for c in true
    ]
    names = sorted({name for c in true for name in _NAME.findall(c.given.plain)})
    changes: dict[str, Callable[[str], str]] = {
        "number": lambda said: _NUMBER.sub(lambda m: _other_number(m[0], chance), said, count=1),
        "name": lambda said: _NAME.sub(lambda m: chance.choice(names), said, count=1),
        "denial": _denied,
    }
    for claim in true:
        words = content_words(claim.given.plain)
        others = [t for t in texts if t[0] != claim.group]
        nearest = max(others, key=lambda t, w=words: len(w & t[2]))
        yield replace(claim, kind="other text", given=replace(claim.given, passages=nearest[1]), entailed=False)
        for kind, change in changes.items():
            if (said := change(claim.given.plain)) != claim.given.plain:
                yield replace(claim, kind=kind, given=replace(claim.given, statement=said), entailed=False)


def _other_number(text: str, chance: random.Random) -> str:
    value = float(text)
    if value.is_integer():
        return str(int(value) + chance.choice([1, 2, 3, 7, 11]))
    return f"{value * chance.choice([0.5, 1.5, 2.0]):g}"


def _denied(said: str) -> str:
    if denies(said):
        return _NOT.sub(r"\1", said, count=1)
    return _VERB.sub(r"\1 not", said, count=1)


def _rows(file: Path) -> list[dict]:
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
