"""Telephone numbers: groups of digits of a telling form, or of any form after a word such as `phone`.

`phonenumbers` (Google's libphonenumber) knows the numbering plans, but looking through a whole text with its
matcher takes milliseconds a kilobyte. So a cheap expression finds groups of digits first, what has the form of a
date, an ISBN, a range or a decimal is left out, and the library judges the rest:

* international (`+`): possible by length for the country code;
* national, of a form that is hardly used for anything else (`905-674-3793`, `(08) 8747 6301`, `0688 872 49 99`,
  a Chinese mobile number): valid in its country, or of exactly the North American form;
* anything else of 6 to 15 digits that is not round: only after a cue on the same line, or alone on the line after it,
  or with a label such as `office` or `fax` behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import phonenumbers
from phonenumbers import NumberParseException

from quern.jobs.text.spans import Span

_LABEL: Final = r"(?:office|(?:tele|mobile |cell)?phone|tel|mobile|cell|fax|home|work|direct|switchboard|hotline)"
_CANDIDATE: Final = re.compile(
    r"(?<![\w.$€£¥#@+\-\u2010-\u2015])(?<!\d[:,/])(?<!\w/)(?P<plus>\+ ?|00(?=[1-9]))?"
    r"(?P<digits>\(?\d(?:[ .()/\-\u2010-\u2013\xa0]{0,3}\d){5,16})"
    r"(?P<extension> ?(?:x|ext\.?|extension|转) ?\d{1,6})?"
    rf"(?![\w%°£€¥$]|[.,:/]\d|-(?!{_LABEL}\b)\w)",
    re.IGNORECASE | re.ASCII,
)
# Digits and separators: North America; a trunk zero with groups; China's mobile numbers and area codes.
_NORTH_AMERICAN: Final = re.compile(r"(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-. ]\d{4}|(?:1 )?\d{3} \d{3}-\d{4}")
_TRUNK: Final = re.compile(
    r"\(0\d{1,4}\) ?\d{2,4}(?:[ -]?\d{2,4}){1,3}|0\d{1,4}(?:[ .-]\d{2,4}){2,4}|0\d{2,4}[- ]\d{6,8}"
)
_CHINESE: Final = re.compile(r"1[3-9]\d(?:[ -]?\d{4}){2}|0\d{2,3}-\d{7,8}|400-\d{3}-\d{4}|400\d-\d{3}-\d{3}")
_BRITISH: Final = re.compile(r"0\d{4} ?\d{6}|07\d{3} ?\d{6}|020 ?\d{4} ?\d{4}")

# Words that name the number itself.
_NOUN: Final = re.compile(
    r"(?:\b(?:tele)?phones?\b|\btel\b|\bmobile\b|\bcell(?:phone| number|:)|\bmy cell\b|\bfax\b"
    r"|\bwhats ?app\b|\bsms\b|\bdial(?:l?ing)?\b"
    r"|\b(?:hot|help|land)line\b|\bmy (?:new |old )?number\b|\bcalls?\b"
    r"|\btel[eé]fono?\b|\bt[eé]l(?:[eé]phone)?\b|\btelefonnummer\b"
    r"|\bhandy\b|\bm[oó]vil\b|\bcelular\b|\brufnummer\b|\bfon\b"
    r"|电话|電話|手机|手機|热线|熱線|传真|傳真|联系方式|致电|拨打|座机)",
    re.IGNORECASE,
)
# Between noun and number stand few words, no other number, and no sentence's end but that of a question.
_BETWEEN: Final = re.compile(r"[^.!。！\d\n]{0,28}|[^\d\n]{0,6}\n\s{0,3}|.{0,3}(?:no|nr)?\. ?", re.IGNORECASE)

_NOT_PHONE_BEFORE: Final = re.compile(
    r"(?:isbn(?:-1[03])?|licen[cs]e|passport|issn|doi|pmid|oclc|order|invoice|ref(?:erence)?|ticket|flight|serial|model|account|article|patent"
    r"|card|version|no|nr|zip|postcode|id|coordinates?|population|单号|编号|订单号?|账号|卡号)[\s.:#：]{0,3}(?:no\.?|number|is)?[\s.:#]{0,2}$",
    re.IGNORECASE,
)
# A label behind the number, as signatures have it: `555 0168 office`, `555 0169 (fax),`; nothing else may follow.
_LABELLED: Final = re.compile(rf"[ \t]?[-\u2013(]?[ \t]?{_LABEL}\b[.)]{{0,2}}[ \t]*(?=$|[\n,;|/\\\]])", re.IGNORECASE)
_VERB: Final = re.compile(
    r"\b(?:call(?:ing|ed)?|text(?:ing)?|ring|reach(?:ed)?|contact|answer(?:ing)?|messages?|number)\b"
    r"[^.!?\d\n]{0,16} (?:at|on|to) "
    r"|\b(?:call(?:ing)?|ring(?:ing)?|phon(?:e|ing)|dial(?:ling)?|text(?:ing)?)(?: (?:me|us|him|her|them))? "
    r"|\b(?:desk|office|home|work|direct|contact|switchboard|enquiries|emergency|info) ?: ?",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"(?:1[5-9]|20)\d\d[-/. ](?:0?[1-9]|1[0-2])[-/. ](?:0?[1-9]|[12]\d|3[01])(?: \d{1,2})?"
    r"|(?:0?[1-9]|[12]\d|3[01])[-/. ](?:0?[1-9]|[12]\d|3[01])[-/. ](?:1[5-9]|20)\d\d(?: \d{1,2})?"
    r"|(?:1[0-9]|20)\d\d ?[-/\u2010-\u2013] ?(?:1[0-9]|20)\d\d|(?:19|20)\d{6}(?:\d{6})?"
    r"|(?:1[0-9]|20)\d\d(?:[ ,./-](?:1[0-9]|20)\d\d)+"
    # Year, volume and pages of a reference.
    r"|(?:19|20)\d\d(?: \d{1,4}){2,3}"
)
_ISBN: Final = re.compile(r"97[89][- ]?(?:\d[- ]?){9}\d")
# 51.5074, 1 234 567, 21-19, 21-15, 3.4.2.1: decimals, thousands, scores, sections.
_FIGURES: Final = re.compile(
    r"\d{1,3}\.\d{3,}|\d{1,3}(?:[ .\xa0]\d{3})+|\d{1,3}(?:[ .-]\d)+|\d{1,3}-\d{1,3}(?: \d{1,3}-\d{1,3})+"
)
# A round number is a quantity: phones sold, 1500000 of them.
_ROUND: Final = re.compile(r"\d+?0{4,}")


def phones(text: str, language: str | None) -> Iterator[Span]:
    """Telephone numbers of `text`, with their extension."""
    for match in _CANDIDATE.finditer(text):
        if _is_phone(match, chinese=language == "zh"):
            yield Span(match.start(), match.end(), "PHONE")


def _is_phone(match: re.Match[str], *, chinese: bool) -> bool:
    text, start, form = match.string, match.start(), match["digits"]
    digits = re.sub(r"\D", "", form)
    if len(set(digits)) < 2 or _NOT_PHONE_BEFORE.search(text, max(0, start - 24), start):
        return False
    if (match["plus"] or "").startswith("+"):
        parsed = _parsed(f"+{digits}".replace("(0)", ""), None)
        return parsed is not None and bool(phonenumbers.is_possible_number(parsed))
    if _DATE.fullmatch(form) or _ISBN.fullmatch(form):
        return False
    if _has_noun(text, start):
        return 6 + form.isdigit() <= len(digits) <= 15 and not _ROUND.fullmatch(form)
    if _LABELLED.match(text, match.end()) or any(
        m.end() == start for m in _VERB.finditer(text, max(0, start - 40), start)
    ):
        return len(digits) > 6 and not _FIGURES.fullmatch(form)
    if match["plus"]:
        return False
    if _NORTH_AMERICAN.fullmatch(form) or (chinese and _CHINESE.fullmatch(form) and form.startswith("400")):
        return True
    if (chinese and _CHINESE.fullmatch(form) and _valid(digits, "CN")) or (
        _BRITISH.fullmatch(form) and _valid(digits, "GB")
    ):
        return True
    return _TRUNK.fullmatch(form) is not None and 9 <= len(digits) <= 12


def _has_noun(text: str, start: int) -> bool:
    """Whether a word such as `phone` stands shortly before `start`, with nothing between that ends the thought."""
    nouns = list(_NOUN.finditer(text, max(0, start - 40), start))
    return bool(nouns) and _BETWEEN.fullmatch(text, nouns[-1].end(), start) is not None


def _parsed(number: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(number, region)
    except NumberParseException:
        return None


def _valid(digits: str, region: str) -> bool:
    """Whether `digits` are a number that is in use by the numbering plan of a region."""
    parsed = _parsed(digits, region)
    return parsed is not None and phonenumbers.is_valid_number(parsed)
