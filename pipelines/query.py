"""The query runner: batches of questions through a recipe to cited answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from pydantic import ValidationError
from scipy import sparse

from quern.indexes.catalog import Snapshot
from quern.indexes.keys import positions_in
from quern.indexes.vectors import pair_similarities
from quern.jobs.reasoning.answer import AnswerInput, CitedAnswer, Evidence, answer_task
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.ranking import Ranking, Reached, cut
from quern.pipelines.retrieve.recipe import Recipe
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Answer, Citation, Hit, PathNode, Question
from quern.schemas.errors import QuernError

log = logging.getLogger(__name__)

NOT_FOUND = "The corpus does not say."
BATCH_QUESTIONS = 256
_PATH_NODES = 40


class QuestionError(QuernError):
    """A file of questions that cannot be used; the message names file and line."""


def read_questions(path: Path) -> list[Question]:
    """The questions of a JSONL file.

    Raises:
        QuestionError: The file cannot be read, is empty, or a line lacks a field; the first such line is named.
    """
    try:
        # Not splitlines: a JSON string may hold U+2028 and others that end a line to Python alone.
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"questions {path} cannot be read: {_cause(error)}") from None
    questions: list[Question] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if line.strip():
            question = _question(line, f"{path}:{number}")
            if question.query_id in seen:
                raise QuestionError(f"{path}:{number}: query_id {question.query_id!r} was used before")
            seen.add(question.query_id)
            questions.append(question)
    if not questions:
        raise QuestionError(f"questions {path} is empty; each line must be like {_EXAMPLE}")
    return questions


def _cause(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else f"not UTF-8 at byte {error.start}"


_EXAMPLE = '{"query_id": "q1", "question": "Who ...?"}'


def _question(line: str, where: str) -> Question:
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise QuestionError(f"{where}: is no JSON object; each line must be like {_EXAMPLE}")
        return Question.model_validate(fields)
    except json.JSONDecodeError as error:
        raise QuestionError(f"{where}: not valid JSON ({error.msg}); each line must be like {_EXAMPLE}") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(p) for p in first["loc"]) or "the line"
        raise QuestionError(f"{where}: {field}: {first['msg'].lower()}; each line must be like {_EXAMPLE}") from None


def answer_questions(searcher: Searcher, questions: Iterable[Question], recipe: Recipe) -> Iterator[Answer]:
    """Answers in the order of the questions, computed in batches of `BATCH_QUESTIONS`."""
    stream = iter(questions)
    while batch := list(islice(stream, BATCH_QUESTIONS)):
        yield from _answer_batch(searcher, batch, recipe)


def _answer_batch(searcher: Searcher, questions: Sequence[Question], recipe: Recipe) -> Iterator[Answer]:
    batch = Batch(searcher, [q.question for q in questions])
    ranking = recipe.rank(batch)
    hits = _hits(searcher, ranking, len(questions))
    evidence = _Nodes.load(batch, ranking, [[h.chunk_id for h in row] for row in hits])
    task = answer_task(searcher.settings.answer)
    # Choosing sentences is text work on at most K chunks a question: no arrays to vectorise over.
    for n, question in enumerate(questions):
        quoted = [Evidence(h.text, h.title, *evidence.quotes(n, h.chunk_id), h.published_at) for h in hits[n]]
        cited = task.rule(AnswerInput(question.question, quoted))
        yield _present(question, cited, hits[n], evidence.path(n), recipe.name)


def _hits(searcher: Searcher, ranking: Ranking, questions: int) -> list[list[Hit]]:
    best = cut(ranking.chunks, questions, searcher.settings.retrieve.top_k)
    keys = searcher.graph.chunks.keys.take(pa.array(best.chunk)).to_pylist()
    chunks = _by_key(searcher.snapshot, "chunks", "chunk_id", sorted(set(keys)), _CHUNK_COLUMNS)
    documents = _by_key(
        searcher.snapshot, "documents", "doc_id", sorted({str(c["doc_id"]) for c in chunks.values()}), ["doc_id", "url"]
    )
    rows: list[list[Hit]] = [[] for _ in range(questions)]
    for question, key, score in zip(best.question.tolist(), keys, best.score.tolist(), strict=True):
        chunk = chunks[key]
        url = documents[str(chunk["doc_id"])]["url"]
        row = {**chunk, "url": url, "rank": len(rows[question]) + 1, "score": score}
        rows[question].append(Hit.model_validate(row))
    return rows


_CHUNK_COLUMNS = ["chunk_id", "doc_id", "title", "published_at", "start", "end", "text"]


def _by_key(
    snapshot: Snapshot, table: str, key: str, values: Sequence[str], columns: list[str]
) -> dict[str, dict[str, object]]:
    rows = snapshot.table(table).lookup(key, values, columns)
    return {row[key]: row for row in rows.to_pylist()}


@dataclass(frozen=True)
class _Nodes:
    """Nodes of the chunks that were hit, and the nodes that a recipe reached, as text.

    Attributes:
        of_chunk: (question, chunk id) to the texts and similarities of the chunk's nodes.
        paths: Per question the reached nodes, best first.
    """

    of_chunk: dict[tuple[int, str], tuple[list[str], list[float]]]
    paths: list[list[PathNode]]

    @classmethod
    def load(cls, batch: Batch, ranking: Ranking, hits: Sequence[Sequence[str]]) -> _Nodes:
        snapshot, graph = batch.searcher.snapshot, batch.graph
        chunks = sorted({c for row in hits for c in row})
        rows = snapshot.table("nodes").lookup("chunk_id", chunks, ["query_id", "chunk_id", "text"]).sort_by("query_id")
        owners, texts = rows["chunk_id"].to_pylist(), rows["text"].to_pylist()
        place = positions_in(graph.nodes.keys, rows["query_id"])
        members: dict[str, list[int]] = {}
        for n, owner in enumerate(owners):
            members.setdefault(owner, []).append(n)
        pairs = [(q, c, n) for q, row in enumerate(hits) for c in row for n in members.get(c, [])]
        question = np.array([p[0] for p in pairs], dtype=np.int64)
        node = place[np.array([p[2] for p in pairs], dtype=np.int64)]
        cosines = pair_similarities(batch.vectors, graph.nodes.vectors, question, node).tolist()
        of_chunk: dict[tuple[int, str], tuple[list[str], list[float]]] = {}
        for (q, c, n), cosine in zip(pairs, cosines, strict=True):
            found = of_chunk.setdefault((q, c), ([], []))
            found[0].append(texts[n])
            found[1].append(cosine)
        return cls(of_chunk, _paths(batch, ranking.reached, len(hits)))

    def quotes(self, question: int, chunk_id: str) -> tuple[list[str], list[float]]:
        """Texts and similarities of the nodes of a chunk."""
        return self.of_chunk.get((question, chunk_id), ([], []))

    def path(self, question: int) -> list[PathNode]:
        """Nodes that led to the hits of a question."""
        return self.paths[question]


def _paths(batch: Batch, reached: Reached | None, questions: int) -> list[list[PathNode]]:
    """The strongest reached nodes per question, each with the node it was reached through."""
    rows: list[list[PathNode]] = [[] for _ in range(questions)]
    if reached is None or len(reached.node) == 0:
        return rows
    graph = batch.graph
    order = np.lexsort((reached.node, -reached.similarity, reached.hop, reached.question))
    first = np.searchsorted(reached.question[order], np.arange(questions))
    rank = np.arange(len(order)) - first[reached.question[order]]
    kept = order[rank < _PATH_NODES]
    ids = graph.nodes.keys.take(pa.array(reached.node[kept])).to_pylist()
    owners = graph.chunks.keys.take(pa.array(graph.nodes.owner[reached.node[kept]])).to_pylist()
    texts = _by_key(batch.searcher.snapshot, "nodes", "query_id", sorted(set(ids)), ["query_id", "text"])
    followed = graph.edges + graph.mentions if graph.mentions.nnz else graph.edges
    incoming = sparse.csc_array(followed) if int(reached.hop[kept].max()) else sparse.csc_array((0, 0))
    before: dict[tuple[int, int], tuple[int, str]] = {}
    # Kept nodes come hop by hop, so the node before is known when its neighbours come.
    for at, query_id, owner in zip(kept.tolist(), ids, owners, strict=True):
        question, node, hop = int(reached.question[at]), int(reached.node[at]), int(reached.hop[at])
        via = _via(incoming, before, question, node, hop) if hop else None
        before[question, node] = (hop, query_id)
        rows[question].append(
            PathNode(
                query_id=query_id,
                chunk_id=owner,
                text=str(texts[query_id]["text"]),
                similarity=float(reached.similarity[at]),
                hop=hop,
                via=via,
            )
        )
    return rows


def _via(
    incoming: sparse.csc_array, before: dict[tuple[int, int], tuple[int, str]], question: int, node: int, hop: int
) -> str | None:
    """The node of the hop before that has an edge to `node`; None where that one was not kept."""
    sources = incoming.indices[incoming.indptr[node] : incoming.indptr[node + 1]]
    found = [before[question, int(s)] for s in sources if (question, int(s)) in before]
    return next((query_id for hop_before, query_id in found if hop_before == hop - 1), None)


def _present(question: Question, cited: CitedAnswer, hits: list[Hit], path: list[PathNode], recipe: str) -> Answer:
    citations: list[Citation] = []
    words: list[str] = []
    ordered = sorted(cited.sentences, key=lambda s: -s.score)
    for number, sentence in enumerate(ordered, 1):
        hit = hits[sentence.evidence]
        quote = hit.text[sentence.start : sentence.end]
        words.append(f"{' '.join(quote.split())} [{number}]")
        citations.append(
            Citation(
                number=number,
                doc_id=hit.doc_id,
                chunk_id=hit.chunk_id,
                url=hit.url,
                title=hit.title,
                published_at=hit.published_at,
                start=hit.start + sentence.start,
                end=hit.start + sentence.end,
                quote=quote,
            )
        )
    return Answer(
        query_id=question.query_id,
        question=question.question,
        answer=" ".join(words) if citations else NOT_FOUND,
        found=bool(citations),
        score=cited.score,
        recipe=recipe,
        citations=citations,
        hits=hits,
        path=path,
    )
