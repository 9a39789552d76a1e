"""Why a question is not answered: what the evidence speaks of instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from quern.jobs.reasoning.answering.identifiers import identifiers, in_full
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.answering.siblings import siblings
from quern.jobs.reasoning.answering.task import Draft
from quern.jobs.reasoning.confidence.features import asked, holds, missing
from quern.jobs.text.stems import content_words

Code = Literal["nothing_found", "other_entity", "other_time", "only_related"]
_ABBREVIATION: Final = re.compile(r"\b[A-Z]{2,8}\b")
_WORD: Final = re.compile(r"[\w'’-]+")


@dataclass(frozen=True)
class Reason:
    """Why there is no answer.

    Attributes:
        code: `nothing_found`, `other_entity`, `other_time` or `only_related`.
        detail: What exactly, in a sentence.
    """

    code: Code
    detail: str


def reason_of(given: AnswerInput) -> Reason:
    """Why the evidence may not answer the question."""
    points = asked(given.question)
    wanted = points.words
    absent = missing(wanted, given.question, given.evidence) if given.evidence else wanted
    if not given.evidence or (wanted and absent == wanted):
        return Reason("nothing_found", "Nothing in the corpus speaks of what is asked.")
    if other := points.names & absent:
        return Reason("other_entity", f"What was found does not name {as_asked(given.question, other)}.")
    if times := [w.text for w in points.dates if not any(holds(e, w) for e in given.evidence)]:
        return Reason("other_time", f"What was found is not of {', '.join(times)}.")
    if absent:
        return Reason("only_related", f"What was found says nothing of {as_asked(given.question, absent)}.")
    return Reason("only_related", "What was found is about the same things, and does not say what is asked.")


def of_same_things(given: AnswerInput) -> bool:
    """Whether the evidence has every name and time of the question, and a word of what it asks of them.

    The mayoral election of a town is not spoken of where all that stands of it is the town.
    """
    points = asked(given.question)
    said = points.words - points.names
    about_them = not said or missing(said, given.question, given.evidence) != said
    return about_them and reason_of(given).code == "only_related"


def of_another(given: AnswerInput, draft: Draft) -> Reason | None:
    """Why not, where the short answer is a line of label and value on a page about something else.

    Such a line is about what its page is titled by: the population on Skarrow's page is not Casterby's. Of 988
    answerable questions of the sample corpus, its readers and lihua_world 2 are met by this, of which 1 was right. Or
    it is one of a mere `It`, in a chunk that has no name of the question: of 654 over the sample corpus it meets none
    that was right.
    """
    names = asked(given.question).names
    if given.before or not names or not draft.sentences:
        return None
    resting = draft.sentences[0].rests_on[:1]
    line = next((one for one in lines(given, kind_of(given.question)) if one.number in resting), None)
    if line is None:
        return None
    label = line.row is not None and not line.row.header
    nameless = line.signals.pronoun and not names & content_words(given.evidence[line.evidence].text)
    if not label and not nameless:
        return None
    title = given.evidence[line.evidence].title or ""
    if names & content_words(line.text) or content_words(given.question) & content_words(title):
        return None
    detail = f"What was found is of {title or 'another page'}, not of {as_asked(given.question, names)}."
    return Reason("other_entity", detail)


def of_other_number(given: AnswerInput) -> Reason | None:
    """Why not, where an identifier of the question stands in no evidence and another of its kind does.

    Room 374 says nothing of whether there is a Room 372. A code of some length that stands nowhere is another
    thing too: `PS3` may be written in another way, `HD-1033` is not.
    """
    texts = [f"{e.title or ''}\n{e.text}\n{e.page}" for e in given.evidence]
    for one in identifiers(given.question):
        if any(map(one.stands_in, texts)):
            continue
        if one.in_one_way or any(map(one.another_in, texts)):
            return Reason("other_entity", f"What was found does not name {one.text}.")
    return None


def of_sibling(given: AnswerInput, draft: Draft) -> Reason | None:
    """Why not, where a sentence says its values of several that have names, none of them the one asked about.

    `30 days on Gold, 180 on Platinum` does not say how long it is on Bronze.
    """
    named = asked(given.question).names
    kind = kind_of(given.question)
    if (
        given.before
        or not named
        or not draft.sentences
        or not (absent := named & missing(named, given.question, given.evidence))
    ):
        return None
    resting = draft.sentences[0].rests_on[:1]
    line = next((one for one in lines(given, kind) if one.number in resting), None)
    if line is None or line.row is not None:
        return None
    beside = siblings(given.question, kind, line.text, line.values)
    if beside is None or not beside.named or any(words & named for words in beside.own):
        return None
    if any(in_full(short).search(line.text) for short in _ABBREVIATION.findall(given.question)):
        return None
    return Reason("other_entity", f"What was found does not name {as_asked(given.question, absent)}.")


def as_asked(question: str, stems: frozenset[str]) -> str:
    """The words of the question that have one of these stems, as they stand there."""
    words = [w for w in dict.fromkeys(_WORD.findall(question)) if content_words(w) & stems]
    return ", ".join(words) or "it"
