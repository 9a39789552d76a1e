"""Reading everything that is kept, to find damage."""

from __future__ import annotations

import typer

from quern.pipelines.cli.common import AsJson, Snapshot, Warehouse, new_app, print_json
from quern.schemas.words.lines import one_line

app = new_app("")


@app.command(epilog="Examples:  quern verify -w WH    quern verify -w WH --snapshot 20261122T044738495 --json")
def verify(warehouse: Warehouse, snapshot: Snapshot = None, as_json: AsJson = False) -> None:
    """Read everything that a warehouse keeps, and name each file that is not as it was written, and what mends it.

    With --snapshot ID, the files of that snapshot alone. Exit code 0 when all is well, 1 when a file is damaged.
    """
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.indexes.checksums import DamagedError
    from quern.jobs.core.progress import watched
    from quern.pipelines.inspect.verify import kept_files, verify

    try:
        catalog = Catalog.open(warehouse)
    except DamagedError:  # The file that says what the directory is: it is named among the others.
        catalog = Catalog(warehouse)
    if snapshot:
        catalog.manifest(snapshot)
    files, done = kept_files(catalog, snapshot), 0

    def step() -> None:
        nonlocal done
        done += 1

    with watched("verify", len(files), lambda: done):
        found = verify(files, step)
    if as_json:
        print_json(found.as_tree())
    else:
        for bad in found.bad:
            typer.echo(one_line(bad.line()))
        typer.echo(f"verified files={found.files} bytes={found.size} damaged={len(found.bad)}")
    if found.bad:
        raise typer.Exit(1)
