"""Personal data of known forms in a text: found, counted by type, and replaced by a typed mark such as [EMAIL].

Types: EMAIL, PHONE, CREDIT_CARD, IBAN, SSN, NATIONAL_ID, IP and HANDLE (names and ids on platforms). Names of
persons and postal addresses have no form that an expression could tell; they stay.

A run of digits is a card or an account only when its checksum, its issuer and its length agree: without that proof a
number of a table or a product code would be taken for one.
"""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date
from typing import Final, NamedTuple

import phonenumbers
from phonenumbers import NumberParseException

from quern.schemas.words.scripts import HAN


class Span(NamedTuple):
    """Personal data at `text[start:end]`."""

    start: int  # First character.
    end: int  # One past the last character.
    type: str  # Name of the type, as in its mark: EMAIL, PHONE...


# ---- e-mail and IP addresses, and handles and ids on platforms

# Both sides of an @ are read from the @, with limits: a long run of letters is then read once.
_LOCAL: Final = re.compile(r"[A-Za-z0-9À-ɏ._%+'-]{1,64}$")
_DOMAIN: Final = re.compile(
    r"(?:[A-Za-z0-9À-ɏ](?:[A-Za-z0-9À-ɏ-]{0,61}[A-Za-z0-9À-ɏ])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9@])"
)
_LOCAL_LIMIT, _DOMAIN_LIMIT = 64, 254
_NOT_FIRST: Final = "'.%-"
_FILES: Final = frozenset("png jpg jpeg gif webp svg css js ico bmp avif".split())
_AT_SIGN_SPELLED: Final = re.compile(r"[\[({<] ?at ?[\])}>]", re.IGNORECASE)
_SPELLED: Final = re.compile(
    r"(?<![\w.+-])[\w+-]{1,40}(?:\.[\w+-]{1,40}){0,3} ?[\[({<] ?at ?[\])}>] ?[A-Za-z0-9-]{1,60}"
    r"(?:(?:\.| ?[\[({<] ?dot ?[\])}>] ?)[A-Za-z0-9-]{1,60}){1,4}",
    re.IGNORECASE,
)

_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IPV4: Final = re.compile(rf"(?<![\w.-])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w-]|\.\d)", re.ASCII)
_IPV6: Final = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:|::)[0-9A-Fa-f:.]{1,44}(?<!\.)(?![\w:])", re.ASCII)
# A number of four parts after these is a version or a section.
_NOT_IP: Final = re.compile(
    r"(?:\bv(?:er(?:sion|\.)?)?|\brelease|\bbuild|§|\bsection|\bclause|\bchapter|版本)[ :]{0,2}$", re.IGNORECASE
)

_WEB: Final = re.compile(rf"(?:https?://|www\.)[^\s<>\"'”’），。；、：！？|{HAN}]{{1,2000}}", re.IGNORECASE)
_PROFILE: Final = re.compile(
    r"(?:https?://)?(?<![\w.@-])(?:www\.|m\.|mobile\.)?"
    r"(?:(?:twitter|x|instagram|facebook|tiktok|threads|pinterest|snapchat)\.(?:com|net)/(?:add/)?@?"
    r"|linkedin\.com/in/|t\.me/|medium\.com/@|youtube\.com/@|reddit\.com/u(?:ser)?/|weibo\.com/(?:u/)?"
    r"|space\.bilibili\.com/|vk\.com/|mastodon\.social/@|bsky\.app/profile/)(?P<name>[\w.-]{1,59}\w)",
    re.IGNORECASE | re.ASCII,
)
# What must stand somewhere in a text for the slow expressions to find anything.
_PROFILE_MARKS: Final = (".com/", ".net/", "t.me/", ".social/", ".app/")
_ACCOUNT_MARKS: Final = ("微信", "wechat", "weixin", "vx", "qq")
_NO_PROFILES: Final = frozenset(
    "share sharer sharer.php intent home search explore hashtag tag tags status watch about login signup help "
    "privacy terms policies settings groups events pages photo photos story stories reel reels tv pin dialog plugins "
    "business download jobs legal ads public people marketplace discover trending".split()
)
_HANDLE: Final = re.compile(r"(?<![\w@./:;=?&#-])@(?P<name>[A-Za-z_]\w{2,29})(?![\w@]|\.\w|\(|/\w)", re.ASCII)
# Words that CSS, documentation and code put behind an @.
_NO_HANDLES: Final = frozenset(
    "media import charset keyframes font supports include mixin extend param return returns throws author override "
    "property deprecated see link since version staticmethod classmethod dataclass abstractmethod everyone here all "
    "channel test autowired todo type interface component service controller repository bean entity nullable notnull "
    "suppresswarnings functionalinterface before after beforeeach aftereach inject injectable input output".split()
)
_CHINESE_HANDLE: Final = re.compile(rf"(?<![\w@./])@(?!所有人|全体成员|大家)[{HAN}][\w-]{{1,19}}(?=[\s:，。！,!]|$)")
_ACCOUNT_ID: Final = re.compile(
    # After `WeChat` and a space alone stand words too, such as `payments`: there an id has a digit, - or _.
    r"(?:(?:微信|WeChat|weixin|(?<![A-Za-z])vx)"
    r"(?:(?:号|公众号| ?ID)(?:\s?(?:[:：]|是|为)\s?|\s)|\s?[:：]\s?|(?:\s?[是为]\s?|\s)(?=[A-Za-z]{1,19}[\d_-]))"
    r"(?P<wechat>[A-Za-z][\w-]{5,19})"
    r"|(?<![A-Za-z])QQ(?:号码|号|群号|群)?\s?(?:[:：]|是|为)?\s?(?P<qq>[1-9]\d{4,10}))(?![\w@-])",
    re.IGNORECASE | re.ASCII,
)


