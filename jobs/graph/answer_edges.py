"""Edges of kind `answer_question`: from a node's answer to the questions of other chunks that lie nearest to it.

Who answers one question often names what the next one is about: such an edge goes from a hop of a question of
several hops to the next. Exact: every answer is compared with every question.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from quern.indexes.disk import mapped
from quern.indexes.keys import positions_in
from quern.indexes.stages import Stage
from quern.indexes.vectors import Floats, Positions, nearest
from quern.jobs.core.run import Run, memoise
from quern.jobs.core.view import Choice, Computed, View
from quern.jobs.graph.neighbours.edges import Edges, nodes_of_a_chunk
from quern.jobs.vectors.embed import Embed
from quern.jobs.vectors.embedded_tables import dimension, vectors_of


def answer_edges(queries: Stage, keys: pa.Array, chunk: Positions, count: int, embed: Embed, run: Run) -> Edges:
    """The edges, at most `count` of a node, none within a chunk.

    Args:
        queries: The queries; the kept ones are nodes.
        keys: Sorted keys of the nodes.
        chunk: A number for the chunk of each, shape (nodes,).
        count: Most edges of a node.
        embed: Embeds answers and questions, each text once.
        run: The build.
    """
    nodes = len(keys)
    vectors = mapped(run.work / "answers.f32", np.float32, (2 * nodes, dimension(embed)))
    there = np.concatenate(
        [
            _embedded(_kept_texts(queries, column, nodes), keys, vectors[at : at + nodes], embed, run)
            for column, at in (("answer", 0), ("question", nodes))
        ]
    )
    # So many of the nearest questions may be of the answer's own chunk.
    depth = count + nodes_of_a_chunk(chunk)
    near = _nearest_questions(vectors, depth)
    answer, question = near.source, near.target
    usable = there[answer] & there[nodes + question] & (chunk[answer] != chunk[question])
    edges = Edges.ordered(answer[usable], question[usable], near.similarity[usable])
    return edges.where(edges.rank < count)


def _nearest_questions(vectors: Floats, depth: int) -> Edges:
    """From each of the first half of `vectors`, answers, to the nearest of the other, questions: `depth` surely."""
    nodes = len(vectors) // 2
    found = nearest(vectors[:nodes], vectors[nodes:], depth)
    answer, rank = np.nonzero(found.positions >= 0)
    return Edges(answer, found.positions[answer, rank], found.similarities[answer, rank])


def _kept_texts(queries: Stage, column: str, rows: int) -> View:
    """One column of the kept queries, as the texts that are embedded."""
    text = Computed((column,), lambda batch: batch.column(column))
    choice = Choice(("kept",), lambda batch, _: batch.column("kept"))
    return View(queries, ("query_id", "text"), rows, {"text": text}, choice)


def _embedded(
    source: View, keys: pa.Array, into: Floats, embed: Embed, run: Run
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Write the vectors of `source` in the order of `keys`; says which there are."""
    done = memoise(embed, source, run)
    there = np.zeros(len(keys), dtype=np.bool_)
    at = 0
    for batch in source.batches(["query_id"], run.batch_rows):
        embedded = vectors_of(done.results(at, batch.num_rows), embed)
        at += batch.num_rows
        place = positions_in(keys, batch.column("query_id"))[embedded.rows]
        into[place[place >= 0]] = embedded.matrix[place >= 0]
        there[place[place >= 0]] = True
    run.report(embed, done.counts(int(there.sum()), len(keys) - int(there.sum())), done.started)
    return there
