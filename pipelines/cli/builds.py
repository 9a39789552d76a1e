"""Building an index: the whole build, its plan, its steps, one of them alone, and what its queries will cost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import chatter_to, load_settings, overriding, print_json, written_catalog
from quern.schemas.addresses import page_source

if TYPE_CHECKING:
    from quern.indexes.catalog import Manifest
    from quern.pipelines.inspect.estimate import Cost

app = cli.new_app("")


@app.command(
    epilog="Examples:  quern build pages/ -w WH    quern build -w WH    quern build crawl.warc.gz -w WH "
    "--set link.k=2    quern build docs.jsonl -w WH --engine local"
)
def build(
    warehouse: cli.Warehouse,
    source: cli.Pages = None,
    names: cli.Names = None,
    day_first: cli.DayFirst = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    engine: cli.Engine = None,
    spark_master: cli.SparkMaster = None,
    ray_address: cli.RayAddress = None,
    wait: cli.Wait = 0.0,
    as_json: cli.AsJson = False,
) -> None:
    """Build an index of PAGES, or of what was ingested, and publish it; only what changed is computed."""
    engines = {"engine": engine, "spark_master": spark_master, "ray_address": ray_address}
    loaded = load_settings(settings, overriding(override, names, day_first, **engines))
    from quern.pipelines.build.whole import build as run_build

    catalog = written_catalog(source, warehouse)
    with chatter_to(catalog.logs / "engines.log"):
        manifest = run_build(source, catalog, loaded, wait=wait)
    if as_json:
        print_json(manifest.model_dump(mode="json"))
        return
    peak = f"{manifest.peak_memory_bytes / (1 << 20):,.0f} MiB"
    typer.echo(f"published {manifest.build_id} in {manifest.seconds:.1f} s, {peak} at peak")
    for line in _left_out(manifest):
        typer.echo(f"  {line}")
    for name, table in manifest.tables.items():
        typer.echo(f"  {name:<10} {table.rows:>9,} rows  {table.digest[:12]}")


def _left_out(manifest: Manifest) -> Iterator[str]:
    """What became of rows by `job: reason`, in lines: those lost, those kept without a value, those not needed."""
    from quern.jobs.core.step import upstream
    from quern.schemas.tables import NO_LOSS

    def counted(rows: Mapping[str, int]) -> str:
        return ", ".join(f"{n:,} by {of}" for of, n in sorted(rows.items(), key=lambda kv: -kv[1]))

    lost = {of: n for of, n in manifest.rejects.items() if of.partition(": ")[2] not in NO_LOSS}
    jobs = {step.job for step in upstream(manifest.steps, ("documents",))}
    documents = {of: n for of, n in lost.items() if of.partition(": ")[0] in jobs}
    others = {of: n for of, n in lost.items() if of not in documents}
    for kind, rows in (("documents", documents), ("rows of other tables", others)):
        if rows:
            yield f"warning: lost {kind}: {counted(rows)}; `quern rejects` shows each"
    if manifest.warnings:
        yield f"kept without a value: {counted(manifest.warnings)}; `quern rejects` shows each"
    if rest := {of: n for of, n in manifest.rejects.items() if of not in lost}:
        yield f"left out without loss: {counted(rest)}"


@app.command(epilog="Examples:  quern plan pages/ -w WH    quern plan -w WH --set link.k=2    quern plan -w WH --json")
def plan(
    warehouse: cli.Warehouse,
    source: cli.Pages = None,
    names: cli.Names = None,
    day_first: cli.DayFirst = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Print what a build would do: for each step the rows to compute and to reuse, the reason, and estimated seconds.

    Reads the pages and the memo; computes and publishes nothing. `~` marks estimates.
    """
    from quern.pipelines.inspect.plan import plan_build

    loaded = load_settings(settings, overriding(override, names, day_first))
    planned = plan_build(source, warehouse, loaded)
    if as_json:
        print_json({**asdict(planned), "seconds": planned.seconds})
        return
    typer.echo(f"{'step':<15} {'to compute':>11} {'to reuse':>11} {'seconds':>9}  why")
    for step in planned.steps:
        seconds = "?" if step.seconds is None else f"{step.seconds:,.1f}"
        about = "" if step.exact else "~"
        compute, reuse = ("?" if rows is None else f"{about}{rows:,}" for rows in (step.compute, step.reuse))
        typer.echo(f"{step.name:<15} {compute:>11} {reuse:>11} {seconds:>9}  {step.why}")
    if several := [f"{step.name} ({step.files:,})" for step in planned.steps if step.files > 1]:
        typer.echo(
            f"workers write tables of {', '.join(several)} files, a file for {loaded.engine.file_rows:,} rows read"
        )
    if planned.seconds is not None:
        typer.echo(f"about {planned.seconds:,.0f} s beside the start of engines, audit and publication")
    elif planned.parent is None:
        typer.echo("nothing was built in this warehouse yet: ? is known after the first build")


