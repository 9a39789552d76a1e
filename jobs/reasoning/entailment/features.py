"""What a statement and texts show of whether they entail it, as numbers; more of each speaks for it.

Only in words, numbers, names and denials: fine-grained alignment of GGatrieval (a segment of the text for each part of
the statement) with parts as small as a word. Meaning beyond words comes from cosines, where vectors are at hand.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from quern.jobs.reasoning.citing.inputs import CitingInput, Source, undated
from quern.jobs.reasoning.citing.search import missing_numbers
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.reasoning.logistic import UNKNOWN
from quern.jobs.text.numbers import stated_numbers
from quern.jobs.text.stems import content_words, word_stems
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK_CHARACTER
from quern.schemas.words.terms import search_terms

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
Pair = tuple[str, str]
_WINDOW: Final = 3  # Sentences of a segment; 2 to 5 tell claims of ExpertQA alike.
_PIECE: Final = 1_000  # Characters of a text that is embedded: about what the default model reads.
_NAME: Final = re.compile(r"(?<=[^\s.!?:;•*-] )[\"'“‘(]*([A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)")
_ITEM: Final = re.compile(r"^\W*\d{1,2}[.)]\s|(?<=[:.;])\s+\d{1,2}[.)]\s*$")
_VERDICT: Final = re.compile(r"\W*(?:(?P<yes>yes|是的?)|(?P<no>no|不是|不|否|没有))(?!\w)", re.IGNORECASE)
_CLAUSES: Final = re.compile(r"[,;:，；：—–]\s*|\s(?:and|but|while|although|though|whereas)\s", re.IGNORECASE)
# Words that deny.
_DENIES: Final = lazy_pattern(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|without|cannot|hardly|scarcely|barely|unable|"
    r"refus(?:es?|ed|al)|den(?:y|ies|ied)|fail(?:s|ed)? to|lack(?:s|ed|ing)?|declin(?:es?|ed) to|instead of|"
    r"rather than|(?:turned|voted) down|call(?:ed|s) off|ruled out|cancel(?:s|led|ed)|abandoned|scrapped|"
    r"escap(?:es?|ed)|avoid(?:s|ed)?|prevent(?:s|ed)?|prohibit(?:s|ed)?|forbid(?:s|den)?|ban(?:s|ned)?|"
    r"un(?:harmed|hurt|injured|known|changed|paid|safe|likely|damaged|touched|able))\b|n['’]t\b|[不没未无非]",
    re.IGNORECASE,
)
# Words of denial that deny nothing.
_NO_DENIAL: Final = lazy_pattern(
    r"\b(?:(?:not|no|nothing) (?:only|just|merely|doubt|wonder)\b|nothing but|(?:whether|if|why|or) not|not before|"
    r"(?:not|no|nothing) (?:fewer|less|later|more|earlier|longer|sooner|shorter|older|younger)(?= than)|"
    r"not long (?:after|before)|no\.? ?(?=\d))|"
    r"(?:\b(?:not|never|no)|n['’]t)(?=(?: [\w'’-]+){0,6} (?:until|till)\b)",
    re.IGNORECASE,
)


class Features(NamedTuple):
    """Signals of a statement and its texts; `UNKNOWN` where one cannot be taken."""

    window: float  # Share of the statement's words, by rarity, that the best segment of one text and its title hold.
    whole: float  # Share of those that are not of the question that all texts hold.
    phrases: float  # Share of the statement's pairs of near words that the texts have near each other.
    names: float  # Share of its names all of whose words the texts hold; unknown where it has none.
    numbers: float  # 1 where all its numbers stand in the texts or follow from them, else 0; unknown where it has none.
    # Less than 1 where the nearest sentence denies what the statement does not, or the reverse; the less, the more of
    # its words that sentence has. Unknown of short answers but yes and no.
    agrees: float
    topic_words: float  # Share of the question's words that the texts hold; unknown where nothing was asked.
    near: float  # Cosine of the statement with the nearest text.
    topic: float  # Cosine of the question with the nearest text.


NOTHING: Final = Features._make([UNKNOWN] * 9)
GATES: Final = ("names", "numbers", "agrees")
# Whatever else speaks for a statement, it halves when a name or a number of it is missing (every one must stand there,
# as in Xinyu AI Search), or the nearest sentence, with at least .3 of its words, denies it. Of 320 sentences
# written from passages of ClapNQ .01 each are halved so, of those made false .98, .94 and .96; of 562 claims that
# experts found supported .11, .05 and .05. To let the model weigh the three instead caught .29, .64 and .89.
_LEAST_AGREEMENT: Final = 0.7


def contradicted(seen: Features) -> bool:
    """Whether a name or a number is missing, or a text denies it; nothing is held against what is unknown."""
    return seen.names < 1.0 or seen.numbers < 1.0 or seen.agrees < _LEAST_AGREEMENT


def features(given: EntailmentInput) -> Features:
    """The signals of one statement and its texts; all unknown where no text can be read."""
    if not (passages := given.read):
        return NOTHING
    # Days are compared as numbers, for a text may write them otherwise.
    statement = undated(given.hypothesis)
    words = content_words(statement) or content_words(given.hypothesis)
    segments = [content_words(s) for p in passages for s in p.sentences]
    passage_words = [_held(p) for p in passages]
    text_words = frozenset().union(*passage_words)
    # Inverse document frequency of each word among the sentences of the texts.
    counts = Counter(w for segment in segments for w in segment & words)
    weight = {w: math.log(1 + len(segments) / (0.5 + counts[w])) for w in words}
    question_words = content_words(given.question)
    new = words - question_words or words
    # Words of a statement so near to each other are a pair, and so near must they be in a text. On ExpertQA pairs at 2,
    # 3 and 5 tell alike (area under ROC .636, .634, .633), neighbours alone a little less (.626).
    pairs = _pairs(statement, 3)
    near_words = frozenset[Pair]().union(*(_pairs(f"{p.title}\n{p.text}", 5) for p in passages))
    # A name is what is written large within a sentence, neighbours together.
    names = {content_words(name) for name in _NAME.findall(undated(given.plain))} - {frozenset()}
    # The number of a list's item says nothing.
    plain = _ITEM.sub("", given.plain)
    numbers = stated_numbers(plain)
    sources = [Source(s, p.title, p.published_at) for p in passages for s in p.sentences] if numbers else []
    return Features(
        window=max(_window(p, words, weight) for p in passages),
        whole=_share(weight, new, text_words),
        phrases=_part(pairs, near_words),
        names=sum(name <= text_words for name in names) / len(names) if names else UNKNOWN,
        # Every number must stand there: Xinyu AI Search, section 3.6.1.
        numbers=float(not missing_numbers(CitingInput(plain, sources)) & numbers) if numbers else UNKNOWN,
        agrees=_agreement(given, weight),
        topic_words=_part(question_words, text_words),
        near=UNKNOWN if given.near is None else given.near,
        topic=UNKNOWN if given.topic is None else given.topic,
    )


def with_cosines(inputs: Sequence[EntailmentInput], encode: Encode) -> list[EntailmentInput]:
    """The same with the cosines of statement and question with the texts; all are embedded in one call."""
    # A text in pieces of whole sentences, under its title, that a model reads to their end.
    pieces: dict[Passage, list[str]] = {}
    for passage in (p for given in inputs for p in given.read if p not in pieces):
        own, room = [passage.title], _PIECE
        for sentence in passage.sentences:
            if len(sentence) > room and own[-1] != passage.title:
                own.append(passage.title)
                room = _PIECE
            own[-1] = f"{own[-1]} {sentence}".strip()
            room -= len(sentence)
        pieces[passage] = [piece for piece in own if piece]
    queries = chain.from_iterable((g.hypothesis, g.question) for g in inputs if g.read)
    texts = [t for t in dict.fromkeys(chain(queries, *pieces.values())) if t]
    if not texts:
        return list(inputs)
    at, vectors = {text: n for n, text in enumerate(texts)}, encode(texts)

    def nearest(text: str, given: EntailmentInput) -> float | None:
        rows = [at[piece] for p in given.read for piece in pieces[p]]
        if not text or not rows or CJK_CHARACTER.search(text):  # The default model reads no such script.
            return None
        return round(float(np.max(vectors[rows] @ vectors[at[text]])), 4)

    return [replace(g, near=nearest(g.hypothesis, g), topic=nearest(g.question, g)) for g in inputs]


def _share(weight: dict[str, float], words: frozenset[str], text_words: frozenset[str]) -> float:
    # Sets differ in order from process to process: only an exact sum is the same in each.
    return math.fsum(weight[w] for w in words & text_words) / (math.fsum(weight[w] for w in words) or 1.0)


def _window(passage: Passage, words: frozenset[str], weight: dict[str, float]) -> float:
    segments, title = [content_words(s) for s in passage.sentences], content_words(passage.title)
    starts = range(max(1, len(segments) - _WINDOW + 1))
    return max(_share(weight, words, title.union(*segments[n : n + _WINDOW])) for n in starts)


def _agreement(given: EntailmentInput, weight: dict[str, float]) -> float:
    """One less the share of the statement's words that a sentence has which denies it.

    A short answer says neither, but for yes and no.
    """
    text, negated = given.plain, False
    if given.hypothesis != given.plain:
        verdict = _VERDICT.match(given.plain)
        if verdict is None:
            return UNKNOWN
        text, negated = given.question, verdict["no"] is not None
    words = content_words(text) & weight.keys()
    sentences = [s for p in given.read for s in p.sentences]
    shares = [_share(weight, words, content_words(s)) for s in sentences]
    best = max(range(len(shares)), key=shares.__getitem__)
    # A sentence without the clauses that share neither two words nor a third of theirs with the statement.
    sentence = sentences[best]
    clauses = [(clause, content_words(clause)) for clause in _CLAUSES.split(sentence)]
    near = ", ".join(c for c, own in clauses if len(own & words) >= min(2, len(own) / 3)) or sentence
    against = (denies(text) != denies(near)) != negated
    return 1.0 - shares[best] if against else 1.0


@lru_cache(maxsize=4096)
def _held(passage: Passage) -> frozenset[str]:
    return content_words(passage.text) | content_words(passage.title)


@lru_cache(maxsize=1024)  # Some 50 kB of a passage of ALCE.
def _pairs(text: str, reach: int) -> frozenset[Pair]:
    """Pairs of words of content that stand within `reach` of each other, whichever is first."""
    # Of a word with several stems their names decide: sets differ in order from process to process.
    words = [*chain.from_iterable(sorted(word_stems(word)) for word in search_terms(text).split())]
    near = ((one, other) for n, one in enumerate(words) for other in words[n + 1 : n + 1 + reach])
    return frozenset((one, other) if one <= other else (other, one) for one, other in near)


def _part(elements: frozenset[str] | frozenset[Pair], evidence: frozenset[str] | frozenset[Pair]) -> float:
    return len(elements & evidence) / len(elements) if elements else UNKNOWN


def denies(text: str) -> bool:
    """Whether a clause denies something, by its words of denial: `cannot`, `without`, `refused`."""
    return _DENIES.search(_NO_DENIAL.sub(" ", text)) is not None
