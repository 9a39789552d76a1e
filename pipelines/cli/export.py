"""Publishing a snapshot elsewhere."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from quern.pipelines.cli import common as cli
from quern.pipelines.cli.choices import completing
from quern.pipelines.cli.common import open_warehouse

app = cli.new_app("")


@app.command(
    epilog="Examples:  quern export --to elasticsearch --url http://127.0.0.1:9200 -w WH    "
    "quern export --to opensearch --url https://search.example:9200 -w WH --keep 3    "
    "quern export --to elasticsearch --url http://127.0.0.1:9200 -w WH --rollback"
)
def export(
    to: Annotated[
        str, typer.Option(help="{search_servers} (elasticsearch.kind).", autocompletion=completing("search_servers"))
    ],
    warehouse: cli.Warehouse,
    url: Annotated[str | None, typer.Option(help="Address of the server (elasticsearch.url).")] = None,
    table: Annotated[str, typer.Option(help="{exported}.", autocompletion=completing("exported"))] = "chunks",
    index: Annotated[str | None, typer.Option(help="Alias to publish as; default quern-TABLE.")] = None,
    snapshot: cli.Snapshot = None,
    keep: Annotated[int, typer.Option(min=0, help="Earlier indexes that stay on the server.")] = 1,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Lead the alias back to the index before; export nothing.")
    ] = False,
    settings: cli.SettingsFile = None,
    override: cli.Overrides = None,
    as_json: cli.AsJson = False,
) -> None:
    """Publish a table on an Elasticsearch or OpenSearch server; sends what differs from the last export.

    An interrupted export goes on when the same command is run again. Credentials: ELASTICSEARCH_API_KEY, or
    ELASTICSEARCH_USER and ELASTICSEARCH_PASSWORD; of OpenSearch OPENSEARCH_USER and OPENSEARCH_PASSWORD.
    """
    from quern.indexes.served.search_server import SearchServer
    from quern.pipelines import export as exporting

    catalog = open_warehouse(warehouse)
    opened = catalog.snapshot(snapshot)
    said = {"kind": to, "url": url, "index": index or f"quern-{table}"}
    chosen = [*(override or []), *(f"elasticsearch.{name}={value}" for name, value in said.items() if value)]
    loaded = cli.load_settings(settings, chosen, opened.manifest.known_settings()).elasticsearch
    with SearchServer(loaded) as server:
        if rollback:
            done = exporting.rollback(server, loaded.index)
        else:
            done = exporting.export(catalog, opened, table, server, loaded.index, keep)
    if as_json:
        cli.print_json(asdict(done))
        return
    for line in exporting.summary(done):
        typer.echo(line)
