"""Ranking the sentences of the evidence by how well they answer a question.

Two signals are averaged: the cosine of the question with the best synthetic query that quotes the sentence (the mean
over the chunk's queries where none does), and the share of the question's words that the sentence, its speaker and its
document's title hold, each word weighted by its rarity in the evidence; words that only the rest of the chunk holds
count in part. A sentence that asks is worth less than one that says, and so is evidence without a number of the
question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.terms import search_terms


class Scored(NamedTuple):
    """A sentence by its number, the words that it is known by, and how well it answers by the rule's two signals."""

    number: int
    words: frozenset[str]
    score: float


# Words that say what kind of answer is wanted, or bind others: a sentence need not repeat them.
_ASKING = frozenset(
    "a an and are as at be been by can could did do does for from had has have how if in into is it its many much "
    "of on or s that the their them then there these they this to was were what when where which who whom whose why "
    "will with would you your about after before during between".split()
)
_ALIKE = 0.7  # Jaccard similarity of words from which two sentences say the same.
# A sentence with fewer words of content and characters than these says nothing on its own.
_LEAST_WORDS = 3
_LEAST_CHARACTERS = 12
_AROUND = 0.4  # What a word of the question counts that only the text around the sentence holds.
_ASKS = 0.85  # What a question among the evidence is worth against a statement.
_OTHER_NUMBER = 0.7  # What evidence is worth that lacks a number of the question, such as its year.
_NUMBER = re.compile(r"\d{2,}")
# A question and its evidence may write a number in two ways; which ones are unified is no matter of a setting here.
_AS_SEARCHED = SearchForm()
_SPEAKER = re.compile(r"[ \t]*([^\n:：]{1,40})[:：]\s")


@dataclass(frozen=True)
class _Sentence:
    """What the rule knows of a sentence: its number, its words, its signals."""

    number: int
    evidence: int
    words: frozenset[str]
    similarity: float
    worth: float


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(snowballstemmer.stemmer("english").stemWord(word))


@lru_cache(maxsize=1 << 15)  # What a batch of questions has as its evidence: each step asks for the same sentences.
def content_words(text: str) -> frozenset[str]:
    """Stems of the words of `text` that carry content."""
    return frozenset(_stem(w) for w in search_terms(_AS_SEARCHED(text)).split() if w not in _ASKING)


def _sentences(given: AnswerInput) -> list[_Sentence]:
    """The sentences that say enough to be scored."""
    titles = [content_words(e.title or "") for e in given.evidence]
    quotes = [[" ".join(q.split()) for q in e.quotes] for e in given.evidence]
    usual = [sum(e.similarities) / len(e.similarities) if e.similarities else 0.0 for e in given.evidence]
    found = []
    for number, (n, start, end) in enumerate(given.sentences, 1):
        evidence = given.evidence[n]
        sentence = evidence.text[start:end]
        words = content_words(sentence)
        if len(words) < _LEAST_WORDS and len(sentence) < _LEAST_CHARACTERS:
            continue
        plain = " ".join(sentence.split())
        worth = _ASKS if plain.rstrip("\"'”’)").endswith(("?", "？")) else 1.0
        quoting = (s for q, s in zip(quotes[n], evidence.similarities, strict=True) if plain in q)
        known = words | titles[n] | _speaker(evidence.text, start)
        found.append(_Sentence(number, n, known, max(0.0, max(quoting, default=usual[n])), worth))
    return found


def _speaker(text: str, start: int) -> frozenset[str]:
    """Words of the name before the colon that opens the line of the character `start`, if one does."""
    match = _SPEAKER.match(text, text.rfind("\n", 0, start) + 1)
    return content_words(match[1]) if match else frozenset()


def ranked(given: AnswerInput) -> list[Scored]:
    """The sentences that say enough to be scored, best first."""
    trust = [_trust(given.question, e) for e in given.evidence]
    sentences = _sentences(given)
    scores = _scores(given.question, sentences)
    scored = [Scored(s.number, s.words, score * trust[s.evidence]) for s, score in zip(sentences, scores, strict=True)]
    return sorted(scored, key=lambda s: (-s.score, s.number))


def _scores(question: str, sentences: Sequence[_Sentence]) -> list[float]:
    """How much each sentence shares with the question."""
    wanted = content_words(question)
    if not wanted:
        return [s.worth * s.similarity for s in sentences]
    seen = Counter(w for s in sentences for w in s.words & wanted)
    weight = {w: math.log(1.0 + len(sentences) / (0.5 + seen[w])) for w in wanted}
    # Summed exactly: the order of a set is another in each process, and so would the last bit be.
    total = math.fsum(weight.values())
    around: dict[int, frozenset[str]] = {}
    for s in sentences:
        around[s.evidence] = around.get(s.evidence, frozenset()) | (s.words & wanted)
    scores = []
    for s in sentences:
        own = s.words & wanted
        partly = math.fsum(weight[w] for w in around[s.evidence] - own)
        share = (math.fsum(weight[w] for w in own) + _AROUND * partly) / total
        scores.append(s.worth * (0.5 * s.similarity + 0.5 * share))
    return scores


def _trust(question: str, evidence: Evidence) -> float:
    """1, or less where the evidence has not every number of the question: it speaks of another year or number."""
    date = evidence.published_at.strftime(" %Y %m %d") if evidence.published_at else ""
    known = set(_NUMBER.findall(f"{evidence.title or ''} {evidence.text}{date}"))
    return 1.0 if set(_NUMBER.findall(question)) <= known else _OTHER_NUMBER


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences, by their words, say the same."""
    return len(one & other) >= _ALIKE * max(1, len(one | other))


def strength(given: AnswerInput) -> float:
    """Strength of the best evidence, 0 to 1: the score of the best sentence, whatever chooses the answer."""
    best = ranked(given)
    return min(1.0, best[0].score) if best else 0.0
