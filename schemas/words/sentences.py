"""Sentences of a text as exact character spans: for synthetic queries, answers and sentence citations.

One pass over the marks that may end a sentence, and a decision about each from the words beside it. Known are
English abbreviations and initials, German ordinals (the other languages that write them with a full stop go on with a
small letter), words that are abbreviations because they have no vowel, Chinese, Japanese and Indic marks, quotations,
list numbers, ellipses, and emoji that follow a sentence. A line break always ends a sentence: a line is a paragraph, a
turn of a dialogue, a list item or a table row.
"""

from __future__ import annotations

import re

from quern.schemas.words.scripts import CJK_ENDS

Span = tuple[int, int]

# Raised when the same text gives other sentences: part of the fingerprint of what is made of them.
VERSION = 2

# The end of a sentence, as one expression: where a chunk may be cut. It knows a few titles, initials and ordinals, and
# looks at no word beside the mark: a wrong end costs a chunk some evenness, where `sentence_spans` would cost a pass in
# Python.
SENTENCE_END = (
    r"[.!?…](?<!\b[A-Z\d]\.)(?<!\b\d\d\.)(?<!\b[MDSN][rst]\.)(?<!\bMrs\.)[\"')\]”’»]*(?=\s)"
    rf"|[{CJK_ENDS}][\"')\]”’»」』）]*"
)

_CLOSERS = "\"'”’»)\\]}」』）】》〉"
_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d"
_TAIL = rf"[{_CLOSERS}]*+(?:[ \t\u00a0]*+[{_EMOJI}]++)?+"
# Each alternative starts where its run starts, so that a long run of marks is read once.
_MARK = re.compile(
    rf"(?P<line>[\n\r\v\f\x85\u2028\u2029])"
    rf"|(?P<wide>(?<![{CJK_ENDS}｡।॥])[{CJK_ENDS}｡।॥]++[!?！？]*+{_TAIL})"
    rf"|(?P<mark>(?<![.!?…؟۔])[.!?…؟۔]++{_TAIL})(?=\s|$)"
)
_LAST_WORD = re.compile(r"[^\W_][\w.'’&-]*$")
_OPENERS = re.compile(r"[\s\"'“‘«(\[{「『（【《〈¿¡*•–—-]*+(?P<word>[^\W_]*)")
# A bar parts the cells of a table's row.
_PUNCTUATION = re.compile(r"[ \t]{0,4}[.,;:!?…|]")
_NUMBER_OF_LIST = re.compile(r"(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]")
# Capitals alone are no abbreviation with a full stop: TV, DVD.
_NO_VOWEL = re.compile(r"(?=.*[a-z])[B-DF-HJ-NP-TV-XZb-df-hj-np-tv-xz]{2,}")
_OF_A_NUMBER = re.compile(r"\d\s*$")
# What an ordinal follows in German, in a range of them too, and the months.
_BEFORE_ORDINAL = re.compile(
    r"(?<!\bI )\b(?:de[rmns]|die|das|[ai]m|vom|zu[mr]|beim|bis|seit|ab|eine?[mnrs]?|jede[mnrs]?)\s+"
    r"(?:\d{1,3}\.?\s*(?:[-–/,]|und|oder|bis)\s*)?\d{1,3}$",
    re.IGNORECASE,
)
_REACH = 40  # Characters looked at on either side of a mark.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A name or a number follows these: they never end a sentence.
_NEVER = _words(
    "mio mr mrs ms messrs dr prof rev hon pres gov sen rep gen maj col lt capt cpl sgt cmdr adm st ste mt ft fr "
    "e.g i.e cf vs viz ca approx esp incl resp seq ibid op cit"
)
# These do not end a sentence before a number.
_BEFORE_NUMBER = _words(
    "abb abs no nos nr vol vols p pp pg fig figs eq eqs ch chap sec sect art tab ex app par para ver v op "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
# These end a sentence only where one clearly starts after them.
_PERHAPS = _words(
    "jr sr inc ltd co corp llc bros dept univ assn est etc al ave blvd rd hwy bldg a.m p.m am pm ph.d m.d b.a "
    "b.sc m.a m.sc ll.b u.s u.k u.n e.u u.s.a d.c b.c a.d b.c.e c.e n.y l.a jan feb mar apr jun jul aug sep sept "
    "oct nov dec mon tue tues wed thu thur thurs fri sat sun min max ed eds trans rev"
)
_GERMAN_MONTHS = _words("januar jänner februar märz april mai juni juli august september oktober november dezember")
# Words that start sentences far more often than they go on with a name.
_STARTERS = _words(
    "a an the this that these those he she it they we i you his her its their our my your there here in on at by "
    "for from with as after before when while where if although though since because but and or so yet however "
    "moreover therefore thus then also some many most all each every one two both who what why how which to "
    "during under until despite later today now not no yes"
)


def sentence_spans(text: str) -> list[Span]:
    """Spans (start, end) of the sentences of `text`, in order, disjoint, without surrounding white space.

    Together they hold every character of `text` that is not white space.
    """
    spans: list[Span] = []
    start = 0
    for mark in _MARK.finditer(text):
        if mark.lastgroup == "mark" and not _ends_sentence(text, start, mark):
            continue
        _append_trimmed(spans, text, start, mark.end())
        start = mark.end()
    _append_trimmed(spans, text, start, len(text))
    return spans


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _append_trimmed(spans: list[Span], text: str, start: int, end: int) -> None:
    part = text[start:end]
    body = part.strip()
    if body:
        start += len(part) - len(part.lstrip())
        spans.append((start, start + len(body)))


def _ends_sentence(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a mark that white space or the end of the text follows ends the sentence that began at `start`."""
    following = _OPENERS.match(text, mark.end(), min(len(text), mark.end() + _REACH))
    after = following["word"] if following else ""
    if after[:1].islower() or _PUNCTUATION.match(text, mark.end()):
        return False
    if mark[0][0] != "." or mark[0].startswith(".."):
        return True
    before = _LAST_WORD.search(text, max(start, mark.start() - _REACH), mark.start())
    if before is None:
        return True
    if mark.start() - start < _REACH and _NUMBER_OF_LIST.fullmatch(text[start : mark.start() + 1].strip()):
        return False
    word = before[0].lower()
    if word in _NEVER:
        return False
    if word.isdecimal() and len(word) < len("2024") and after[:1].isupper() and after.lower() not in _STARTERS:
        said = text[max(start, mark.start() - _REACH) : mark.start()]
        day = len(word) < len("100") and after.lower() in _GERMAN_MONTHS
        return not day and _BEFORE_ORDINAL.search(said) is None
    if word in _BEFORE_NUMBER and after[:1].isdigit():
        return False
    # Units (5 kg) have no vowel either.
    unit = _OF_A_NUMBER.search(text, max(start, before.start() - _REACH), before.start()) is not None
    is_initial = (
        (len(word) == 1 and (before[0].isupper() or (word.isalpha() and not unit)))
        or re.fullmatch(r"(?:[a-z]\.)+[a-z]", word) is not None
        or (not unit and _NO_VOWEL.fullmatch(before[0]) is not None)
    )
    if is_initial or word in _PERHAPS:
        return not after or after.lower() in _STARTERS or after[0].lower() == after[0].upper() > "\x7f"
    return True
