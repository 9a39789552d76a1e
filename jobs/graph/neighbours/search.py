"""Each vector's nearest neighbours, found in full: exactly, or by partitions with a measured recall."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from quern.indexes.vectors import Neighbours, Positions
from quern.jobs.graph.neighbours.codes import Codes, Kind, codes_at, encode, fast_kinds, likely, products
from quern.jobs.graph.neighbours.join import join_all, run_all, seek_in_all
from quern.jobs.graph.neighbours.nearest_lists import NearestLists, best_of_owners
from quern.jobs.graph.neighbours.partition_tasks import join_in_tasks
from quern.jobs.graph.neighbours.partitions import (
    Centroids,
    Members,
    Sample,
    assign,
    calibrate,
    join_partitions,
    needed_probes,
    spaced,
    train,
)
from quern.jobs.graph.neighbours.plan import Neighbourhood, Plan, Prints, Vectors, VectorsInOrder

_PILOT = 64
# Cost on one core of a pair that passes, in products of 384 dimensions that bf16 is slower than int8 for.
_PAIR_COST = 200.0


def find_neighbours(vectors: Vectors, prints: Prints, plan: Plan, centroids: Centroids | None = None) -> Neighbourhood:
    """The neighbours of all of `vectors`, L2-normalised and all different; by `centroids` where they are given."""
    codes = encode(vectors, "int8", scale=centroids.scale if centroids else 0.0, threads=plan.threads)
    if len(vectors) < plan.exact_below:
        centroids = None
    elif centroids is None:
        uncalibrated = train(codes, plan.partitions or max(1, int(0.65 * len(vectors) ** 0.5)))
        sample = true_neighbours(vectors, likely(codes), plan, 0)
        centroids = calibrate(uncalibrated, needed_probes(sample, codes, uncalibrated), plan.recall)
    members = assign(codes.numbers, centroids or train(codes, max(1, int(len(codes) ** 0.5 / 2))))
    # Vectors are compared in the order of their homes; their codes are held once.
    homes = torch.argsort(members.home, stable=True)
    codes, order = codes_at(codes, homes), homes.numpy()
    near, notes = _joined(codes, VectorsInOrder(vectors, order), Members(members.probes[homes]), plan, centroids)
    positions, scores = np.empty_like(near.positions), np.empty_like(near.similarities)
    positions[order] = np.where(near.positions >= 0, order[near.positions], -1)
    scores[order] = near.similarities
    cut = np.where(positions[:, -1] >= 0, scores[:, -1], np.float32(-np.inf))
    dimension = np.asarray(vectors[0:1]).shape[1]
    lists = (prints, codes.scale, positions, scores, cut, centroids)
    found = Neighbourhood(*lists, len(vectors), dimension, notes, members if centroids else None)
    return with_recall(found, vectors, codes, plan, order)


def _joined(
    codes: Codes, ordered: VectorsInOrder, members: Members, plan: Plan, centroids: Centroids | None
) -> tuple[Neighbours, dict[str, float]]:
    """The neighbours of all vectors, in the order of their homes, and figures."""
    if centroids is None:
        kind, device = choose_kind(codes, plan), plan.device
    else:
        kind, device, codes = fast_kinds("cpu")[0], "cpu", likely(codes)
    nominees = codes if kind == "int8" else encode(ordered, kind, device, threads=plan.threads)
    bits = {"bits": {"int8": 8.0, "bf16": 16.0, "f16": 16.0, "f32": 32.0}[kind]}
    if centroids is not None and plan.spread is not None:
        near, tasks = join_in_tasks(nominees, ordered, members, len(centroids.numbers), plan.depth, plan.spread)
        return near, bits | {"pieces": tasks}
    nearest = NearestLists(nominees, ordered, plan.depth, ordered.order, plan.threads)
    if centroids is None:
        join_all(nearest, len(codes), plan.threads)
    else:
        run_all(join_partitions(nearest, members, len(centroids.numbers)), plan.threads)
    return nearest.neighbours(), bits


def choose_kind(codes: Codes, plan: Plan) -> Kind:
    """The kind of codes that is quickest where all are compared with all.

    Those of 8 bits let more pairs pass that must be looked at singly: how many, a few vectors tell.
    """
    if plan.device != "cpu":
        return "f16"
    first, second = fast_kinds("cpu")
    if first != "int8" or len(codes) <= plan.depth:
        return first
    rows = spaced(len(codes), _PILOT)
    found = products(codes.numbers[rows], codes.numbers)
    least = found.topk(plan.depth + 1, dim=1).values[:, -1]
    passing = (found >= (least - 2 * codes.margin[rows] * codes.scale**2)[:, None]).sum(1).double().mean()
    return "int8" if float(passing) < len(codes) / 2 / _PAIR_COST + 2 * plan.depth else second


def true_neighbours(vectors: Vectors, codes: Codes, plan: Plan, part: int, order: Positions | None = None) -> Sample:
    """The true neighbours of some vectors; a different `part` has different ones.

    Args:
        vectors: Among which they are sought.
        codes: Their codes.
        plan: How many neighbours are sought, of how many vectors.
        part: Which vectors.
        order: Where each code's vector is, if codes are in another order than vectors.
    """
    count = len(vectors)
    rows = (spaced(count, plan.sample) + part).clamp(max=count - 1).unique()
    place = np.arange(count) if order is None else order
    nearest = NearestLists(codes, VectorsInOrder(vectors, place), plan.k, place, plan.threads)
    run_all(seek_in_all(nearest, rows, count, None), plan.threads)
    owner, target, _, _ = best_of_owners(*nearest.pairs(), place, plan.k)
    return Sample(place[owner], place[target])


def with_recall(
    found: Neighbourhood, vectors: Vectors, codes: Codes, plan: Plan, order: Positions | None = None
) -> Neighbourhood:
    """`found` with its recall among the notes: the share of true neighbours of a sample that it has."""
    centroids = found.centroids
    if centroids is None:
        return found
    sample = true_neighbours(vectors, codes, plan, 1, order)
    had = (found.positions[sample.owner, : plan.k] == sample.target[:, None]).any(axis=1)
    recall = float(had.mean()) if len(had) else 1.0
    figures = {"partitions": float(len(centroids.numbers)), "probes": float(centroids.probes), "recall": recall}
    return replace(found, notes=found.notes | figures)
