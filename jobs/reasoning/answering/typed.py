"""Values of a sentence that could answer a question of a kind: dates, amounts, persons, places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from quern.jobs.reasoning.answering.kinds import DURATIONS, MONEY, NAMED, NAMESAKE, UNITS, Kind
from quern.jobs.reasoning.answering.names import Name, chinese_names, is_body, names
from quern.jobs.reasoning.answering.persons import is_person, same_roles, told_by_age
from quern.jobs.reasoning.answering.sentences import content_words
from quern.jobs.reasoning.answering.spans_of_time import between
from quern.jobs.reasoning.answering.tables import Row
from quern.jobs.reasoning.answering.values import Quantity, When, dates, quantities, singular
from quern.jobs.reasoning.answering.wording import said_by_others
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import HAN

_CLOCK = lazy_pattern(
    r"(?<![\d.,])(?:[01]?\d|2[0-4])[.:][0-5]\d(?:\s?[ap]\.?m\b\.?)?(?![\d%]|\s*(?:m\b|million|billion|per\b|metres|"
    r"nautical|km\b|kilo|crowns|hours|litres|degrees|tonnes))|\b(?:1[0-2]|[1-9])\s?[ap]\.?m\b\.?|\b(?:noon|midnight)\b|"
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+o['’]clock|"
    r"\d{1,2}[点时](?:\d{1,2}分|半)?",
    re.IGNORECASE,
)


_DAY_OF_MONTH = lazy_pattern(
    r"\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+\.?|[A-Z][a-z]+\.? \d{1,2}(?:st|nd|rd|th)?|\d{1,2}月\d{1,2}[日号]"
)
_OTHER_NOUN = 0.8  # What a number is worth that counts what the question calls by another word.
# Stems of the nouns of many people together: `how big is the workforce` asks for so many people.
_PEOPLE = content_words(
    "workforce staff crew population audience crowd membership payroll team household people person"
)
_MEASURES = UNITS | {"o'clock"}
_BODY = 0.45  # What the name of a body is worth where a person is asked for.
_OTHER_ROLE = 0.6  # What a name is worth where the sentence lacks the role that is asked for: `the vet`.
CAUSE = lazy_pattern(
    r"\b(?:because(?:\s+of)?|since(?!\s+(?:\d|then|the\s+\d|[A-Z][a-z]+\s+\d))|so\s+that|in\s+order\s+to|due\s+to|"
    r"owing\s+to|on\s+account\s+of|as\s+a\s+result|thanks\s+to|caused\s+by|for\s+fear|to\s+(?:avoid|prevent|thank|"
    r"protect|"
    r"save|mark|honour|honor|help|make|keep)|except\s+(?:during|for)|the\s+(?:\w+\s+)?(?:cause|reason)\s+(?:is|was))\b|"
    r"因为|由于|因此|导致|原因(?!正在|不明|尚|待)|为了|以便|引起|(?<!没有)(?<!未)造成|引发|所致|(?<![原起])因(?![素子特果此])",
    re.IGNORECASE,
)
_MANNER = lazy_pattern(
    r"\b(?:by\s+\w+ing|so\s+that|by\s+means\s+of|through|with\s+the\s+help|using|via)\b|通过|利用|借助|用"
)
_CALLED = lazy_pattern(r"\b(?:called|named|christened|dubbed|nicknamed|names?(?: is| was)?)\s+(?:the\s+)?[\"“'‘]?$")
_OF_RANGE = 0.6  # What the time between two dates is worth against one that is told.
_DOES = 0.9  # What a person is worth who does what is asked.
_WORD_AFTER = lazy_pattern(r"\s+(?:(?:has|have|had|also|then|first|\w+ly)\s+)?([a-z]+)")
_WORD_BEFORE = lazy_pattern(r"[A-Za-z]+\s$")
# What parts a number from a noun that it does not count: `she is 58, and she has painted every tram`.
_NOT_COUNTED = lazy_pattern(r"[;:()|]|,(?!\d)|\.(?!\d)|\s(?:and|or|but|while|for|with|at|on)\s")
# Three things or more one after another, or two names.
_SEVERAL = lazy_pattern(
    r"[\w’'-]+(?: [\w’'-]+){0,5}, [\w’' -]{2,50},? (?:and|or) [\w’'-]+|[A-Z][\w’'-]+ and (?:the )?[A-Z][\w’'-]+|、"
)
_YEAR_WRITTEN = lazy_pattern(r"(?:1\d|20)\d\d|[〇零一二三四五六七八九]{4}年")
PART_OF_THEM = lazy_pattern(r"\s+of\s+(?:them|these|those|which|whom)\b")
_HAN = lazy_pattern(f"[{HAN}]")
_LIES = lazy_pattern(
    rf"(?:(?P<lies>位[于在]|[坐座]落[于在]|地处)|[设建葬]在|葬于|出生[于在]|来自|分布[于在]|居?住在)"
    rf"(?P<at>[{HAN}][^，。；,;！？]{{1,24}}?)(?=[，。；,;！？]|$|境内)"
)
# What says beside a name what it names: an apposition behind it, or a role before it.
_INTRODUCES = lazy_pattern(
    r"(?P<what>,\s+(?:an?|the|aged|\d{1,2})\b|\s+(?:is|was)\s+(?:an?|the|\d))|,\s+(?:who|whose|its|his|her)\b|\s+who\b"
)
_ROLE_BEFORE = lazy_pattern(
    r"(?P<what>\b(?:[a-z]+(?:er|or|ist|ian|eer|man|woman|ant|ess)|the [a-z]+|chief|[Tt]he [A-Z][a-z]+),?\s+$)"
)
_CLAUSE = lazy_pattern(r"[,;:.!?]|$")
_JOINED = lazy_pattern(r"\s*(?:,|,?\s(?:and|or|und|oder))\s*")
_BARE = lazy_pattern(r"[\d.,]+")
_SHORTLY = 60  # Days: what is told next may have been a little before.
_ROUGH = 0.6  # What a full hour in words is worth: `shortly before eight o'clock`.
_MARKED = 0.5  # How well a sentence with a word of cause or manner fits, where no form can be asked for.
_ROLE = lazy_pattern(
    r"\b(?:[Tt]he|[Aa]n?|[Ii]ts|[Hh]is|[Hh]er|[Tt]heir|[Oo]ur|[Mm]y|"
    r"[\w-]+['’]s)\s+(?:[a-z][\w-]*\s+){0,2}?(?P<noun>[a-z]{3,})"
    r"(?:\s+of\s+(?:the\s+|its\s+)?[\w’'-]+(?:\s+[A-Z][\w’'-]+)*)?"
)


# An age that is told without its unit: `Wilf Arkwright, 91,`, `aged twelve`, `she is 58`.
_AGED = lazy_pattern(
    r"[A-Z][\w’'-]+, #(?:,|\.|\)|$)|\baged #|\b(?:he|she|who) (?:is|was|turned|turns) #\s*(?:,|\.|and|when|but|$)|"
    r"# years? old"
)
# What makes a time an age: `9,400 years old`, `a two-year-old`, `at the age of 12 months`. Another may still be one.
_OF_AGE = lazy_pattern(r"\bold(?:er|est)?\b|\bage[ds]?\b", re.IGNORECASE)
_NO_AGE = 0.3
_PRICED = lazy_pattern(r"\b(?:fares?|prices?|tickets?|fees?|costs?|single|return|charges?|rate)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Value:
    """A value of a sentence that is of the kind asked for.

    Attributes:
        start: First character in the sentence.
        end: Character after the last.
        text: The characters themselves.
        fit: How well it is of the kind: 1 where its unit or noun is the one asked for, less where that is left open.
        same: What equal values have in common, whatever they are written like.
        means: What it means where the characters alone leave that open: the date of `on Wednesday`.
        label: The label of the row that it stands in; empty outside tables.
        also: Number of a further sentence that it rests on; 0 where there is none.
    """

    start: int
    end: int
    text: str
    fit: float
    same: object
    means: str = ""
    label: str = ""
    also: int = 0


class Period(NamedTuple):
    """The first and the last day of a date."""

    first: date | None
    last: date | None

    def within(self, other: Period) -> bool:
        """Whether it is a proper part of `other`."""
        if self.first is None or self.last is None or other.first is None or other.last is None or self == other:
            return False
        return other.first <= self.first and self.last <= other.last


class Days(NamedTuple):
    """What the dates of a sentence are read against.

    Attributes:
        published: Day of publication, for `on Wednesday` and `last month`.
        told: The last day before the sentence whose year is written, for `on 8 May`; none where there is none.
    """

    published: date | None = None
    told: date | None = None


@lru_cache(maxsize=50_000)
def times(sentence: str, published: date | None) -> tuple[When, ...]:
    """The dates of a sentence, relative ones read against the day of publication."""
    return tuple(dates(sentence, published))


@lru_cache(maxsize=50_000)
def amounts(sentence: str) -> tuple[Quantity, ...]:
    """The quantities of a sentence."""
    return tuple(quantities(sentence))


def typed(kind: Kind, sentence: str, days: Days) -> list[Value]:
    """The values of `sentence` that are of the `kind`, in order; none for kinds whose answers have no form."""
    if kind.name == "when":
        return _clocks(sentence) if kind.units else _dates(sentence, days, kind.grain)
    if kind.name in ("how_many", "how_much", "how_long"):
        return [
            *(v for q in _with_lent_units(sentence) if (v := _amount(kind, q, sentence)) is not None),
            *_spans(kind, sentence, days),
        ]
    if kind.name == "who":
        return _persons(kind, sentence)
    if kind.name == "where":
        return _places(sentence)
    if kind.verb == NAMESAKE:
        return [Value(*m.span("who"), m["who"], 1.0, m["who"].lower()) for m in _AFTER.finditer(sentence)]
    if kind.name == "which" and kind.verb == NAMED:
        return _naming(sentence)
    if kind.name == "definition":
        return _introduced(kind, sentence)
    marker = {"why": CAUSE, "how": _MANNER, "list": _SEVERAL}.get(kind.name)
    found = marker.search(sentence) if marker else None
    return [] if found is None else [Value(found.start(), found.end(), found[0], _MARKED, found[0].lower())]


def _clause_end(sentence: str, at: int) -> int:
    found = _CLAUSE.search(sentence, at)
    return found.start() if found else len(sentence)


def _introduced(kind: Kind, sentence: str) -> list[Value]:
    """What stands beside the name that is asked about and says what it names: `Ann Lee, 83,`, `the poet Ann Lee`."""
    values = []
    for name in names(sentence):
        if kind.noun <= content_words(name.text):
            behind = _INTRODUCES.match(sentence, name.end)
            found = behind or _ROLE_BEFORE.search(sentence, 0, name.start)
            if found is not None:
                start, end = found.start(), _clause_end(sentence, found.end()) if behind else found.end()
                fit = 1.0 if found["what"] else _MARKED
                values.append(Value(start, end, sentence[start:end], fit, sentence[start:end]))
    return values


def _clocks(sentence: str) -> list[Value]:
    found = _CLOCK.finditer(sentence)
    return [Value(m.start(), m.end(), m[0], _ROUGH if "clock" in m[0] else 1.0, m[0].lower()) for m in found]


def _dates(sentence: str, days: Days, grain: str) -> list[Value]:
    return [
        Value(w.start, w.end, w.text.rstrip("."), _fit_of_date(w, grain), Period(w.from_day, w.to_day), _meaning(w))
        for w in _placed(sentence, days)
    ]


def _fit_of_date(when: When, grain: str) -> float:
    """How well a date answers; one that leaves open what is asked for, or a day for a year, answers less well."""
    fits = {"day": 1.0, "range": 1.0, "month": 0.9, "week": 0.5, "season": 0.8, "year": 0.75}
    if grain == "year":
        if when.precision == "year":  # `this year` is one, but often said of an age.
            return 1.0 if _YEAR_WRITTEN.search(when.text) else 0.7
        return 0.9 if _YEAR_WRITTEN.search(when.text) else 0.4
    if grain in ("day", "month") and when.precision in ("year", "season"):
        return 0.4
    return fits[when.precision]


def _placed(sentence: str, days: Days) -> list[When]:
    """The dates of a sentence; a day without a year follows the time that was told before it, as a story goes on."""
    told = days.told
    now = times(sentence, days.published)
    return [_following(w, told) if told and _DAY_OF_MONTH.fullmatch(w.text) else w for w in now]


def _following(when: When, told: date) -> When:
    """A day without a year as the one of the year that begins shortly before `told`."""
    if when.from_day is None or (when.from_day.month, when.from_day.day) == (2, 29):
        return when
    day = when.from_day.replace(year=told.year)
    if day < told - timedelta(days=_SHORTLY):
        day = day.replace(year=told.year + 1)
    return replace(when, from_day=day, to_day=day)


def _meaning(when: When) -> str:
    """The date in full where the text leaves its year open; empty where it does not."""
    first, last = when.from_day, when.to_day
    if first is None or last is None or _YEAR_WRITTEN.search(when.text):
        return ""
    if not when.text.isascii():
        days = {"day": f"{first.year}年{first.month}月{first.day}日", "month": f"{first.year}年{first.month}月"}
        return days.get(when.precision, f"{first.year}年" if first.year == last.year else "")
    if when.precision == "day":
        return f"{first.day} {first:%B %Y}"
    if when.precision == "month":
        return f"{first:%B %Y}"
    return (
        f"{first.day} {first:%B %Y} to {last.day} {last:%B %Y}"
        if when.precision in ("week", "range")
        else f"{first.year}"
    )


def _amount(kind: Kind, q: Quantity, sentence: str) -> Value | None:
    """The quantity, if its unit is one asked for; a number whose noun is another is worth less."""
    same = (round(q.value, 6), q.unit)
    if re.match(r"0\d", q.text) or sentence[max(0, q.start - 1) : q.start] in ("/", "#"):
        return None  # The number of a thing.
    if kind.units:
        fit = _NO_AGE if _no_age(kind, q, sentence) else _fit_of_unit(kind, q, sentence)
        return None if fit == 0.0 else Value(q.start, q.end, q.text, fit, same)
    if q.unit == "o'clock":
        return None
    if kind.name == "how_much" and not kind.noun:
        return Value(
            q.start,
            q.end,
            q.text,
            0.8 if q.unit in UNITS or (q.unit and not q.text.isascii()) else 0.5 if not q.unit else 0.35,
            same,
        )
    before = _WORD_BEFORE.search(sentence, max(0, q.start - 30), q.start)
    if kind.name == "how_many" and not q.unit and before and kind.noun & content_words(before[0]):
        return None  # `Tram 6` is which tram, not how many.
    around = content_words(_NOT_COUNTED.split(sentence[q.start : q.end + 40], maxsplit=1)[0])
    counted = content_words(q.text) | content_words(q.unit)
    if PART_OF_THEM.match(sentence, q.end) and kind.noun & content_words(sentence[: q.start]):
        return Value(q.start, q.end, q.text, 0.9, same)
    if kind.noun & counted or (q.unit == "person" and kind.noun & _PEOPLE):
        return Value(q.start, q.end, q.text, 1.0, same)
    if kind.noun & around:
        return Value(q.start, q.end, q.text, 0.9, same)
    if said_by_others(kind.noun, sorted(counted | around)):
        return Value(q.start, q.end, q.text, _OTHER_NOUN, same)
    if kind.name == "how_many" and q.unit in _MEASURES:
        return None  # Hours, crowns or metres are no number of approvers.
    if kind.name == "how_many" and not q.unit and kind.noun & content_words(sentence):
        return Value(q.start, q.end, q.text, 0.2, same)
    open_still = q.unit in ("", "person") or (kind.name == "how_much" and q.unit in UNITS)
    return Value(q.start, q.end, q.text, 0.5 if open_still else 0.35, same)


def _with_lent_units(sentence: str) -> Sequence[Quantity]:
    """The quantities of a sentence; one without a unit has that of the next it is joined to: `45 and 90 minutes`."""
    known = amounts(sentence)
    if len(known) < 2:
        return known
    found = [*known]
    for n in range(len(found) - 2, -1, -1):
        between = sentence[found[n].end : found[n + 1].start]
        if not found[n].unit and found[n + 1].unit and _JOINED.fullmatch(between):
            found[n] = replace(found[n], unit=found[n + 1].unit)
    return found


def _spans(kind: Kind, sentence: str, days: Days) -> list[Value]:
    """How long lies between the two dates of a range, where a time is asked for: `from 1886 to 1949`."""
    unit = next((u for u in ("day", "week", "month", "year") if kind.name == "how_many" and u in kind.noun), "")
    if not unit and kind.name != "how_long":
        return []
    found = []
    for w in times(sentence, days.published):
        if w.precision == "range" and w.from_day and w.to_day:
            years = re.fullmatch(r"\d{4}\D+\d{4}", w.text) is not None
            last = date(w.to_day.year, 1, 1) if years else w.to_day
            same = Period(w.from_day, last)
            long = between(w.from_day, last, True, unit)
            found.append(Value(w.start, w.end, w.text, _OF_RANGE, same, long))
    return found


def _no_age(kind: Kind, q: Quantity, sentence: str) -> bool:
    """Whether an age is asked for and a time is not said to be one."""
    near = sentence[max(0, q.start - 30) : q.end + 20]
    return "岁" in kind.units and q.unit in DURATIONS and _OF_AGE.search(near) is None


def _fit_of_unit(kind: Kind, q: Quantity, sentence: str) -> float:
    after = sentence[q.end : q.end + 20].lower()
    if "岁" in kind.units and not q.unit and _AGED.search(f"{sentence[max(0, q.start - 30) : q.start]}#{after}"):
        return 1.0
    if kind.units & MONEY and not q.unit and re.fullmatch(r"\d+\.\d\d", q.text) and _PRICED.search(sentence):
        return 0.9
    if q.unit in kind.units or any(u in q.text.lower() or after.strip().startswith(u) for u in kind.units if " " in u):
        return 1.0
    if kind.name == "how_long":
        return 0.0
    if kind.units & MONEY and not q.unit and re.search(r"(?:million|billion|thousand|万|亿)$", q.text):
        return 0.9
    return 0.25 if not q.unit else 0.0


def _persons(kind: Kind, sentence: str) -> list[Value]:
    """The names of persons, and the roles of persons that have none: `the insurer of the dredger`."""
    found = [
        Value(n.start, n.end, n.text, _fit_of_name(n, sentence), n.text.split()[-1].lower())
        for n in (*names(sentence), *chinese_names(sentence))
        if n.role != "place"
    ]
    roles = [m for m in _ROLE.finditer(sentence) if is_person(m["noun"].lower())]
    taken = [(v.start, v.end) for v in found if v.fit >= 0.75]
    if kind.noun and not same_roles(kind.noun) & (content_words(sentence) | told_by_age(sentence)):
        found = [replace(v, fit=v.fit * _OTHER_ROLE) for v in found]
    free = (m for m in roles if not any(s < m.end() + 12 and m.start() < e + 12 for s, e in taken))
    found += [Value(m.start(), m.end(), m[0], _fit_of_role(kind, m["noun"]), m["noun"].lower()) for m in free]
    return [replace(v, fit=max(v.fit, _DOES)) if _does(kind, v, sentence) else v for v in found]


# Whom or what something is named after: `called Lady Maren, after the island's first schoolmistress`.
_AFTER = re.compile(
    r"\b(?:named?|names|called|christened)\b[^.;:]{0,60}?\bafter\s+(?P<who>[^.;:,]{2,60}?)(?=[.;:,]|\s+(?:and|who|which)\b|$)"
)


def _naming(sentence: str) -> list[Value]:
    """The names of a sentence; one behind `called` or beside commas names what the sentence speaks of."""
    found = []
    for n in names(sentence):
        called = _CALLED.search(sentence, max(0, n.start - 25), n.start) is not None
        beside = sentence[max(0, n.start - 2) : n.start] == ", " and sentence[n.end : n.end + 1] in (",", ".")
        fit = 1.0 if called else 0.9 if beside else 0.4 if n.role == "other" else 0.2
        found.append(Value(n.start, n.end, n.text, fit, n.text.lower()))
    return found


def _fit_of_role(kind: Kind, noun: str) -> float:
    return 0.5 * _OTHER_ROLE if kind.noun and not kind.noun & content_words(noun) else 0.5


def _does(kind: Kind, value: Value, sentence: str) -> bool:
    """Whether a person stands right before the verb whose subject is asked for: `the insurer paid`."""
    after = _WORD_AFTER.match(sentence, value.end)
    return bool(kind.verb) and after is not None and kind.verb in content_words(after[1])


def _fit_of_name(name: Name, sentence: str) -> float:
    """How likely a name is a person's; a word with a capital from the start of a sentence is seldom one."""
    if name.role == "person":
        return 1.0
    if is_body(name.text):
        return _BODY
    if sentence[max(0, name.start - 4) : name.start].lower() == "the ":
        return 0.3
    opens = name.start == 0 or sentence[name.start - 2 : name.start] in (": ", "! ", "? ", ". ")
    if " " not in name.text and (name.text.isupper() or (opens and re.match(r"[,!]?\s[a-z]", sentence[name.end :]))):
        return 0.15
    return {1: 0.4, 2: 0.75, 3: 0.6}.get(len(name.text.split()), 0.4)


