"""A question's path: preprocess → decompose → retrieve → answer along the DAG → judge, cite, align → compose → gate.

The sub-questions of all questions of a batch are answered level by level, each with the answers of its ancestors
(Xinyu AI Search, section 3.4); the whole question is answered last, from its own evidence and theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain, islice
from pathlib import Path
from typing import Any

from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, carried
from quern.jobs.reasoning.answering.reading import Model
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.confidence.judge import Judgement
from quern.jobs.reasoning.questions.decompose import decomposed
from quern.jobs.reasoning.questions.plan import Plan
from quern.jobs.reasoning.questions.preprocess import Understood, understood
from quern.jobs.reasoning.questions.refusal import Weights
from quern.jobs.tasks.runner import Done, Reasoner
from quern.pipelines.answers.compose import (
    Citations,
    aligned_hit,
    question_parts,
    sentences_of,
    sub_answers,
    timeline_of,
)
from quern.pipelines.answers.concluding import Concluder, Conclusion, Drafted
from quern.pipelines.answers.gate import gated
from quern.pipelines.retrieve.batch import Batch, Recipe
from quern.pipelines.retrieve.evidence import Found, load_evidence, with_chunks
from quern.pipelines.retrieve.filters import conditions_of, known_by, nothing_passes
from quern.pipelines.retrieve.searcher import Searcher, reader_of
from quern.pipelines.timelines.evidence import with_events, with_spans
from quern.schemas.answers import Answer, Question

BATCH_QUESTIONS = 256


@dataclass
class Tally:
    """What a run came to, whatever it answered."""

    computed: int = 0  # Times that a question or a part of one was reasoned about.
    reused: int = 0  # Times that what is remembered of an earlier run stood for that.
    fell_back: int = 0  # Times that the rule stood in for a model.


def answer_questions(
    searcher: Searcher,
    questions: Iterable[Question],
    recipe: Recipe,
    memo: Path | None = None,
    tally: Tally | None = None,
    present: Callable[[Searcher, list[Answer]], list[Answer]] = lambda _, answers: answers,
) -> Iterator[Answer]:
    """Answers in the order of the questions, computed in batches of `BATCH_QUESTIONS`.

    Every step is carried out by what `generator` names: the rule, or a model, for which the rule stands in where it
    gives no valid reply. With a `memo`, a directory, questions that were answered before from the same evidence by the
    same settings and model are not reasoned about again. `tally` counts these. `present` adds to the answers of a
    batch what is shown beside them, such as images (`pipelines.images.illustrate`).

    Raises:
        GeneratorError: The model cannot be used, or cannot be asked any more.
    """
    stream = iter(questions)
    settings = searcher.settings
    with Reasoner(settings.generator, settings.engine, memo=memo) as reasoner:
        runner = _Runner(searcher, recipe, reasoner)
        # Each task and level of a batch waits for its slowest reply: what many GPUs are given should be worth that.
        together = 16_384 if settings.generator.kind == "vllm" else BATCH_QUESTIONS
        while asked := list(islice(stream, together)):
            yield from present(searcher, runner.answers(asked))
            if tally is not None:
                tally.computed, tally.reused = reasoner.computed, reasoner.reused
                tally.fell_back = reasoner.fallen_back


@dataclass(frozen=True)
class _Part:
    """A sub-question that was answered."""

    given: AnswerInput
    found: Found
    draft: Draft
    judgement: Judgement

    def pair(self, given: AnswerInput) -> AskedBefore:
        """Question and answer, for an input that comes after it."""
        text = " ".join(s.text for s in self.draft.sentences)
        rests_on = carried(self.given, self._rests_on, given)
        return AskedBefore(self.given.question, self.draft.short, rests_on, text, self.judgement.probability)

    @property
    def rests_in(self) -> set[int]:
        """Positions of the pieces of evidence that its short answer rests on."""
        return {self.given.sentences[n - 1].evidence for n in self._rests_on}

    @property
    def _rests_on(self) -> list[int]:
        return [n for s in self.draft.sentences[:1] for n in s.rests_on]


@dataclass
class _Asked:
    """A question that is to be answered, and how far it has come."""

    question: Question
    understood: Understood
    plan: Plan  # What it was taken apart into.
    found: Found  # What was found for the whole of it.
    # The sub-questions that were answered, by their numbers in the plan.
    parts: dict[int, _Part] = field(default_factory=dict)

    def text(self, n: int) -> str:
        """Sub-question `n` with the answers of its parents, as far as their evidence answers them."""
        answers = {p: part.draft.short for p, part in self.parts.items() if not part.judgement.refused}
        return self.plan.filled(n, answers)

    def whole(self) -> Found:
        """The evidence of the question with that of its parts."""
        return with_chunks(self.found, [(part.found, part.rests_in) for part in self.parts.values()])

    def after(self, given: AnswerInput, parts: Iterable[int]) -> AnswerInput:
        """An input after the pairs of some of the parts."""
        return given.after([self.parts[n].pair(given) for n in parts])

    def pairs(self, given: AnswerInput) -> list[AskedBefore]:
        """All sub-questions by their numbers, with those answers that their evidence supports."""
        pairs = [(self.parts[n].pair(given), self.parts[n].judgement) for n in sorted(self.parts)]
        return [replace(pair, answer="", rests_on=()) if judgement.refused else pair for pair, judgement in pairs]


class _Runner:
    """Answers batches of questions; what it opens of the snapshot serves all of them."""

    def __init__(self, searcher: Searcher, recipe: Recipe, reasoner: Reasoner) -> None:
        self._searcher, self._recipe, self._reasoner = searcher, recipe, reasoner
        self._settings = searcher.settings
        self._task = answer_task(self._settings.answer)
        self._reader: Model | None = reader_of(self._settings.answer)
        self._concluder = Concluder(reasoner, self._settings)

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers to a batch, in its order."""
        manifest = self._searcher.snapshot.manifest
        built = self._settings.question.now or (manifest.published_at.date() if manifest.published_at else None)
        now = [self._as_of(q) or built for q in questions]
        # The rule of refusal knows the default embedder's vectors alone.
        encode = self._searcher.question_embedder.encode if Weights.load().model == manifest.model else None
        texts = [q.question for q in questions]

        def in_corpus(word: str) -> bool:
            return self._searcher.graph.lexical.frequency(word) > 0

        seen = understood(self._reasoner, texts, in_corpus, self._settings.question, now, encode)
        going = [(q, u) for q, u in zip(questions, seen, strict=True) if u.refused is None]
        answered = iter(
            gated(self._overviews(going) if self._recipe.answer else self._answered(going), self._searcher.snapshot)
        )
        refusal: dict[str, Any] = {"sentences": [], "citations": [], "hits": [], "path": [], "reason": "refused"}
        refusal |= {"probability": 0.0, "by": self._settings.generator.kind}
        return [
            next(answered) if u.refused is None else Answer(**self._known(q), **refusal, notes=list(u.notes))
            for q, u in zip(questions, seen, strict=True)
        ]

    def _known(self, question: Question) -> dict[str, Any]:
        """The fields of an answer that are known when its question is."""
        return {
            "query_id": question.query_id,
            "question": question.question,
            "recipe": self._recipe.name,
            "as_of": self._as_of(question),
            "type": question.type,
            "expected": question.answer,
        }

    def _answered(self, going: Sequence[tuple[Question, Understood]]) -> list[Answer]:
        """The answers from the best chunks."""
        texts = [u.question for _, u in going]
        plans = decomposed(self._reasoner, texts) if self._settings.question.decompose else [Plan(t) for t in texts]
        found = self._retrieve(texts, [q for q, _ in going])
        asked = [_Asked(q, u, plan, f) for (q, u), plan, f in zip(going, plans, found, strict=True)]
        # Answer the sub-questions level by level, those of all questions together.
        levels = [one.plan.levels() for one in asked]
        for level in range(max(map(len, levels), default=0)):
            now = [(one, n) for one, of in zip(asked, levels, strict=True) for n in chain(*of[level : level + 1])]
            evidence = self._retrieve([one.text(n) for one, n in now], [one.question for one, _ in now])
            inputs = [
                one.after(self._given(one.text(n), found), one.plan.ancestors(n))
                for (one, n), found in zip(now, evidence, strict=True)
            ]
            drafts = [done.output for done in self._reasoner.run(self._task, inputs)]
            judgements = self._concluder.of_parts([*map(Drafted, inputs, drafts)])
            for (one, n), part in zip(now, map(_Part, inputs, evidence, drafts, judgements), strict=True):
                one.parts[n] = part
        # Answer the questions themselves, after all their parts.
        wholes = [one.whole() for one in asked]
        inputs = [
            one.after(self._given(one.understood.question, of), one.plan.asked())
            for one, of in zip(asked, wholes, strict=True)
        ]
        inputs = with_events(self._searcher, inputs, wholes, [self._as_of(one.question) for one in asked])
        done = self._reasoner.run(self._task, inputs)
        concluded = self._concluder.of_wholes([Drafted(g, d.output) for g, d in zip(inputs, done, strict=True)])
        return [*map(self._composed, asked, inputs, wholes, done, concluded)]

    def _overviews(self, going: Sequence[tuple[Question, Understood]]) -> list[Answer]:
        """The answers about the whole corpus."""
        batch = Batch(
            self._searcher, [u.question for _, u in going], [conditions_of(q) for q, _ in going], self._reasoner
        )
        overviews = self._recipe.answer(batch) if self._recipe.answer and going else []
        return [
            Answer(
                **self._known(q),
                asked=u.question if u.question != q.question else None,
                sentences=of.sentences,
                probability=of.probability,
                reason=of.reason,
                notes=[*u.notes, *of.notes],
                by=of.by,
                citations=of.citations,
                hits=of.hits,
                path=[],
            )
            for (q, u), of in zip(going, overviews, strict=True)
        ]

    def _as_of(self, question: Question) -> date | None:
        """The day until which its evidence was published: that of the run or its own, the earlier of both."""
        return min(filter(None, (self._settings.retrieve.as_of, question.as_of)), default=None)

    def _retrieve(self, texts: Sequence[str], questions: Sequence[Question]) -> list[Found]:
        """What there is on each of these texts that meets the conditions of its question, sought in one batch."""
        if not texts:
            return []
        batch = Batch(self._searcher, texts, [*map(conditions_of, questions)], self._reasoner)
        return load_evidence(batch, with_spans(batch, self._recipe.rank(batch)))

    def _given(self, question: str, found: Found) -> AnswerInput:
        return AnswerInput(question, found.evidence, reader=self._reader, windows=self._settings.answer.windows)

    def _composed(
        self, one: _Asked, given: AnswerInput, found: Found, done: Done[Draft], concluded: Conclusion
    ) -> Answer:
        question, citations = one.question, Citations(given, found.hits)
        sentences = sentences_of(concluded.answer(done.output), citations)
        reason: str | None = concluded.reason
        detail = concluded.detail
        retrieve = self._settings.retrieve
        conditions = [*retrieve.where, *known_by(retrieve.as_of), *conditions_of(question)]
        if not found.hits and (unmet := nothing_passes(self._searcher, conditions)):
            reason, detail = "nothing_passes", unmet
        parents = [sub.parents for sub in one.plan.sub_questions]
        return Answer(
            **self._known(question),
            asked=given.question if given.question != question.question else None,
            kind=concluded.kind,
            sentences=sentences,
            probability=concluded.probability,
            reason=reason,
            notes=[*one.understood.notes, *([detail] if detail else [])],
            by=done.by,
            sub_questions=sub_answers(one.pairs(given), parents, citations),
            citations=citations.all(),
            hits=found.hits,
            path=found.path,
            search=found.search,
            timeline=timeline_of(concluded.timeline(given), citations, found.hits),
            parts=question_parts(given.question) if self._settings.align.hits else [],
            alignments=[*map(aligned_hit, concluded.aligned, found.hits)],
        )
