"""What follows from a drafted answer: whether it is given, what it cites, what of the question its evidence matches.

All of it is a function of question, evidence, draft and settings, so that by rule it is remembered as the draft is: a
standing question whose evidence is as it was costs no more than finding that evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict

from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.task import AlignInput, Alignment, align_task, aligned
from quern.jobs.reasoning.answering.course import ToldEvent, timeline
from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.answering.reading import kind_of
from quern.jobs.reasoning.citing.inputs import citing_inputs, says_something
from quern.jobs.reasoning.citing.search import repeated_sources
from quern.jobs.reasoning.citing.task import CITE
from quern.jobs.reasoning.confidence.judge import Code, Judgement, judged
from quern.jobs.reasoning.confidence.judge import identity as how_judged
from quern.jobs.tasks.remembered import Kept
from quern.jobs.tasks.runner import Reasoner
from quern.schemas.settings import Settings

_VERSION: Final = 4  # Raised when conclusions are made of other parts; these have versions of their own.


@dataclass(frozen=True)
class Drafted:
    """A drafted answer and what it was drafted from."""

    given: AnswerInput
    draft: Draft

    @property
    def identity(self) -> object:
        """Everything that a conclusion depends on beside settings, JSON-like."""
        given = self.given
        return [
            given.identity,
            [evidence.page for evidence in given.evidence],
            [[event.identity for event in evidence.events] for evidence in given.evidence],
            [b.probability for b in given.before],
            [(s.text, s.rests_on) for s in self.draft.sentences],
        ]


class Told(BaseModel):
    """An event of the evidence that bears on the question; see `ToldEvent`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evidence: int
    event_id: str
    number: int
    covered: float


class Conclusion(BaseModel):
    """What follows from a drafted answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    probability: float  # Calibrated probability that the evidence answers the question, in [0, 1].
    reason: Code | None  # Why the question is refused; None where it is answered.
    detail: str  # The reason in a sentence; empty where the question is answered.
    kind: str = "other"  # What kind of answer the question asks for, by the reader; `other` where it read nothing.
    # Of each sentence of the answer the numbers of the sentences of the evidence that support it.
    cited: list[list[int]] = []
    aligned: list[Alignment] = []  # What of the question the best of the evidence matches.
    told: list[Told] = []  # The events that bear on the question, in the order of time; none where it is refused.

    @property
    def judgement(self) -> Judgement:
        """Whether the answer is given."""
        return Judgement(self.probability, self.reason, self.detail)

    def answer(self, draft: Draft) -> Draft:
        """The answer drafted as `draft` as it is given: with the sentences that support it, empty if it is refused.

        Headings and what introduces a list are left out behind the short answer: they say nothing.
        """
        if self.judgement.refused:
            return Draft(sentences=[])
        rows = enumerate(zip(draft.sentences, self.cited, strict=True))
        sentences = [(s, numbers) for n, (s, numbers) in rows if numbers or not n or says_something(s.text)]
        return Draft(sentences=[s.model_copy(update={"rests_on": [*numbers]}) for s, numbers in sentences])

    def timeline(self, given: AnswerInput) -> list[ToldEvent]:
        """The events of the evidence of `given` that bear on its question."""
        events = [{event.event_id: event for event in evidence.events} for evidence in given.evidence]
        return [ToldEvent(events[t.evidence][t.event_id], t.evidence, t.number, t.covered) for t in self.told]


class Concluder:
    """Draws conclusions from drafts, a batch at a time."""

    def __init__(self, reasoner: Reasoner, settings: Settings) -> None:
        self._reasoner, self._settings = reasoner, settings

    def of_parts(self, drafted: Sequence[Drafted]) -> list[Judgement]:
        """Which of these sub-questions are answered."""
        step = Kept("judge", Conclusion, [_VERSION, how_judged(self._settings.answer)])

        def judge(places: Sequence[int]) -> list[Conclusion]:
            now = [drafted[n] for n in places]
            judgements = judged([d.given for d in now], [d.draft for d in now], self._settings.answer)
            return [Conclusion(probability=j.probability, reason=j.reason, detail=j.detail) for j in judgements]

        return [c.judgement for c in self._reasoner.kept(step, [d.identity for d in drafted], judge)]

    def of_wholes(self, drafted: Sequence[Drafted]) -> list[Conclusion]:
        """What follows of each of these answers, after all its parts.

        Raises:
            GeneratorError: A model cites or aligns, and cannot be asked any more.
        """
        settings = self._settings
        if settings.generator.kind != "rules":  # What a model replies is remembered reply by reply.
            return self._fresh(drafted)
        chosen = [settings.answer.model_dump(mode="json"), settings.align.model_dump(mode="json")]
        step = Kept("conclude", Conclusion, [_VERSION, how_judged(settings.answer), chosen])
        identities = [d.identity for d in drafted]
        return self._reasoner.kept(step, identities, lambda places: self._fresh([drafted[n] for n in places]))

    def _fresh(self, drafted: Sequence[Drafted]) -> list[Conclusion]:
        settings, inputs = self._settings, [d.given for d in drafted]
        judgements = judged(inputs, [d.draft for d in drafted], settings.answer, whole=True)
        drafts = [Draft(sentences=[]) if j.refused else d.draft for d, j in zip(drafted, judgements, strict=True)]
        asked = [citing_inputs(given, draft) for given, draft in zip(inputs, drafts, strict=True)]
        cited = iter(self._reasoner.run(CITE, [one for of_draft in asked for one in of_draft]))
        best = [[AlignInput(parsed(g.question), e) for e in g.evidence[: settings.align.hits]] for g in inputs]
        every = [one for of_question in best for one in of_question]
        by_model = settings.align.model
        alignments = iter(
            [d.output for d in self._reasoner.run(align_task(), every)] if by_model else map(aligned, every)
        )
        conclusions = []
        for given, judgement, draft, of_draft, hits in zip(inputs, judgements, drafts, asked, best, strict=True):
            # A line that a sentence repeats whole, as a table's row that is shown with its headers, supports it.
            sources = [next(cited).output.sources or repeated_sources(one) for one in of_draft]
            events = timeline(given) if draft.sentences else []
            conclusions.append(
                Conclusion(
                    probability=judgement.probability,
                    reason=judgement.reason,
                    detail=judgement.detail,
                    kind=kind_of(given),
                    cited=sources,
                    aligned=[next(alignments) for _ in hits],
                    told=[
                        Told(evidence=e.evidence, event_id=e.event.event_id, number=e.number, covered=e.covered)
                        for e in events
                    ],
                )
            )
        return conclusions
