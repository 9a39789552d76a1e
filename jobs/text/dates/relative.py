"""Times that an English text tells from its own day, or from the day that it spoke of last."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from quern.jobs.text.dates import readings
from quern.jobs.text.dates.points import Match, Rule, word_follows
from quern.jobs.text.dates.readings import Reading
from quern.schemas.words.patterns import lazy_pattern

# A count that the text leaves vague.
_COUNT: Final = "[abdehzgn]"


def _unknown(precision: str, timex: str = "") -> Reading:
    """A time that is only known beside another."""
    match precision:
        case "month" | "week" | "year":
            return Reading(None, None, precision, timex or "XXXX", unit=precision)
        case "quarter" | "half" | "season":
            return Reading(None, None, "season", timex or "XXXX", unit=precision)
        case "decade" | "century":
            return Reading(None, None, "year", timex or "XXX", unit=precision)
    return Reading(None, None, "day", timex or "XXXX-XX-XX", unit=precision)


def _unit(m: Match) -> str:
    token = m.token("u")
    return str(token.value) if token is not None else ""


def _near(m: Match) -> Reading | None:
    """`today`, `yesterday`, `now`."""
    token, reference = m.token("R"), m.setting.reference
    step = token.value if token is not None else None
    if step is None:
        return readings.moment(reference)
    if reference is None or not isinstance(step, int):
        return _unknown("day")
    return replace(readings.a_day(reference + timedelta(step)), unit="near")


def _day_beside(m: Match) -> Reading | None:
    """`the day before yesterday`, `the day after tomorrow`."""
    token, reference = m.token("R"), m.setting.reference
    if _unit(m) != "day" or token is None or not isinstance(token.value, int):
        return None
    if reference is None:
        return _unknown("day")
    step = 1 if m.has("after") else -1
    return readings.a_day(reference + timedelta(token.value + step))


def _step(m: Match, group: str = "L") -> int | None:
    """-1, 0, 1 for last, this, next; None for that and the same."""
    token = m.token(group)
    return token.value if token is not None and isinstance(token.value, int) else None


def _stepped_unit(m: Match) -> Reading | None:
    """`last week`, `next year`, `this quarter`, `that day`, `the following day`."""
    unit, step, day = _unit(m), _step(m), m.setting.reference
    word = m.word("L")
    if unit == "half" or (m.after == "f" and not _names_unit(m)) or (unit == "day" and word == "past"):
        return None
    if word == "past" and unit in ("decade", "century") and day is not None:
        first = readings.moved(day, -1, unit)
        years = 10 if unit == "decade" else 100
        timex = readings.interval(first, day, f"P{years}Y")
        return readings.days(first, day - timedelta(1), "range", timex)
    anchored = step is None or word in ("following", "previous", "preceding") or (unit == "day" and bool(step))
    if anchored:
        day = _anchored(m, unit)
    lost = anchored and day is None
    if lost:
        day = m.setting.reference
    step = step or 0
    if day is None:
        return _unknown(unit)
    found = _around(unit, day, step)
    return (
        replace(found, flaw="unanchored")
        if found is not None and lost and word not in ("previous", "preceding")
        else found
    )


def _around(unit: str, day: date, step: int) -> Reading | None:
    """The unit so many steps from the one in which a day lies."""
    if unit in ("day", "week", "weekend", "fortnight"):
        return readings.unit_around(unit, day + timedelta(step * {"day": 1, "fortnight": 14}.get(unit, 7)))
    return readings.unit_around(unit, readings.moved(day.replace(day=1), step, unit))


_FINENESS: Final = ("day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade", "century")


def _anchored(m: Match, unit: str) -> date | None:
    """The day from which the text counts: of the time that it spoke of last, if that is told as exactly as the unit."""
    anchor = m.anchor
    if anchor is None or _FINENESS.index(anchor.unit) > _FINENESS.index(unit):
        return None
    return anchor.first


def _names_unit(m: Match) -> bool:
    """Whether the `of` behind the match goes on to a time, so that the words before it may be one beside that."""
    return m.word("L") in ("this", "that", "the")


def _working_week(m: Match) -> Reading | None:
    if _unit(m) == "day" and m.setting.reference is not None:
        return readings.a_day(readings.moved(m.setting.reference, _step(m) or 0, "business"))
    if _unit(m) != "week":
        return None
    found = _stepped_unit(m)
    if found is None or found.first is None:
        return found
    return replace(found, last=found.first + timedelta(4))


def _stepped_units(m: Match) -> Reading | None:
    """`the last 3 months`, `the next two days`, `5 upcoming years`: so many units up to the text's day, or from it."""
    unit, step, count, reference = _unit(m), _step(m), m.number("n"), m.setting.reference
    if not step or not 0 < count < 5000 or unit in ("half", "weekend"):
        return None
    if m.after == "f" and m.word("L") in ("last", "next"):
        return None
    years = {"decade": 10, "century": 100}.get(unit)
    length = f"P{count * years}Y" if years else f"P{count}{'BD' if m.has('B') else unit[0].upper()}"
    if reference is None:
        return replace(_unknown(unit), precision="range", unit="range")
    if unit == "quarter" or (years and m.word("L") != "past"):
        return _whole_units(unit, step, count, reference, length)
    if m.has("B"):
        unit = "business"
    if step < 0:
        first, end = _further(m, readings.moved(reference, -count, unit), -1), reference
    else:
        first = reference + timedelta(1)
        end = _further(m, readings.moved(reference, count, unit), 1) + timedelta(1)
    return readings.days(first, end - timedelta(1), "range", readings.interval(first, end, length))


