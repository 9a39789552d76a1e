"""Quantities in English and Chinese text: numbers with their units, as exact spans with the value that they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from quern.jobs.text.chinese_numerals import value as chinese_value
from quern.jobs.text.dates import When, dates
from quern.jobs.text.numbers import NUMBER_WORD, SCALES, english_value
from quern.jobs.text.words import ADVERBS, CLOSED
from quern.schemas.words.patterns import lazy_pattern


@dataclass(frozen=True)
class Quantity:
    """A number that a text gives."""

    start: int  # First character, a currency sign before the number among them.
    end: int  # Character after the last of the number and its unit.
    value: float  # The number itself: 1.2 million is 1200000.
    # What is counted, in the singular and in lower case (`metre`, `per cent`, `seat`); `o'clock` for a time of day,
    # whose value is in hours; empty where the text names none.
    unit: str
    text: str  # The characters themselves.


# Behind an amount, and nowhere else, an `m` is a million.
_SCALES: Final = {**SCALES, "m": 1e6, "": 1.0}
# Units by the ways of writing them; what is not here is named by the noun behind the number.
_UNITS: Final = {
    unit: name
    for name, units in {
        "per cent": "% % per cent percent pct 个百分点",
        "percentage point": "percentage points",
        "metre": "metre metres meter meters m 米",
        "kilometre": "kilometre kilometres kilometer kilometers km kms 公里 千米",
        "centimetre": "centimetre centimetres centimeter centimeters cm 厘米",
        "millimetre": "millimetre millimetres millimeter millimeters mm 毫米",
        "micrometre": "micrometre micrometres micrometer micrometers micron microns µm μm 微米",
        "nanometre": "nanometre nanometres nanometer nanometers nm 纳米",
        "mile": "mile miles 英里",
        "foot": "foot feet ft 英尺",
        "inch": "inch inches 英寸",
        "kilogram": "kilogram kilograms kg kgs kilo kilos 公斤 千克",
        "gram": "gram grams g 克",
        "tonne": "tonne tonnes ton tons 吨",
        "litre": "litre litres liter liters 升",
        "hectare": "hectare hectares ha 公顷",
        "knot": "knot knots 节",
        "decibel": "decibel decibels db",
        "degree": "degree degrees °c °f ° 度 摄氏度",
        "second": "second seconds secs 秒 秒钟",
        "minute": "minute minutes mins min 分钟",
        "hour": "hour hours hrs hr 小时 个小时 钟头",
        "day": "day days 天",
        "week": "week weeks 周 个星期 星期",
        "fortnight": "fortnight fortnights",
        "month": "month months 个月",
        "year": "year years yrs 年",
        "decade": "decade decades",
        "century": "century centuries 个世纪",
        "dollar": "$ us$ usd dollar dollars 美元",
        "pound": "£ gbp pound pounds 英镑",
        "euro": "€ eur euro euros 欧元",
        "yuan": "¥ ¥ rmb yuan 元 人民币 块 块钱",
        "yen": "yen 日元",
        "crown": "crown crowns 克朗",
        "person": "person persons people 人 名 位",
    }.items()
    for unit in units.split()
} | {"per cent": "per cent", "percentage points": "percentage point", "percentage point": "percentage point"}
_KNOWN: Final = "|".join(
    re.escape(u) + (r"(?![A-Za-z])" if u[-1].isascii() and u[-1].isalpha() else "")
    for u in sorted(_UNITS, key=len, reverse=True)
)
_NUMERAL: Final = "零〇一二三四五六七八九十百千万亿两"
_PLAIN: Final = "零一二三四五六七八九"
_HALVES: Final = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1}

_NUMBER: Final = lazy_pattern(
    r"(?<![\w.,:/-])(?P<hour>1?\d|2[0-3])[.:](?P<minute>[0-5]\d)(?:\s?(?P<noon>[ap]\.?m\b\.?))?"
    r"(?!\s*(?:m\b|million|per|%)|[\d,:]|\.\d)"
    r"|(?<![\w.,:/-])(?P<hour2>1?\d)\s?(?P<noon2>[ap]\.?m\b\.?)"
    r"|\b(?P<lone>half\s+an?(?=\s+(?:second|minute|hour|day|week|month|year|century|mile)\b)"
    r"|an?(?=\s+(?:minute|hour|day|week|fortnight|month|year|decade|century)\s+(?:and\s+a\s+half|later|earlier|after|before|long)\b))"
    r"|(?P<sign>(?:US)?[$£€¥¥])?(?<![A-Za-z\d.])"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[ \u202f\u00a0]\d{3})+(?!\d)|\d+(?:\.\d+)?)"
    r"(?!(?:st|nd|rd|th)\b|[-/:]\d|(?:\.\d)|,\d)"
    r"(?:(?:\s|-)?(?P<scale>hundred|thousand|million|billion|trillion|dozen|bn\b|mn\b|k\b|m\b)|(?P<zh>[百千万亿]))?"
    rf"|\b(?P<words>(?:an?\s+(?=hundred|thousand|million|billion|dozen|half))?(?:{NUMBER_WORD}|dozen)"
    rf"(?:(?:[ -]|\s+and\s+|-)(?:{NUMBER_WORD}))*)\b"
    r"(?![-'’](?!metre|minute|hour|day|week|month|year|mile|foot|inch|person|seat)\w)"
    r"|\b(?P<share>(?:an?|one|two|three|four)[ -](?:third|quarter|fifth|tenth)s?(?=\s+of)"
    r"|half(?=\s+(?:of|an?|the|its|his|her|their)\b))"
    rf"|(?P<percent>百分之)(?P<han_percent>[{_NUMERAL}点\d.]+)"
    rf"|(?<![{_NUMERAL}])(?P<han>[{_NUMERAL}]{{1,24}}+)(?=\s*(?:{_KNOWN}|[个艘座家只条张件本部层块棵头台辆所间次场册盏根种项岁斤]))",
    re.IGNORECASE,
)
_UNIT: Final = lazy_pattern(
    rf"[\s-]?(?P<unit>{_KNOWN})|\s?(?P<zh>[个艘座家只条张件本部层棵头台辆所间次场册盏根种项岁斤])", re.IGNORECASE
)
_MORE: Final = lazy_pattern(r"\s+and\s+a\s+(half|quarter)\b")
_NOUN: Final = lazy_pattern(r"[\s-]([A-Za-z]+(?:['’]s)?)")
_NOT: Final = re.compile(r"\bnot\s+$", re.IGNORECASE)
_MINUS: Final = re.compile(r"(?:\bminus\s+|(?<!\S)[-\u2212])$", re.IGNORECASE)
# Words of closed classes and a few more: a counted noun does not lie behind them.
_STOP: Final = (
    CLOSED | ADVERBS | set("ago else here less long more most not only said say says such there too very".split())
)
_SINGULAR_S: Final = lazy_pattern(r"(?:ss|us|is|ics|'s|’s)$")
_PLURALS: Final = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "mice": "mouse", "feet": "foot",
    "staff": "staff", "sheep": "sheep", "fish": "fish", "crew": "crew",
}  # fmt: skip
_NAME_BEFORE: Final = lazy_pattern(
    r"(?:(?<=[a-z,;:] )|(?<=[A-Z][a-z] ))[A-Z][\w’'-]*\s$|\b[A-Z][\w’'-]*\s[A-Z][\w’'-]*\s$"
)
_NEEDS: Final = lazy_pattern(
    rf"[\d{_NUMERAL}]|\b(?:{NUMBER_WORD}|dozen|half|third|quarter|fifth|tenth|"
    r"an? (?:minute|hour|day|week|fortnight|month|year|decade|century))",
    re.IGNORECASE,
)


def singular(noun: str) -> str:
    """An English noun without the mark of the plural."""
    word = noun.lower()
    if word in _PLURALS:
        return _PLURALS[word]
    if _SINGULAR_S.search(word) or not word.endswith("s") or len(word) < 4:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if re.search(r"(?:[sx]|[cs]h)es$", word) else word[:-1]


def quantities(text: str, times: Sequence[When] | None = None) -> list[Quantity]:
    """The quantities of `text`, in order and disjoint; none of them is part of a date.

    A number that belongs to a name (`Hopper 3`) or an ordinal (`the 3rd`) is none, and neither is `one` where it
    counts nothing, or in `not one`. `times` is what `dates` finds in the text, where that is known.
    """
    if _NEEDS.search(text) is None:
        return []
    date_spans = [(w.start, w.end) for w in (dates(text) if times is None else times)]
    parts: list[Quantity] = []
    for m in _NUMBER.finditer(text):
        if any(start < m.end() and m.start() < end for start, end in date_spans):
            continue
        quantity = _read(text, m)
        last = parts[-1].end if parts else 0
        if quantity is not None and quantity.start >= last:
            minus = _MINUS.search(text, last, quantity.start)
            # Between two numbers it is no sign: `ten minus three`.
            if minus and (not last or text[last : minus.start()].strip()):
                start, end = minus.start(), quantity.end
                quantity = replace(quantity, start=start, value=-quantity.value, text=text[start:end])
            parts.append(quantity)
    # `two years and three months` as one quantity of years.
    result: list[Quantity] = []
    for q in parts:
        before = result[-1] if result else None
        part = _PARTS.get(before.unit) if before else None
        if before and part and part[0] == q.unit and _AND.fullmatch(text, before.end, q.start):
            result[-1] = Quantity(
                before.start, q.end, before.value + q.value / part[1], before.unit, text[before.start : q.end]
            )
        else:
            result.append(q)
    return result


def _read(text: str, m: re.Match[str]) -> Quantity | None:
    if m["hour"] or m["hour2"]:
        # A time of day; without `am` or `pm` only where it is written with a colon.
        noon = (m["noon"] or m["noon2"] or "").lower()
        if not noon and (m["hour"] is None or m[0][len(m["hour"])] != ":"):
            if m["hour"] is None:
                return None
            return _with_unit(m.string, m.start(), m.end(), float(m[0].strip()), "")
        hour = int(m["hour"] or m["hour2"]) + int(m["minute"] or 0) / 60
        if noon.startswith("p") and hour < 12:
            hour += 12
        if noon.startswith("a") and hour >= 12:
            hour -= 12
        return Quantity(m.start(), m.end(), hour, "o'clock", m[0])
    if m["lone"]:
        return _with_unit(text, m.start(), m.end(), 0.5 if m["lone"][0] in "hH" else 1.0, "")
    if m["share"]:
        words = m[0].lower().replace("-", " ").split()
        if words == ["half"]:
            return Quantity(m.start(), m.end(), 0.5, "share", m[0])
        count = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}[words[0]]
        return Quantity(m.start(), m.end(), count * _HALVES[singular(words[1])], "share", m[0])
    if m["percent"]:
        return _han_percent(m["han_percent"], m.start(), m.end(), m[0])
    if m["han"]:
        number = chinese_value(m["han"])
        return None if number is None else _with_unit(text, m.start(), m.end(), float(number), "")
    return _english(text, m)


def _han_percent(numeral: str, start: int, end: int, text: str) -> Quantity | None:
    whole, _, part = numeral.partition("点")
    number = float(whole) if re.fullmatch(r"\d+(?:\.\d+)?", whole) else chinese_value(whole)
    if number is None:
        return None
    if part:
        number += float("0." + "".join(str(_PLAIN.find(c)) for c in part if c in _PLAIN))
    return Quantity(start, end, float(number), "per cent", text)


def _english(text: str, m: re.Match[str]) -> Quantity | None:
    if m["digits"]:
        number = float(re.sub(r"[,\s\u202f\u00a0]", "", m["digits"]))
        scale = (m["scale"] or m["zh"] or "").lower()
        end = m.end()
        if scale == "m" and not m["sign"]:
            # `12 m` is metres unless money stands before it.
            return _with_unit(text, m.start(), m.end("digits"), number, "")
        sign = (m["sign"] or "").lower()
        return _with_unit(text, m.start(), end, number * _SCALES[scale], sign)
    words = m["words"].lower()
    if words == "one" and _NOT.search(text, max(0, m.start() - 5), m.start()) is not None:
        return None
    if words.endswith("dozen"):
        first = words.removesuffix("dozen").strip(" -")
        return _with_unit(text, m.start(), m.end(), 12.0 * (1 if first in ("", "a") else english_value(first) or 1), "")
    plain = re.sub(r"^an?\s+", "one ", words)
    value = None if plain.split()[0] in ("hundred", "thousand", "million", "billion") else english_value(plain)
    return None if value is None else _with_unit(text, m.start(), m.end(), float(value), "")


def _with_unit(text: str, start: int, end: int, value: float, sign: str) -> Quantity | None:
    """The number with what is counted by it; none where it is the number of a name."""
    if sign:
        return Quantity(start, end, value, _UNITS[sign], text[start:end])
    half = _MORE.match(text, end)
    # Where case is ignored `ſ` is an `s`, and of no unit.
    if (unit := _UNIT.match(text, end)) and (
        name := _UNITS.get(" ".join((unit["unit"] or "").lower().split()), unit["zh"])
    ):
        end = unit.end()
        half = _MORE.match(text, end)
        if half is not None:
            value, end = value + _HALVES[half[1]], half.end()
        return Quantity(start, end, value, name, text[start:end])
    if half is not None:
        value, end = value + _HALVES[half[1]], half.end()
    noun_end, noun = _noun(text, end, value)
    if not noun:
        label = text[start:end].isdigit() and _NAME_BEFORE.search(text, max(0, start - 40), start) is not None
        if label or text[start:end].lower() == "one":
            return None
        return Quantity(start, end, value, "", text[start:end])
    return Quantity(start, noun_end, value, noun, text[start:noun_end])


def _noun(text: str, end: int, value: float) -> tuple[int, str]:
    """End and singular of the noun that is counted: the first plural of at most three words behind the number."""
    at, last = end, ""
    for _ in range(3):
        m = _NOUN.match(text, at)
        if m is None or m[1].lower() in _STOP:
            break
        word, at = m[1], m.end()
        if word.lower() in _PLURALS or (value != 1 and word.endswith("s") and not _SINGULAR_S.search(word)):
            return at, singular(word)
        last = last or word
    if value == 1 and last and not last.endswith("s"):
        return end + 1 + len(last), last.lower()
    return end, ""


_PARTS: Final = {
    "year": ("month", 12),
    "month": ("week", 4.345),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
    "foot": ("inch", 12),
}
_AND: Final = lazy_pattern(r"(?:\s+and\s+|,?\s+|-)")
