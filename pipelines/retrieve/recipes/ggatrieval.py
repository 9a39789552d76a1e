"""GGatrieval: rounds that look for chunks which match every constituent of a question in one place.

A round: candidates are aligned, sorted by label and then relevance, the best are selected window by window, and
verified. What is not verified is looked for again: each chunk that was kept and does not match all of its question
makes a query, and what the queries find are the candidates of the next round. The first candidates are what `bridge`
finds, whose order is the relevance by which equal labels are sorted. All questions of a batch go through a round
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa

from quern.indexes.lexical import Scored
from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.rounds import (
    CompensateInput,
    Labelled,
    LabelledChunks,
    compensate_task,
    select_task,
    verify_task,
)
from quern.jobs.reasoning.alignment.task import AlignInput, align_task, aligned
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.text.plain_text import publication
from quern.pipelines.retrieve.batch import Batch, Clauses, Recipe
from quern.pipelines.retrieve.ranking import Ranking, cut
from quern.pipelines.retrieve.recipes.bridge import rank_bridge
from quern.pipelines.retrieve.recipes.hybrid import weighted_parts
from quern.schemas.answers import Search, SearchRound

_LABELS: Final = {"full": 0, "partial": 1, "none": 2}
_COLUMNS: Final = ["chunk_id", "doc_id", "title", "published_at", "utc_offset", "text"]


def rank_ggatrieval(batch: Batch) -> Ranking:
    """What the last round of each question kept, before what `bridge` ranks."""
    base = rank_bridge(batch)
    rounds = _Rounds(batch)
    sought = rounds.sought(base.chunks)
    question, chunk, score = [], [], []
    for s in sought:
        # A chunk has the score of the place that it comes to: scores are shown, and sub-questions' chunks merged by
        # them.
        scores = list(s.relevance.values())
        order = [*dict.fromkeys([*s.kept, *s.relevance])]
        question += [s.question] * len(order)
        chunk += order
        score += scores + [min(scores, default=0.0)] * (len(order) - len(scores))
    ranked = Scored(
        np.array(question, dtype=np.int64), np.array(chunk, dtype=np.int64), np.array(score, dtype=np.float32)
    )
    return Ranking(ranked, base.reached, [rounds.search_of(s) for s in sought])


@dataclass
class _Seeking:
    """A question on its way through the rounds."""

    question: int  # Its position in the batch.
    relevance: dict[int, float]  # Score of each chunk that its first ranking has, best first.
    # Place of each chunk by relevance: those of the first ranking, then others as queries found them.
    places: dict[int, int]
    candidates: list[int]  # Chunks of this round.
    queries: list[str]  # What they were found by.
    seen: set[int] = field(default_factory=set)  # All chunks that were candidates so far.
    kept: list[int] = field(default_factory=list)  # Those selected, best first.
    rounds: list[SearchRound] = field(default_factory=list)  # What was done.
    stop: str | None = None  # Why there are no more rounds; None as long as there are.
    missing: list[int] = field(default_factory=list)  # Numbers of the constituents that nothing kept matches.


class _Rounds:
    """The rounds of the questions of a batch; those that are verified leave."""

    def __init__(self, batch: Batch) -> None:
        self._batch, self._settings = batch, batch.settings.ggatrieval
        self._parsed = [*map(parsed, batch.searched)]
        self._evidence: dict[int, Evidence] = {}
        self._known: dict[tuple[int, int], Labelled] = {}  # By question and chunk: each pair is aligned once.

    def sought(self, base: Scored) -> list[_Seeking]:
        """The questions after their last rounds; `base` has the chunks that they begin with."""
        relevance: list[dict[int, float]] = [{} for _ in range(len(self._batch))]
        for q, chunk, score in zip(base.question.tolist(), base.chunk.tolist(), base.score.tolist(), strict=True):
            relevance[q][chunk] = score
        seeking = [
            _Seeking(q, of, {c: n for n, c in enumerate(of)}, list(of)[: self._settings.candidates], [text])
            for q, (of, text) in enumerate(zip(relevance, self._batch.questions, strict=True))
        ]
        for _ in range(self._settings.rounds):
            going = [s for s in seeking if s.stop is None]
            self._label(going)
            self._select(going)
            self._compensate([s for s in going if s.stop is None and len(s.rounds) < self._settings.rounds])
        return seeking

    def search_of(self, s: _Seeking) -> Search:
        """The rounds of a question as its answer records them."""
        constituents = self._parsed[s.question].constituents
        return Search(rounds=s.rounds, stop=s.stop or "rounds", missing=[constituents[n].text for n in s.missing])

    def _label(self, going: Sequence[_Seeking]) -> None:
        """Align the candidates, all that are new in one run of the task; sort them by label, then relevance."""
        new = [(s.question, c) for s in going for c in s.candidates if (s.question, c) not in self._known]
        chunks = sorted({chunk for _, chunk in new} - self._evidence.keys())
        keys = self._batch.graph.chunks.keys.take(pa.array(chunks, pa.int64())).to_pylist()
        rows = self._batch.searcher.snapshot.table("chunks").lookup("chunk_id", sorted(keys), _COLUMNS).to_pylist()
        of_key = {row["chunk_id"]: row for row in rows}
        for chunk, row in zip(chunks, map(of_key.__getitem__, keys), strict=True):
            self._evidence[chunk] = Evidence(
                row["text"], row["title"], (), (), publication(row), row["chunk_id"], row["doc_id"]
            )
        inputs = [AlignInput(self._parsed[q], self._evidence[c]) for q, c in new]
        by_model = self._batch.settings.align.model and self._batch.settings.generator.kind != "rules"
        alignments = [done.output for done in self._batch.reasoner.run(align_task(), inputs)] if by_model else None
        places = {s.question: s.places for s in going}
        for (q, c), alignment in zip(new, alignments or map(aligned, inputs), strict=True):
            self._known[q, c] = Labelled(self._evidence[c], alignment, places[q].setdefault(c, len(places[q])))
        for s in going:
            s.seen.update(s.candidates)
            labels = {c: self._known[s.question, c] for c in s.candidates}
            order = {c: (_LABELS[one.alignment.label], one.place) for c, one in labels.items()}
            s.candidates = sorted(s.candidates, key=order.__getitem__)

    def _select(self, going: Sequence[_Seeking]) -> None:
        """Keep the best of those kept and each window of candidates, ask whether these answer, and record the round.

        All questions slide together.
        """
        task, size = select_task(self._settings), self._settings.window
        for at in range(0, max((len(s.candidates) for s in going), default=0), size):
            now = [(s, [*s.kept, *s.candidates[at : at + size]]) for s in going if at < len(s.candidates)]
            inputs = [
                LabelledChunks(self._parsed[s.question], [self._known[s.question, c] for c in choice])
                for s, choice in now
            ]
            for (s, choice), done in zip(now, self._batch.reasoner.run(task, inputs), strict=True):
                s.kept = [choice[n] for n in done.output.kept]
        kept = [[self._known[s.question, c] for c in s.kept] for s in going]
        inputs = [LabelledChunks(self._parsed[s.question], mine) for s, mine in zip(going, kept, strict=True)]
        verified = self._batch.reasoner.run(verify_task(), inputs)
        for s, mine, verdict in zip(going, kept, verified, strict=True):
            s.missing = verdict.output.missing
            if verdict.output.answers:
                s.stop = "verified"
            elif not mine:
                s.stop = "no_queries"
            labels = [self._known[s.question, c].alignment.label for c in s.candidates]
            s.rounds.append(
                SearchRound(
                    queries=s.queries,
                    candidates=len(labels),
                    full=labels.count("full"),
                    partial=labels.count("partial"),
                    kept=[one.evidence.chunk_id for one in mine],
                )
            )

    def _compensate(self, going: Sequence[_Seeking]) -> None:
        """Look for what is missing; the candidates of the next round are what was not seen before."""
        pairs = [(s.question, c) for s in going for c in s.kept]
        lacking = [pair for pair in pairs if self._known[pair].alignment.label != "full"]
        inputs = [CompensateInput(self._parsed[q], self._known[q, c]) for q, c in lacking]
        outputs = self._batch.reasoner.run(compensate_task(self._settings), inputs)
        asked = {(s.question, text) for s in going for r in s.rounds for text in r.queries}
        asked |= {(s.question, self._parsed[s.question].question) for s in going}
        # Each query with the chunk whose own words it is, -1 where a model wrote it.
        queries: dict[tuple[int, str], int] = {}
        for (q, c), done in zip(lacking, outputs, strict=True):
            if (key := (q, done.output.query)) not in asked:
                queries.setdefault(key, c if done.by == "rules" else -1)
        chunks = self._found(queries)
        for s in going:
            mine = [n for n, (q, _) in enumerate(queries) if q == s.question]
            new = [c for c in dict.fromkeys(c for n in mine for c in chunks[n]) if c not in s.seen]
            s.queries = [text for q, text in queries if q == s.question]
            s.candidates = new[: self._settings.candidates]
            if not new:
                s.stop = "same_candidates" if mine else "no_queries"

    def _found(self, queries: Mapping[tuple[int, str], int]) -> list[list[int]]:
        """The chunks that each query finds, best first, all searched together."""
        if not queries:
            return []
        texts: list[list[str]] = [[] for _ in range(len(self._batch))]
        for question, text in queries:  # They come question by question.
            texts[question].append(text)
        clauses = Clauses(self._batch, texts)
        # A chunk's own words need no embedding, some 20 ms: the query's vector is the mean of the chunk's and the
        # question's (Rocchio 1971). What a model wrote is embedded.
        own = np.array([*queries.values()])
        vectors = self._batch.vectors[clauses.question] + self._batch.graph.chunks.vectors[own]
        if len(written := np.flatnonzero(own < 0)):
            forms = [self._batch.searcher.form(clauses.questions[n]) for n in written.tolist()]
            vectors[written] = self._batch.searcher.question_embedder.encode(forms)
        length = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        clauses.__dict__["vectors"] = np.asarray(vectors / length, dtype=np.float32)
        best = cut(weighted_parts(clauses), len(clauses), self._settings.documents)
        rows: list[list[int]] = [[] for _ in queries]
        for n, chunk in zip(best.question.tolist(), best.chunk.tolist(), strict=True):
            rows[n].append(chunk)
        return rows


RECIPES: Final = (
    Recipe("ggatrieval", "GGatrieval: rounds that select chunks which match a question's parts.", rank_ggatrieval),
)
