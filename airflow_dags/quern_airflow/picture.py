"""The picture of the DAGs in the documentation, drawn from the DAGs as Airflow parses them: `make picture-airflow`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from math import fsum
from pathlib import Path

from airflow.dag_processing.dagbag import BundleDagBag
from airflow.sdk import DAG, Asset

_DAGS = Path(__file__).parents[1]
_WIDE, _HIGH, _ACROSS, _DOWN, _EDGE = 118, 26, 134, 46, 24
# Names of the places where a line passes a row begin so.
_BEND = "\0"
_ORDER = ("nightly_build", "benchmark_sweep", "bulk_ingest")

Upstream = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Drawing:
    """A part of the picture, as SVG elements.

    Attributes:
        lines: The elements.
        width, height: Room that they take.
    """

    lines: tuple[str, ...]
    width: float
    height: float


def draw(dags: Mapping[str, DAG]) -> str:
    """All DAGs beside each other, as an SVG."""
    parts, x, height = [], float(_EDGE), 0.0
    for name in _ORDER:
        part = _draw_dag(dags[name])
        parts += [f'<g transform="translate({x:g} {_EDGE})">', *part.lines, "</g>"]
        x += part.width + 2 * _EDGE
        height = max(height, part.height)
    width = x - _EDGE
    style = (
        "text{font:12px system-ui,sans-serif;text-anchor:middle;fill:#222}"
        ".name{font-weight:bold;font-size:14px}.note{fill:#666;font-size:11px}"
        "rect{fill:#f6f1e4;stroke:#8a7a50}.asset{fill:#dcebf5;stroke:#4a7a9b}path{fill:none;stroke:#999}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height + 2 * _EDGE:g}" role="img">',
            f"<title>The DAGs {', '.join(_ORDER)}</title><style>{style}</style>",
            f'<path d="M0 0H{width:g}V{height + 2 * _EDGE:g}H0Z" style="fill:#fff;stroke:none"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _draw_dag(dag: DAG) -> Drawing:
    """One DAG from above to below, with the asset that starts it or that it emits."""
    upstream = {task.task_id: frozenset(task.upstream_task_ids) for task in dag.tasks}
    assets = [dag.schedule.name] if isinstance(dag.schedule, Asset) else []
    if isinstance(dag.schedule, Iterable):
        assets = [each.name for each in dag.schedule if isinstance(each, Asset)]
    upstream = {name: above or frozenset(assets) for name, above in upstream.items()}
    for task in dag.tasks:
        upstream |= {outlet.name: frozenset({task.task_id}) for outlet in task.outlets if isinstance(outlet, Asset)}
    upstream |= {name: frozenset() for name in assets}
    rows, joined = _rows(_reduced(upstream))
    widths = [sum(map(_room, row)) for row in rows]
    width = max(*widths, 1.5 * _ACROSS)
    at: dict[str, tuple[float, float]] = {}
    for n, row in enumerate(rows):
        x = (width - widths[n]) / 2
        for name in row:
            at[name] = (x + _room(name) / 2, _DOWN * (n + 1.2))
            x += _room(name)
    mapped = {task.task_id for task in dag.tasks if task.is_mapped}
    lines = [f'<text class="name" x="{width / 2:g}" y="4">{dag.dag_id}</text>', *_arrows(joined, at)]
    for name, place in at.items():
        if not name.startswith(_BEND):
            label = f"{name} × files" if name in mapped else name
            lines += _box(label, place, asset=name not in dag.task_ids)
    return Drawing(tuple(lines), width, _DOWN * (len(rows) + 0.8))


def _room(name: str) -> float:
    return _ACROSS / 4 if name.startswith(_BEND) else _ACROSS


def _box(label: str, place: tuple[float, float], *, asset: bool) -> list[str]:
    x, y = place
    box = f'x="{x - _WIDE / 2:g}" y="{y - _HIGH / 2:g}" width="{_WIDE}" height="{_HIGH}"'
    look = f'class="asset" rx="{_HIGH / 2:g}"' if asset else 'rx="4"'
    return [f"<rect {box} {look}/>", f'<text x="{x:g}" y="{y + 4:g}">{escape(label)}</text>']


def _arrows(upstream: Upstream, at: Mapping[str, tuple[float, float]]) -> list[str]:
    lines = []
    for name in at:
        for above in sorted(upstream[name]):
            (x, y), (to_x, to_y) = at[above], at[name]
            y += 0 if above.startswith(_BEND) else _HIGH / 2
            to_y -= 0 if name.startswith(_BEND) else _HIGH / 2
            half = (y + to_y) / 2
            lines.append(f'<path d="M{x:g} {y:g}C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"/>')
    return lines


def _above(upstream: Upstream, name: str) -> set[str]:
    """All that must be done before the task `name`."""
    found: set[str] = set()
    left = list(upstream[name])
    while left:
        task = left.pop()
        if task not in found:
            found.add(task)
            left += upstream[task]
    return found


def _reduced(upstream: Upstream) -> dict[str, frozenset[str]]:
    """The same order with no arrow that others imply."""
    above = {name: _above(upstream, name) for name in upstream}
    return {
        name: frozenset(task for task in direct if not any(task in above[other] for other in direct))
        for name, direct in upstream.items()
    }


def _rows(upstream: Upstream) -> tuple[list[list[str]], Upstream]:
    """Tasks by the longest way to them, in a row as those above them lie, and what is joined to what.

    A line that passes a row takes a place in it: no box stands on it.
    """
    depth: dict[str, int] = {}
    while len(depth) < len(upstream):
        for name, above in upstream.items():
            if name not in depth and all(task in depth for task in above):
                depth[name] = 1 + max((depth[task] for task in above), default=-1)
    joined: dict[str, frozenset[str]] = {}
    for name, above in upstream.items():
        ends = set()
        for task in sorted(above):
            end = task
            for level in range(depth[task] + 1, depth[name]):
                bend = f"{_BEND}{task} {name} {level}"
                joined[bend], depth[bend] = frozenset({end}), level
                end = bend
            ends.add(end)
        joined[name] = frozenset(ends)
    rows: list[list[str]] = []
    place: dict[str, float] = {}
    for level in range(max(depth.values()) + 1):
        row = [name for name in joined if depth[name] == level]
        row.sort(key=lambda name: round(fsum(place[task] for task in joined[name]) / max(len(joined[name]), 1), 3))
        x = -sum(map(_room, row)) / 2
        for name in row:
            place[name] = x + _room(name) / 2
            x += _room(name)
        rows.append(row)
    return rows, joined


def main(path: Path) -> None:
    """Draw the DAGs to `path`."""
    bag = BundleDagBag(dag_folder=_DAGS, bundle_path=_DAGS, bundle_name="dags-folder")
    path.write_text(draw(bag.dags), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
