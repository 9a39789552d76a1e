"""What judges are given: an answer with its question, the gold answer where there is one, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Final

from quern.jobs.reasoning.entailment.inputs import Passage
from quern.jobs.tasks.prompts import quoted
from quern.schemas.answers import Answer

_LONGEST: Final = {"question": 1_000, "answer": 6_000, "gold": 3_000, "passage": 1_200}  # Characters in a prompt.


@dataclass(frozen=True)
class Statement:
    """A sentence of an answer."""

    text: str  # Its words, without marks of citation.
    cites: Sequence[int] = ()  # Places, from 0, of the passages that it names as its sources.

    @property
    def cited(self) -> str:
        """Its words with `[n]` for the passages, counted from 1."""
        return f"{self.text} {''.join(f'[{at + 1}]' for at in self.cites)}".rstrip()


@dataclass(frozen=True)
class JudgeInput:
    """An answer to be judged."""

    question: str
    statements: Sequence[Statement]  # None where the question was refused.
    gold: Sequence[str] | None = None  # With aliases; None where none is known, empty where there is no answer.
    evidence: Sequence[Passage] = ()  # What it was made from, as far as that is known.
    as_of: date | None = None  # The day on which it was asked, where that is known.

    @cached_property
    def answer(self) -> str:
        """The sentences as a text."""
        return " ".join(s.text for s in self.statements)

    @property
    def identity(self) -> Mapping[str, object]:
        """What a judgement of it is remembered under."""
        return {
            "question": self.question,
            "statements": [[s.text, list(s.cites)] for s in self.statements],
            "gold": None if self.gold is None else list(self.gold),
            "evidence": [[p.text, p.title, str(p.published_at)] for p in self.evidence],
            "as_of": str(self.as_of),
        }

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt, in which no text can end its own quotation."""
        return {
            "question": cut(self.question, "question"),
            "answer": cut(self.answer, "answer") or "(no answer was given)",
            "cited": cut(" ".join(s.cited for s in self.statements), "answer") or "(no answer was given)",
            "gold": None if self.gold is None else [cut(g, "gold") for g in self.gold],
            "evidence": [
                {
                    "title": cut(p.title, "question"),
                    "day": p.published_at.date().isoformat() if p.published_at else None,
                    "text": cut(p.text, "passage"),
                }
                for p in self.evidence[:8]
            ],
            "as_of": self.as_of.isoformat() if self.as_of else None,
        }


@dataclass(frozen=True)
class PairInput:
    """Two answers to one question, of which one may be the better."""

    first: JudgeInput
    second: JudgeInput

    @property
    def identity(self) -> Mapping[str, object]:
        """What a judgement of the two, in this order, is remembered under."""
        return {"first": self.first.identity, "second": self.second.identity}

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        first = self.first.quoted
        answers = {"first": first["answer"], "second": self.second.quoted["answer"]}
        return {"question": first["question"], "gold": first["gold"], **answers}


def cut(text: str, kind: str) -> str:
    """`text` on one line, no longer than its kind may be in a prompt."""
    return quoted(text, _LONGEST[kind])


def judge_input(answer: Answer) -> JudgeInput:
    """What a judge is shown of an answer: its sentences with their citations, hits as evidence, the gold answer."""
    evidence = [Passage(h.text, h.title or "", h.published_at) for h in answer.hits]
    place = {hit.chunk_id: at for at, hit in enumerate(answer.hits)}
    cites: dict[int, int] = {}
    for citation in answer.citations:
        if citation.chunk_id not in place:
            place[citation.chunk_id] = len(evidence)
            evidence.append(Passage(citation.quote, citation.title or "", citation.published_at))
        cites[citation.number] = place[citation.chunk_id]
    statements = [
        Statement(s.text, list(dict.fromkeys(cites[n] for n in s.citations if n in cites))) for s in answer.sentences
    ]
    unanswerable = (answer.type or "").lower() == "null"
    gold = () if unanswerable else None if answer.expected is None else golds([answer.expected])
    return JudgeInput(answer.question, statements, gold, evidence, answer.as_of)


def golds(texts: Sequence[str]) -> tuple[str, ...]:
    """Gold answers, each once; none where there is only a blank one, as of a question without an answer."""
    return tuple(dict.fromkeys(text for text in texts if text.strip()))
