"""Removing documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from quern.pipelines.cli.common import AsJson, Warehouse, Where, documents_where, new_app, print_json

app = new_app("")

_MOST_SHOWN = 10


@app.command(
    epilog="Examples:  quern remove 45e5c802a3a5580e1441 -w WH    quern remove https://example.org/a -w WH --purge    "
    "quern remove -w WH --where site=example.org --where 'published_at<2020' --dry-run"
)
def remove(
    warehouse: Warehouse,
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOC_ID|URL]...", help="Ids or addresses of documents.", show_default=False),
    ] = None,
    where: Where = None,
    purge: Annotated[
        bool,
        typer.Option(
            "--purge",
            help="Also let their text leave the page store, the archives of crawls, and with the next build the memo, "
            "the stages, the logs and all older snapshots.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove documents, by DOC_ID, by URL, or by conditions on them (--where): the next build leaves them out.

    A removed document stays away when its file is ingested or built from again unchanged. Ingested with other content,
    it is back. Of several documents all are removed or none; exit code 1 where one is not there.
    """
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.pages.remove import NothingToRemoveError
    from quern.pipelines.pages.remove import remove as run

    if bool(targets) == bool(where):
        raise typer.BadParameter("name documents by id or address, or by --where: one of both")
    try:
        named = targets or documents_where(warehouse, where or ())
        if not named:
            raise NothingToRemoveError(f"no document meets {' and '.join(where or ())}: nothing was removed")
        removal = run(Catalog.open(warehouse), named, purge=purge, dry_run=dry_run)
    except NothingToRemoveError as error:
        typer.echo(f"quern: {error}", err=True)
        raise typer.Exit(1) from None
    if as_json:
        print_json({"dry_run": dry_run, "purge": purge, **asdict(removal)})
        return
    done = "purges" if purge else "leaves out"
    typer.echo("would be removed:" if dry_run else f"removed, which the next `quern build` {done}:")
    of_pages = [{"doc_id": url, "title": None} for url in removal.pages]
    documents = removal.documents or of_pages
    for row in documents[:_MOST_SHOWN]:
        typer.echo("  " + "  ".join(filter(None, (row["doc_id"], row["title"], row.get("url") or row.get("page_url")))))
    _tell_more(len(documents) - _MOST_SHOWN)
    _tell(removal.copies, "documents that repeat them stay")
    _tell(removal.files, "files outside of the warehouse still hold them")
    _tell(removal.kept, "archives still hold them, which are no gzip files")


def _tell(names: Sequence[str], what: str) -> None:
    if names:
        typer.echo(f"{len(names):,} {what}: {', '.join(names[:_MOST_SHOWN])}")
        _tell_more(len(names) - _MOST_SHOWN)


def _tell_more(more: int) -> None:
    if more > 0:
        typer.echo(f"  and {more:,} more")