_MESSAGE = lazy_pattern(
    r"\b(?:ask|tell|told|inform|invite|remind|confirm|express|send|sent|share|mention|announce|propose|suggest|message|"
    r"complain|request|say|said|discuss|recommend|post)(?:s|ed|ing)?\b",
    re.IGNORECASE,
)


def of_message(kind: Kind, question: str, speaker: str, stamp: str, also: int) -> list[Value]:
    """What a message of a conversation answers by being sent: who by, and when by the line that tells its time."""
    if kind.name == "who" and not kind.noun:
        return [Value(0, len(speaker), speaker, 0.85, speaker.lower())]
    if kind.name != "when" or not stamp or not (known := times(stamp, None)):
        return []
    day = known[0].from_day
    means = f"{day.day} {day:%B %Y}" if day else ""
    fit = 1.0 if _MESSAGE.search(question) else 0.6
    return [Value(0, 0, stamp, fit, Period(day, day), means, also=also)]


def _places(sentence: str) -> list[Value]:
    """The names of places; in Chinese what stands behind a verb of lying somewhere."""
    if _HAN.search(sentence):
        return [
            Value(m.start("at"), m.end("at"), m["at"], 1.0 if m["lies"] else 0.6, m["at"])
            for m in _LIES.finditer(sentence)
        ]
    fits = {"place": 1.0, "other": 0.4, "person": 0.0}
    return [Value(n.start, n.end, n.text, fits[n.role], n.text.lower()) for n in names(sentence) if n.role != "person"]