def _further(m: Match, day: date, sign: int) -> date:
    """The day moved by the further parts of a length too."""
    if not m.has("more"):
        return day
    count = 0
    for token in m.line.tokens[m.found.start("more") : m.found.end("more")]:
        if isinstance(token.value, int):
            count = token.value
        elif isinstance(token.value, str):
            day = readings.moved(day, sign * count, token.value)
    return day


def _whole_units(unit: str, step: int, count: int, reference: date, length: str) -> Reading | None:
    """So many whole quarters or decades before or behind the one of today."""
    here = readings.unit_around(unit, reference)
    if here is None or here.first is None or here.last is None:
        return None
    if step < 0:
        first, end = readings.moved(here.first, -count, unit), here.first
    else:
        first = here.last + timedelta(1)
        end = readings.moved(first, count, unit)
    return readings.days(first, end - timedelta(1), "range", readings.interval(first, end, length))


def _stepped_weekday(m: Match) -> Reading | None:
    """`last` and `next` weekday are of the week before and after, `this` of the same week."""
    step, reference = _step(m), m.setting.reference
    if reference is None:
        return replace(_unknown("day", f"XXXX-WXX-{m.number('W') + 1}"), unit="weekday")
    if m.has("this") and step:  # `this past Wednesday`
        day = reference + timedelta(step)
        while day.weekday() != m.number("W"):
            day += timedelta(step)
        return replace(readings.a_day(day), unit="weekday")
    return replace(readings.weekday_of(reference + timedelta(7 * (step or 0)), m.number("W")), unit="weekday")


def _stepped_month(m: Match) -> Reading | None:
    """`last March`, `next May`, `this summer`."""
    reference, step = m.setting.reference, _step(m)
    token = m.token("S")
    if m.has("M") and m.small("M") and m.number("M") in (3, 5):
        return None
    if reference is None:
        return _unknown("month" if m.has("M") else "season")
    month = m.number("M") if token is None else {"SP": 3, "SU": 6, "FA": 9, "WI": 12}[str(token.value)]
    year = reference.year
    if step == -1 and date(year, month, 1) >= reference.replace(day=1):
        year -= 1
    if step == 1 and date(year, month, 1) <= reference:
        year += 1
    return readings.month_of(year, month) if token is None else readings.season_of(year, str(token.value))


