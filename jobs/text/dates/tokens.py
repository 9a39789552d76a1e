"""English text as a line of codes, one letter a token, over which the grammar's expressions run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from quern.jobs.text.dates.lexicon import DOUBTFUL, lexicon
from quern.jobs.text.dates.numeric import NumericDate, numeric
from quern.jobs.text.numbers import english_value
from quern.schemas.words.patterns import lazy_pattern

_TOKEN: Final = lazy_pattern(
    r"(?P<word>[^\W\d_]+(?:['’](?=clock)[a-z]+)?)|(?P<number>\d[\d.,:/–—~-]*(?<=\d)|\d)|(?P<mark>[^\s\w]|_)"
)
_NUMBER_WORDS: Final = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand".split()
)
_TENS: Final = frozenset("twenty thirty".split())
_ORDINAL: Final = lazy_pattern("-?o")
_COUNTS: Final = {"few": 3, "several": 3, "couple": 2}
_SUFFIXES: Final = frozenset(("st", "nd", "rd", "th"))
_MARKS: Final = {**dict(zip("-–—~'’", "----ss", strict=True)), **{mark: mark for mark in "/,.()"}}
# A number written on to one of these is no date: a price, an issue, a part of a code.
_BEFORE_NUMBER: Final = frozenset("$£€¥#%@+&=*_\\")
_LONGEST: Final = 40


@dataclass(slots=True)
class Token:
    """A word, number or mark.

    Attributes:
        start: First character.
        end: Character after the last.
        value: What the word or number means.
    """

    start: int
    end: int
    value: int | str | NumericDate | date | None


@dataclass(frozen=True)
class Line:
    """A text as tokens.

    Attributes:
        text: The text.
        codes: A letter for each token.
        tokens: The tokens.
    """

    text: str
    codes: str
    tokens: list[Token]


def tokenised(text: str) -> Line:
    """The tokens of `text` with their codes (see `lexicon`)."""
    words = lexicon()
    codes: list[str] = []
    tokens: list[Token] = []
    number_words = False
    for m in _TOKEN.finditer(text):
        start, end = m.span()
        kind = m.lastgroup
        if kind == "word":
            word = m[0].lower()
            code, value = words.get(word, ("x", None))
            if code == "x":
                if word in _NUMBER_WORDS:
                    number_words = True
                    code, value = "%", word
                elif word in _COUNTS:
                    code, value = "b", _COUNTS[word]
                elif tokens and tokens[-1].end == start and word in _AFTER_NUMBER:
                    code, value = _joined_word(word, codes, tokens)
                    if code == "":
                        tokens[-1].end = end
                        continue
            elif tokens and tokens[-1].end == start and codes[-1] in "adhn" and code not in "mHM":
                codes[-1] = "x"  # 4x, 5may: codes and names.
            elif code in "MWSo" and word in DOUBTFUL and not m[0][0].isupper():
                value = -int(value) if code == "M" and isinstance(value, int) else value
        elif kind == "number":
            _add_number(m[0], start, text, codes, tokens)
            continue
        else:
            code, value = _MARKS.get(m[0], "x"), None
        codes.append(code)
        tokens.append(Token(start, end, value))
    line = Line(text, "".join(codes), tokens)
    return _with_number_words(line) if number_words else line


_AFTER_NUMBER: Final = _SUFFIXES | {"s", "p"}


def _joined_word(word: str, codes: list[str], tokens: list[Token]) -> tuple[str, int | str | None]:
    """A word that stands on to a number: `1st`, `1990s`, `9p`; an empty code where it became part of the number."""
    last = codes[-1]
    if word in _SUFFIXES and last in "ad":
        codes[-1] = "o"
        return "", None
    if word == "s" and last in "sYhd":
        return "D", None
    if word == "p" and last in "ak":
        return "m", None
    if last in "adhnY":
        codes[-1] = "x"
    return "x", None


def _add_number(run: str, start: int, text: str, codes: list[str], tokens: list[Token]) -> None:
    """The tokens of a run of digits and marks."""
    before = text[start - 1] if start else " "
    if not before.isascii() and before not in _BEFORE_NUMBER:
        before = " "
    after = text[start + len(run) : start + len(run) + 1]
    if run.isdecimal() and (after > "\u2e80" or (len(run) == 8 and after == "-")):  # Chinese counts by it: 2000元.
        before = "$"
    junk = before in _BEFORE_NUMBER or len(run) > _LONGEST
    if not junk and (before.isalpha() or (before in "-.," and start > 1 and not text[start - 2].isspace())):
        junk = codes[-1] not in "MQCH" if before.isalpha() else _is_code(text, start, codes)
    if junk:
        codes.append("x")
        tokens.append(Token(start, start + len(run), None))
        return
    for code, value, offset, length in numeric(run):
        codes.append(code)
        tokens.append(Token(start + offset, start + offset + length, value))


def _is_code(text: str, start: int, codes: list[str]) -> bool:
    """Whether the number at `start` goes on from a mark that goes on from a digit or capitals: ABC-12, 1.2.3."""
    mark, before = text[start - 1], text[start - 2]
    if mark == ".":
        return before.isdecimal()
    return mark == "-" and codes[-2:-1] != ["M"] and (before.isdecimal() or before.isupper())


def _with_number_words(line: Line) -> Line:
    """The line with numbers in words as single tokens: `twenty five`, `nineteen ninety six`, `twenty-first`."""
    codes: list[str] = []
    tokens: list[Token] = []
    at, old = 0, line.tokens
    while at < len(old):
        if line.codes[at] != "%":
            codes.append(line.codes[at])
            tokens.append(old[at])
            at += 1
            continue
        if str(old[at].value) in _TENS and (ordinal := _ORDINAL.match(line.codes, at + 1)) is not None:
            last = old[ordinal.end() - 1]
            if isinstance(last.value, int) and last.value < 10:
                codes.append("o")
                tokens.append(Token(old[at].start, last.end, (20 if old[at].value == "twenty" else 30) + last.value))
                at = ordinal.end()
                continue
        end = _end_of_number(line, at)
        code, value = _number_code([str(t.value) for t in old[at:end] if isinstance(t.value, str)])
        codes.append(code)
        tokens.append(Token(old[at].start, old[end - 1].end, value))
        at = end
    return Line(line.text, "".join(codes), tokens)


def _end_of_number(line: Line, at: int) -> int:
    """Where the number in words that begins at `at` ends; at most eight words, so that the pass stays linear."""
    end = at + 1
    while end < len(line.codes) and end - at < 8:
        if line.codes[end] == "%":
            end += 1
        elif (
            line.codes[end] in "-8"
            and line.codes[end + 1 : end + 2] == "%"
            and (line.codes[end] == "-" or line.tokens[end - 1].value in ("hundred", "thousand"))
        ):
            end += 2
        else:
            break
    return end


def _number_code(words: list[str]) -> tuple[str, int | None]:
    """Code and value of a number in words; years are also told in two halves."""
    value = english_value(" ".join(words))
    if (value is None or value < 100) and len(words) > 1:
        for cut in (1, 2):
            high, low = english_value(" ".join(words[:cut])), english_value(" ".join(words[cut:]) or "x")
            if high is not None and low is not None and 10 <= high <= 20 and 10 <= low <= 99:
                return "Y", 100 * high + low
    if value is None:
        return "x", None
    if 1000 <= value <= 2199:
        return "Y", value
    return ("b" if value <= 12 else "e" if value <= 31 else "z"), value