@app.command(epilog="Examples:  quern steps    quern steps --json")
def steps(as_json: cli.AsJson = False) -> None:
    """Print the steps of a build as `quern stage` takes them, in order, and what must be finished before each.

    Needs no warehouse: an orchestrator makes its tasks of this list.
    """
    from quern.pipelines.build import steps as declared
    from quern.pipelines.build.stage import stages

    listed = stages()
    if as_json:
        rows = [{"name": stage.name, "upstream": stage.upstream} for stage in listed]
        print_json({"steps": rows, "declared_in": declared.__file__})
        return
    for stage in listed:
        typer.echo(f"{stage.name:<15} {' '.join(stage.upstream)}".rstrip())


@app.command(
    epilog="Examples:  quern stage ingest --build 20261122T0600 -w WH --source pages/    "
    "quern stage clean --build 20261122T0600 -w WH    quern stage publish --build 20261122T0600 -w WH"
)
def stage(
    name: Annotated[
        str,
        typer.Argument(
            metavar="STEP",
            help="In this order: {steps}; `quern steps` says what each needs.",
        ),
    ],
    warehouse: cli.Warehouse,
    build: Annotated[str, typer.Option(metavar="ID", help="Name of the build: its start, like 20261122T0600.")],
    source: Annotated[
        cli.PageSource | None,
        typer.Option(
            metavar="PAGES",
            help="Folder, file or s3:// address of pages, with the first step; default: the page store.",
            parser=page_source,
        ),
    ] = None,
    names: cli.Names = None,
    day_first: cli.DayFirst = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    engine: cli.Engine = None,
    wait: cli.Wait = 0.0,
    as_json: cli.AsJson = False,
) -> None:
    """Run one step of a build, for orchestrators. A failed step can be retried; a finished one does not run again.

    The first step begins the build and fixes its pages and settings; `publish` ends it. The first step also finishes
    all steps whose results would not change; `--json` lists the finished steps.
    """
    change = partial(load_settings, settings, overriding(override, names, day_first, engine=engine))
    from quern.pipelines.build.stage import finished_steps, run_stage

    catalog = written_catalog(source, warehouse)
    with chatter_to(catalog.logs / "engines.log"):
        run_stage(name, build, catalog, source, change, wait=wait)
    if as_json:
        finished = finished_steps(build, catalog)
        print_json({"build_id": build, "step": name, "published": catalog.current_id() == build, "finished": finished})


@app.command(
    epilog="Examples:  quern estimate pages/    quern estimate -w WH --set generator.model=gpt-5-nano "
    "--set generator.price_prompt=0.05 --set generator.price_output=0.4"
)
def estimate(
    source: cli.Pages = None,
    warehouse: Annotated[
        Path | None,
        cli.warehouse_option("Warehouse that knows what is done; keeps the work of the estimate."),
    ] = None,
    names: cli.Names = None,
    day_first: cli.DayFirst = None,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    engine: cli.Engine = None,
    sample: Annotated[int, typer.Option(min=1, help="Most chunks whose tokens are counted.")] = 1000,
    as_json: cli.AsJson = False,
) -> None:
    """Print chunks, tokens, and cost or hours of the synthetic queries, for each generator, before anything is built.

    Pages are cleaned and chunked; with a warehouse, the build reuses that. Needs no model and no key.
    """
    if source is None and warehouse is None:
        raise typer.BadParameter("name PAGES, or with --warehouse one that has pages ingested")
    # A build would ask for a model; an estimate is made before one is chosen.
    loaded = load_settings(settings, [*overriding(override, names, day_first, engine=engine), "generator.kind=rules"])
    from quern.jobs.pages.inputs import of_source
    from quern.pipelines.inspect.estimate import estimate as run_estimate

    if source is not None:
        of_source(source)
    log = Path(os.devnull) if warehouse is None else written_catalog(source, warehouse).logs / "engines.log"
    with chatter_to(log):
        result = run_estimate(source, warehouse, loaded, sample)
    if as_json:
        print_json(asdict(result))
        return
    typer.echo(f"{result.documents:,} documents, {result.chunks:,} chunks; tokens of {result.sample:,} of them counted")
    typer.echo(f"{'generator':<10} {'chunks to do':>13} {'prompt tokens':>15} {'output tokens':>15}  cost or hours")
    for cost in result.costs:
        tokens = f"{cost.prompt_tokens:>15,} {cost.output_tokens:>15,}"
        typer.echo(f"{cost.generator:<10} {cost.chunks:>13,} {tokens}  {_price(cost)}")
    typer.echo("without what is asked again; tokens by the embedder's tokenizer, a model's differ by some 15%")


def _price(cost: Cost) -> str:
    """What a generator costs, or the settings that would tell."""
    if cost.generator == "openai":
        return "set generator.price_prompt and .price_output" if cost.cost is None else f"{cost.cost:,.2f}"
    if cost.generator == "rules":
        return f"{_duration(cost.hours or 0.0)} of this machine"
    return "set generator.output_speed" if cost.hours is None else f"{_duration(cost.hours)} of one GPU"


def _duration(hours: float) -> str:
    if hours >= 1:
        return f"{hours:,.1f} hours"
    return f"{hours * 60:.1f} minutes" if hours * 60 >= 1 else f"{hours * 3600:.1f} seconds"