def cell_values(kind: Kind, row: Row, asked: frozenset[str], days: Days) -> list[Value]:
    """The cells of a row that are of the kind, told with the label of the row; those under words of the question first.

    The label itself answers where a cell is what the question gives.
    """
    if kind.name in ("why", "how", "yes_no", "what_happened", "definition"):
        return []
    found = []
    for n, (cell, start) in enumerate(zip(row.cells, row.starts, strict=True)):
        head = content_words(row.header[n]) if row.header else content_words(row.cells[0]) if n else frozenset()
        if n == 0 and not (kind.noun & head):
            continue
        match = len(head & (asked | kind.noun)) / len(head) if head else 0.0
        if row.header and kind.noun and kind.noun <= head:
            match = 1.0  # The column of what is counted.
        fit = _cell_fit(kind, cell, row.header[n] if row.header else row.cells[0], days) * (0.55 + 0.45 * match)
        if fit > 0.0:
            text = _with_unit(kind, cell, row.header[n]) if row.header else _counted(kind, cell)
            found.append(Value(start, start + len(cell), text, fit, cell.lower(), label=row.cells[0] if n else ""))
    return found


def _counted(kind: Kind, cell: str) -> str:
    """Of a cell that counts several things what it counts that is asked for: `36 cars` of `280 passengers, 36 cars`."""
    if kind.name != "how_many" or len(amounts(cell)) < 2:
        return cell
    mine = [q for q in amounts(cell) if kind.noun & content_words(q.unit)]
    return mine[0].text if len(mine) == 1 else cell


