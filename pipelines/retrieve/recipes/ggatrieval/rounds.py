"""The rounds of GGatrieval, for all questions of a batch together; those that are verified leave.

A round: candidates are aligned (one run of the task over all new pairs), sorted by label and then relevance, the best
are selected window by window, and verified. What is not verified is looked for again: each chunk that was kept and does
not match all of its question makes a query, and what the queries bring are the candidates of the next round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from quern.indexes.lexical import Scored
from quern.jobs.reasoning.alignment.labelled import LabelledChunks
from quern.jobs.reasoning.alignment.selection import select_task
from quern.jobs.reasoning.alignment.verification import verify_task
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.recipes.ggatrieval.labels import Labels
from quern.pipelines.retrieve.recipes.ggatrieval.queries import Query, brought, compensated
from quern.schemas.rounds import Search, SearchRound

_LABELS: Final = {"full": 0, "partial": 1, "none": 2}


@dataclass
class Seeking:
    """A question on its way through the rounds.

    Attributes:
        question: Its position in the batch.
        relevance: Score of each chunk that its first ranking has, best first.
        places: Place of each chunk by relevance: those of the first ranking, then others as queries brought them.
        candidates: Chunks of this round.
        queries: What they were found by.
        echoes: How many of these brought nothing but what they were put together from.
        seen: All chunks that were candidates so far.
        kept: Those selected, best first.
        rounds: What was done.
        stop: Why there are no more rounds; None as long as there are.
        missing: Numbers of the constituents that nothing kept matches.
    """

    question: int
    relevance: dict[int, float]
    places: dict[int, int]
    candidates: list[int]
    queries: list[str]
    echoes: int = 0
    seen: set[int] = field(default_factory=set)
    kept: list[int] = field(default_factory=list)
    rounds: list[SearchRound] = field(default_factory=list)
    stop: str | None = None
    missing: list[int] = field(default_factory=list)

    @property
    def least(self) -> float:
        """Relevance of what the first ranking does not have."""
        return min(self.relevance.values(), default=0.0)


class Loop:
    """The rounds of the questions of a batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch, self._settings = batch, batch.settings.ggatrieval
        self._labels = Labels(batch)

    def sought(self, base: Scored) -> list[Seeking]:
        """The questions after their last rounds; `base` has the chunks that they begin with."""
        seeking = self._begun(base)
        for number in range(1, self._settings.rounds + 1):
            going = [s for s in seeking if s.stop is None]
            if not going:
                break
            self._label(going)
            self._select(going)
            self._verify(going)
            for s in going:
                if s.stop is None and number == self._settings.rounds:
                    s.stop = "rounds"
            self._compensate([s for s in going if s.stop is None])
        return seeking

    def told(self, s: Seeking) -> Search:
        """The rounds of a question as its answer tells of them."""
        constituents = self._labels.parsed[s.question].constituents
        return Search(rounds=s.rounds, stop=s.stop or "rounds", missing=[constituents[n].text for n in s.missing])

    def _begun(self, base: Scored) -> list[Seeking]:
        relevance: list[dict[int, float]] = [{} for _ in range(len(self._batch))]
        for q, chunk, score in zip(base.question.tolist(), base.chunk.tolist(), base.score.tolist(), strict=True):
            relevance[q][chunk] = score
        most = self._settings.candidates
        return [
            Seeking(q, of, {c: n for n, c in enumerate(of)}, list(of)[:most], [text])
            for q, (of, text) in enumerate(zip(relevance, self._batch.questions, strict=True))
        ]

    def _label(self, going: Sequence[Seeking]) -> None:
        """Align the candidates, and sort them by label, then relevance."""
        for s in going:
            for c in s.candidates:
                s.places.setdefault(c, len(s.places))
        self._labels.take((s.question, c, s.places[c]) for s in going for c in s.candidates)
        for s in going:
            s.seen.update(s.candidates)
            s.candidates = self._by_label(s.question, s.candidates)

    def _by_label(self, question: int, chunks: Iterable[int]) -> list[int]:
        """Chunks of a question by label, then relevance."""
        ranks = {c: self._labels[question, c] for c in chunks}
        return sorted(ranks, key=lambda c: (_LABELS[ranks[c].alignment.label], ranks[c].place))

    def _select(self, going: Sequence[Seeking]) -> None:
        """Keep the best of those kept and each window of candidates; all questions slide together."""
        settings = self._settings
        if not settings.selection:
            for s in going:
                s.kept = self._by_label(s.question, [*s.kept, *s.candidates])[: settings.keep]
            return
        task, windows = select_task(settings), [_windows(s.candidates, settings.window) for s in going]
        for at in range(max(map(len, windows), default=0)):
            now = [(s, [*s.kept, *of[at]]) for s, of in zip(going, windows, strict=True) if at < len(of)]
            inputs = [
                LabelledChunks(self._labels.parsed[s.question], [self._labels[s.question, c] for c in choice])
                for s, choice in now
            ]
            for (s, choice), done in zip(now, self._batch.reasoner.run(task, inputs), strict=True):
                s.kept = [choice[n] for n in done.output.kept]

    def _verify(self, going: Sequence[Seeking]) -> None:
        """Ask whether what was kept answers, and write the round down."""
        kept = [[self._labels[s.question, c] for c in s.kept] for s in going]
        inputs = [LabelledChunks(self._labels.parsed[s.question], mine) for s, mine in zip(going, kept, strict=True)]
        for s, mine, done in zip(going, kept, self._batch.reasoner.run(verify_task(), inputs), strict=True):
            s.missing = done.output.missing
            if done.output.answers:
                s.stop = "verified"
            elif not mine:
                s.stop = "no_queries"
            labels = [self._labels[s.question, c].alignment.label for c in s.candidates]
            s.rounds.append(
                SearchRound(
                    queries=s.queries,
                    echoes=s.echoes,
                    candidates=len(labels),
                    full=labels.count("full"),
                    partial=labels.count("partial"),
                    kept=[one.evidence.chunk_id for one in mine],
                    share=mine[0].alignment.graded if mine else 0.0,
                )
            )

    def _compensate(self, going: Sequence[Seeking]) -> None:
        """Look for what is missing; the candidates of the next round are what was not seen before."""
        pairs = [(s.question, c) for s in going for c in s.kept] if self._settings.compensation else []
        lacking = [pair for pair in pairs if self._labels[pair].alignment.label != "full"]
        asked = {(s.question, text) for s in going for r in s.rounds for text in r.queries}
        queries = [q for q in compensated(self._batch, self._labels, lacking) if (q.question, q.text) not in asked]
        by_question: dict[int, list[tuple[Query, list[int]]]] = {}
        for query, chunks in zip(queries, brought(self._batch, queries), strict=True):
            by_question.setdefault(query.question, []).append((query, chunks))
        for s in going:
            self.follow(s, by_question.get(s.question, []))

    def follow(self, s: Seeking, found: Sequence[tuple[Query, list[int]]]) -> None:
        """The candidates of the next round of a question, or why there is none."""
        s.queries = [query.text for query, _ in found]
        s.echoes = sum(_echo(query, chunks, s.seen) for query, chunks in found)
        new = _new((c for query, chunks in found for c in chunks if c not in query.sources), s.seen)
        s.candidates = new[: self._settings.candidates]
        if not found:
            s.stop = "no_queries"
        elif not s.candidates:
            s.stop = "same_candidates"


def _echo(query: Query, chunks: Sequence[int], seen: set[int]) -> bool:
    """Whether a query brings, of what was not seen before, only what it was put together from."""
    return not query.sources.isdisjoint(chunks) and query.sources.issuperset(_new(chunks, seen))


def _windows(candidates: Sequence[int], size: int) -> list[Sequence[int]]:
    return [candidates[at : at + size] for at in range(0, len(candidates), size)]


def _new(chunks: Iterable[int], seen: set[int]) -> list[int]:
    """Those not seen before, each once."""
    return [c for c in dict.fromkeys(chunks) if c not in seen]
