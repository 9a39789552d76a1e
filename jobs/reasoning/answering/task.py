"""The task of answering: of a question, its evidence and the answers before it, sentences with what they rest on."""

from __future__ import annotations

from dataclasses import dataclass

from quern.jobs.reasoning.answering.candidates import candidates, latest
from quern.jobs.reasoning.answering.draft import MOST_SENTENCES, Draft, statement
from quern.jobs.reasoning.answering.grounds import sources
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.prompt import PREFACE, PROMPT, shown
from quern.jobs.reasoning.answering.reading import read, reading_ahead
from quern.jobs.reasoning.answering.rule import answered, near
from quern.jobs.tasks.task import Checked, Problem, Task
from quern.schemas.settings import AnswerSettings


@dataclass(frozen=True)
class _Answering:
    """Rule, check and join of the task; a class of its own, so that workers can be sent it."""

    most: int
    chunks: int

    def show(self, given: AnswerInput) -> dict[str, object]:
        """What a model is shown of a question and its evidence."""
        return shown(given, self.chunks)

    def rule(self, given: AnswerInput) -> Draft:
        """The answer by the trained reader."""
        return answered(given, self.most)

    def by_rule(self, given: AnswerInput) -> bool:
        """Whether a question asks for yes or no: the reader is right on 18 of 24 of two visible domains, Qwen on 15."""
        return read(given).asks_for("verdict")

    def check(self, given: AnswerInput, output: Draft) -> Checked[Draft]:
        """The sentences that lines of the evidence support, and behind them the lines that carry the short answer.

        What stands behind a short answer without support is not used either.
        """
        if len(output.sentences) > MOST_SENTENCES:
            detail = f"{len(output.sentences)} sentences; say at most {MOST_SENTENCES}, the short answer first"
            return Checked(None, (Problem("too_many", detail),))
        texts = [" ".join(s.text.split()) for s in output.sentences if s.text.strip()]
        likely = latest(given, candidates(given))
        lines = [c.line for c in likely]
        written = [statement(text, sources(given, lines, text)) for text in texts]
        problems = tuple(
            Problem("ungrounded", f"not in the documents: {s.text[:200]}") for s in written if not s.rests_on
        )
        if not written or not written[0].rests_on:
            return Checked(None if problems else Draft(sentences=[]), problems)
        good = [s for s in written if s.rests_on]
        carrying = near(good[0].rests_on, likely, self.most, good[0].text)
        return Checked(Draft(sentences=[*good, *(s for s in carrying if s.text not in texts)]), problems)

    def enough(self, output: Draft) -> bool:
        """Whether there is a short answer: what is wrong beside it need not be asked for again."""
        return bool(output.sentences)


def answer_task(settings: AnswerSettings) -> Task[AnswerInput, Draft]:
    """The task of answering under `settings`."""
    does = _Answering(settings.sentences, settings.chunks)
    kept = {"sentences": settings.sentences, "triplets": settings.triplets, "chunks": settings.chunks}
    return Task(
        "answer",
        58,
        PROMPT,
        Draft,
        does.rule,
        does.check,
        enough=does.enough,
        constants=kept,
        show=does.show,
        preface=PREFACE,
        by_rule=does.by_rule,
        ahead=reading_ahead,
    )