def emails(text: str) -> Iterator[Span]:
    """E-mail addresses as mail services give them out, also as `name [at] host [dot] com`."""
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.search(text, max(0, at - _LOCAL_LIMIT), at)
        domain = _DOMAIN.match(text, at + 1, at + 1 + _DOMAIN_LIMIT)
        if local and domain and domain[0].rpartition(".")[2].lower() not in _FILES:
            # `git@host:path` is the address of a repository.
            remote = text[max(0, at - 3) : at] == "git" and text[domain.end() : domain.end() + 1] in (":", "/")
            start = local.start() + len(local[0]) - len(local[0].lstrip(_NOT_FIRST))
            if start < at and not remote:
                yield Span(start, domain.end(), "EMAIL")
        at = text.find("@", at + 1)
    for match in _SPELLED.finditer(text) if _AT_SIGN_SPELLED.search(text) else ():
        yield Span(match.start(), match.end(), "EMAIL")


def ip_addresses(text: str) -> Iterator[Span]:
    """IPv4 and IPv6 addresses, without those that name no machine of their own: unspecified, loopback, masks."""
    for match in _IPV4.finditer(text):
        start = match.start()
        if not match[0].startswith(("0.", "127.", "255.")) and not _NOT_IP.search(text, max(0, start - 12), start):
            yield Span(start, match.end(), "IP")
    for match in _IPV6.finditer(text):
        form = match[0].rstrip(":") if not match[0].endswith("::") else match[0]
        try:
            address = ipaddress.IPv6Address(form)
        except ValueError:
            continue
        # `Dead::Beef` is C++, so a short form needs digits.
        sure = form.count(":") == 7 or (form.count(":") > 2 and sum(map(str.isdigit, form)) >= 2)
        if sure and not (address.is_unspecified or address.is_loopback):
            yield Span(match.start(), match.start() + len(form), "IP")


def handles(text: str) -> Iterator[Span]:
    """Profiles on platforms, `@name`, WeChat and QQ ids."""
    for match in _PROFILE.finditer(text) if any(mark in text for mark in _PROFILE_MARKS) else ():
        if match["name"].lower() not in _NO_PROFILES:
            yield Span(match.start(), match.end(), "HANDLE")
    if "@" in text:
        for match in _HANDLE.finditer(text):
            if match["name"].lower() not in _NO_HANDLES:
                yield Span(match.start(), match.end(), "HANDLE")
        for match in _CHINESE_HANDLE.finditer(text):
            yield Span(match.start(), match.end(), "HANDLE")
    lower = text.lower()
    for match in _ACCOUNT_ID.finditer(text) if any(mark in lower for mark in _ACCOUNT_MARKS) else ():
        group = "wechat" if match["wechat"] else "qq"
        yield Span(match.start(group), match.end(group), "HANDLE")


# ---- cards, IBANs, Chinese and US identity numbers

