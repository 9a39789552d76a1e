"""The last builds as one HTML page that needs nothing beside it and runs no script; all that it shows is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from quern.indexes.storage import write_text
from quern.pipelines.answers.views.report import inlined, page_environment
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


@dataclass(frozen=True)
class Bar:
    """A figure with a bar of 0 to 100 units beside it."""

    name: str
    value: str
    length: float
    note: str = ""


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
    published = next((build for build in builds if build.status == "published"), None)
    rows = {table.name: table.rows for table in published.tables} if published else {}
    page = environment.get_template("builds.html.j2").render(
        warehouse=warehouse,
        builds=builds,
        rows=[{table.name: table.rows for table in build.tables} for build in builds],
        published=published,
        funnel=_bars([(title, f"{rows[name]:,}", rows[name], "") for name, title in _FUNNEL.items() if name in rows]),
        reasons=_reasons(published) if published else [],
        steps=_steps(builds, published) if published else [],
        size=_size,
        duration=_duration,
        **inlined(environment, ["report.css.j2", "judging.css", "builds.css"]),
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


def _steps(builds: Sequence[Build], last: Build) -> list[tuple[BuiltStep, Bar, Bar]]:
    """The steps of the last build, with the most seconds and memory that each took in any of `builds`."""
    seconds: dict[str, float] = {}
    memory: dict[str, int] = {}
    for step in (step for build in builds for step in build.steps):
        seconds[step.name] = max(step.seconds, seconds.get(step.name, 0))
        memory[step.name] = max(step.peak_memory_bytes, memory.get(step.name, 0))
    names = [step.name for step in last.steps]
    times = _bars([(name, _duration(seconds[name]), seconds[name], "") for name in names])
    sizes = _bars([(name, _size(memory[name]), memory[name], "") for name in names])
    return list(zip(last.steps, times, sizes, strict=True))


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
