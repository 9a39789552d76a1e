"""What the trained reader says of whether the evidence answers a question at all."""

from __future__ import annotations

from typing import Final

from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.kinds.kind import VALUED
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.ranked import lines, reading

# Log odds that none of the lines that were read answers, of which the reader has nothing to say, and by how much what
# it says counts above and below them. Of 360 choices among the best by the questions of four visible sets over the
# sample corpus, and 600 of pages kept apart from its training, that are answered or refused rightly.
_USUAL: Final = 0.0
_DOUBT, _MOST_DOUBT = 1.2, 4.0
_TRUST, _MOST_TRUST = 0.7, 1.2
# The most that it counts below them where rules and reader each find the same line likeliest, and that line has a value
# of the form asked for. Of 2.5, 2.0 and 1.5 each gains two to four of 718 visible questions and loses none.
_MOST_OF_AGREED: Final = 2.0
_SURE: Final = 0.9  # How well a value is of the form asked for that surely is.
_DOUBTED: Final = 0.0  # From there on the rules are asked as well.


def odds_by_reader(given: AnswerInput) -> float:
    """What the reader adds to the log odds that the evidence answers; nothing for a question of several parts."""
    none = _none(given)
    if none is None:
        return 0.0
    if none > _USUAL:
        return -min(_MOST_OF_AGREED if _agreed(given) else _MOST_DOUBT, _DOUBT * (none - _USUAL))
    return min(_MOST_TRUST, _TRUST * (_USUAL - none))


def _agreed(given: AnswerInput) -> bool:
    """Whether the line that rules find likeliest is the reader's too, and has what is asked for."""
    kind = kind_of(given.question)
    best = lines(given, kind)
    may = [o for o in best if o.values] if kind.name in VALUED else best  # A headline is no answer, however near.
    by_reader, by_rules = max(may or best, key=lambda o: o.told), max(best, key=lambda o: o.score - o.told)
    fits = kind.name not in VALUED or any(v.fit >= _SURE for v in by_rules.values)
    return fits and by_reader.text == by_rules.text  # Chunks overlap: the same sentence may stand in two.


def doubted(given: AnswerInput) -> bool:
    """Whether the reader finds it likelier that no line answers than that one does."""
    none = _none(given)
    return none is not None and none > _DOUBTED


def _none(given: AnswerInput) -> float | None:
    return None if given.before else reading(given, kind_of(given.question)).none