def _weekdays_ago(m: Match) -> Reading | None:
    """`two Sundays ago`."""
    day, count = m.setting.reference, m.number("n")
    if day is None:
        return _unknown("day")
    if m.word("A") in ("ago", "earlier"):
        return readings.a_day(day - timedelta((day.weekday() - m.number("W") - 1) % 7 + 1 + 7 * (count - 1)))
    return readings.a_day(day + timedelta((m.number("W") - day.weekday() - 1) % 7 + 1 + 7 * (count - 1)))


def _part_of_day(m: Match) -> Reading | None:
    """`this morning`, `last night`, `that evening`."""
    step, day = _step(m), m.setting.reference
    if step and m.word("p") != "night":
        return None
    if step is None and (day := _anchored(m, "day")) is None:
        return replace(_unknown("day"), flaw="unanchored")
    if day is None:
        return _unknown("day")
    return replace(readings.a_day(day + timedelta(step or 0)), unit="near")


# How far before a time the verb may stand that says whether it is to come or was, in characters: half a sentence.
_NEAR_VERB: Final = 60
_TOLD: Final = lazy_pattern(
    r"\b(?:\w+ed|was|were|had|did|won|made|took|grew|rose|fell|became|lost|sold|came)\b|\b(?:time|first|once|twice)\s*$"
)


def _unit_ago(m: Match) -> Reading | None:
    """`the year-ago quarter`, `a year-earlier loss`."""
    unit, day = _unit(m), m.setting.reference
    if unit not in ("week", "month", "quarter", "year"):
        return None
    return _unknown(unit) if day is None else _around(unit, day, -1)


def _took(m: Match) -> bool:
    """Whether the text tells what was, and how long it took: `built in three years`."""
    at = m.line.tokens[m.found.start()].start
    return m.setting.told and _TOLD.search(m.line.text, max(0, at - _NEAR_VERB), at) is not None


def _ahead(m: Match) -> Reading | None:
    """`in three weeks` where the text does not tell how long something took."""
    unit, count, reference = _unit(m), m.number("n"), m.setting.reference
    token = m.line.tokens[m.found.start()]
    if m.after == "f" or reference is None or not 0 < count < 5000 or unit in ("half", "weekend"):
        return None
    if _took(m):
        return None
    end = readings.moved(reference, count, "business" if m.has("B") else unit)
    if m.line.text[token.start : token.end].lower() == "within":
        first = reference + timedelta(1)
        return readings.days(first, end, "range", readings.interval(reference, end, f"P{count}{unit[0].upper()}"))
    return replace(readings.a_day(end), unit="shifted")


def _ago(m: Match) -> Reading | None:
    """`two weeks ago`, `a year earlier`, `3 weeks later`."""
    unit, count = _unit(m), m.number("n")
    word = m.word("A")
    day = m.setting.reference if word in ("ago", "hence") else _anchored(m, unit) if unit in _FINENESS else None
    if not 0 < count < 5000 or unit == "half":
        return None
    lost = day is None and word == "later"
    day = day or m.setting.reference
    if day is None:
        return _unknown("day")
    sign = 1 if word in ("later", "hence") else -1
    then = readings.moved(day, sign * count, "business" if m.has("B") else unit)
    found = readings.a_day(_further(m, then, sign))
    return replace(found, flaw="unanchored") if lost else found


def _moment(m: Match) -> Reading | None:
    """`ten minutes ago`, `in two hours`: told from the moment of writing."""
    codes, reference, now = m.found[0], m.setting.reference, m.setting.now
    if codes[0] == "i" and (m.after == "f" or _took(m)):
        return None
    values = {c: t.value for c, t in zip(codes, m.line.tokens[m.found.start() :], strict=False)}
    unit, count = values["H"], next(v for c, v in values.items() if c in _COUNT)
    if now is None or not isinstance(unit, int) or not isinstance(count, int):
        return replace(readings.moment(reference), timex=reference.isoformat() if reference else "PRESENT_REF")
    back = "L" in codes or (m.word("A") in ("ago", "earlier") if m.has("A") else False)
    then = (now + timedelta(seconds=count * unit * (-1 if back else 1))).date()
    first, last = sorted((then, now.date())) if "L" in codes or "N" in codes else (then, then)
    return Reading(first, last, "day", then.isoformat(), unit="now", present=True)


