"""Questions about a whole corpus: themes, summaries, changes, comparisons, from the communities of the graph.

Points are noted of each community, and an answer is made of the notes (map, reduce). By rule both are the sentences
that were chosen, by community; a model writes, and what it writes rests on sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa

from quern.indexes.keys import positions_in
from quern.indexes.lexical import Scored, in_order
from quern.jobs.communities.tasks import Quote, QuotesInput, note_task, overview_task
from quern.jobs.reasoning.answering.draft import Statement
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.reasoning.confidence.judge import as_asked, points, probability_of
from quern.pipelines.retrieve.batch import Batch, Overview, Recipe
from quern.pipelines.retrieve.evidence import evidence_of, hits_of
from quern.pipelines.retrieve.overview import Choice, Told, choose
from quern.pipelines.retrieve.ranking import Ranking
from quern.pipelines.retrieve.searcher import reader_of
from quern.schemas.answers import Citation, Hit, Sentence
from quern.schemas.words.terms import search_terms

_POINTS = 5  # Most points that a model notes of a community.
_IN_GENERAL = "Nothing in the corpus is especially near to the question: these are its main themes."


def rank_global(batch: Batch) -> Ranking:
    """The chunks of the sentences that are read for each question."""
    return Ranking(_scored(batch, choose(batch, batch.settings.overview.shown)))


def _scored(batch: Batch, choices: Sequence[Choice]) -> Scored:
    """The chunks of the sentences that are read, each by the best of these."""
    best: dict[tuple[int, str], float] = {}
    for question, choice in enumerate(choices):
        for sentence in (sentence for topic in choice.topics for sentence in topic.sentences):
            key = question, sentence.row["chunk_id"]
            best[key] = max(sentence.worth, best.get(key, sentence.worth))
    chunks = positions_in(batch.graph.chunks.keys, pa.array([chunk for _, chunk in best], pa.string()))
    questions = np.array([question for question, _ in best], dtype=np.int64)
    return in_order(questions, chunks, np.array([*best.values()], dtype=np.float32))


@dataclass(frozen=True)
class _Note:
    """A point that was noted of a community, and the sentences that it rests on."""

    text: str
    topic: str
    told: list[Told] = field(default_factory=list)


def answer_global(batch: Batch) -> list[Overview]:
    """An answer to each question of the batch.

    Raises:
        OverviewError: The snapshot has no communities.
        GeneratorError: A model answers, and cannot be asked any more.
    """
    settings, reasoner = batch.settings.overview, batch.reasoner
    by_model = batch.settings.generator.of("note").kind != "rules"
    choices = choose(batch, settings.shown if by_model else settings.sentences)
    absent = [_absent(batch, q) for q in batch.questions]
    # A question about none but a name that the corpus does not have is not answered with its themes.
    choices = [c if c.about or not name else Choice([], ()) for c, name in zip(choices, absent, strict=True)]
    inputs = [
        QuotesInput(
            tuple(Quote(t.row["text"], t.row["title"], t.row["published_at"]) for t in topic.sentences),
            question,
            topic.title,
            _POINTS if by_model else len(topic.sentences),
        )
        for question, choice in zip(batch.questions, choices, strict=True)
        for topic in choice.topics
    ]
    noted = iter(reasoner.run(note_task(_POINTS), inputs))
    notes = [
        [
            _Note(point.text, topic.title, [topic.sentences[n - 1] for n in point.rests_on])
            for topic in choice.topics
            for point in next(noted).output.sentences
        ]
        for choice in choices
    ]
    quotes = [
        QuotesInput(
            tuple(Quote(n.text, n.topic, n.told[0].row["published_at"], n.topic) for n in of),
            question,
            most=settings.sentences,
        )
        for question, of in zip(batch.questions, notes, strict=True)
    ]
    written = reasoner.run(overview_task(settings.sentences), quotes)
    hits = hits_of(batch, _scored(batch, choices))
    answers = batch.settings.answer
    judged = [
        probability_of(AnswerInput(question, evidence, reader=reader_of(answers), windows=answers.windows))
        for question, evidence in zip(batch.questions, evidence_of(batch, hits), strict=True)
    ]
    return [
        _overview(choice, missing, done.output.sentences, of, found, done.by, probability)
        for choice, missing, done, of, found, probability in zip(
            choices, absent, written, notes, hits, judged, strict=True
        )
    ]


def _absent(batch: Batch, question: str) -> str:
    """The names of a question that no chunk has; empty where there are none."""
    lexical = batch.graph.lexical
    names = {stem for stem in points(question).names if not lexical.frequency(stem)}
    written = as_asked(question, frozenset(names)) if names else ""
    return written if any(not lexical.frequency(word) for word in search_terms(written).split()) else ""


def _overview(
    choice: Choice,
    absent: str,
    sentences: Sequence[Statement],
    notes: Sequence[_Note],
    hits: list[Hit],
    by: str,
    probability: float,
) -> Overview:
    """The answer of `sentences`, which rest on `notes`: its citations are of the sentences that these rest on."""
    of_chunk = {hit.chunk_id: hit for hit in hits}
    cited: dict[tuple[str, int, int], Citation] = {}
    said: list[Sentence] = []
    for one in sentences:
        rests_on = [notes[n - 1] for n in one.rests_on]
        numbers = []
        for told in (t for note in rests_on for t in note.told):
            row, hit = told.row, of_chunk[told.row["chunk_id"]]
            key = (row["doc_id"], row["start"], row["end"])
            source = {name: getattr(hit, name) for name in ("doc_id", "chunk_id", "url", "title", "published_at")}
            page, span = hit.page_at(row["start"]), {"start": row["start"], "end": row["end"]}
            new = Citation(number=len(cited) + 1, quote=row["text"], page=page, **span, **source)
            numbers.append(cited.setdefault(key, new).number)
        topic = rests_on[0].topic if by == "rules" else None
        said.append(Sentence(text=one.text, citations=[*dict.fromkeys(numbers)], topic=topic))
    used = {citation.chunk_id for citation in cited.values()}
    kept = [hit.model_copy(update={"rank": n}) for n, hit in enumerate((h for h in hits if h.chunk_id in used), 1)]
    note = f"The corpus does not name {absent}." if absent else "" if choice.about or not said else _IN_GENERAL
    reason = None if said else "other_entity" if absent else "only_related"
    remarks = [note] if note else []
    return Overview(said, [*cited.values()], kept if said else hits, reason, remarks, by, probability if said else 0.0)


RECIPES: Final = (
    Recipe(
        "global",
        "Communities of the graph, for questions about the whole corpus (From Local to Global, arXiv 2404.16130).",
        rank_global,
        answer_global,
    ),
)
