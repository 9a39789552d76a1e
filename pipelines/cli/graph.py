"""The query-centric graph: its structure, hubs and communities, and its export to other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from quern.pipelines.cli.choices import completing
from quern.pipelines.cli.common import AsJson, Snapshot, Warehouse, new_app, print_json

app = new_app("")


@app.command(
    epilog="Examples:  quern graph -w WH    quern graph -w WH --export graph.graphml    "
    "quern graph -w WH --export chunks.graphml --layer chunks    quern graph -w WH --export tables/"
)
def graph(
    warehouse: Warehouse,
    snapshot: Snapshot = None,
    hubs: Annotated[int, typer.Option(min=0, max=1000, help="Hubs and communities to list.")] = 5,
    export: Annotated[
        Path | None, typer.Option(help="A file .graphml, or a folder for Parquet tables.", show_default=False)
    ] = None,
    layer: Annotated[str, typer.Option(help="Of GraphML: {layers}.", autocompletion=completing("layers"))] = "both",
    as_json: AsJson = False,
) -> None:
    """Describe the query-centric graph: edges by kind, components, hubs, chunk to chunk, communities; export it."""
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.inspect.graph.export import LAYERS, GraphError, export_graph
    from quern.pipelines.inspect.graph.structure import describe_graph
    from quern.schemas.words.lines import plain
    from quern.schemas.words.meant import no_such

    chosen = next((known for known in LAYERS if known == layer), None)
    if chosen is None:
        raise GraphError(no_such("layer", layer, LAYERS))
    opened = Catalog.open(warehouse).snapshot(snapshot)
    described = describe_graph(opened, hubs)
    written = export_graph(opened, described.graph, described.communities, export, chosen) if export else []
    if as_json:
        print_json({**described.figures, "files": [str(p) for p in written]})
        return
    for line in _lines(described.figures):
        typer.echo(plain(line))
    for path in written:
        typer.echo(f"written: {path}")


def _lines(figures: dict[str, Any]) -> list[str]:
    lines = ["  ".join(f"{name} {figures[name]:,}" for name in ("nodes", "chunks", "documents"))]
    kinds = figures["kinds"]
    lines += ["", f"{'edges':<22}" + "".join(f"{kind:>17}" for kind in kinds)]
    for name in next(iter(kinds.values())):
        lines.append(f"{name:<22}" + "".join(f"{_number(of[name]):>17}" for of in kinds.values()))
    lines += ["", "chunk to chunk", *(f"{n:<22}{_number(v):>17}" for n, v in figures["chunk_graph"].items())]
    found = figures["communities"]
    lines += ["", f"communities: {found['number']:,}, modularity {found['modularity']} ({found['method']})"]
    lines += [f"{c['chunks']:>6,} chunks: {'; '.join(c['titles'])}" for c in found["largest"]]
    lines += ["", "hubs: nodes that most edges lead to"]
    lines += [f"{h['in_degree']:>6,} {h['query_id']}: {h['text']}" for h in figures["hubs"]]
    return lines


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