def _with_unit(kind: Kind, cell: str, head: str) -> str:
    """A bare number with the unit that is asked for and named above it: `41` under `Duration in minutes`."""
    if not kind.units or not _BARE.fullmatch(cell):
        return cell
    return next(
        (f"{cell} {word}" for word in re.findall(r"[a-z]+", head.lower()) if singular(word) in kind.units), cell
    )


def _cell_fit(kind: Kind, cell: str, head: str, days: Days) -> float:
    """How well a cell is of the kind: its own values, or a bare number under a header that names the unit."""
    if kind.name in ("how_many", "how_much", "how_long"):
        if not re.search(r"\d", cell) and not amounts(cell):
            return 0.0
        if _with_unit(kind, cell, head) != cell:
            return 1.0
        if kind.units and (own := amounts(f"{cell} {head}" if _BARE.fullmatch(cell) else cell)):
            return max(_fit_of_unit(kind, q, cell) for q in own) or (0.0 if kind.units <= MONEY else 0.3)
        return 0.9 if not kind.units or _BARE.fullmatch(cell) else 0.3
    if kind.name == "when":
        return 1.0 if typed(kind, cell, days) else 0.0
    if kind.name in ("who", "where"):
        return max((v.fit for v in typed(kind, cell, days)), default=0.0)
    return 0.9


def written_year(sentence: str, published: date | None) -> date | None:
    """The last date of a sentence whose year is written: the dates behind it are of about that time."""
    known = [w for w in times(sentence, published) if w.from_day and re.search(r"(?:1\d|20)\d\d", w.text)]
    return known[-1].from_day if known and known[-1].precision in ("day", "month") else None
