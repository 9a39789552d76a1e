"""Each vector's nearest neighbours, found in full: exactly, or by partitions with a measured recall."""

from __future__ import annotations

import numpy as np

from quern.indexes.vectors import Neighbours, Positions
from quern.jobs.graph.neighbours.centroids import homes, train
from quern.jobs.graph.neighbours.codes import Codes, codes_at, encode, likely
from quern.jobs.graph.neighbours.gpu import join_on_gpu
from quern.jobs.graph.neighbours.join import join_all
from quern.jobs.graph.neighbours.kept_lists import NeighbourLists
from quern.jobs.graph.neighbours.layout import Layout, lay_out
from quern.jobs.graph.neighbours.members import Members
from quern.jobs.graph.neighbours.nearest_lists import NearestLists
from quern.jobs.graph.neighbours.partition_tasks import join_in_tasks
from quern.jobs.graph.neighbours.partitions import join_partitions
from quern.jobs.graph.neighbours.plan import Neighbourhood, Plan
from quern.jobs.graph.neighbours.prints import Prints
from quern.jobs.graph.neighbours.products import BITS, Kind, fast_kinds, products
from quern.jobs.graph.neighbours.threads import on_one_core, run_all
from quern.jobs.graph.neighbours.vectors_in_order import Vectors, VectorsInOrder

_PILOT = 64
# Cost on one core of a pair that passes, in products of 384 dimensions that bf16 is slower than int8 for.
_PAIR_COST = 200.0


@on_one_core()
def find_neighbours(vectors: Vectors, prints: Prints, plan: Plan) -> Neighbourhood:
    """The neighbours of all of `vectors`, L2-normalised and all different."""
    codes = encode(vectors, "int8", threads=plan.threads)
    if len(vectors) >= plan.exact_below:
        codes = likely(codes)
        layout = lay_out(codes, vectors, prints, plan, None)
        # Vectors are compared in the order of their homes; their codes are held once.
        codes = codes_at(codes, layout.members.homeward)
        return find_in_partitions(layout, codes, vectors, prints, plan)
    home = homes(
        codes.numbers,
        train(codes, prints, max(1, int(len(codes) ** 0.5 / 2)), threads=plan.threads).numbers,
        plan.threads,
    )
    order = np.argsort(home, kind="stable")
    codes = codes_at(codes, order)
    near, notes = _joined(codes, VectorsInOrder(vectors, order), plan)
    return Neighbourhood(prints, _in_place(near, order), _dimension(vectors), len(vectors), None, notes)


def find_in_partitions(layout: Layout, codes: Codes, vectors: Vectors, prints: Prints, plan: Plan) -> Neighbourhood:
    """The same, of those that share a partition of `layout`; `codes` are in the order of their homes."""
    order = layout.members.homeward
    near, notes = _joined_in_partitions(codes, VectorsInOrder(vectors, order), layout.members.at(order), plan)
    lists = _in_place(near, order)
    notes |= layout.notes(lists, prints, plan.k)
    return Neighbourhood(prints, lists, _dimension(vectors), len(vectors), layout.partitioned, notes)


def _in_place(near: Neighbours, order: Positions) -> NeighbourLists:
    """Lists in the order of the vectors, from those in another `order`."""
    positions, scores = np.empty_like(near.positions), np.empty_like(near.similarities)
    positions[order] = np.where(near.positions >= 0, order[near.positions], -1)
    scores[order] = near.similarities
    return NeighbourLists.of(positions, scores)


def _dimension(vectors: Vectors) -> int:
    return int(np.asarray(vectors[0:1]).shape[1])


def _joined(codes: Codes, ordered: VectorsInOrder, plan: Plan) -> tuple[Neighbours, dict[str, float]]:
    """The neighbours of all vectors among all, in the order of their homes, and figures."""
    if plan.device != "cpu":
        nearest = NearestLists(codes, ordered, plan.depth, ordered.order, plan.threads)
        join_on_gpu(nearest, encode(ordered, "f16", threads=plan.threads), plan.depth, plan.device)
        return nearest.neighbours(), {"bits": BITS["f16"]}
    kind = choose_kind(codes, plan)
    nominees = codes if kind == "int8" else encode(ordered, kind, threads=plan.threads)
    nearest = NearestLists(nominees, ordered, plan.depth, ordered.order, plan.threads)
    join_all(nearest, len(codes), plan.threads)
    return nearest.neighbours(), {"bits": BITS[kind]}


def _joined_in_partitions(
    codes: Codes, ordered: VectorsInOrder, members: Members, plan: Plan
) -> tuple[Neighbours, dict[str, float]]:
    """The neighbours of all vectors in their partitions, in the order of their homes, and figures."""
    if plan.spread is not None:
        near, tasks = join_in_tasks(codes, ordered, members, plan.depth, plan.spread)
        return near, {"pieces": tasks}
    nearest = NearestLists(codes, ordered, plan.depth, ordered.order, plan.threads)
    run_all(join_partitions(nearest, members), plan.threads)
    return nearest.neighbours(), {}


def choose_kind(codes: Codes, plan: Plan) -> Kind:
    """The kind of codes that is quickest where all are compared with all.

    Those of 8 bits let more pairs pass that must be looked at singly: how many, a few vectors tell.
    """
    first, *others = fast_kinds()
    if first != "int8" or len(codes) <= plan.depth:
        return first
    rows = spaced(len(codes), _PILOT)
    found = products(codes.numbers[rows], codes.numbers)
    least = np.partition(found, -plan.depth - 1, axis=1)[:, -plan.depth - 1]
    passing = (found >= (least - 2 * codes.margin[rows] * codes.scale**2)[:, None]).sum(axis=1).mean()
    return "int8" if float(passing) < len(codes) / 2 / _PAIR_COST + 2 * plan.depth else others[0]


def spaced(count: int, most: int) -> Positions:
    """At most `most` positions among `count`, evenly spaced, the first and the last among them."""
    size = min(count, most)
    return np.arange(size) * (count - 1) // max(1, size - 1)
