"""Times as people and programs write them in files: `03.05.2024 14:05`, `May 9, 2024`, `3. Mai 2024`, `2024年5月3日`.

A value that is a time and nothing else, unlike the times that `jobs.text.dates` finds in sentences. ISO 8601 and
RFC 2822 are read too. Days with dots have the day first, as in all countries that write them so (Unicode CLDR 44,
short dates) save Korea and Hungary, where years of two digits are first; with slashes and dashes the order is the only
one that makes a day of the calendar, or is asked for. Years of two digits count from 1969 to 2068, as POSIX has it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone
from functools import cache, lru_cache
from importlib import import_module
from typing import Final

from quern.jobs.text.language import language_tag
from quern.jobs.text.plain_text import YEARS, iso_time, mail_time
from quern.schemas.words.calendar import MONTHS, WEEKDAYS

_MONTHS: Final = [month.lower() for month in MONTHS]
_WEEKDAYS: Final = [day.lower() for day in WEEKDAYS]
_ENGLISH: Final = {name[:length]: n for n, name in enumerate(_MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
_ENGLISH_DAYS: Final = frozenset(name[:length] for name in _WEEKDAYS for length in (3, 4, 5, len(name)))


def folded(word: str) -> str:
    """A word without case and accents, as some files write it."""
    return "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))


def _month_named(word: str, language: str | None) -> int | None:
    """The month, 1 to 12, that a `folded` word names; where languages disagree (listopad) that of `language`."""
    if (english := _ENGLISH.get(word)) is not None:
        return english
    months, _ = _names()
    by_language = months.get(word, {})
    tag = (language or "").partition("-")[0].lower()
    if tag in by_language:
        return by_language[tag]
    return next(iter(by_language.values())) if len(set(by_language.values())) == 1 else None


def _is_weekday(word: str) -> bool:
    """Whether a `folded` word names a weekday; a letter of the alphabet does not: `v1.2.2024` is a version."""
    return (len(word) > 1 or not word.isascii()) and (word in _ENGLISH_DAYS or word in _names()[1])


@cache
def _names() -> tuple[Mapping[str, Mapping[str, int]], Collection[str]]:
    """Months by names and languages, and the names of weekdays, in all languages.

    Read where an English name does not do: dateparser takes a third of a second to import.
    """
    # The most used languages by dateparser's own order: those of Europe and of East Asia.
    order = import_module("dateparser.data.languages_info").language_order[:60]
    months: defaultdict[str, dict[str, int]] = defaultdict(dict)
    weekdays: set[str] = set()
    for language in order:
        info = import_module(f"dateparser.data.date_translation_data.{language}").info
        for number, name in enumerate(_MONTHS, 1):
            for word in info.get(name, ()):
                months[folded(word).rstrip(".")].setdefault(language, number)
        weekdays.update(folded(word).rstrip(".") for name in _WEEKDAYS for word in info.get(name, ()))
    return months, weekdays


_REMEMBERED: Final = 1 << 14
"""Values whose reading is held: the days of forty years, some megabytes."""

# Hours that names of zones are ahead of UTC. Of those that several use (IST, CST of China) only the American ones of
# RFC 2822, section 4.3, are read.
_ZONES: Final = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "mez": 1, "cest": 2, "mesz": 2,
    "eet": 2, "eest": 3, "msk": 3, "jst": 9, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7,
}  # fmt: skip
_ZONE: Final = rf"(?:(?:utc|gmt)?(?P<offset>[+-]\d\d?(?::?\d\d)?)(?:\s(?:utc|gmt))?|(?P<zone>{'|'.join(_ZONES)}))\b"
_CLOCK: Final = re.compile(
    r"(?<![\d:.,/-])(?:(?P<early>上午|午前|오전)|(?P<late>下午|午後|오후))?\s?(?P<hour>\d\d?)"
    r"(?:\s?[:h时時点點시]\s?(?P<minute>\d\d)(?:\s?[:m分분]\s?(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?[s秒초분分]?(?!\d)"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?|\s?uhr\b)?"
    r"|\s?(?P<whole>[ap])\.?m\b\.?|(?:\.(?P<dotted>\d\d))?\s?(?:uhr|h)\b)"
    rf"(?:\s?{_ZONE})?(?:\s?\([^()]*\)|\[[^\[\]]*\])?"
)
_DOTTED_CLOCK: Final = re.compile(
    r"(?<=\d{4}\s)(?:klo\s|kl\.?\s)?(?P<hour>\d\d?)\.(?P<minute>\d\d)(?:\.(?P<second>\d\d))?$"
)
# What stands between a day and its time.
_BETWEEN: Final = re.compile(r"[\s,;–-]+(?:(?:at|um|a|à|alle|ore|las|kl|klo|klockan|om|o|в|t)\b\.?)?[\s,;–-]*$")

_YEAR_FIRST: Final = re.compile(r"(\d{4})\s?([-/.])\s?(\d\d?)\s?\2\s?(\d\d?)\.?")
_YEAR_LAST: Final = re.compile(r"(\d\d?)\s?([-/.])\s?(\d\d?)\s?\2\s?(\d{4}|\d\d)\.?")
_CHARACTERS: Final = re.compile(r"(\d{4})\s?[年년]\s?(\d\d?)\s?[月월]\s?(\d\d?)\s?[日号號일]?[^\d]{0,8}")
# Months that are numbers, of Vietnamese, as `folded`.
_NUMBERED: Final = re.compile(r"(?:ngay )?(\d\d?) (?:thang|thg) (\d\d?),? (?:nam )?(\d{4})")
_COMPACT: Final = re.compile(r"((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d)([0-5]\d)?")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
# Languages that write 24.05.03 for the 3rd of May 2024.
_SHORT_YEAR_FIRST: Final = ("ko", "hu")
# A time of RFC 2822 whose zone, of letters, is none of those above. Python reads any words beside a time as one.
_MAIL: Final = re.compile(
    r"(?:[A-Za-z]{3},? )?\d\d? [A-Za-z]{3} (?:\d\d|\d{4}) \d\d:\d\d(?::\d\d)? (?![AP]M)[A-Z]{1,5}"
)
# A word has whatever is no digit, space or mark between words: vowel signs of Indian scripts are no letters.
_A_WORD: Final = r"[^\d\s\-–/.,;'’()]+"
_WORD: Final = re.compile(_A_WORD)
_TOKEN: Final = re.compile(rf"\d+|{_A_WORD}|[-–/.,;'’()]")
_NUMBER_ENDINGS: Final = frozenset("st nd rd th er e o a".split())
# Words beside day, month and year in the languages of `month_names`: `3 de mayo de 2024`, `3 мая 2024 г.`.
_BESIDE: Final = frozenset("the of le de del d den der da do el r m s g год года году г р рік року gada".split())


@dataclass(frozen=True)
class Undecided:
    """A day in digits that may be exchanged with its month: 03/05/2024."""


def written_time(text: str, day_first: bool | None = None, language: str | None = None) -> datetime | Undecided | None:
    """The time that `text` states, in its own offset; a day is midnight UTC, a time without a zone is read as UTC.

    Null for what is no time, no day of the calendar, outside of the years 1450 to 2199, or of more than a hundred
    characters. `day_first` tells whether the day is before the month in 03/05/2024; `language` reads a month's name
    where languages disagree.
    """
    if len(text) > 100:
        return None
    return _remembered(text.strip(), day_first, language_tag(language))


@lru_cache(_REMEMBERED)  # A column of days says each many times.
def _remembered(text: str, day_first: bool | None, language: str | None) -> datetime | Undecided | None:
    # Twelve and fourteen digits would be parts of seconds since 1970 too, of years long before there were such files.
    compact = _COMPACT.fullmatch(text)
    if compact is None and (moment := iso_time(text)):
        return moment
    try:
        if compact:
            year, month, day, hour, minute, second = (int(part or 0) for part in compact.groups())
            return _at(datetime(year, month, day), time(hour, minute, second, tzinfo=UTC))
        line = " ".join(unicodedata.normalize("NFKC", text).translate(_MARKS).casefold().split())
        line, clock = _without_clock(unicodedata.normalize("NFC", line))  # What casefold() took apart.
        reading = _day(line, day_first, language or ("ko" if _HANGUL.search(text) else None))
        if reading is None and _MAIL.fullmatch(text):
            return mail_time(text)
        return _at(reading, clock) if isinstance(reading, datetime) else reading
    except (ValueError, OverflowError):  # No such day, hour or zone.
        return None


def _at(day: datetime, clock: time) -> datetime | None:
    at = datetime.combine(day, clock)
    return at if at.year in YEARS else None


# Marks of direction, which browsers write between the parts of a date.
_MARKS: Final = dict.fromkeys((0x200E, 0x200F, 0x61C))


def _without_clock(line: str) -> tuple[str, time]:
    """The line without its time of day, and that; midnight where it has none."""
    match = _CLOCK.search(line) or _DOTTED_CLOCK.search(line)
    if match is None:
        return line, time(tzinfo=UTC)
    parts = {name: value for name, value in match.groupdict().items() if value}
    hour = int(parts["hour"])
    half = parts.get("half") or parts.get("whole") or ("a" if "early" in parts else "p" if "late" in parts else "")
    if half and (hour > 12 or ("early" not in parts and "late" not in parts and not hour)):
        raise ValueError(f"no hour of half a day: {hour}")
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    _, minus, end = parts.get("offset", "").partition("-")
    # What looks like a zone may be the end of an event: `10:00-11:30`.
    if minus and ":" in end and "second" not in parts and int(end.partition(":")[0]) >= hour:
        raise ValueError(f"two times of day: {match[0]}")
    clock = time(
        hour,
        int(parts.get("minute") or parts.get("dotted") or 0),
        int(parts.get("second", 0)),
        int(parts.get("part", "0")[:6].ljust(6, "0")),
        tzinfo=_zone(parts.get("offset"), parts.get("zone")),
    )
    before = _BETWEEN.sub("", line[: match.start()] + " ") if match.start() else ""
    return f"{before} {line[match.end() :]}".strip(" ,"), clock


def _zone(offset: str | None, name: str | None) -> timezone:
    if offset is None:
        return timezone(timedelta(hours=_ZONES[name])) if name else UTC
    digits = offset[1:].replace(":", "")
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
    ahead = timedelta(hours=hours, minutes=minutes)
    return timezone(-ahead if offset[0] == "-" else ahead)


def _day(line: str, day_first: bool | None, language: str | None) -> datetime | Undecided | None:
    """The day that a line without a time of day states."""
    if m := _CHARACTERS.fullmatch(line):
        return datetime(int(m[1]), int(m[2]), int(m[3]))
    if m := _NUMBERED.fullmatch(folded(line)):
        return datetime(int(m[3]), int(m[2]), int(m[1]))
    words = [folded(word) for word in _WORD.findall(line)]
    # Where `mar` is a weekday, it stands beside three numbers, and beside two where it is a month.
    if not words or (len(re.findall(r"\d+", line)) > 2 and all(map(_is_weekday, words))):
        digits = re.sub(rf"{_A_WORD}\.?", "", line).strip(" ,()")
        return _of_digits(digits, day_first, language)
    return _of_words(line, language)


def _of_digits(line: str, day_first: bool | None, language: str | None) -> datetime | Undecided | None:
    if m := _YEAR_FIRST.fullmatch(line):
        return datetime(int(m[1]), int(m[3]), int(m[4]))
    if (m := _YEAR_LAST.fullmatch(line)) is None:
        return None
    one, other, short = int(m[1]), int(m[3]), len(m[4]) == 2
    if m[2] == "." and short and language in _SHORT_YEAR_FIRST:
        return datetime(_year(m[1]), other, int(m[4]))
    year = _year(m[4])
    if m[2] == ".":
        return datetime(year, other, one)
    by_day, by_month = _calendar_day(year, other, one), _calendar_day(year, one, other)
    if day_first is not None and (day := by_day if day_first else by_month):
        return day
    days = {day for day in (by_day, by_month) if day}
    if short and (days or one > 31):  # 24/05/03 may begin with its year.
        days |= {day for day in [_calendar_day(_year(m[1]), other, int(m[4]))] if day}
    return Undecided() if len(days) > 1 else next(iter(days), None)


def _calendar_day(year: int, month: int, day: int) -> datetime | None:
    """A day, null where the calendar has none such."""
    try:
        return datetime(year, month, day)
    except ValueError:
        return None


def _year(digits: str) -> int:
    number = int(digits)
    return number if len(digits) == 4 else number + (1900 if number >= 69 else 2000)


def _of_words(line: str, language: str | None) -> datetime | None:
    """The day of a line that names its month; null where it says anything else."""
    numbers: list[str] = []
    months: list[tuple[int, bool]] = []
    after_number = False
    for token in _TOKEN.findall(line):
        if token.isdecimal():
            numbers.append(token)
        elif _WORD.match(token):
            word = folded(token)
            ending = after_number and word in _NUMBER_ENDINGS
            if not ending and (month := _month_named(word, language)):
                months.append((month, _is_weekday(word)))
            elif not (ending or word in _BESIDE or token in _BESIDE or _is_weekday(word)):
                return None
        after_number = token.isdecimal()
    if len(months) > 1:  # `mar. 3 mai 2024`, a Tuesday, and `mar. 5 mar. 2024`, one of March.
        months = [each for each in months if not each[1]] or months[-1:]
    if len(months) != 1 or len(numbers) != 2 or {len(n) for n in numbers} - {1, 2, 4}:
        return None
    day, year = sorted(numbers, key=len) if len(numbers[0]) != len(numbers[1]) else numbers
    return datetime(_year(year), months[0][0], int(day)) if len(year) != 1 and len(day) != 4 else None