# In one piece, or in the groups that are printed on cards; one kind of separator.
_CARD: Final = re.compile(
    r"(?<![\w.,/+-])(?:\d{12,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![\w/]|[.,-]\d)"
)
# Prefixes and lengths: ISO/IEC 7812 ranges as the issuers publish them.
_RANGES: Final[Sequence[tuple[str, Collection[int]]]] = (
    ("4", (13, 16, 19)),  # Visa
    ("51-55 2221-2720", (16,)),  # Mastercard
    ("34 37", (15,)),  # American Express
    ("300-305 3095", (14,)),  # Diners Club
    ("36 38-39", range(14, 20)),
    ("6011 644-649 65", range(16, 20)),  # Discover
    ("2131 1800", (15,)),  # JCB
    ("3528-3589", range(16, 20)),
    ("62 2200-2204", range(16, 20)),  # UnionPay, Mir
    ("50 56-58 63 67", range(12, 20)),  # Maestro
)
# First and last prefix, and lengths.
_ISSUERS: Final = [
    (prefix.partition("-")[0], prefix.rpartition("-")[2], lengths)
    for prefixes, lengths in _RANGES
    for prefix in prefixes.split()
]
_DOUBLED: Final = str.maketrans("0123456789", "0246813579")

_IBAN: Final = re.compile(
    r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?(?![A-Za-z0-9])", re.ASCII
)
# Characters of an IBAN by country: SWIFT IBAN Registry (ISO 13616).
_IBAN_LENGTHS: Final = {
    word[:2]: int(word[2:])
    for word in (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 "
        "EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 "
        "JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 "
        "NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 "
        "TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
    ).split()
}

# Areas that were never given: Social Security Administration, POMS RM 10201.035.
_SSN: Final = re.compile(r"\d(?<![\w-]\d)\d\d-(?!00)\d\d-(?!0000)\d{4}(?![\w-])")
_NO_AREA: Final = ("000", "666", "9")
_SPACED_SSN: Final = re.compile(
    r"(?i:\bssn\b|social security)\D{0,20}(?!000|666|9\d\d)(?P<number>\d{3}([ ]?)(?!00)\d{2}\2(?!0000)\d{4})(?![\w-])"
)

_RESIDENT: Final = re.compile(r"(?<![A-Za-z0-9])[1-9]\d{16}[\dXx](?![A-Za-z0-9])")
_RESIDENT_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _luhn(digits: str) -> bool:
    """Whether `digits` pass the check of ISO/IEC 7812-1, annex B: every second digit from the right doubled."""
    return (sum(map(int, digits[-1::-2])) + sum(map(int, digits[-2::-2].translate(_DOUBLED)))) % 10 == 0


def cards(text: str) -> Iterator[Span]:
    """Payment cards."""
    for match in _CARD.finditer(text):
        digits = match[0].replace(" ", "").replace("-", "")
        issued = any(low <= digits[: len(low)] <= high and len(digits) in lengths for low, high, lengths in _ISSUERS)
        if issued and _luhn(digits) and len(set(digits)) > 1:
            yield Span(match.start(), match.end(), "CREDIT_CARD")


def ibans(text: str) -> Iterator[Span]:
    """International bank account numbers, in one piece or in groups of four."""
    at = 0
    while match := _IBAN.search(text, at):
        # Where this is none, another may begin inside it; where it is one, behind it.
        at = match.start() + 2
        length = _IBAN_LENGTHS.get(match[0][:2].upper())
        places = [match.start() + i for i, c in enumerate(match[0]) if c not in " -"]
        if length is None or len(places) < length:
            continue
        end = places[length - 1] + 1
        iban = text[match.start() : end].replace(" ", "").replace("-", "")
        # ISO 7064 MOD 97-10: letters as 10 to 35, the first four characters moved to the end.
        proof = int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1
        # A word may follow: what is cut off must not be the rest of a group.
        if proof and (end == match.end() or text[end] in " -"):
            yield Span(match.start(), end, "IBAN")
            at = end


def social_security_numbers(text: str) -> Iterator[Span]:
    """US social security numbers, with hyphens; with spaces or in one piece only where the text says so."""
    for match in _SSN.finditer(text):
        if not match[0].startswith(_NO_AREA):
            yield Span(match.start(), match.end(), "SSN")
    lower = text.lower()
    for match in _SPACED_SSN.finditer(text) if "ssn" in lower or "social sec" in lower else ():
        yield Span(match.start("number"), match.end("number"), "SSN")


def national_ids(text: str) -> Iterator[Span]:
    """Resident identity numbers of China (GB 11643): region, date of birth, and ISO 7064 MOD 11-2."""
    for match in _RESIDENT.finditer(text):
        number = match[0]
        total = sum(int(c) * weight for c, weight in zip(number, _RESIDENT_WEIGHTS, strict=False))
        try:
            year = date(int(number[6:10]), int(number[10:12]), int(number[12:14])).year
        except ValueError:
            continue
        if "10X98765432"[total % 11] == number[-1].upper() and 1850 <= year <= 2100:
            yield Span(match.start(), match.end(), "NATIONAL_ID")


