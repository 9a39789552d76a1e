"""Drawings of the report on judges, to scale, as numbers that a template writes as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from quern.jobs.reasoning.judging.agreement import CHANCE, Agreement
from quern.pipelines.judging.run import Figure

LEFT, WIDTH, ROW = 190, 700, 26  # Of the names, of all, of a line.
_RIGHT: Final = 20
_BARS: Final = 10


@dataclass(frozen=True)
class Whisker:
    """A figure with its interval, on a line of its own; all in units of the picture."""

    name: str
    y: float
    at: float
    low: float
    high: float
    chance: bool
    told: str


@dataclass(frozen=True)
class Forest:
    """Figures with their intervals, one below the other, and what chance comes to."""

    rows: Sequence[Whisker]
    ticks: Sequence[tuple[float, str]]
    chance: float
    height: float
    told: str


def forest(figures: Sequence[Figure]) -> Forest | None:
    """People's agreement with each judge that was scored; None where none was."""
    found = [f.agreement for f in figures if f.agreement is not None]
    if not found:
        return None
    least = min(0.4, *(math.floor(10 * a.low) / 10 for a in found))

    def x(value: float) -> float:
        return round(LEFT + (value - least) / (1 - least) * (WIDTH - LEFT - _RIGHT), 1)

    rows = [
        Whisker(a.judge, ROW * (n + 0.5), x(a.value), x(a.low), x(a.high), a.touches_chance, _told(a))
        for n, a in enumerate(found)
    ]
    ticks = [(x(n / 10), f"{n / 10:.1f}") for n in range(round(10 * least), 11)]
    return Forest(rows, ticks, x(CHANCE), ROW * len(rows), "; ".join(f"{r.name} {r.told}" for r in rows))


@dataclass(frozen=True)
class Box:
    """What a judge gave where people chose one step: quartiles and median."""

    step: str
    judged: int
    y: float
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Steps:
    """What a judge gave, step by step of people's scale."""

    judge: str
    against: str
    boxes: Sequence[Box]
    zero: float | None
    ends: tuple[str, str]
    height: float
    told: str
    correlation: str


def steps(agreement: Agreement) -> Steps | None:
    """The drawing of one judge; None where the steps were not kept."""
    if not agreement.steps:
        return None
    low, high = min(s.low for s in agreement.steps), max(s.high for s in agreement.steps)
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - _RIGHT), 1)

    boxes = [
        Box(s.step, s.judged, ROW * (n + 0.5), x(s.low), x(s.middle), x(s.high)) for n, s in enumerate(agreement.steps)
    ]
    told = "; ".join(
        f"people {s.step}: median {s.middle:g}, quartiles {s.low:g} to {s.high:g}" for s in agreement.steps
    )
    zero = x(0.0) if low <= 0.0 <= high else None
    ends = (f"{low:g}", f"{high:g}")
    return Steps(agreement.judge, agreement.against, boxes, zero, ends, ROW * len(boxes), told, _correlation(agreement))


@dataclass(frozen=True)
class Bar:
    """So many answers with values from `low` to `high`."""

    x: float
    y: float
    width: float
    height: float
    told: str


@dataclass(frozen=True)
class Histogram:
    """How the values of a judge lie."""

    judge: str
    bars: Sequence[Bar]
    ends: tuple[str, str]
    told: str


def histogram(figure: Figure, width: float = 220, height: float = 80) -> Histogram:
    """The values of a judge in ten bars, or one for each of 0 and 1."""
    most = figure.judge.most
    least = -most if most == 2 else 0.0
    counts, edges = np.histogram(figure.said.values, bins=2 if most == 1 else _BARS, range=(least, most))
    step, tallest = width / len(counts), max(1, int(counts.max(initial=0)))
    bars, said = [], []
    for n, count in enumerate(counts.tolist()):
        name = f"{n}" if most == 1 else f"{edges[n]:g} to {edges[n + 1]:g}"
        tall = round(height * count / tallest, 1)
        bars.append(
            Bar(round(n * step + 1, 1), round(height - tall, 1), round(step - 2, 1), tall, f"{name}: {count:,}")
        )
        said.append(f"{name}: {count:,}")
    return Histogram(figure.judge.name, bars, (f"{least:g}", f"{most:g}"), "; ".join(said))


def _told(a: Agreement) -> str:
    return f"{a.value:.2f} [{a.low:.2f}, {a.high:.2f}]"


def _correlation(a: Agreement) -> str:
    told = []
    for name in ("pearson", "spearman"):
        value, low, high = (getattr(a, f"{name}{end}") for end in ("", "_low", "_high"))
        if value is not None and low is not None and high is not None:
            told.append(f"{name.capitalize()} {value:.2f} [{low:.2f}, {high:.2f}]")
    return ", ".join(told)
