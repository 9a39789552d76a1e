"""Answers with `[n]` in their text, as sentences and what each of them cites."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from quern.schemas.words.sentences import sentences

# Of a longer number there is no document, and Python reads none of more than 4,300 digits.
_NUMBERS: Final = r"\[\d{1,9}(?:\s*[,;]\s*\d{1,9})*\]"
# Each begins where its run begins, so that a long run of spaces or stops is read once.
_MARK: Final = re.compile(rf"(?<!\s)\s*{_NUMBERS}")
# A citation after the full stop, on the same line, belongs to the sentence before it.
_LATE: Final = re.compile(rf"(?<![.!?。！？])(?P<end>[.!?。！？]+[\"'”’」』)）]*)(?P<marks>(?:[^\S\n]*{_NUMBERS})+)")
_NUMBER: Final = re.compile(r"\d+")
_END_OF_TURN: Final = "<|im_end|>"  # ALCE takes this mark of a chat out of answers.


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer."""

    text: str  # Its words, without marks of citations.
    citations: tuple[int, ...]  # Numbers of the documents that it cites, counted from 1, in the order of the text.


def first_line(output: str) -> str:
    """What ALCE measures of an answer: its first line."""
    return output.replace(_END_OF_TURN, "").strip().partition("\n")[0]


def without_marks(text: str) -> str:
    """`text` without the marks of its citations."""
    return " ".join(_MARK.sub("", text).split())


def cited_sentences(output: str) -> list[CitedSentence]:
    """The sentences of an answer's first line."""
    return marked_sentences(first_line(output))


def marked_sentences(text: str) -> list[CitedSentence]:
    """The sentences of a text."""
    text = _LATE.sub(lambda late: f" {late['marks'].strip()}{late['end']} ", text)
    found = (_cited(sentence) for sentence in sentences(text))
    return [sentence for sentence in found if sentence.text or sentence.citations]


def listed(output: str) -> list[str]:
    """The items of an answer that is a list, with their marks: ALCE splits at commas, but for those within a mark."""
    line = _MARK.sub(lambda mark: "".join(f"[{n}]" for n in _NUMBER.findall(mark[0])), first_line(output))
    return [item.strip() for item in line.rstrip().rstrip(".").rstrip(",").split(",")]


def cited_items(question: str, output: str) -> list[CitedSentence]:
    """Each item of a list after the question that it answers, as ALCE asks whether it is entailed."""
    found = (_cited(item) for item in listed(output))
    return [CitedSentence(f"{question} {item.text}", item.citations) for item in found if item.text]


def _cited(text: str) -> CitedSentence:
    numbers = (int(n) for mark in _MARK.findall(text) for n in _NUMBER.findall(mark))
    return CitedSentence(without_marks(text), tuple(numbers))
