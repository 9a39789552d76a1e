"""Looking at what is there: rows, the graph, differences of snapshots, what was left out, settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

import typer

from quern.pipelines.cli import common as cli
from quern.pipelines.cli.common import load_settings, open_warehouse, print_json
from quern.schemas.words.lines import one_line, plain

app = cli.new_app("")


@app.command(epilog="Examples:  quern graph -w WH    quern graph -w WH --json")
def graph(
    warehouse: cli.Warehouse,
    snapshot: cli.Snapshot = None,
    as_json: cli.AsJson = False,
) -> None:
    """Describe the query-centric graph: edges by kind, components, hubs, chunk to chunk, communities."""
    from quern.pipelines.inspect.graph import describe_graph

    figures = describe_graph(open_warehouse(warehouse).snapshot(snapshot)).figures
    if as_json:
        print_json(figures)
        return
    lines = ["  ".join(f"{name} {figures[name]:,}" for name in ("nodes", "chunks", "documents"))]
    kinds = figures["kinds"]
    lines += ["", f"{'edges':<22}" + "".join(f"{kind:>17}" for kind in kinds)]
    for name in next(iter(kinds.values())):
        lines.append(f"{name:<22}" + "".join(f"{_number(of[name]):>17}" for of in kinds.values()))
    lines += ["", "chunk to chunk", *(f"{n:<22}{_number(v):>17}" for n, v in figures["chunk_graph"].items())]
    partition = figures["communities"]
    lines += ["", f"communities: {partition['number']:,}, modularity {partition['modularity']} ({partition['method']})"]
    lines += [f"{c['chunks']:>6,} chunks: {'; '.join(c['titles'])}" for c in partition["largest"]]
    lines += ["", "hubs: nodes that most edges lead to"]
    lines += [f"{h['in_degree']:>6,} {h['query_id']}: {h['text']}" for h in figures["hubs"]]
    for line in lines:
        typer.echo(plain(line))


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


@app.command(
    epilog="Examples:  quern show document DOC_ID -w WH    quern show node QUERY_ID -w WH --json    "
    "quern show page URL -w WH --raw    quern show citation DOC_ID:START-END -w WH    "
    'quern show entity "Lady Orrin" -w WH'
)
def show(
    kind: Annotated[str, typer.Argument(help="What a row is called: {rows}.")],
    key: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A URL for a page, DOC_ID:START-END for a citation, a name for an entity, else an id."
        ),
    ],
    warehouse: cli.Warehouse,
    snapshot: cli.Snapshot = None,
    as_json: cli.AsJson = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Of a page: write its archived record, byte for byte, to standard output.")
    ] = False,
) -> None:
    """Show any row with the rows that it was made from and those made from it.

    For a citation: its place in the page and in the archive. For an entity: every statement about it, with sources
    and dates; entities that share a name are listed separately.
    """
    from quern.pipelines.inspect.show import ENTITY, NotInSnapshotError, entities_named, original_of
    from quern.pipelines.inspect.show import show as find

    opened = open_warehouse(warehouse).snapshot(snapshot)
    if raw:
        if kind != "page":
            raise NotInSnapshotError(f"--raw writes a page, and a {kind} is none")
        record = original_of(opened, key)
        typer.echo(record.head + record.block, nl=False)
        return
    results = entities_named(opened, key) if kind == ENTITY else [find(opened, kind, key)]
    if as_json:
        print_json({"entities": results} if kind == ENTITY else results[0])
        return
    for one in results:
        # A row as a person reads it: its columns, what it came from, what it led to.
        for part in ("row", "from", "to"):
            typer.echo(f"{part}:")
            for name, value in one[part].items():
                for shown in (value or ["none"]) if isinstance(value, list) else [value]:
                    text = str(shown)
                    if name == "facts" and isinstance(shown, Mapping):
                        fact = " | ".join(shown[part_of] for part_of in ("subject", "relation", "object"))
                        text = f"{fact}  ({shown['date'] or 'no date'}, {shown['source']})"
                    typer.echo(f"  {name}: {plain(text)}")


@app.command(
    epilog="Examples:  quern diff -w WH    quern diff 20240630T020000000 current -w WH    "
    "quern diff -w WH --table edges --limit 0 --json"
)
def diff(
    warehouse: cli.Warehouse,
    before: Annotated[str, typer.Argument(help="Build id, `previous` or `current`.")] = "previous",
    after: Annotated[str, typer.Argument(help="Build id, `previous` or `current`.")] = "current",
    table: Annotated[
        list[str] | None,
        typer.Option(help="Only this table, whose rows are named: {tables}. Repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Most rows of each kind that are named; 0 for all.")] = 20,
    as_json: cli.AsJson = False,
) -> None:
    """Show which rows were added, changed and removed between two snapshots; documents by title and address.

    Tables with equal digests are not read; others are read once, in some 100 bytes of memory a row.
    """
    from quern.pipelines.inspect.difference import difference, snapshot_named

    catalog = open_warehouse(warehouse)
    result = difference(
        snapshot_named(catalog, before), snapshot_named(catalog, after), tuple(table or ()), limit or None
    )
    if as_json:
        print_json(result.model_dump(mode="json"))
        return
    marks, tables = {"added": "+", "changed": "~", "removed": "-"}, set(table or ("documents",))
    typer.echo(f"{result.before} -> {result.after}")
    typer.echo(f"{'table':<12}{'before':>12}{'after':>12}{'added':>10}{'changed':>10}{'removed':>10}")
    for name, of in result.tables.items():
        counts = of.changes
        changes = [f"{n:,}" if n else "." for n in (counts.added, counts.changed, counts.removed)]
        cells = "".join(f"{text:>10}" for text in changes)
        typer.echo(f"{name:<12}{of.rows_before:>12,}{of.rows_after:>12,}{cells}")
    for name, of in result.tables.items():
        if name not in tables or not of.rows:
            continue
        typer.echo(f"\n{name}")
        for row in of.rows:
            key = " ".join(str(part) for part in row.key.values())
            if row.title is not None or row.url is not None:
                key = f"{row.title or '(no title)'}  {row.url or key}"
            columns = f"  ({', '.join(row.columns)})" if row.columns else ""
            typer.echo(one_line(f"{marks[row.change]} {key}{columns}"))
        counts = of.changes
        if left := counts.added + counts.changed + counts.removed - len(of.rows):
            typer.echo(f"... and {left:,} more; --limit 0 names all")


@app.command(
    epilog="Examples:  quern rejects -w WH    quern rejects -w WH --job clean --reason no_text --limit 0    "
    "quern rejects -w WH --key https://tides.example/ --json"
)
def rejects(
    warehouse: cli.Warehouse,
    job: Annotated[str, typer.Option(help="Only of this job, for example clean.")] = "",
    reason: Annotated[str, typer.Option(help="Only with this reason code, for example no_text.")] = "",
    key: Annotated[
        str, typer.Option(metavar="PREFIX", help="Only with a key (address, id) or detail that begins so.")
    ] = "",
    snapshot: cli.Snapshot = None,
    limit: Annotated[int, typer.Option(min=0, help="Most rows after the summary; 0 for all.")] = 20,
    as_json: cli.AsJson = False,
) -> None:
    """Show what a snapshot left out and why: counts and shares of each job's input, losses first, then the rows.

    Before the first build, what the page store left out. With a warning the row itself is kept, without a value.
    """
    from quern.indexes.page_store import PageStore
    from quern.pipelines.inspect.rejects import Wanted, left_out, name_of, rows, summary, there_are

    opened = left_out(open_warehouse(warehouse), snapshot)
    selection = Wanted(job, reason, key)
    counted = summary(opened, selection)
    matches = rows(opened, selection, limit)
    if as_json:
        # One object, its rows written as they are read.
        manifest = getattr(opened, "manifest", None)
        head = json.dumps({"snapshot": manifest and manifest.build_id, "summary": counted}, ensure_ascii=False)
        typer.echo(head[:-1] + ', "rows": [', nl=False)
        for number, row in enumerate(matches):
            typer.echo(("," if number else "") + "\n" + json.dumps(row, ensure_ascii=False), nl=False)
        typer.echo("\n]}")
    elif counted:
        if isinstance(opened, PageStore):
            typer.echo("nothing was built yet; the page store left out\n")
        from quern.schemas.tables import NO_LOSS

        typer.echo(f"{'job':<12}{'reason':<24}{'count':>10}{'share':>9}")
        for row in counted:
            share = "" if row["share"] is None else f"{row['share']:.2%}"
            note = "  warning" if row.get("warning") else "  no loss" if row["reason"] in NO_LOSS else ""
            typer.echo(f"{row['job']:<12}{row['reason']:<24}{row['count']:>10,}{share:>9}{note}")
        typer.echo("")
        shown = 0
        for row in matches:
            typer.echo(one_line(f"{row['job']}: {row['reason']}: {row['key']}: {row['detail']}"))
            shown += 1
        if (left := sum(row["count"] for row in counted) - shown) and limit:
            typer.echo(f"... and {left:,} more; --limit 0 shows all")
    else:
        typer.echo(f"{name_of(opened)} has no reject {selection}".rstrip() + f"; {there_are(opened)}")


@app.command(epilog="Examples:  quern settings    quern settings --set link.k=2 --json")
def settings(settings: cli.SettingsFile = None, override: cli.Overrides = None, as_json: cli.AsJson = False) -> None:
    """Print every setting with its value and what it means."""
    from quern.schemas.settings.reading import describe, group_doc

    loaded = load_settings(settings, override)
    if as_json:
        print_json(loaded.model_dump())
        return
    shown = None
    for group, name, value, description in describe(loaded):
        if group != shown:
            typer.echo(f"{group}:  # {group_doc(group)}")
            shown = group
        typer.echo(f"  {name}: {json.dumps(value)}  # {description}")
