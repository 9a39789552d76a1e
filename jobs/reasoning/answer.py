"""Answering a question from its evidence: which sentences answer it, and whether any does.

The rule scores every sentence of the evidence by what it shares with the question. Two signals are averaged:
the cosine of the question with the best synthetic query that quotes the sentence (the mean over the chunk's
queries where none does), and the share of the question's words that the sentence, its speaker and its document's
title hold, each word weighted by its rarity in the evidence; words that only the rest of the chunk holds count in
part. A sentence that asks is worth less than one that says, and so is evidence without a number of the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial

import snowballstemmer
from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.task import Task
from quern.schemas.settings import AnswerSettings
from quern.schemas.words.sentences import sentence_spans
from quern.schemas.words.terms import search_terms


@dataclass(frozen=True)
class Evidence:
    """A chunk that was found for a question.

    Attributes:
        text: The chunk.
        title: Title of its document.
        quotes: Texts of its nodes, `question answer`.
        similarities: Cosine of each with the user's question.
        published_at: Publication time of its document, if known.
    """

    text: str
    title: str | None
    quotes: Sequence[str]
    similarities: Sequence[float]
    published_at: datetime | None = None


@dataclass(frozen=True)
class AnswerInput:
    """A question and its evidence, best first."""

    question: str
    evidence: Sequence[Evidence]


class Cited(BaseModel):
    """One sentence of the answer: the characters `start` to `end` of the text of evidence number `evidence`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evidence: int = Field(ge=0, description="Position of the evidence, counted from 0.")
    start: int = Field(ge=0, description="First character in the evidence's text.")
    end: int = Field(ge=1, description="One past the last character.")
    score: float = Field(ge=0, le=1, description="How well it answers, 0 to 1.")


class CitedAnswer(BaseModel):
    """The sentences that answer, in the order in which they should be read; none where the evidence is too weak."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    score: float = Field(ge=0, le=1, description="Strength of the best evidence, 0 to 1.")
    sentences: list[Cited]


PROMPT = """\
Answer the question from the numbered evidence alone.