_FUTURE: Final = lazy_pattern(r"(?:\b(?:will|shall|to be|going to|scheduled|due|expected|plans?)\b|['’]ll\b)[^.;!?]*$")


_THROUGH_WEEKDAY: Final = lazy_pattern("[67-]t?W")


def _ranging(m: Match) -> bool:
    """Whether another weekday stands at the other end of a range: `Mon-Thu`."""
    codes, start = m.line.codes, m.found.start()
    before = codes[max(0, start - 2) : start]
    return _THROUGH_WEEKDAY.match(codes, m.found.end()) is not None or (before[:1] == "W" and before[1:] in "67-")


def _weekday(m: Match) -> Reading | None:
    """News tells what was: the last such day, the day of publication among them; else the nearest."""
    token, reference = m.token("W"), m.setting.reference
    word = m.line.text[token.start : token.end] if token is not None else ""
    if len(word) < 6 and (not word[0].isupper() or not (m.before in "I12679NLTu8(" or m.after in "km)" or _ranging(m))):
        return None
    if m.before == "x" and m.after == "x" and not word[0].isupper() and len(word) < 6:
        return None
    weekday = m.number("W")
    if m.before in "oL" and m.after == "f":  # `the first Monday of May`
        return None
    timex = f"XXXX-WXX-{weekday + 1}"
    if reference is None:
        return Reading(None, None, "day", timex, unit="weekday")
    day = reference - timedelta((reference.weekday() - weekday) % 7)
    if not m.setting.told and day < reference and token is not None:
        before = m.line.text[max(0, token.start - _NEAR_VERB) : token.start]
        day += timedelta(7 if _FUTURE.search(before) else 0)
    return Reading(day, day, "day", timex, unit="weekday")


def _weekend(m: Match) -> Reading | None:
    """`the weekend`: of the week of the text."""
    if _unit(m) != "weekend" or m.before not in "tIi9" or m.after == "f":
        return None
    if m.setting.reference is None:
        return _unknown("weekend", "XXXX-WXX-WE")
    return readings.weekend_of(m.setting.reference)


def _said_more(m: Match) -> bool:
    """Whether the words behind `the week` say which one it is: `of 5 May`, `starting on`, `ended`."""
    if m.after not in "fx5":
        return False
    token = m.line.tokens[m.found.end()]
    return m.line.text[token.start : token.end].lower() in ("of", "starting", "beginning", "ended", "ending")


def _bare_unit(m: Match) -> Reading | None:
    """`the year`, a time only beside another: `the end of the year`."""
    unit, reference = _unit(m), m.setting.reference
    if m.after in "34" or (unit == "week" and _said_more(m)) or unit in ("half", "quarter", "century", "weekend"):
        return None
    if reference is None:
        return replace(_unknown(unit), bare=True)
    found = readings.unit_around(unit, reference)
    if found is None:
        return None
    at = m.found.start() - 2
    alone = at >= 0 and m.line.codes[at] in "iI" and m.after in "$.,"  # `blocked for the day`
    return replace(found, flaw="unanchored") if alone else replace(found, bare=True)


def _beyond(m: Match) -> Reading | None:
    """`the week after next`, `the year before last`."""
    unit, day = _unit(m), m.setting.reference
    if unit not in ("week", "weekend", "month", "year", "quarter"):
        return None
    return _unknown(unit) if day is None else _around(unit, day, 2 if m.has("after") else -2)


def _day_before(m: Match) -> Reading | None:
    """`the day before`, `the day after`, at the end of a clause: beside the day that was spoken of last."""
    if _unit(m) != "day" or m.after not in ("$", ".", ",", ")", "-"):
        return None
    day = _anchored(m, "day") or m.setting.reference
    if day is None:
        return _unknown("day")
    found = readings.a_day(day + timedelta(1 if m.has("after") else -1))
    return found if _anchored(m, "day") else replace(found, flaw="unanchored")


