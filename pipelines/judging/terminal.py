"""What judges say, for a terminal: beside each figure how far people agree with the judge."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from quern.jobs.reasoning.judging.agreement import Agreement
from quern.pipelines.judging.judges import PAIRWISE
from quern.pipelines.judging.run import Figure, Report

_HEAD: Final = ("judge", "figure", "answers", "by", "people's agreement with the judge")


def render(report: Report) -> str:
    """The figures as a table, then what a reader must know before believing them."""
    rows = [_HEAD, *(_row(figure) for figure in report.figures)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *_notes(report)])


def as_tree(report: Report) -> dict[str, object]:
    """The same as one JSON-like object."""
    return {
        "answers": report.answers,
        "judges": {figure.judge.name: _tree(figure) for figure in report.figures},
        "nothing_to_go_by": list(report.silent),
        "left_out": list(report.opinions),
        **({"without_counterpart": report.alone} if report.alone else {}),
        "warnings": report.warnings,
    }


def _tree(figure: Figure) -> dict[str, object]:
    mean, low, high = (None if math.isnan(v) else round(v, 4) for v in figure.interval)
    pairs = dict(zip(("better", "alike", "worse"), figure.wins, strict=True)) if figure.judge.name in PAIRWISE else {}
    a = figure.agreement
    return {
        "figure": mean,
        "low": low,
        "high": high,
        "answers": figure.judged,
        "by": figure.by,
        **pairs,
        "agreement": None if a is None else a.model_dump(exclude={"steps", "judge", "by"}, exclude_none=True),
    }


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        figure.judge.name,
        figure_text(figure),
        f"{figure.judged:,}",
        figure.by,
        agreement_text(figure.agreement),
    )


def figure_text(figure: Figure) -> str:
    """The mean with its interval; of pairs how often the answer was preferred, neither, the other."""
    mean, low, high = figure.interval
    if figure.judge.name in PAIRWISE:
        better, alike, worse = figure.wins
        return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]  better {better}, alike {alike}, worse {worse}"
    return (
        f"{mean:.3f} [{low:.3f}, {high:.3f}]" if figure.judge.most == 1 else f"{mean:.2f} [{low:.2f}, {high:.2f}] of 10"
    )


def agreement_text(agreement: Agreement | None) -> str:
    """How far people agree, over what, in which set."""
    if agreement is None:
        return "not scored against people"
    a = agreement
    what = "pairs" if a.measure == "agreement" else "claims"
    measure = "" if a.measure == "agreement" else "area under ROC "
    return f"{measure}{a.value:.2f} [{a.low:.2f}, {a.high:.2f}] in {a.against}, {a.judged} {what} of {a.set}"


def _notes(report: Report) -> Iterator[str]:
    for warning in report.warnings:
        yield f"warning: {warning}"
    for name, needs in report.silent.items():
        yield f"{name}: nothing to go by; it needs {needs or 'a model'}"
    if report.opinions:
        told = "left out, as matters of opinion, for which --set generator.kind names a model"
        yield f"{told}: {', '.join(report.opinions)}"
    if report.alone:
        yield f"{report.alone} answers have no counterpart in the other file"
