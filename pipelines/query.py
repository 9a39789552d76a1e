"""A question's path: preprocess → decompose → retrieve → answer along the DAG → judge → cite → compose → gate.

The sub-questions of all questions of a batch are answered level by level, each with the answers of its ancestors
(Xinyu AI Search, section 3.4); the whole question is answered last, from its own evidence and theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain, islice
from pathlib import Path
from typing import Final

from quern.jobs.reasoning.answering.course import ToldEvent
from quern.jobs.reasoning.answering.draft import Draft
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, carried
from quern.jobs.reasoning.answering.reading import Model
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.confidence.judge import Judgement
from quern.jobs.reasoning.questions.decompose import decomposed
from quern.jobs.reasoning.questions.plan import Plan
from quern.jobs.reasoning.questions.preprocess import Understood, understood
from quern.jobs.reasoning.questions.refusal import Encode, Weights
from quern.jobs.reasoning.runner import Reasoner
from quern.pipelines.answers.aligning import AnswerAlignment, answer_alignment, parsed_questions
from quern.pipelines.answers.compose import Citations, sentences_of, sub_answers, timeline_of
from quern.pipelines.answers.concluding import Concluder, Conclusion, Drafted
from quern.pipelines.answers.gate import gated
from quern.pipelines.answers.reader import reader_of
from quern.pipelines.images.illustrate import illustrated
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import Found, load_evidence, with_chunks
from quern.pipelines.retrieve.filters import conditions_of, known_by
from quern.pipelines.retrieve.recipe import Recipe
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.retrieve.unmet import nothing_passes
from quern.pipelines.retrieve.vocabulary import vocabulary_of
from quern.pipelines.timelines.evidence import with_events
from quern.pipelines.timelines.spans import with_spans
from quern.schemas.answers import Answer, Question

BATCH_QUESTIONS = 256
# vLLM loads its model once for each task and level of a batch: what it is given should be worth that.
_VLLM_QUESTIONS: Final = 16_384


@dataclass
class Tally:
    """What a run came to, whatever it answered.

    Attributes:
        computed: Times that a question or a part of one was reasoned about.
        reused: Times that what is remembered of an earlier run stood for that.
        fell_back: Times that the rule stood in for a model.
    """

    computed: int = 0
    reused: int = 0
    fell_back: int = 0

    def take(self, reasoner: Reasoner) -> None:
        """Take what a reasoner has done so far."""
        self.computed, self.reused, self.fell_back = reasoner.computed, reasoner.reused, reasoner.fallen_back


def answer_questions(
    searcher: Searcher,
    questions: Iterable[Question],
    recipe: Recipe,
    memo: Path | None = None,
    tally: Tally | None = None,
) -> Iterator[Answer]:
    """Answers in the order of the questions, computed in batches of `BATCH_QUESTIONS`.

    Every step is carried out by what `generator` names: the rule, or a model, for which the rule stands in where it
    gives no valid reply. With a `memo`, a directory, questions that were answered before from the same evidence by the
    same settings and model are not reasoned about again. `tally` is told how many.

    Raises:
        GeneratorError: The model cannot be used, or cannot be asked any more.
    """
    stream = iter(questions)
    with Reasoner(searcher.settings.generator, searcher.settings.engine, memo=memo) as reasoner:
        runner = _Runner(searcher, recipe, reasoner)
        together = _VLLM_QUESTIONS if searcher.settings.generator.kind == "vllm" else BATCH_QUESTIONS
        while asked := list(islice(stream, together)):
            yield from runner.answers(asked)
            if tally is not None:
                tally.take(reasoner)


@dataclass(frozen=True)
class _Part:
    """A sub-question that was answered."""

    given: AnswerInput
    found: Found
    draft: Draft
    judgement: Judgement

    def pair(self, given: AnswerInput) -> AskedBefore:
        """Question and answer, for an input that comes after it."""
        said = " ".join(s.text for s in self.draft.sentences)
        rests_on = carried(self.given, self._rests_on, given)
        return AskedBefore(self.given.question, self.draft.short, rests_on, said, self.judgement.probability)

    @property
    def rests_in(self) -> set[int]:
        """Positions of the pieces of evidence that its short answer rests on."""
        return {self.given.sentences[n - 1].evidence for n in self._rests_on}

    @property
    def _rests_on(self) -> list[int]:
        return [n for s in self.draft.sentences[:1] for n in s.rests_on]


@dataclass(frozen=True)
class _Whole:
    """A question that was answered, after its parts."""

    given: AnswerInput
    found: Found
    draft: Draft
    judgement: Judgement
    by: str
    aligned: AnswerAlignment
    told: list[ToldEvent]
    kind: str

    @classmethod
    def of(cls, drafted: Drafted, found: Found, concluded: Conclusion, by: str) -> _Whole:
        """What was drafted by a kind of generator, with what follows from it."""
        given, draft = drafted.given, concluded.answer(drafted.draft)
        aligned = answer_alignment(drafted.parsed, concluded.aligned, found.hits)
        return cls(given, found, draft, concluded.judgement, by, aligned, concluded.timeline(given), concluded.kind)


@dataclass
class _OnItsWay:
    """A question that is to be answered, and how far it has come.

    Attributes:
        plan: What it was taken apart into.
        found: What was found for the whole of it.
        reader: What reads its evidence.
        windows: How many windows of it.
        parts: The sub-questions that were answered, by their numbers in the plan.
    """

    question: Question
    understood: Understood
    plan: Plan
    found: Found
    reader: Model | None
    windows: int
    parts: dict[int, _Part] = field(default_factory=dict)

    def text(self, n: int) -> str:
        """Sub-question `n` with the answers of its parents, as far as their evidence answers them."""
        answers = {p: part.draft.short for p, part in self.parts.items() if not part.judgement.refused}
        return self.plan.filled(n, answers)

    def given(self, n: int, found: Found) -> AnswerInput:
        """What sub-question `n` is answered from: what was found for it, after the pairs of its ancestors."""
        alone = AnswerInput(self.text(n), found.evidence, reader=self.reader, windows=self.windows)
        return alone.after([self.parts[p].pair(alone) for p in self.plan.ancestors(n)])

    def whole(self) -> tuple[AnswerInput, Found]:
        """What the question is answered from: its evidence with that of its parts, after the pairs asked for."""
        found = with_chunks(self.found, [(part.found, part.rests_in) for part in self.parts.values()])
        alone = AnswerInput(self.understood.question, found.evidence, reader=self.reader, windows=self.windows)
        return alone.after([self.parts[n].pair(alone) for n in self.plan.asked()]), found

    def told(self, given: AnswerInput) -> list[AskedBefore]:
        """All sub-questions by their numbers, with those answers that their evidence bears."""
        pairs = [(self.parts[n].pair(given), self.parts[n].judgement) for n in sorted(self.parts)]
        return [replace(pair, answer="", rests_on=()) if judgement.refused else pair for pair, judgement in pairs]


class _Runner:
    """Answers batches of questions; what it opens of the snapshot serves all of them."""

    def __init__(self, searcher: Searcher, recipe: Recipe, reasoner: Reasoner) -> None:
        self._searcher, self._recipe, self._reasoner = searcher, recipe, reasoner
        self._settings = searcher.settings
        self._task, self._reader = answer_task(self._settings.answer), reader_of(self._settings.answer)
        self._concluder = Concluder(reasoner, self._settings)

    def answers(self, asked: Sequence[Question]) -> list[Answer]:
        """The answers to a batch, in its order."""
        seen = self._understood(asked)
        going = [(q, u) for q, u in zip(asked, seen, strict=True) if u.refused is None]
        plans = decomposed(self._reasoner, [u.question for _, u in going])
        found = self._found([u.question for _, u in going], [conditions_of(q) for q, _ in going])
        ways = [
            _OnItsWay(q, u, plan, f, self._reader, self._settings.answer.windows)
            for (q, u), plan, f in zip(going, plans, found, strict=True)
        ]
        self._answer_parts(ways)
        answered = iter(illustrated(self._searcher, gated(self._whole_answers(ways), self._searcher.snapshot)))
        return [next(answered) if u.refused is None else self._refused(q, u) for q, u in zip(asked, seen, strict=True)]

    def _understood(self, asked: Sequence[Question]) -> list[Understood]:
        published = self._searcher.snapshot.manifest.published_at
        built = self._settings.question.now or (published.date() if published else None)
        now = [self._as_of(q) or built for q in asked]
        vocabulary = self._searcher.held(vocabulary_of)
        texts = [q.question for q in asked]
        return understood(self._reasoner, texts, vocabulary, self._settings.question, now, self._encode)

    @property
    def _encode(self) -> Encode | None:
        """What embeds questions for the rule of refusal; None where the snapshot has another embedder."""
        known = Weights.load().model == self._searcher.snapshot.manifest.model
        return self._searcher.question_embedder.encode if known else None

    def _as_of(self, question: Question) -> date | None:
        """The day until which its evidence was published: that of the run or its own, the earlier of both."""
        return min(filter(None, (self._settings.retrieve.as_of, question.as_of)), default=None)

    def _conditions(self, question: Question) -> list[str]:
        """All conditions that what is found for a question meets: of the run and its own."""
        retrieve = self._settings.retrieve
        return [*retrieve.where, *known_by(retrieve.as_of), *conditions_of(question)]

    def _found(self, texts: Sequence[str], where: Sequence[Sequence[str]]) -> list[Found]:
        """What there is on each of these questions that meets its conditions, looked for in one batch."""
        if not texts:
            return []
        batch = Batch(self._searcher, texts, where, self._reasoner)
        return load_evidence(batch, with_spans(batch, self._recipe.rank(batch)))

    def _answer_parts(self, ways: Sequence[_OnItsWay]) -> None:
        """Answer the sub-questions level by level, those of all questions together."""
        levels = [way.plan.levels() for way in ways]
        for level in range(max(map(len, levels), default=0)):
            now = [(way, n) for way, of in zip(ways, levels, strict=True) for n in chain(*of[level : level + 1])]
            evidence = self._found([way.text(n) for way, n in now], [conditions_of(way.question) for way, _ in now])
            inputs = [way.given(n, found) for (way, n), found in zip(now, evidence, strict=True)]
            drafts = [done.output for done in self._reasoner.run(self._task, inputs)]
            shares = [found.search.share if found.search else None for found in evidence]
            judgements = self._concluder.of_parts([*map(Drafted, inputs, drafts, shares)])
            for (way, n), given, found, draft, judgement in zip(now, inputs, evidence, drafts, judgements, strict=True):
                way.parts[n] = _Part(given, found, draft, judgement)

    def _whole_answers(self, ways: Sequence[_OnItsWay]) -> list[Answer]:
        """Answer the questions themselves, after all their parts."""
        days = [self._as_of(way.question) for way in ways]
        wholes = with_events(self._searcher, [way.whole() for way in ways], days)
        inputs = [given for given, _ in wholes]
        done = self._reasoner.run(self._task, inputs)
        shares = [found.search.share if found.search else None for _, found in wholes]
        parsed = parsed_questions(self._settings.align, inputs)
        drafts = [one.output for one in done]
        drafted = [*map(Drafted, inputs, drafts, shares, parsed)]
        concluded = zip(drafted, self._concluder.of_wholes(drafted), strict=True)
        rows = zip(ways, wholes, done, concluded, strict=True)
        return [self._composed(way, _Whole.of(d, found, c, one.by)) for way, (_, found), one, (d, c) in rows]

    def _composed(self, way: _OnItsWay, whole: _Whole) -> Answer:
        given, found, judgement = whole.given, whole.found, whole.judgement
        citations = Citations(given, found.hits)
        sentences = sentences_of(whole.draft, citations)
        reason: str | None = judgement.reason
        detail = judgement.detail
        if not found.hits and (unmet := nothing_passes(self._searcher, self._conditions(way.question))):
            reason, detail = "nothing_passes", unmet
        notes = [*way.understood.notes, *([detail] if detail else []), *whole.aligned.notes]
        parents = [sub.parents for sub in way.plan.sub_questions]
        told = [replace(b, rests_on=()) if judgement.refused else b for b in way.told(given)]
        return Answer(
            query_id=way.question.query_id,
            question=way.question.question,
            asked=given.question if given.question != way.question.question else None,
            kind=whole.kind,
            sentences=sentences,
            probability=judgement.probability,
            reason=reason,
            notes=notes,
            by=whole.by,
            recipe=self._recipe.name,
            sub_questions=sub_answers(told, parents, citations),
            citations=citations.all(),
            hits=found.hits,
            path=found.path,
            search=found.search,
            timeline=timeline_of(whole.told, citations, found.hits),
            parts=whole.aligned.parts,
            alignments=whole.aligned.hits,
            as_of=self._as_of(way.question),
            type=way.question.type,
            expected=way.question.answer,
        )

    def _refused(self, question: Question, seen: Understood) -> Answer:
        """What is said to a question that is not to be answered."""
        return Answer(
            query_id=question.query_id,
            question=question.question,
            kind="other",
            sentences=[],
            probability=0.0,
            reason="refused",
            notes=list(seen.notes),
            by=self._settings.generator.kind,
            recipe=self._recipe.name,
            citations=[],
            hits=[],
            path=[],
            as_of=self._as_of(question),
            type=question.type,
            expected=question.answer,
        )
