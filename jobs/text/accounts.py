"""Numbers of accounts and identities that carry their own proof: cards, IBANs, Chinese and US identity numbers.

A run of digits is one only when its checksum, its issuer and its length agree; without that proof a number of
a table or a product code would be taken for a card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from quern.jobs.text.spans import Span

# In one piece, or in the groups that are printed on cards; one kind of separator.
_CARD: Final = re.compile(
    r"(?<![\w.,/+-])(?:\d{12,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![\w/]|[.,-]\d)"
)
# (first and last prefix, lengths): ISO/IEC 7812 ranges as the issuers publish them.
_ISSUERS: Final = (
    ("4", "4", (13, 16, 19)),  # Visa
    ("51", "55", (16,)),  # Mastercard
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),
    ("300", "305", (14,)),  # Diners Club
    ("3095", "3095", (14,)),
    ("36", "36", tuple(range(14, 20))),
    ("38", "39", tuple(range(14, 20))),
    ("6011", "6011", (16, 17, 18, 19)),  # Discover
    ("644", "649", (16, 17, 18, 19)),
    ("65", "65", (16, 17, 18, 19)),
    ("3528", "3589", (16, 17, 18, 19)),  # JCB
    ("2131", "2131", (15,)),
    ("1800", "1800", (15,)),
    ("62", "62", (16, 17, 18, 19)),  # UnionPay
    ("2200", "2204", (16, 17, 18, 19)),  # Mir
    ("50", "50", tuple(range(12, 20))),  # Maestro
    ("56", "58", tuple(range(12, 20))),
    ("63", "63", tuple(range(12, 20))),
    ("67", "67", tuple(range(12, 20))),
)
_DOUBLED: Final = str.maketrans("0123456789", "0246813579")

_IBAN: Final = re.compile(
    r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?(?![A-Za-z0-9])", re.ASCII
)
# Characters of an IBAN by country: SWIFT IBAN Registry (ISO 13616).
_IBAN_LENGTHS: Final = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FO FI GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK MN",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM TL SO",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}

# Areas that were never given: Social Security Administration, POMS RM 10201.035.
_SSN: Final = re.compile(r"\d(?<![\w-]\d)\d\d-(?!00)\d\d-(?!0000)\d{4}(?![\w-])")
_NO_AREA: Final = ("000", "666", "9")
_SPACED_SSN: Final = re.compile(
    r"(?i:\bssn\b|social security)\D{0,20}(?!000|666|9\d\d)(?P<number>\d{3}([ ]?)(?!00)\d{2}\2(?!0000)\d{4})(?![\w-])"
)

_RESIDENT: Final = re.compile(r"(?<![A-Za-z0-9])[1-9]\d{16}[\dXx](?![A-Za-z0-9])")
_RESIDENT_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def luhn(digits: str) -> bool:
    """Whether `digits` pass the check of ISO/IEC 7812-1, annex B: every second digit from the right doubled."""
    return (sum(map(int, digits[-1::-2])) + sum(map(int, digits[-2::-2].translate(_DOUBLED)))) % 10 == 0


def _issued(digits: str) -> bool:
    return any(low <= digits[: len(low)] <= high and len(digits) in lengths for low, high, lengths in _ISSUERS)


def cards(text: str) -> Iterator[Span]:
    """Payment cards."""
    for match in _CARD.finditer(text):
        digits = match[0].replace(" ", "").replace("-", "")
        if _issued(digits) and luhn(digits) and len(set(digits)) > 1:
            yield Span(match.start(), match.end(), "CREDIT_CARD")


def _has_iban_checksum(iban: str) -> bool:
    """ISO 7064 MOD 97-10: letters as 10 to 35, the first four characters moved to the end."""
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


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
        # A word may follow: what is cut off must not be the rest of a group.
        if (end == match.end() or text[end] in " -") and _has_iban_checksum(iban):
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
        if "10X98765432"[total % 11] == number[-1].upper() and _is_birthday(number[6:14]):
            yield Span(match.start(), match.end(), "NATIONAL_ID")


def _is_birthday(digits: str) -> bool:
    try:
        return 1850 <= date(int(digits[:4]), int(digits[4:6]), int(digits[6:])).year <= 2100
    except ValueError:
        return False
