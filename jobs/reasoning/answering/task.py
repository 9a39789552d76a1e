"""The task of answering: of a question, its evidence and the answers before it, sentences with what they rest on."""

from __future__ import annotations

from dataclasses import dataclass

from quern.jobs.reasoning.answering.draft import MOST_SENTENCES, MOST_SOURCES, Draft
from quern.jobs.reasoning.answering.grounds import ungrounded
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.prompt import PROMPT, shown
from quern.jobs.reasoning.answering.reading import reading_ahead
from quern.jobs.reasoning.answering.rule import answered
from quern.jobs.tasks.task import Checked, Problem, Task
from quern.schemas.settings import AnswerSettings


@dataclass(frozen=True)
class _Answering:
    """Rule, check and join of the task; a class of its own, so that workers can be sent it."""

    most: int
    sentences_shown: int

    def show(self, given: AnswerInput) -> dict[str, object]:
        """What a model is shown of a question and its evidence."""
        return shown(given, self.sentences_shown)

    def rule(self, given: AnswerInput) -> Draft:
        """The answer by the trained reader."""
        return answered(given, self.most)

    def check(self, given: AnswerInput, output: Draft) -> Checked[Draft]:
        """The sentences that rest on sentences that the evidence has; a blank one says nothing.

        A reply that rests on everything rests on nothing (SmolLM2-135M names 1, 2, 3 and so on of any evidence).
        """
        last = len(given.sentences)
        if len(output.sentences) > MOST_SENTENCES:
            detail = f"{len(output.sentences)} sentences; say at most {MOST_SENTENCES}, the short answer first"
            return Checked(None, (Problem("too_many", detail),))
        if any(len(set(s.rests_on)) > MOST_SOURCES for s in output.sentences):
            detail = f"a sentence rests on more than {MOST_SOURCES} others; name those that say it"
            return Checked(None, (Problem("too_many", detail),))
        wrong = sorted({n for s in output.sentences for n in s.rests_on if not 1 <= n <= last})
        good = [s for s in output.sentences if s.text.strip() and s.rests_on and not set(s.rests_on) & set(wrong)]
        grounded = [s for s in good if not ungrounded(given, s.text, s.rests_on)]
        if len(grounded) == len(output.sentences):
            return Checked(output)
        if len(grounded) < len(good):
            missing = [m for s in good for m in ungrounded(given, s.text, s.rests_on)]
            detail = f"not in the sentences that it rests on: {', '.join(missing[:5])}"
            kept = Draft(sentences=grounded) if grounded and grounded[0] is output.sentences[0] else None
            return Checked(kept, (Problem("ungrounded", detail),))
        if wrong:
            detail = f"there is no sentence {', '.join(map(str, wrong[:5]))}; the evidence has the numbers 1 to {last}"
            problem = Problem("no_such_sentence", detail)
        else:
            problem = Problem("unsupported", "each sentence needs its text and the numbers that it rests on")
        # What is left stands alone only if the short answer is among it.
        kept = Draft(sentences=good) if good and good[0] is output.sentences[0] else None
        return Checked(kept, (problem,))

    def enough(self, output: Draft) -> bool:
        """Whether there is a short answer: what is wrong beside it need not be asked for again."""
        return bool(output.sentences)


def answer_task(settings: AnswerSettings) -> Task[AnswerInput, Draft]:
    """The task of answering under `settings`."""
    does = _Answering(settings.sentences, settings.shown)
    kept = {"sentences": settings.sentences, "triplets": settings.triplets, "shown": settings.shown}
    return Task(
        "answer",
        57,
        PROMPT,
        Draft,
        does.rule,
        does.check,
        enough=does.enough,
        constants=kept,
        show=does.show,
        ahead=reading_ahead,
    )
