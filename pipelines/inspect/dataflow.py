"""The data flow of a build, drawn from its list of steps: tables as boxes, steps as arrows."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from quern.jobs.core.contract import Job
from quern.jobs.core.step import Step
from quern.schemas.settings import Settings


def mermaid(steps: Sequence[Step]) -> str:
    """The drawing, as Mermaid writes it; tables that go when the build is done have round ends."""
    return "\n".join(["flowchart LR", *(f"    {line}" for line in _lines(steps))])


def _lines(steps: Sequence[Step]) -> Iterator[str]:
    yield "source{{files or page store}}"
    for step in steps:
        for name in step.makes:
            yield f"{name}([{name}])" if step.scratch else f"{name}[{name}]"
    for step in steps:
        for made in step.makes:
            yield from (f"{read} -->|{step.name}| {made}" for read in step.reads or ("source",))


def step_rows(steps: Sequence[Step]) -> Iterator[tuple[str, ...]]:
    """Of each step name, tables read, tables made, groups of settings, kind, and what its job makes."""
    for step in steps:
        job = step.job(Settings())
        kind = "row-wise" if isinstance(job, Job) else "whole table"
        doc = inspect.getdoc(type(job)) or ""
        lists = (", ".join(names) for names in (step.reads, step.makes, step.needs))
        yield step.name, *lists, kind, doc.partition("\n")[0]
