"""Yes or no: whether the sentence that decides says what a question asks, or otherwise.

Nothing is entailed by rule. A sentence that shares most of what is asked decides, and it speaks against the question by
a denial that the question has not, the opposite of one of its words, another value, another time, an exclusive word.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from quern.jobs.reasoning.answering.endings import absent, asks_for_ending, asks_still, ended, says, without_foreign
from quern.jobs.reasoning.answering.names import names
from quern.jobs.reasoning.answering.polarity import asked_negatively, denies, opposed
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.reasoning.answering.scopes import scopes
from quern.jobs.reasoning.answering.typed.value import amounts, times
from quern.jobs.reasoning.answering.wording import stems_said
from quern.jobs.reasoning.questions.references import subject
from quern.jobs.reasoning.questions.words import ADVERBS, CONJUNCTIONS, DETERMINERS, PREPOSITIONS, bare, is_past
from quern.jobs.text.dates import When
from quern.jobs.text.quantities import Quantity
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import HAN

_CLAUSE: Final = lazy_pattern(
    r"[;:—–，；：]|,(?!\d)|\b(?:but|although|though|whereas|while|which|who|because|since|and|unless|"
    r"provided|(?:as|so) long as)\b|[但而因]"
)
_BOUND: Final = lazy_pattern(
    r"\b(?:(?P<least>at least|(?:no|not) (?:fewer|less) than|minimum of|from)|"
    r"(?P<most>at most|(?:no|not) more than|up to|maximum of|as many as|limited to|within)|"
    r"(?P<more>more than|over|above|exceed(?:s|ed|ing)?|longer than)|"
    r"(?P<less>less than|fewer than|under|below|shorter than|nearly|almost))\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
_SECONDS: Final = {
    "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0, "month": 2630000.0,
    "year": 31557600.0,
}  # fmt: skip
_EVERY: Final = lazy_pattern(
    r"\b(?:all|every|everyone|everybody|entire(?:ly)?|whole|both|always|fully|complete(?:ly)?|throughout)\b",
    re.IGNORECASE,
)
_PART: Final = lazy_pattern(
    r"\b(?:some|most|half|part|partly|partially|several|except|apart from|all but|only|nearly|almost|"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+) of|majority|incomplete|unfinished)\b",
    re.IGNORECASE,
)
_BUT_NOT: Final = lazy_pattern(
    r"\b(?:(?:but|and|though) not|except(?:ing)?(?: for| on| in| at)?|excluding|other than|apart from|with the "
    r"exception of)(?:,[^,;.]{1,40},)?\s+(?P<what>(?:[\w'’-]+\s*){1,4})",
    re.IGNORECASE,
)
_BUT_NOBODY: Final = lazy_pattern(r"\bbut (?:nobody|no one|none|nothing|never)\b", re.IGNORECASE)
_ONLY: Final = lazy_pattern(r"\b(?:only|solely|exclusively|nothing but|nobody but)\b", re.IGNORECASE)
# How somebody who was asked begins who says yes, or no.
_REPLY: Final = lazy_pattern(
    r"(?P<yes>yes|yeah|yep|yup|sure|of course|certainly|absolutely|definitely|indeed|是|对|好|当然|有的)|"
    r"(?P<no>no|nope|nah|not|never|unfortunately|sadly|sorry|nobody|none|没|不|否)(?![\w’'])",
    re.IGNORECASE,
)
_REPLIES: Final = 4  # Sentences behind a question among which its reply begins.
# What somebody can buy is what is sold: both say the same of the thing.
_FOR_SALE: Final = lazy_pattern(
    r"(?P<who>\b(?:can|could|may|might)\s+(?:still\s+|now\s+)?(?:I|we|you|one|anyone|anybody|people|visitors)\s+"
    r"(?:still\s+|now\s+|also\s+|even\s+)?)(?:buy|purchase)\b",
    re.IGNORECASE,
)
_WHO_ASKS: Final = frozenset("i me my we us our".split())
_MAY: Final = frozenset({"allowed to", "permitted to", "able to", "going to"})
_BY_THE_WAY: Final = lazy_pattern(r",\s(?:which|who|whose|where)\s[^,;.]*")
_LOOKED_AT: Final = 40  # Of the best lines, those that may tell.
_LONGEST_REASON: Final = 35  # Words.
_OF_ONLY: Final = 3  # Words behind `only` that it belongs to.
_LABEL: Final = 4  # Words of a line that is nothing but a label.
_NONE: Final = frozenset[int]()
_NEAR: Final = 40  # Characters before an amount in which its bound stands.
# What counts of a sentence that may decide, beside the share of the question's words that it says; set by hand on two
# thirds of 16 questions that people wrote, checked on the others and on 10 of another set: the share of its own words
# that the question has; that of the question's names that it or what stands around it says; a denial, which says more
# than what is so besides; hours, days or amounts as the question has them; one of log odds. A verb counts double.
_OF_LINE: Final = 0.3
_OF_NAMES: Final = 0.3
_OF_DENIAL: Final = 0.25
_OF_MEASURE: Final = 0.3
_OF_VERB: Final = 2.0
# That what is asked for goes on no more, beside the denial that it is: to who asks whether it does it says most.
_OF_ENDING: Final = 0.25
# A line that is silent on the thing that somebody does something to says nothing of it; of one that tells of it, names
# that stand elsewhere in its evidence count in part.
_OF_THING: Final = 0.3
_ELSEWHERE: Final = 0.5
_BY_SCORE: Final = 0.1
# What the reader's word counts for the line that decides.
_BY_READER: Final = 0.1


@dataclass(frozen=True)
class Verdict:
    """Yes or no, in the language of the question, and the sentence that decides."""

    text: str
    line: Line

    @property
    def with_reason(self) -> str:
        """The verdict with the sentence that decides, if that is short enough to stand behind it."""
        reason = " ".join(self.line.text.split()).lstrip("-• ")
        if len(reason.split()) > _LONGEST_REASON or re.search(f"[{HAN}]", self.text):
            return self.text
        return f"{self.text}: {reason}"


def verdict(question: str, best: Sequence[Line], read_yes: Callable[[Line], float]) -> Verdict:
    """`Yes` or `No` by the sentence that shares most with the question.

    Args:
        question: What is asked.
        best: The sentences of the evidence, best first.
        read_yes: By what log odds a reader finds that a sentence says yes, as far as its word counts.
    """
    asked = _Asked.of(_FOR_SALE.sub(r"\g<who>sell", question), best)
    line = _listed(question, best) or max(best[:_LOOKED_AT], key=lambda o: asked.support(o) + _BY_READER * o.told)
    reply = _reply(line, best)
    if reply is not None and (said := _REPLY.match(reply.text.removeprefix(f"{reply.speaker}:").strip())):
        no, line = said["no"] is not None, reply
    else:
        no = read_yes(line) + (-1.0 if _contradicts(asked, line) else 1.0) < 0
    chinese = re.search(f"[{HAN}]", question) is not None
    return Verdict(("否" if no else "是") if chinese else ("No" if no else "Yes"), line)


@dataclass(frozen=True)
class _Asked:
    """A question that is answered by yes or no.

    Attributes:
        text: The question.
        weight: What each of its words counts that is of no name, by its rarity among the lines, in all 1.
        verb: The stem of its verb, where that is clear.
        thing: The stems of what its verb takes, where it has no name.
        named: The words of its names.
        of_evidence: The share of the names that each evidence has.
    """

    text: str
    weight: Mapping[str, float]
    verb: frozenset[str]
    thing: frozenset[str]
    named: frozenset[str]
    of_evidence: Mapping[int, float]

    @classmethod
    def of(cls, question: str, best: Sequence[Line]) -> _Asked:
        named = frozenset(w for n in names(question) for w in content_words(n.text))
        words = sorted(content_words(question) - named - _WHO_ASKS)
        seen = Counter(w for line in best for w in content_words(line.text))
        verb = content_words(_verb(question))
        weight = {w: (_OF_VERB if w in verb else 1.0) * math.log(1.0 + len(best) / (0.5 + seen[w])) for w in words}
        total = math.fsum(weight.values()) or 1.0
        words_of: dict[int, set[str]] = {}
        for line in best if named else ():
            words_of.setdefault(line.evidence, set()).update(content_words(line.text))
        of_evidence = {n: len(named & own) / len(named) for n, own in words_of.items()}
        thing = _thing(question)
        share = {w: x / total for w, x in weight.items()}
        return cls(question, share, verb, frozenset() if thing & named else thing, named, of_evidence)

    def has(self, text: str) -> tuple[float, float]:
        """The share of the question that a text says, in other words or by an opposite too, and that of the text."""
        words = content_words(text)
        opposite = content_words(opposed(self.text, text)) & self.weight.keys()
        both = stems_said(frozenset(self.weight), words) | opposite
        return math.fsum(self.weight[w] for w in sorted(both)), min(1.0, len(both) / max(1, len(words)))

    def support(self, line: Line) -> float:
        """How far a line may decide."""
        of_question, of_line = self.has(line.text)
        about = bool(self.thing) and says(self.thing, content_words(line.text))
        named = line.signals.named if self.named else 0.0
        if self.named and about:
            named = max(named, _ELSEWHERE * self.of_evidence[line.evidence])
        clause = self.clause(line.text)
        over = ended(self.text, self.verb, clause)
        denied = _OF_DENIAL if of_question and (over or self.denied(clause)) else 0.0
        denied += _OF_ENDING if over and asks_still(self.text) else 0.0
        silent = _OF_THING if self.thing and not about else 0.0
        measured = _OF_MEASURE if _measured_alike(self.text, line.text) else 0.0
        said = of_question + _OF_LINE * of_line + _OF_NAMES * named
        return said + denied + measured - silent + _BY_SCORE * line.score

    def denied(self, clause: str) -> bool:
        """Whether a clause denies what is asked for, by words that say so, or says that it is missing."""
        return denies(without_foreign(self.text, clause)) or absent(self.text, clause)

    def clause(self, text: str) -> str:
        """The clause of a sentence that says most of what is asked."""
        parts = [p for p in _CLAUSE.split(text) if p and p.strip()]
        return max(parts, key=lambda p: self.has(p)[0] + self._does(p), default=text)

    def _does(self, clause: str) -> float:
        """What it counts for a clause that it has the verb of the question, or another for it."""
        return 1.0 if stems_said(self.verb, content_words(clause)) else 0.0


def _verb(question: str) -> str:
    """The word behind the subject of a question of yes or no, which mostly is its verb; empty if that is unclear."""
    return next(iter(_predicate(question)), "")


def _predicate(question: str) -> list[str]:
    """The words from the verb on; `have` and `allowed to` before another verb are none."""
    about = subject(question)
    behind = question[question.find(about) + len(about) :].split() if about else []
    words = [w for w in behind if w.lower() not in ADVERBS]
    if len(words) > 1 and words[0] == "have" and is_past(bare(words[1])):
        return words[1:]
    return words[2:] if " ".join(words[:2]).lower() in _MAY else words


def _thing(question: str) -> frozenset[str]:
    """The stems of what the verb of a question takes: `a bicycle` in `Can I bring a bicycle on board?`."""
    verb, *behind = _predicate(question) or [""]
    if not behind or bare(verb) in DETERMINERS or bare(behind[0]) in PREPOSITIONS:
        return frozenset()
    end = next((i for i, w in enumerate(behind) if bare(w) in PREPOSITIONS or bare(w) in CONJUNCTIONS), len(behind))
    return content_words(" ".join(behind[:end])) - _WHO_ASKS


def _listed(question: str, best: Sequence[Line]) -> Line | None:
    """What a list says behind the days or months asked for alone: `Monday`, and then `closed`."""
    asked = {s.unit: s.places for s in scopes(question)}
    for line in best if asked else ():
        said = scopes(line.text) if len(line.text.split()) <= _LABEL else []
        if any(asked.get(s.unit, _NONE) & s.places for s in said):
            return next((o for o in best if o.number == line.number + 1 and o.evidence == line.evidence), None)
    return None


def _reply(line: Line, best: Sequence[Line]) -> Line | None:
    """What is said to a question of the evidence: by the next speaker, or by the sentence behind where none speaks."""
    if not line.signals.asks:
        return None
    behind = [o for o in best if o.evidence == line.evidence and 0 < o.number - line.number <= _REPLIES]
    behind.sort(key=lambda o: o.number)
    if not line.speaker:
        return next(iter(behind), None)
    return next((o for o in behind if o.speaker and o.speaker != line.speaker), None)


def _contradicts(asked: _Asked, line: Line) -> bool:
    question, clause = asked.text, asked.clause(line.text)
    if _BUT_NOBODY.search(line.text) or any(
        content_words(m["what"]) & asked.weight.keys() for m in _BUT_NOT.finditer(line.text)
    ):
        return not asked_negatively(question)
    against = asked.denied(clause) != (asked_negatively(question) or absent(question, question))
    against ^= ended(question, asked.verb, clause) != asks_for_ending(question)
    against ^= bool(opposed(question, clause))
    if (outside := _outside(question, line.text)) is not None:
        return against != outside
    if against or _in_part(question, clause):
        return True
    return _other_number(question, line) or _other_day(question, line)


def _outside(question: str, text: str) -> bool | None:
    """Whether the question asks of months, days of the week or hours outside those of the text; None if it does not."""
    said = {s.unit: s.places for s in scopes(text, returning=True)}
    both = [(s.places, said[s.unit]) for s in scopes(question) if s.unit in said]
    return any(not asked & places for asked, places in both) if both else None


def _in_part(question: str, clause: str) -> bool:
    """Whether a clause says of a part, or of others only, what the question asks of all, or of any."""
    if _EVERY.search(question):
        return _PART.search(clause) is not None
    only = _ONLY.search(clause)
    if only is None or _ONLY.search(question):
        return False
    behind = " ".join(clause[only.end() :].split()[:_OF_ONLY])
    return bool(behind) and not content_words(behind) & content_words(question)


def _measured_alike(question: str, text: str) -> bool:
    """Whether a text says at what hours, days or months, or how much of a unit, where the question asks for such."""
    asked = {s.unit for s in scopes(question)}
    if asked & {s.unit for s in scopes(text, returning=True)}:
        return True
    units = {_size(q)[1] for q in amounts(question) if _bound(question, q)} - {""}
    return bool(units) and bool(units & {_size(q)[1] for q in amounts(text)})


def _other_number(question: str, line: Line) -> bool:
    """Whether the line has other numbers of a unit that the question has a number of; bounds of both are minded."""
    said = amounts(line.text)
    for asked in amounts(question):
        same = [q for q in said if _size(q)[1] == _size(asked)[1]]
        if same and not any(_fits(question, asked, line.text, q) for q in same):
            return True
    return False


def _size(amount: Quantity) -> tuple[float, str]:
    """A value and its unit, times in seconds."""
    factor = _SECONDS.get(amount.unit)
    return (amount.value * factor, "second") if factor else (amount.value, amount.unit)


def _fits(question: str, asked: Quantity, text: str, said: Quantity) -> bool:
    """Whether an amount that is told bears out the one that is asked for."""
    wanted, value = _size(asked)[0], _size(said)[0]
    limit = _bound(text, said)
    match _bound(question, asked):
        case "more":
            return value > wanted or (value == wanted and limit in ("more",))
        case "least":
            return value >= wanted
        case "less":
            return value < wanted or (value == wanted and limit == "less")
        case "most":
            return value <= wanted
    if limit == "most":
        return wanted <= value
    if limit == "least":
        return wanted >= value
    return abs(wanted - value) <= 1e-9 * max(1.0, abs(wanted))


def _bound(text: str, amount: Quantity) -> str:
    """The name of the group of `_BOUND` that stands before an amount; empty where none does."""
    found = _BOUND.search(text[max(0, amount.start - _NEAR) : amount.start])
    return (found.lastgroup or "") if found else ""


def _other_day(question: str, line: Line) -> bool:
    """Whether the line has dates and none of them can be the one of the question."""
    asked = [w for w in times(question, line.published) if w.from_day and w.to_day]
    # `Has ordered 60 for its clinic, which opens in January`: a date of what is told by the way is none of the order.
    main = _BY_THE_WAY.sub(lambda m: " " * len(m[0]), line.text)
    said = [w for w in times(main, line.published) if w.from_day and w.to_day]
    if not asked or not said:
        return False
    return not any(_meet(a, b) for a in asked for b in said)


def _meet(one: When, other: When) -> bool:
    """Whether two times have a day in common; an open one has it with all."""
    if one.from_day is None or one.to_day is None or other.from_day is None or other.to_day is None:
        return True
    return one.from_day <= other.to_day and other.from_day <= one.to_day
