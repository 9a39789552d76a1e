"""What judges say, for a terminal, as JSON and as an HTML page: beside each figure people's agreement with the judge.

The page needs nothing beside it and runs no script; texts of answers are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from quern.indexes.storage import write_text
from quern.pipelines.answers.views.report import inlined, page_environment
from quern.pipelines.judging.judges import GOLD, PREFERENCE
from quern.pipelines.judging.people import Agreement
from quern.pipelines.judging.run import Figure, Report

_HEAD: Final = ("judge", "figure", "answers", "by", "people's agreement with the judge")


def render(report: Report) -> str:
    """The figures as a table, then what a reader must know before believing them."""
    rows = [
        _HEAD,
        *((f.judge.name, figure_text(f), f"{f.judged:,}", f.by, agreement_text(f.agreement)) for f in report.figures),
    ]
    widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += [f"warning: {warning}" for warning in report.warnings]
    lines += [f"{name}: nothing to go by: it needs an answer, and most a gold one" for name in report.silent]
    if report.opinions:
        lines.append(f"left out, as only a model judges them (--set generator.kind=...): {', '.join(report.opinions)}")
    if report.alone:
        lines.append(f"{report.alone} answers have no counterpart in the other file")
    return "\n".join(lines)


def as_tree(report: Report) -> dict[str, object]:
    """The same as one JSON-like object."""
    judges = {}
    for figure in report.figures:
        mean, low, high = (None if math.isnan(v) else round(v, 4) for v in figure.interval)
        pairwise, of_people = figure.judge.name == PREFERENCE, figure.agreement
        judges[figure.judge.name] = {
            "figure": mean,
            "low": low,
            "high": high,
            "answers": figure.judged,
            "by": figure.by,
            **(dict(zip(("better", "alike", "worse"), figure.wins, strict=True)) if pairwise else {}),
            "agreement": of_people and of_people.model_dump(exclude={"judge", "by"}, exclude_none=True),
        }
    return {
        "answers": report.answers,
        "judges": judges,
        "nothing_to_go_by": report.silent,
        "left_out": list(report.opinions),
        **({"without_counterpart": report.alone} if report.alone else {}),
        "warnings": report.warnings,
    }


def figure_text(figure: Figure) -> str:
    """The mean with its interval; of pairs how often the answer was preferred, neither, the other."""
    mean, low, high = figure.interval
    if figure.judge.name == PREFERENCE:
        better, alike, worse = figure.wins
        return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]  better {better}, alike {alike}, worse {worse}"
    if figure.judge.name == GOLD:
        return f"{mean:.3f} [{low:.3f}, {high:.3f}]"
    return f"{mean:.2f} [{low:.2f}, {high:.2f}] of 10"


def agreement_text(agreement: Agreement | None) -> str:
    """How far people agree, over what, in which set."""
    if agreement is None:
        return "not scored against people"
    a = agreement
    return f"{a.value:.2f} [{a.low:.2f}, {a.high:.2f}] in {a.against}, {a.judged} pairs of {a.set}"


def write_page(report: Report, path: Path, *, title: str, facts: Mapping[str, object]) -> None:
    """Write the report as an HTML page, whole or not at all."""
    environment = page_environment()
    page = environment.get_template("judging.html.j2").render(
        title=title,
        facts=facts,
        report=report,
        rows=[(f, figure_text(f), agreement_text(f.agreement)) for f in report.figures],
        **inlined(environment, ["report.css.j2", "judging.css"]),
    )
    write_text(path, page)