def _to_date(m: Match) -> Reading | None:
    """`to date`, `year to date`."""
    reference = m.setting.reference
    if m.word("x") != "date" or (word_follows(m) and not m.has("u")):
        return None
    if m.has("u"):
        if reference is None or _unit(m) not in ("year", "month", "week", "quarter"):
            return None
        around = readings.unit_around(_unit(m), reference)
        return None if around is None else replace(around, last=reference)
    return readings.moment(reference)


def _present(m: Match) -> Reading | None:
    """`1990 to the present`, where it is no verb and names nothing else."""
    return None if m.word("x") != "present" or word_follows(m) else readings.moment(m.setting.reference)


def _this_moment(m: Match) -> Reading | None:
    """`at this time`, `the current date`."""
    word, reference = m.word("x"), m.setting.reference
    if not (word == "date" or (word in ("time", "moment", "point") and m.before == "I")):
        return None
    return readings.moment(reference)


# Further parts of a length: `and 2 weeks and 2 days`.
_MORE: Final = rf"(?:[8,]{{0,2}}{_COUNT}[uU]){{0,3}}"
_N: Final = rf"g?(?P<n>{_COUNT})f?"
RELATIVE: Final[tuple[tuple[str, str, Rule], ...]] = (
    ("u", r"(?P<u>u)(?:3|(?P<after>4))(?P<R>R)", _day_beside),
    ("u", r"(?P<u>u)-?6-?(?P<x>x)", _to_date),
    ("R", r"(?P<R>R)", _near),
    ("T", r"T(?P<x>x)", _this_moment),
    ("x", r"(?:(?<=[YMGado][67-])|(?<=[YMGado][67-]t))(?P<x>x)", _present),
    ("LN", rf"(?P<L>[LN])g?(?P<n>{_COUNT})f?(?P<B>B)?(?P<u>U)(?P<more>{_MORE})", _stepped_units),
    ("abdeh", r"(?P<n>[abdeh])(?P<L>[LN])(?P<u>U)", _stepped_units),
    ("LN", rf"[LN]{_COUNT}H(?!f)", _moment),
    ("abdeh", r"[abdeh][LN]H", _moment),
    ("LNT", r"(?P<this>T)?(?P<L>[LNT])(?P<W>W)", _stepped_weekday),
    ("LNT", r"(?P<L>[LNT])(?:(?P<M>M)|(?P<S>S))(?![ad])", _stepped_month),
    ("LT", r"(?P<L>[LT])(?P<p>p)", _part_of_day),
    ("abe", r"(?P<n>[abe])(?P<W>[wW])(?P<A>A|l|1R)", _weekdays_ago),
    ("LNT", r"(?P<L>[LNT])(?P<B>B)(?P<u>u)", _working_week),
    ("LNT", r"(?P<L>[LNT])(?P<u>u)", _stepped_unit),
    ("gabdehzn", rf"{_N}(?P<B>B)?(?P<u>[uU])(?P<more>{_MORE})(?P<A>[AlF])", _ago),
    ("abdehgzn", rf"(?P<n>{_COUNT})H(?P<A>[AlF])", _moment),
    ("abdehgzn", rf"(?P<n>{_COUNT})H1R", _moment),
    ("i", rf"i(?:x0)?t?{_N}(?P<B>B)?(?P<u>[uU])(?:s(?:[xD]x)?)?(?![1-6])", _ahead),
    ("i", rf"i(?:{_COUNT})H", _moment),
    ("u", r"(?P<u>u)-A", _unit_ago),
    ("W", r"(?P<W>W)", _weekday),
    ("u", r"(?P<u>u)(?:3L|(?P<after>4)N)(?=[^uUW]|$)", _beyond),
    ("u", r"(?P<u>u)(?:3|(?P<after>4))(?=[.,)]|$)", _day_before),
    ("u", r"(?P<u>u)", _weekend),
    ("u", r"(?<=t)(?P<u>u)", _bare_unit),
)
