"""The report on judgements as one HTML page that needs nothing beside it, in the look of the report on answers.

It runs no script, and draws in the page's own colours, light or dark; texts of answers are escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

from quern.indexes.storage import write_text
from quern.pipelines.answers.views.report import digest, page_environment
from quern.pipelines.judging.judges import PAIRWISE
from quern.pipelines.judging.picture import LEFT, WIDTH, forest, histogram, steps
from quern.pipelines.judging.run import Report
from quern.pipelines.judging.terminal import agreement_text, figure_text


def page(report: Report, title: str, facts: Mapping[str, object]) -> str:
    """The page."""
    environment = page_environment()
    style = "\n".join(environment.get_template(name).render() for name in ("report.css.j2", "judging.css"))
    scored = [figure.agreement for figure in report.figures if figure.agreement is not None]
    return environment.get_template("judging.html.j2").render(
        title=title,
        facts=facts,
        report=report,
        pairwise=PAIRWISE,
        rows=[(f, figure_text(f), agreement_text(f.agreement)) for f in report.figures],
        forest=forest(report.figures),
        steps=[drawn for a in scored if (drawn := steps(a)) is not None],
        histograms=[histogram(f) for f in report.figures if f.judged],
        left=LEFT,
        width=WIDTH,
        style=Markup(style),  # noqa: S704 - our own file.
        style_digest=digest(style),
    )


def write_page(report: Report, path: Path, *, title: str, facts: Mapping[str, object]) -> None:
    """Write the page, whole or not at all."""
    write_text(path, page(report, title, facts))
