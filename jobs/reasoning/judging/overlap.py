"""How much of the gold answer an answer says: exact match, token F1, gold words, yes or no.

Exact match and F1 are SQuAD's (Rajpurkar et al. 2016, section 6.1): lower case, without punctuation and articles; the
best over the gold answer and its aliases. Chinese, Japanese and Korean count by characters, as CMRC 2018 (Cui et al.
2019) does. Where the gold answer is yes or no, agreement is all or nothing, as HotpotQA (Yang et al. 2018) has it.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from quern.jobs.text.stems import content_words
from quern.schemas.words.scripts import CJK

GOLD_WORDS: Final = 0.8  # Share of the gold answer's content words from which an answer is said to hold it.

_ARTICLES: Final = ("a", "an", "the")
_PUNCTUATION: Final = frozenset(string.punctuation)
_TOKEN: Final = re.compile(f"[{CJK}]|[^\\s{CJK}]+")
# Said first and set apart, as in `Yes: both ...`; `No 4 Quay Road` and `是谁` are something else.
_POLARITY: Final = re.compile(
    r"\W*(?:(?P<yes>yes|是的|是|对|有)|(?P<no>no|不是|不|否|没有))\s*(?:[,.;:!。，；：！—–-]|$)", re.IGNORECASE
)


def polarity(text: str) -> str | None:
    """`yes` or `no` where the text says so first; else None."""
    match = _POLARITY.match(text)
    return match.lastgroup if match else None


def tokens(text: str) -> list[str]:
    """The tokens that are compared: words, and each character of a script without spaces."""
    folded = unicodedata.normalize("NFKC", text).lower()
    plain = "".join(c for c in folded if c not in _PUNCTUATION and not unicodedata.category(c).startswith("P"))
    return [token for token in _TOKEN.findall(plain) if token not in _ARTICLES]


def exact_match(said: str, gold: Sequence[str]) -> float:
    """1 where the tokens of `said` are those of one of the gold answers, else 0."""
    if expected := polarity(gold[0]):
        return float(polarity(said) == expected)
    return float(any(tokens(said) == tokens(g) for g in gold))


def token_f1(said: str, gold: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of the tokens, as bags; that of the nearest gold answer."""
    if expected := polarity(gold[0]):
        return float(polarity(said) == expected)
    own, best = Counter(tokens(said)), 0.0
    for reference in (Counter(tokens(g)) for g in gold):
        common = (own & reference).total()
        best = max(best, 2.0 * common / (own.total() + reference.total()) if common else 0.0)
    return best


def gold_words(said: str, gold: Sequence[str]) -> float:
    """The share of the content words of a gold answer that `said` holds; that of the nearest gold answer."""
    own, best = content_words(said), 0.0
    for answer in gold:
        if reference := content_words(answer):
            best = max(best, len(reference & own) / len(reference))
        elif " ".join(tokens(answer)) in " ".join(tokens(said)):
            return 1.0
    return best


def holds(said: str, gold: Sequence[str]) -> bool:
    """Whether `said` holds `GOLD_WORDS` of the content words of a gold answer."""
    return gold_words(said, gold) >= GOLD_WORDS


def likeness(question: str, answer: str, gold: Sequence[str]) -> float:
    """F1 of the content words of answer and nearest gold answer, without the question's; 1 where neither has any.

    Words that both repeat from the question say nothing of which answer is right: with them it agrees with people on
    .751 of the pairs of `ragchecker_human` that they prefer one of, without them on .782.
    """
    if not gold:
        return float(not answer.strip())
    question_words, best = content_words(question), 0.0
    for one in gold:
        answer_words, reference = content_words(answer) - question_words, content_words(one) - question_words
        if not reference:  # The gold answer only repeats the question, as one of two that it names.
            answer_words, reference = content_words(answer), content_words(one)
        if common := len(answer_words & reference):
            best = max(best, 2 * common / (len(answer_words) + len(reference)))
        elif " ".join(answer.split()).casefold() == " ".join(one.split()).casefold():
            return 1.0
    return best


def words(text: str) -> int:
    """Length of a text in words; each character of a script without spaces is one."""
    return len(_TOKEN.findall(text))
