"""What the synthetic queries of a build will cost."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quern.pipelines.cli.common import (
    LOGGERS,
    AsJson,
    DayFirst,
    Engine,
    Names,
    Overrides,
    Pages,
    SettingsFile,
    load_settings,
    new_app,
    overriding,
    print_json,
)

if TYPE_CHECKING:
    from quern.pipelines.inspect.estimate import Cost

app = new_app("")


@app.command(
    epilog="Examples:  quern estimate pages/    quern estimate -w WH --set generator.model=gpt-5-nano "
    "--set generator.price_prompt=0.05 --set generator.price_output=0.4",
)
def estimate(
    source: Pages = None,
    warehouse: Annotated[
        Path | None,
        typer.Option(
            "--warehouse",
            "-w",
            envvar="QUERN_WAREHOUSE",
            help="Warehouse that knows what is done; keeps the work of the estimate.",
            show_default=False,
        ),
    ] = None,
    names: Names = None,
    day_first: DayFirst = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    engine: Engine = None,
    sample: Annotated[int, typer.Option(min=1, help="Most chunks whose tokens are counted.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """Print chunks, tokens, and cost or hours of the synthetic queries, for each generator, before anything is built.

    Pages are cleaned and cut, which the build need not do again if a warehouse is named. Needs no model and no key.
    """
    if source is None and warehouse is None:
        raise typer.BadParameter("name PAGES, or with --warehouse one that has pages ingested")
    # A build would ask for a model; an estimate is made before one is chosen.
    loaded = load_settings(settings, [*overriding(override, names, day_first, engine=engine), "generator.kind=rules"])
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.jobs.pages.inputs import of_source
    from quern.pipelines.cli.chatter import chatter_to
    from quern.pipelines.inspect.estimate import estimate as run_estimate

    if source is not None:
        of_source(source)  # A mistyped path must not leave an empty warehouse behind.
    log = Path(os.devnull)
    if warehouse is not None:
        log = (Catalog.open(warehouse) if source is None else Catalog.create(warehouse)).logs / "engines.log"
    with chatter_to(log, LOGGERS):
        made = run_estimate(source, warehouse, loaded, sample)
    if as_json:
        print_json(asdict(made))
        return
    typer.echo(f"{made.documents:,} documents, {made.chunks:,} chunks; tokens of {made.sample:,} of them counted")
    prompt, output = f"{'prompt tokens':>15}", f"{'output tokens':>15}"
    typer.echo(f"{'generator':<10} {'chunks to do':>13} {prompt} {output}  cost or hours")
    for cost in made.costs:
        tokens = f"{cost.prompt_tokens:>15,} {cost.output_tokens:>15,}"
        typer.echo(f"{cost.generator:<10} {cost.chunks:>13,} {tokens}  {_price(cost)}")
    typer.echo("without what is asked again; tokens by the embedder's tokenizer, a model's differ by some 15%")


def _price(cost: Cost) -> str:
    """What a generator costs, or the settings that would tell."""
    if cost.generator == "rules":
        return f"{_duration(cost.hours or 0.0)} of this machine"
    if cost.generator == "openai":
        return "set generator.price_prompt and .price_output" if cost.cost is None else f"{cost.cost:,.2f}"
    if cost.hours is None:
        return "set generator.output_speed"
    return f"{_duration(cost.hours)} of one GPU"


def _duration(hours: float) -> str:
    if hours >= 1:
        return f"{hours:,.1f} hours"
    return f"{hours * 60:.1f} minutes" if hours * 60 >= 1 else f"{hours * 3600:.1f} seconds"