# ---- telephone numbers
#
# `phonenumbers` (Google's libphonenumber) knows the numbering plans, but looking through a whole text with its
# matcher takes milliseconds a kilobyte. So a cheap expression finds groups of digits first, what has the form of a
# date, an ISBN, a range or a decimal is left out, and the library judges the rest:
#
# * international (`+`): possible by length for the country code;
# * national, of a form that is hardly used for anything else (`905-674-3793`, `(08) 8747 6301`, `0688 872 49 99`,
#   a Chinese mobile number): valid in its country, or of exactly the North American form;
# * anything else of 6 to 15 digits that is not round: only after a cue on the same line, or alone on the line after it,
#   or with a label such as `office` or `fax` behind it.

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
        number = _parsed(f"+{digits}".replace("(0)", ""), None)
        return number is not None and bool(phonenumbers.is_possible_number(number))
    if _DATE.fullmatch(form) or _ISBN.fullmatch(form):
        return False
    # A word such as `phone` stands shortly before, with nothing between that ends the thought.
    nouns = list(_NOUN.finditer(text, max(0, start - 40), start))
    if nouns and _BETWEEN.fullmatch(text, nouns[-1].end(), start):
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


def _parsed(number: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(number, region)
    except NumberParseException:
        return None


def _valid(digits: str, region: str) -> bool:
    """Whether `digits` are a number that is in use by the numbering plan of a region."""
    number = _parsed(digits, region)
    return number is not None and phonenumbers.is_valid_number(number)


# ---- all of them

# In order of proof: of two findings that overlap the first stays.
_BY_DIGITS: Final[dict[str, Callable[[str], Iterator[Span]]]] = {
    "IBAN": ibans,
    "NATIONAL_ID": national_ids,
    "CREDIT_CARD": cards,
    "SSN": social_security_numbers,
    "IP": ip_addresses,
}
TYPES: Final = ("EMAIL", "PHONE", *_BY_DIGITS, "HANDLE")
# Whether a text has digits enough for any of these: most lines of prose have not.
_DIGITS: Final = re.compile(r"\d(?:\D{0,3}\d){5}|:[0-9A-Fa-f:]*:")


def find(text: str, language: str | None, types: Collection[str] = TYPES) -> list[Span]:
    """Spans of personal data of the wanted `types`, in order, disjoint."""
    candidates: list[Span] = []
    if "EMAIL" in types:
        candidates += emails(text)
    if "HANDLE" in types:
        candidates += handles(text)
    if _DIGITS.search(text):
        digits = [span for name, finder in _BY_DIGITS.items() if name in types for span in finder(text)]
        if "PHONE" in types:
            digits += phones(text, language)
        # Digits in the path of a web address are no numbers of persons; an IP address there is its host.
        paths = [match.span() for match in _WEB.finditer(text)]
        for span in digits:
            at = bisect(paths, span.start, key=lambda path: path[0])
            if span.type == "IP" or at == 0 or paths[at - 1][1] <= span.start:
                candidates.append(span)
    spans: list[Span] = []
    for span in candidates:  # Of those that overlap the first stays.
        at = bisect(spans, span)
        if (at == 0 or spans[at - 1].end <= span.start) and (at == len(spans) or span.end <= spans[at].start):
            spans.insert(at, span)
    return spans


def replace(text: str, spans: list[Span], *, mark: bool) -> str:
    """`text` with a mark for each of the spans, or without them and the space they leave."""
    if not spans:
        return text
    gaps = [0, *(edge for span in spans for edge in (span.start, span.end)), len(text)]
    pieces = [text[start:end] for start, end in zip(gaps[::2], gaps[1::2], strict=True)]
    if mark:
        return pieces[0] + "".join(f"[{span.type}]{piece}" for span, piece in zip(spans, pieces[1:], strict=True))
    # Without the space that would stand double, or before punctuation.
    return "".join(
        piece[:-1] if piece.endswith(" ") and (not following or following[0] in " ,.;:!?)\n") else piece
        for piece, following in zip(pieces, [*pieces[1:], "end"], strict=True)
    )


def counts(spans: list[Span]) -> list[dict[str, object]]:
    """How many of each type, in order of type."""
    totals = Counter(span.type for span in spans)
    return [{"type": name, "count": totals[name]} for name in sorted(totals)]
