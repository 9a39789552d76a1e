"""The answer by rule: a short answer of the kind that is asked for, and the sentences that carry it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from quern.jobs.reasoning.answering.alternatives import alternative, compares_offers
from quern.jobs.reasoning.answering.antecedents import antecedent
from quern.jobs.reasoning.answering.as_it_was import as_it_was
from quern.jobs.reasoning.answering.by_role import number_by_role
from quern.jobs.reasoning.answering.choosing import Choice, choices, shares
from quern.jobs.reasoning.answering.further import earns_its_place
from quern.jobs.reasoning.answering.in_time import in_time, years_asked
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.kinds.kind import NAMED, NAMESAKE, PHONE, VALUED, Kind
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.kinds.units import MONEY
from quern.jobs.reasoning.answering.named_things import named_beside
from quern.jobs.reasoning.answering.numbered import numbered_first
from quern.jobs.reasoning.answering.people_listed import people_listed
from quern.jobs.reasoning.answering.phrases import phrase
from quern.jobs.reasoning.answering.ranked import lines, says_yes
from quern.jobs.reasoning.answering.relevance import Line, is_label
from quern.jobs.reasoning.answering.series import SEPARATOR, likeliest
from quern.jobs.reasoning.answering.superlatives import extreme
from quern.jobs.reasoning.answering.superlatives_said import dated, said_first, says, told_behind
from quern.jobs.reasoning.answering.superseded import Standing, claims_denied, one_thing, stage, standing
from quern.jobs.reasoning.answering.timetables import departure
from quern.jobs.reasoning.answering.totals import total
from quern.jobs.reasoning.answering.typed.value import Period, amounts
from quern.jobs.reasoning.answering.yes_no import Verdict, verdict
from quern.jobs.text.numbers import in_figures
from quern.jobs.text.stems import alike, content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import HAN


@dataclass(frozen=True)
class Said:
    """A short answer and the numbers of the sentences that carry it.

    Attributes:
        text: The answer, in words of the evidence; empty where the first of the sentences is the answer.
        numbers: Sentences of the evidence, the one that says most first.
        items: The sentences whose items the answer lists; empty where it is of one sentence.
    """

    text: str
    numbers: tuple[int, ...]
    items: tuple[int, ...] = ()


_CHOSEN: Final = frozenset({"which", "who", "where", "when", "other", "list"})  # Of what a table may have most.
_LEAST_SHARE: Final = 0.35  # Belief that a value must have to be told by itself.
_RIVALS: Final = 4  # Of the likeliest values, those that may disagree with the first.
# A figure that is corrected stays of its order of magnitude: 28 crowns are no earlier figure for 1.9 million.
_MAGNITUDE: Final = 10.0
_RIVAL: Final = 0.3  # Share of the belief in the first that another value must have to disagree with it.
_SAME_SHARE: Final = (
    0.12  # By how much two lines may differ in what they share with the question to say the same thing.
)
# A question that names a time or a stage asks for the value of then.
_DATED: Final = re.compile(
    r"\b(?:1\d|20)\d\d\b|\b(?:first|initial|initially|original|originally|early|earlier|at first|then|before|approved|"
    r"planned|"
    r"estimated?|estimate|expected|budget(?:ed)?|each|per)\b|年|最初|原",
    re.IGNORECASE,
)
_DONE_FIRST: Final = lazy_pattern(
    r"\bfirst\s+(?:[a-z]+ed|built|held|seen|found|set\s+up|begun|run|sung|shown|sold|open|built|come|came)\b",
    re.IGNORECASE,
)
_PLANNED: Final = lazy_pattern(r"\b(?:when|date|day|month|year)\s+(?:will|is|are)\b|\bby\s+when\b", re.IGNORECASE)
_FREE: Final = lazy_pattern(r"\b(?:free|nothing|gratis|unpaid|no\s+(?:charge|fee|cost))\b|免费", re.IGNORECASE)
_PRICED: Final = 3  # Of the best lines, those of which one may say so.
_MONEY_FIT: Final = 0.5  # Of an amount of money or of a bare number, where a price is asked for.
# Share of the best line's belief that a further line must have. Beside the reader, which spreads beliefs, .25 and .06
# told some two words less and five right answers fewer of 790; a quarter of these gained two and told two words more.
_NEAR_BEST: Final = 0.1
_NEAR_SENTENCE: Final = 0.02  # The same where answers of the kind have no form by which the best could be known.
_GOES_ON: Final = re.compile(
    r"(?:One|Another|The (?:first|second|third|fourth|fifth|other|others|last|rest)|First|Second|Third|Finally|Both|"
    r"This|That|They|Its?|Then)\b|[-•]\s"
)
_OF_ONE: Final = re.compile(r"(?:He|She|It|They|His|Her|Its|Their)\b")
_HAN: Final = re.compile(f"[{HAN}]")
# Share of a headline's words that the question has not, up to which it only repeats what is asked. By reason alone.
_NEW_OF_HEADLINE: Final = 0.34
_SHORT: Final = 7  # Words of a sentence that says little by itself.
_MOST_MORE: Final = 3
_MOST_WORDS: Final = 45  # Of the whole answer, as issue and reader want it.
_WHOLE: Final = 0.8  # Share of a sentence's words from which on a phrase of it says no less.
_EXPLAINED: Final = frozenset({"why", "how"})
_MOST_EXPLAINED: Final = 60  # Of one that explains: a cause is seldom told in one sentence.


def short_answer(given: AnswerInput) -> Said | None:
    """The short answer to the question of `given` with what it rests on; none where nothing was found."""
    kind = kind_of(given.question)
    titles = [e.title or "" for e in given.evidence]
    best = in_time(given.question, numbered_first(given.question, lines(given, kind), titles))
    best = as_it_was(given.question, kind, best)
    if kind.name in _CHOSEN:
        best = said_first(given.question, kind, best)
    if not best:
        return None
    held = standing(given.question, best) if kind.name != "yes_no" else Standing([*best], {})
    best = held.lines
    said = _said(given, kind, best)
    if said.items:
        return said
    if not said.numbers:
        return None
    first, *others = said.numbers
    denials = [held.denials[first]] if first in held.denials else []
    said = replace(said, numbers=tuple(dict.fromkeys([first, *denials, *others])))
    near = _NEAR_BEST if kind.name in VALUED or kind.name == "yes_no" else _NEAR_SENTENCE
    return replace(said, numbers=(*said.numbers, *_more(given, said, best, near, kind)))


def _said(given: AnswerInput, kind: Kind, best: Sequence[Line]) -> Said:
    question = given.question
    if kind.name == "yes_no":
        return _decided(given, kind, best)
    if (placed := _placed(question, kind, best)) is not None:
        return placed
    if (
        (kind.name in VALUED or kind.verb in (NAMED, NAMESAKE, PHONE))
        and (found := choices(question, kind, best))
        and found[0].share >= _LEAST_SHARE
    ):
        found = _earliest_first(question, found) if kind.name == "when" else found
        outside = kind.name == "when" and _outside(found[0], years_asked(question))
        return Said("", ()) if outside else _told(question, kind, found)
    if kind.name == "list" and (series := people_listed(question, kind, best) or likeliest(best)) is not None:
        lead = (series.lead,) if series.lead else series.numbers[:1]
        return Said(SEPARATOR.join(series.items), lead, series.numbers)
    if kind.name == "how_much" and kind.units <= MONEY and kind.units and not _of_money(best):
        return Said("", ())
    if kind.name in ("which", "other") and (behind := told_behind(question, best)) is not None:
        return Said(*behind)
    if kind.name in _EXPLAINED and len(section := _section(question, best)) > 1:
        return Said("", tuple(line.number for line in section))
    first = _saying_more(question, _going_for(best[0], best), best)
    if (named := named_beside(question, first, best) or antecedent(question, first, best)) is not None:
        return Said(named[0], (named[1].number, first.number))
    told = phrase(question, kind, first.text)
    if not _HAN.search(told) and len(told.split()) >= _WHOLE * len(first.text.split()):
        told = ""  # The sentence itself is as short.
    return Said(told, (first.number,))


def _decided(given: AnswerInput, kind: Kind, best: Sequence[Line]) -> Said:
    """Yes or no by what holds: a sentence whose claim another denies decides nothing, and no where that is asked.

    Of two that are offered, one of them.
    """
    question = given.question
    if (chosen := alternative(question, best)) is not None:
        return Said(chosen[0], (chosen[1].number,))
    if compares_offers(question):
        return Said("", (best[0].number,))
    denied = claims_denied(question, best)
    said = verdict(question, best, lambda line: says_yes(given, kind, line))
    if (denial := denied.get(said.line.number)) is not None:
        if denial.is_asked and said.text == "Yes":
            said = Verdict("No", denial.line)
        elif left := [line for line in best if line.number not in denied]:
            said = verdict(question, left, lambda line: says_yes(given, kind, line))
    return Said(said.with_reason, (said.line.number,))


def _earliest_first(question: str, found: list[Choice]) -> list[Choice]:
    """The choices, the earliest of those that say as much of the question first, where it asks when that was first."""
    if not _DONE_FIRST.search(question):
        return found
    least = found[0].line.signals.covered - _SAME_SHARE
    like = [c for c in found[:_RIVALS] if isinstance(c.value.same, Period) and c.line.signals.covered >= least]
    like.sort(key=lambda c: (c.value.same.first or date.max) if isinstance(c.value.same, Period) else date.max)
    return [*like[:1], *(c for c in found if c not in like[:1])]


def _placed(question: str, kind: Kind, best: Sequence[Line]) -> Said | None:
    """What its place among others answers: the row that has most, the next departure, both together."""
    if kind.name in _CHOSEN and not says(question, best[0]) and (most := extreme(question, best, kind.noun)):
        return Said(f"{most.label} ({' to '.join(most.cells)})", (most.number,))
    if kind.name in _CHOSEN and (item := dated(question, best)) is not None:
        return Said(str(item.year) if kind.name == "when" else f"{item.told.rstrip('.')} ({item.year})", (item.number,))
    if kind.name == "when" and kind.units and (hour := departure(question, best)) is not None:
        return Said(hour.text, (hour.number,))
    if (both := total(question, kind, best)) is not None:
        return Said(both[0], (both[1],))
    if (held := number_by_role(question, kind, best)) is not None:
        value, row, line = held
        return Said(f"{value.text} ({value.label})", (row.number, line.number))
    return None


def _outside(choice: Choice, years: set[int]) -> bool:
    """Whether a time lies in none of the `years` that the question names."""
    same = choice.value.same
    if not years or not isinstance(same, Period) or same.first is None or same.last is None:
        return False
    return not any(same.first.year <= year <= same.last.year for year in years)


def _of_money(best: Sequence[Line]) -> bool:
    """Whether the best line has an amount that may be of money, or one of the next says that there is none to pay."""
    return any(v.fit >= _MONEY_FIT for v in best[0].values) or any(_FREE.search(line.text) for line in best[:_PRICED])


def _going_for(line: Line, best: Sequence[Line]) -> Line:
    """A line, or for a question of the page the sentence behind it."""
    after = next((o for o in best if o.number == line.number + 1 and o.evidence == line.evidence), None)
    return after if line.signals.asks and after is not None and not after.signals.asks else line


def _saying_more(question: str, line: Line, best: Sequence[Line]) -> Line:
    """A line, or for a headline that only says again what is asked the best whole sentence of its text."""
    if not _repeats(question, line):
        return line
    sentences = (o for o in best if o.evidence == line.evidence and not o.signals.heading and not o.signals.asks)
    return next((o for o in sentences if o.row is None), line)


def _repeats(question: str, line: Line) -> bool:
    """Whether a line is a headline that only says again what is asked."""
    own = content_words(line.text)
    if not line.signals.heading or line.row is not None or line.values or not own:
        return False
    return len(own - content_words(question)) <= _NEW_OF_HEADLINE * len(own)


def _section(question: str, best: Sequence[Line]) -> list[Line]:
    """What stands below the best line in its order, as much as an answer may have, where that is such a headline."""
    if not _repeats(question, best[0]):
        return []
    by_number = {o.number: o for o in best if o.evidence == best[0].evidence}
    found: list[Line] = []
    number = best[0].number + 1
    while (line := by_number.get(number)) is not None and not line.signals.heading and line.row is None:
        if sum(_length(o.text) for o in [*found, line]) > _MOST_EXPLAINED:
            break
        found.append(line)
        number += 1
    return found


def _told(question: str, kind: Kind, found: Sequence[Choice]) -> Said:
    """The likeliest value; where a later source gives another for the same, that one, and the earlier beside it."""
    first = found[0]
    # Of several values of one day each measures something else: the likeliest stands for it.
    rivals = [c for c in found[1:_RIVALS] if _disagree(question, kind, first, c)]
    others = [*{c.line.published: c for c in reversed(rivals)}.values()]
    asked = stage(question)
    if not others or (_DATED.search(question) and not asked):
        also = (first.value.also,) if first.value.also else ()
        return Said(_worded(first), (first.line.number, *also))
    *before, last = sorted((first, *others), key=lambda c: c.line.published or date.min)
    if asked == "first":
        return Said(_worded(before[0]), (before[0].line.number,))
    earlier = ", then ".join(map(_worded, before))
    return Said(f"{_worded(last)} (earlier: {earlier})", (last.line.number, *(c.line.number for c in before)))


def _worded(choice: Choice) -> str:
    """A value as it is told: with the date that it means or the label of its row."""
    value = choice.value
    beside = value.text if value.means else value.label
    if beside:
        return f"{value.means or value.text} ({beside})"
    return in_figures(value.text) if isinstance(value.same, tuple) else value.text  # No name: `Twenty One Pilots`.


def _disagree(question: str, kind: Kind, one: Choice, other: Choice) -> bool:
    """Whether two values answer the same question differently, by sources of different days.

    Amounts are compared, and the days for which something is planned: of other dates, and of names, a question may
    have several that hold.
    """
    days = one.line.published, other.line.published
    if None in days or days[0] == days[1] or one.value.label or other.value.label:
        return False
    if kind.name == "when":
        planned = _PLANNED.search(question) is not None and _ahead(one) and _ahead(other)
        return planned and one_thing(one.line, one.value, other.line, other.value)
    if kind.name not in ("how_many", "how_much", "how_long"):
        return False
    told = [q for c in (one, other) for q in amounts(c.value.text)[:1]]
    if len(told) < 2 or told[0].unit != told[1].unit:
        return False
    low, high = sorted(abs(q.value) for q in told)
    if low and high > _MAGNITUDE * low:  # None at all is of no order.
        return False
    if one_thing(one.line, one.value, other.line, other.value):
        return True
    return (
        other.share >= _RIVAL * one.share and abs(one.line.signals.covered - other.line.signals.covered) <= _SAME_SHARE
    )


def _ahead(choice: Choice) -> bool:
    """Whether a day lies behind the day on which its line was published, as what is planned does."""
    day = choice.value.same[0] if isinstance(choice.value.same, Period) else None
    return day is not None and choice.line.published is not None and day > choice.line.published


def _more(given: AnswerInput, said: Said, best: Sequence[Line], near: float, kind: Kind) -> list[int]:
    """Further sentences that answer nearly as well, as many as keep the answer short.

    What explains goes on in the sentence behind: where the first only says what is asked, that one says why.
    """
    explains = kind.name in _EXPLAINED
    most = _MOST_EXPLAINED if explains else _MOST_WORDS
    words = _length(said.text) + sum(_length(_text(given, n)) for n in said.numbers)
    chosen: list[int] = []
    known = [content_words(_text(given, n)) for n in said.numbers]
    belief = shares(best)
    ranked = [*zip(best, belief, strict=True)]
    if near == _NEAR_SENTENCE and said.numbers:
        behind = _behind(said.numbers[0], best) if explains else _going_on(said.numbers[0], best, kind)
        ranked = [*((line, belief[0]) for line in behind), *ranked]
    for line, share in ranked:
        if share < near * belief[0] or len(chosen) == _MOST_MORE:
            break
        own = content_words(line.text)
        if line.number in said.numbers or is_label(line) or any(alike(own, other) for other in known):
            continue
        if words + _length(line.text) > most or not earns_its_place(given, said.numbers, line.number):
            continue
        words += _length(line.text)
        chosen.append(line.number)
        known.append(own)
    return chosen


def _behind(number: int, best: Sequence[Line]) -> list[Line]:
    """The sentence right behind a sentence, of the same page and no heading."""
    now = next(line for line in best if line.number == number)
    return [o for o in best if o.number == number + 1 and o.evidence == now.evidence and not o.signals.heading]


def _going_on(number: int, best: Sequence[Line], kind: Kind) -> list[Line]:
    """The sentences right behind a sentence that go on with what it says: `The third is ...`, `She is ...`."""
    goes_on = _OF_ONE if kind.name == "definition" else _GOES_ON
    by_number = {line.number: line for line in best}
    now, found = by_number[number], []
    while (after := by_number.get(now.number + 1)) is not None and after.evidence == now.evidence:
        if not (goes_on.match(after.text) or (len(now.text.split()) <= _SHORT and now.number == number)):
            break
        found.append(after)
        now = after
    return found


def _text(given: AnswerInput, number: int) -> str:
    at, start, end = given.sentences[number - 1]
    return given.evidence[at].text[start:end]


def _length(text: str) -> int:
    """Words of a text; two characters of Chinese are about one."""
    han = len(re.findall(f"[{HAN}]", text))
    return len(text.split()) + han // 2
