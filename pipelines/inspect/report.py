"""The last builds as one HTML page that needs nothing beside it and runs no script; all that it shows is escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markupsafe import Markup

from quern.indexes.storage import write_text
from quern.pipelines.answers.views.report import digest, page_environment
from quern.schemas.tables import NO_LOSS
from quern.schemas.tables.builds import Build, BuiltStep

_FUNNEL: Final = {
    "pages": "pages",
    "documents": "documents",
    "chunks": "chunks",
    "queries": "synthetic queries",
    "nodes": "kept queries (nodes)",
}
_MOST_REASONS: Final = 30
# In SVG units.
_WIDTH, _HEIGHT, _MARGIN = 320.0, 80.0, 6.0


@dataclass(frozen=True)
class Bar:
    """A figure with a bar of 0 to 100 units beside it."""

    name: str
    value: str
    length: float
    note: str = ""


@dataclass(frozen=True)
class StepLine:
    """A step: what it did in the last build, and the most that it took in any of those shown."""

    step: BuiltStep
    seconds: Bar
    memory: Bar


@dataclass(frozen=True)
class Point:
    """A build in a chart."""

    x: float
    y: float
    told: str


@dataclass(frozen=True)
class Chart:
    """A figure over the builds, oldest first; the vertical axis begins at 0."""

    title: str
    last: str
    most: str
    points: Sequence[Point]
    width: float = _WIDTH
    height: float = _HEIGHT


def write_build_report(builds: Sequence[Build], path: Path, *, warehouse: str) -> None:
    """Write the page, whole or not at all.

    Args:
        builds: The newest first, one at least.
        path: File to write; `.html`.
        warehouse: What the page calls the warehouse.

    Raises:
        OSError: It cannot be written.
    """
    environment = page_environment()
    style = "\n".join(environment.get_template(n).render() for n in ("report.css.j2", "judging.css", "builds.css"))
    published = next((build for build in builds if build.status == "published"), None)
    left = {table.name: table.rows for table in published.tables} if published else {}
    # Trends over the builds, oldest first; of those not published only time and memory.
    oldest_first = builds[::-1]

    def rows(name: str) -> Callable[[Build], float | None]:
        return lambda build: next((table.rows for table in build.tables if table.name == name), None)

    def size(build: Build) -> float | None:
        sizes = [table.bytes for table in build.tables if table.bytes is not None]
        return sum(sizes) if sizes else None

    done = [build for build in oldest_first if build.status == "published"]
    page = environment.get_template("builds.html.j2").render(
        warehouse=warehouse,
        builds=builds,
        rows=[{table.name: table.rows for table in build.tables} for build in builds],
        published=published,
        funnel=_bars([(told, f"{left[name]:,}", left[name], "") for name, told in _FUNNEL.items() if name in left]),
        reasons=_reasons(published) if published else [],
        steps=_steps(builds, published) if published else [],
        charts=[
            _chart("Seconds", oldest_first, lambda build: build.seconds, _duration),
            _chart("Peak memory", oldest_first, lambda build: build.peak_memory_bytes or None, _size),
            _chart("Share of rows reused", done, lambda build: build.reuse, lambda share: f"{share:.1%}"),
            _chart("Bytes of the tables", done, size, _size),
            _chart("Documents", done, rows("documents"), lambda n: f"{n:,.0f}"),
            _chart("Nodes", done, rows("nodes"), lambda n: f"{n:,.0f}"),
        ],
        size=_size,
        duration=_duration,
        style=Markup(style),  # noqa: S704 - our own file.
        style_digest=digest(style),
    )
    write_text(path, page)


def _bars(figures: Sequence[tuple[str, str, float, str]]) -> list[Bar]:
    most = max((figure for _, _, figure, _ in figures), default=0)
    return [Bar(n, value, 100 * figure / most if most else 0, note) for n, value, figure, note in figures]


def _reasons(build: Build) -> list[Bar]:
    """What was left out or kept without a value, the most frequent first."""
    kinds = {of: "no loss" if of.partition(": ")[2] in NO_LOSS else "lost" for of in build.rejects}
    kinds |= dict.fromkeys(build.warnings, "kept without a value")
    counts = sorted((build.rejects | build.warnings).items(), key=lambda one: (-one[1], one[0]))
    return _bars([(of, f"{n:,}", n, kinds[of]) for of, n in counts[:_MOST_REASONS]])


def _steps(builds: Sequence[Build], last: Build) -> list[StepLine]:
    """The steps of the last build, with the most seconds and memory that each took in any of `builds`."""
    seconds: dict[str, float] = {}
    memory: dict[str, int] = {}
    for step in (step for build in builds for step in build.steps):
        seconds[step.name] = max(step.seconds, seconds.get(step.name, 0))
        memory[step.name] = max(step.peak_memory_bytes, memory.get(step.name, 0))
    names = [step.name for step in last.steps]
    times = _bars([(name, _duration(seconds[name]), seconds[name], "") for name in names])
    sizes = _bars([(name, _size(memory[name]), memory[name], "") for name in names])
    return [StepLine(*line) for line in zip(last.steps, times, sizes, strict=True)]


def _chart(
    title: str, builds: Sequence[Build], of: Callable[[Build], float | None], written: Callable[[float], str]
) -> Chart:
    figures = [(build, figure) for build in builds if (figure := of(build)) is not None]
    most = max((figure for _, figure in figures), default=0.0)
    step = (_WIDTH - 2 * _MARGIN) / max(1, len(figures) - 1)
    points = [
        Point(
            round(_MARGIN + step * number, 1),
            round(_HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * (figure / most if most else 0), 1),
            f"{build.build_id}: {written(figure)}" + ("" if build.status == "published" else f", {build.status}"),
        )
        for number, (build, figure) in enumerate(figures)
    ]
    return Chart(title, written(figures[-1][1]) if figures else "not known", written(most), points)


def _size(count: float) -> str:
    """Bytes, as a person reads them; 0 is what is not known."""
    if not count:
        return "–"
    power = min(3, max(0, int(count).bit_length() - 1) // 10)
    return f"{count / 1024**power:,.{min(power, 1)}f} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"


def _duration(seconds: float) -> str:
    """Seconds, as a person reads them."""
    if seconds < 100:
        return f"{seconds:,.1f} s"
    return f"{seconds / 60:,.1f} min" if seconds < 6000 else f"{seconds / 3600:,.1f} h"
