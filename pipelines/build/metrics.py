"""Figures of the last build as a text file for Prometheus, which node_exporter's textfile collector reads.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from quern.indexes.catalog import WarehouseFolder
from quern.schemas.tables.builds import Build

log = logging.getLogger(__name__)

Samples = list[tuple[Mapping[str, str], float]]


def write_metrics(path: Path, last: Build, warehouse: WarehouseFolder) -> None:
    """Replace the file at `path`, in one step; where that fails, it is logged.

    Args:
        path: The file.
        last: The last build, which may have failed.
        warehouse: The warehouse, whose last published build tells of the tables.
    """
    published: Build | None = last
    if last.status != "published":
        published = next((build for build in warehouse.history.newest_first() if build.status == "published"), None)
    # Not named *.prom, which the collector would read too, should it be left behind.
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        temporary.write_text(metrics_text(last, published, str(warehouse.root)), "utf-8")
        temporary.replace(path)
    except OSError as error:
        log.warning("metrics are not written: %s error=%s", path, error)


def metrics_text(last: Build, published: Build | None, warehouse: str) -> str:
    """The text; what `published` tells is left out where nothing was published yet."""
    lines = []
    for name, meaning, samples in _metrics(last, published):
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]
        for labels, value in samples:
            told = ",".join(f'{key}="{_escaped(text)}"' for key, text in {"warehouse": warehouse, **labels}.items())
            lines.append(f"{name}{{{told}}} {value!r}")
    return "\n".join(lines) + "\n"


def _metrics(last: Build, published: Build | None) -> Iterator[tuple[str, str, Samples]]:
    """Of each metric the name, the meaning and the samples."""
    yield "quern_build_success", "Whether the last build was published.", [({}, int(last.status == "published"))]
    yield "quern_build_seconds", "Time of the last build.", [({}, last.seconds)]
    yield "quern_build_end_timestamp_seconds", "When the last build ended.", [({}, last.ended_at.timestamp())]
    peak = "Largest memory of all processes of the last build."
    yield "quern_build_peak_memory_bytes", peak, [({}, last.peak_memory_bytes)]
    if last.reuse is not None:
        yield "quern_build_reuse_ratio", "Share of rows that the last build did not compute.", [({}, last.reuse)]
    yield (
        "quern_step_seconds",
        "Time of each step that the last build finished.",
        [({"step": step.name}, step.seconds) for step in last.steps],
    )
    if published is None:
        return
    at = published.ended_at.timestamp()
    yield "quern_build_last_success_timestamp_seconds", "When a build was last published.", [({}, at)]
    tables = published.tables
    rows: Samples = [({"table": table.name}, table.rows) for table in tables]
    yield "quern_table_rows", "Rows of each published table.", rows
    sizes: Samples = [({"table": table.name}, table.bytes) for table in tables if table.bytes is not None]
    yield "quern_table_bytes", "Bytes of the files of each published table.", sizes
    lost = {(job, reason): n for of, n in published.rejects.items() for job, _, reason in [of.partition(": ")]}
    rejected: Samples = [({"job": job, "reason": reason}, n) for (job, reason), n in lost.items()]
    yield "quern_rejected_rows", "Rows that the last published build left out, by job and reason.", rejected


def _escaped(text: str) -> str:
    """A label's value as the format has it."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