Question: {{ question }}
{% for e in evidence %}
Evidence {{ loop.index0 }}{% if e.title %} ({{ e.title }}){% endif %}:
<evidence>
{{ e.text }}
</evidence>
{% endfor %}
Choose the fewest sentences that answer it completely; give for each the number of the evidence and its first and
last character there, and how well it answers from 0 to 1. Give no sentence at all where the evidence does not say.
"""

# Words that say what kind of answer is wanted, or bind others: a sentence need not repeat them.
_ASKING = frozenset(
    "a an and are as at be been by can could did do does for from had has have how if in into is it its many much "
    "of on or s that the their them then there these they this to was were what when where which who whom whose why "
    "will with would you your about after before during between".split()
)
_ALIKE = 0.7  # Jaccard similarity of words from which two sentences say the same.
_NEAR_BEST = 0.8  # Share of the best score that a further sentence must reach.
_LEAST_WORDS = 3
_AROUND = 0.4  # What a word of the question counts that only the text around the sentence holds.
_ASKS = 0.85  # What a question among the evidence is worth against a statement.
_OTHER_NUMBER = 0.7  # What evidence is worth that lacks a number of the question, such as its year.
_NUMBER = re.compile(r"\d{2,}")
_SPEAKER = re.compile(r"[ \t]*([^\n:：]{1,40})[:：]\s")


@dataclass(frozen=True)
class _Sentence:
    evidence: int
    start: int
    end: int
    words: frozenset[str]
    similarity: float
    worth: float


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(snowballstemmer.stemmer("english").stemWord(word))


def content_words(text: str) -> frozenset[str]:
    """Stems of the words of `text` that carry content."""
    return frozenset(_stem(w) for w in search_terms(text).split() if w not in _ASKING)


def _sentences(position: int, evidence: Evidence) -> list[_Sentence]:
    title = content_words(evidence.title or "")
    quotes = [" ".join(q.split()) for q in evidence.quotes]
    usual = sum(evidence.similarities) / len(evidence.similarities) if evidence.similarities else 0.0
    found = []
    for start, end in sentence_spans(evidence.text):
        sentence = evidence.text[start:end]
        words = content_words(sentence)
        if len(words) < _LEAST_WORDS and len(sentence) < 12:
            continue
        plain = " ".join(sentence.split())
        worth = _ASKS if plain.rstrip("\"'”’)").endswith(("?", "？")) else 1.0
        similarity = max((s for q, s in zip(quotes, evidence.similarities, strict=True) if plain in q), default=usual)
        known = words | title | _speaker(evidence.text, start)
        found.append(_Sentence(position, start, end, known, max(0.0, similarity), worth))
    return found


def _speaker(text: str, start: int) -> frozenset[str]:
    """Words of the name before the colon that opens the line of the character `start`, if one does."""
    match = _SPEAKER.match(text, text.rfind("\n", 0, start) + 1)
    return content_words(match[1]) if match else frozenset()


def _scores(question: str, sentences: Sequence[_Sentence]) -> list[float]:
    wanted = content_words(question)
    if not wanted:
        return [s.worth * s.similarity for s in sentences]
    seen = Counter(w for s in sentences for w in s.words & wanted)
    weight = {w: math.log(1.0 + len(sentences) / (0.5 + seen[w])) for w in wanted}
    total = sum(weight.values())
    around: dict[int, frozenset[str]] = {}
    for s in sentences:
        around[s.evidence] = around.get(s.evidence, frozenset()) | (s.words & wanted)
    scores = []
    for s in sentences:
        own = s.words & wanted
        partly = sum(weight[w] for w in around[s.evidence] - own)
        share = (sum(weight[w] for w in own) + _AROUND * partly) / total
        scores.append(s.worth * (0.5 * s.similarity + 0.5 * share))
    return scores


def _trust(question: str, evidence: Evidence) -> float:
    """1, or less where the evidence has not every number of the question: it speaks of another year or number."""
    date = evidence.published_at.strftime(" %Y %m %d") if evidence.published_at else ""
    known = set(_NUMBER.findall(f"{evidence.title or ''} {evidence.text}{date}"))
    return 1.0 if set(_NUMBER.findall(question)) <= known else _OTHER_NUMBER


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * max(1, len(one | other))


def _apply_rule(settings: AnswerSettings, task: AnswerInput) -> CitedAnswer:
    sentences = [s for n, e in enumerate(task.evidence) for s in _sentences(n, e)]
    trust = [_trust(task.question, e) for e in task.evidence]
    scores = [score * trust[s.evidence] for s, score in zip(sentences, _scores(task.question, sentences), strict=True)]
    ranked = sorted(range(len(sentences)), key=lambda i: (-scores[i], sentences[i].evidence, sentences[i].start))
    best = min(1.0, scores[ranked[0]]) if ranked else 0.0
    if best < settings.min_score:
        return CitedAnswer(score=best, sentences=[])
    chosen: list[int] = []
    for i in ranked:
        if len(chosen) == settings.sentences or scores[i] < _NEAR_BEST * best:
            break
        if not any(_alike(sentences[i].words, sentences[j].words) for j in chosen):
            chosen.append(i)
    cited = [_cite(sentences[i], scores[i]) for i in chosen]
    return CitedAnswer(score=best, sentences=cited)


def _cite(sentence: _Sentence, score: float) -> Cited:
    return Cited(evidence=sentence.evidence, start=sentence.start, end=sentence.end, score=min(1.0, score))


def answer_task(settings: AnswerSettings) -> Task[AnswerInput, CitedAnswer]:
    """The task of answering under `settings`."""
    return Task("answer", 1, PROMPT, CitedAnswer, partial(_apply_rule, settings))
