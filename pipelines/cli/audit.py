"""Auditing a snapshot again."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from quern.pipelines.cli.choices import completing
from quern.pipelines.cli.common import (
    LOGGERS,
    AsJson,
    Overrides,
    SettingsFile,
    Snapshot,
    Warehouse,
    load_settings,
    new_app,
    print_json,
)

app = new_app("")


@app.command(
    epilog="Examples:  quern audit -w WH    quern audit -w WH --engine spark    "
    "quern audit -w WH --set audit.max_duplicates=0.1 --json",
)
def audit(
    warehouse: Warehouse,
    snapshot: Snapshot = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="{audit_engines}; default the snapshot's setting.", autocompletion=completing("audit_engines")
        ),
    ] = None,
    settings: SettingsFile = None,
    override: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Check every expectation on a published snapshot again, with its own thresholds unless told otherwise.

    Exit code 0 when no critical expectation fails, 1 when one does, 2 for a mistake.
    """
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.audit.audit import audit_snapshot
    from quern.pipelines.cli.chatter import chatter_to

    opened = Catalog.open(warehouse).snapshot(snapshot)
    overrides = [*(override or []), *([f"audit.engine={engine}"] if engine else [])]
    loaded = load_settings(settings, overrides, opened.manifest.known_settings())
    with chatter_to(opened.warehouse.logs / "engines.log", LOGGERS):
        audited = audit_snapshot(opened, loaded)
    from quern.pipelines.audit.data_docs import counts

    found = {
        "snapshot": opened.manifest.build_id,
        "engine": loaded.audit.engine,
        "passed": not audited.audit.failures(),
        "tables": counts(audited.audit),
        "checks": [c.as_row() for c in audited.audit.checks],
        "docs": str(audited.docs) if audited.docs else None,
    }
    print_json(found) if as_json else _print(found)
    if not found["passed"]:
        raise typer.Exit(1)


def _print(found: dict[str, Any]) -> None:
    from quern.schemas.words.lines import one_line

    for check in found["checks"]:
        if not check["passed"]:
            typer.echo(one_line(f"{check['severity']}: {check['expectation']}: {check['observed']}"))
    names = ("expectations", "critical", "warnings", "skipped")
    typer.echo(f"{'table':<14}" + "".join(f"{name:>14}" for name in names))
    for row in found["tables"]:
        typer.echo(f"{row['table']:<14}" + "".join(f"{row[name]:>14}" for name in names))
    typer.echo(f"data docs: {found['docs'] or 'not written'}")
