"""The constituents of questions, in batch: by a parser that a package carries, or by the shallow one of our own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from quern.jobs.reasoning.alignment.packaged import FAULTS, by_lac, by_spacy, installed
from quern.jobs.reasoning.alignment.roles import Constituent, Parsed, Parser, Role
from quern.jobs.reasoning.alignment.shallow import shallow
from quern.jobs.reasoning.alignment.tagged import Token, constituents_of
from quern.jobs.text.search_form import is_chinese
from quern.jobs.text.words import CLOSED

__all__ = ["Constituent", "Parsed", "Parser", "Role", "parsed"]

log = logging.getLogger(__name__)

_PARSERS: Final[dict[Parser, Callable[[Sequence[str]], Iterator[list[Token]]]]] = {"spacy": by_spacy, "lac": by_lac}
_FEW: Final = 3  # Words of a question that need have none of a closed class to be English.


def parsed(questions: Sequence[str], parser: str = "auto") -> list[Parsed]:
    """The constituents of each question; whatever the text, there is an answer.

    Args:
        questions: Any texts.
        parser: `spacy` or `lac` for the questions of its language; `shallow`; `auto` for what `AlignSettings` says.
    """
    found: dict[int, Parsed] = {}
    for name, parse in _PARSERS.items():
        if parser == name or (parser == "auto" and name == "lac"):
            mine = [n for n, q in enumerate(questions) if _language(q) == name]
            if mine and installed(name):
                found.update(zip(mine, _tried(name, parse, [questions[n] for n in mine]), strict=True))
            elif parser == name:
                found.update((n, shallow(questions[n], flaw=f"{name} is not installed")) for n in mine)
    return [found[n] if n in found else shallow(q) for n, q in enumerate(questions)]


def _tried(
    name: Parser, parse: Callable[[Sequence[str]], Iterator[list[Token]]], questions: Sequence[str]
) -> Iterator[Parsed]:
    """Each question by a parser, or by the shallow one where that fails over it."""
    try:
        tokens: list[list[Token] | None] = [*parse(questions)]
    except FAULTS:  # One of them; which, only trying each tells.
        tokens = [_alone(parse, question) for question in questions]
    if fell := tokens.count(None):
        log.warning("parser=%s questions=%d fell_back=%d", name, len(questions), fell)
    for question, of in zip(questions, tokens, strict=True):
        if of is None:
            yield shallow(question, flaw=f"{name} could not parse it")
        else:
            yield Parsed(question, constituents_of(question, of), name)


def _alone(parse: Callable[[Sequence[str]], Iterator[list[Token]]], question: str) -> list[Token] | None:
    try:
        return next(parse([question]), None)
    except FAULTS:
        return None


def _language(question: str) -> Parser:
    """The parser whose language a question is in: Chinese, English by its words of closed classes, or another."""
    if is_chinese(question):
        return "lac"
    words = question.lower().split()
    return "spacy" if len(words) <= _FEW or not CLOSED.isdisjoint(words) else "shallow"
