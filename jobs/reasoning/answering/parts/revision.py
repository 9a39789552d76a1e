"""Which parts are answered otherwise than they were alone, now that all their evidence is seen together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from quern.jobs.reasoning.answering.facts import value_of_side
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.parts.contrast import contrasted
from quern.jobs.reasoning.answering.parts.phrasing import sentence_told, side_name, without_end
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.answering.short import short_answer
from quern.jobs.reasoning.questions.outline import Section

_SHORT: Final = 6  # Words of an answer that is no whole sentence.
_NEXT_OTHERS: Final = 4  # Sentences of a part, of which one that no other part is told with may answer it.
_CLEARLY: Final = 2.0  # Log odds by which a sentence stands out for a part that alone was not answered.


def told_otherwise(given: AnswerInput, part: AskedBefore, told: Sequence[str]) -> AskedBefore:
    """A part whose sentence a part before it is told with already: with the next best, since parts ask for several."""
    known = {without_end(text) for before in told for text in before.split("; ")}
    if not part.answer or without_end(part.answer) not in known:
        return part
    ranked = lines(AnswerInput(part.question, given.evidence), kind_of(part.question))
    for line in ranked[:_NEXT_OTHERS]:
        text = " ".join(line.text.split())
        if line.signals.heading == 0.0 and not line.signals.asks and not any(without_end(text) in k for k in known):
            return replace(part, answer=text, rests_on=[line.number])
    return part


def in_short(given: AnswerInput, part: AskedBefore) -> AskedBefore:
    """A part whose answer is a whole sentence, with a value or phrase where the evidence of all parts has one."""
    if len(part.answer.split()) <= _SHORT:
        return part
    said = short_answer(AnswerInput(part.question, given.evidence))
    if said is None or not said.text:
        return part
    return replace(part, answer=said.text, rests_on=said.numbers[:1], said=said.text)


def clearest(given: AnswerInput, part: AskedBefore) -> AskedBefore:
    """A part that alone was not answered, with the one sentence that stands out for it, if one does."""
    ranked = lines(AnswerInput(part.question, given.evidence), kind_of(part.question))
    if len(ranked) < 2 or ranked[0].score - ranked[1].score < _CLEARLY:
        return part
    number = ranked[0].number
    sentence = sentence_told(given, number)
    if sentence in {sentence_told(given, n) for b in given.before for n in b.rests_on}:
        return part
    return replace(part, answer=sentence, rests_on=[number])


def together(given: AnswerInput, section: Section, answers: list[AskedBefore]) -> list[AskedBefore]:
    """The answers of two sides with the values that the evidence has for both, where it has them."""
    found = contrasted(given, [a.question for a in answers], [a.answer for a in answers], section.word)
    return (
        [AskedBefore(a.question, v.text, [v.number], v.text) for a, v in zip(answers, found, strict=True)]
        if found
        else answers
    )


def by_facts(given: AnswerInput, section: Section, answers: list[AskedBefore]) -> list[AskedBefore]:
    """The answers of two sides; one that has none with the value that a triplet of the evidence has of it."""
    if len(answers) != len(section.sides) or all(a.answer for a in answers) or not any(a.answer for a in answers):
        return answers
    return [a if a.answer else _stated(given, side, a) for side, a in zip(section.sides, answers, strict=True)]


def _stated(given: AnswerInput, side: str, part: AskedBefore) -> AskedBefore:
    found = value_of_side(part.question, side_name(side), given.told)
    if found is None:
        return part
    return replace(part, answer=found.fact.object, rests_on=[found.number], said=found.fact.object)
