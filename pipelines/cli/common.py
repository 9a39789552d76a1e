"""Options and printing that the commands share.

A help text names what an option can be as `{engines}`: names are looked up when help is asked for, so that a command
that runs imports nothing for them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.models import CommandFunctionType as CommandFunction
from typer.models import OptionInfo

from quern.indexes.disk import is_read_only
from quern.schemas.addresses import AddressError, Url, local_path, page_source, warehouse_place
from quern.schemas.words.fields import names_of_fields, pairs_of

if TYPE_CHECKING:
    from quern.indexes.catalog import Warehouse as Catalog
    from quern.pipelines.retrieve.searcher import Searcher
    from quern.schemas.settings import Settings


def _in(module: str) -> Any:
    return import_module(f"quern.{module}")


def _of_setting(group: str, name: str) -> Iterable[str]:
    values: Iterable[str] = _in("schemas.settings.reading").choices(group, name)
    return values


def _rows() -> Iterable[str]:
    show = _in("pipelines.inspect.show")
    return [*(table.row for table in _in("schemas.tables").TABLES.values() if table.row), show.CITATION, show.ENTITY]


CHOICES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "recipes": lambda: _in("pipelines.retrieve.recipes").RECIPES,
    "engines": lambda: _of_setting("engine", "engine"),
    "search_servers": lambda: _of_setting("elasticsearch", "kind"),
    "exported": lambda: _in("indexes.served.search_layout").EXPORTABLE,
    "tables": lambda: [name for name, table in _in("schemas.tables").TABLES.items() if table.pinned],
    "rows": _rows,
    "steps": lambda: _in("pipelines.build.stage").stage_names(),
    "judges": lambda: _in("pipelines.judging.judges").JUDGES,
    "formats": lambda: _in("jobs.pages.inputs").KINDS,
}


def with_choices(text: str) -> str:
    """A help text with the names that it asks for."""
    return re.sub(r"\{(\w+)\}", lambda m: ", ".join(CHOICES[m[1]]()) if m[1] in CHOICES else m[0], text)


LOGGERS = ("quern",)
Row = TypeVar("Row")

if TYPE_CHECKING:
    PageSource = Path | Url
else:
    PageSource = str  # Typer takes no unions; the parser of `Pages` says what it is.

Pages = Annotated[
    PageSource | None,
    typer.Argument(
        metavar="[PAGES]",
        help="Folder, file or s3:// address ({formats}, each also as .gz, .zst); default: the page store.",
        parser=page_source,
    ),
]


def warehouse_folder(text: str) -> Path:
    """The directory of the warehouse that `text` names; of one in an object store its folder on this machine.

    Raises:
        AddressError: It names none.
        StoreError: The folder cannot be made.
    """
    place = warehouse_place(text)
    if not isinstance(place, Url):
        return place
    from quern.indexes.catalog.object_store import working_folder

    return working_folder(place)


def warehouse_option(meaning: str) -> Any:
    """The option `--warehouse` of a command that reads one, wherever it is published."""
    return typer.Option("--warehouse", "-w", envvar="QUERN_WAREHOUSE", help=meaning, parser=warehouse_folder)


Warehouse = Annotated[Path, warehouse_option("Directory of the warehouse, or its s3://, gs:// or az:// address.")]
LocalWarehouse = Annotated[
    Path, typer.Option("--warehouse", "-w", envvar="QUERN_WAREHOUSE", help="Directory of the warehouse.")
]
SettingsFile = Annotated[
    Path | None, typer.Option("--settings", envvar="QUERN_SETTINGS", help="YAML file of settings.")
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="One setting, for example link.k=2; repeatable.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=NAME,...",
        help="What files call the fields of documents, for example text=body,doc_id=id (ingest.map); "
        'text=subject+body joins two, text=document.body is nested, doc_id="id, internal" has a comma; repeatable.',
    ),
]
DayFirst = Annotated[
    bool | None,
    typer.Option(
        "--day-first/--month-first",
        help="Read 03/05/2024 as the 3rd of May, or the 5th of March (ingest.day_first); else it is left out.",
    ),
]
Snapshot = Annotated[str | None, typer.Option("--snapshot", help="Build id of a snapshot; default the published one.")]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only those of which this holds, for example site=example.org, 'published_at>=2024-05' or "
        "'language in (de, fr) and title contains tide'; repeatable.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DATE",
        help="Answer by what was published until this day (2024-06-30); `last month` counts from it.",
    ),
]
Wait = Annotated[
    float, typer.Option("--wait", metavar="SECONDS", min=0.0, help="How long to wait where another build is writing.")
]
RecipeName = Annotated[
    str,
    typer.Option(
        "--recipe",
        help="How chunks are ranked: {recipes}; `quern recipes` says more.",
    ),
]
SparkMaster = Annotated[str | None, typer.Option(help="Spark master, default local.")]
RayAddress = Annotated[str | None, typer.Option(help="Address of a Ray cluster, default one on this machine.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")]
Anew = Annotated[bool, typer.Option("--anew", help="Ignore results of earlier runs.")]
Engine = Annotated[str | None, typer.Option(help="{engines} (engine.engine).")]


def print_json(value: object) -> None:
    """Print `value` as indented JSON on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1, default=str))


def terminal_width() -> int:
    """Columns of the terminal, at most 100, as many as where there is none."""
    return min(100, os.get_terminal_size().columns or 100) if sys.stdout.isatty() else 100


def counted(what: str, rows: Iterable[Row], size: Callable[[], int | None]) -> Iterator[Row]:
    """The rows, with progress on a terminal."""
    from quern.jobs.core.progress import watched

    done = 0
    with watched(what, size() if sys.stderr.isatty() else 0, lambda: done):
        for row in rows:
            yield row
            done += 1


def tell_rejected(rejected: Mapping[str, int], what: str, out: Path) -> None:
    """Say how many lines of a file were no `what`, by reason."""
    if count := sum(rejected.values()):
        reasons = ", ".join(f"{reason}: {n}" for reason, n in sorted(rejected.items()))
        lines = f"1 line is no {what}" if count == 1 else f"{count} lines are no {what}s"
        typer.echo(f"{lines} ({reasons}): {out / 'rejects.jsonl'}")


class Command(TyperCommand):
    """A command whose help names choices, and whose examples stand one a line, however wide the terminal is."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what arguments and options mean."""
        for parameter in self.get_params(ctx):
            parameter.help = with_choices(getattr(parameter, "help", None) or "")  # type: ignore[attr-defined]
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples of the epilog."""
        if shown := examples(self.epilog or ""):
            with formatter.section("Examples"):
                for example in shown:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class App(typer.Typer):
    """An application whose commands show their examples, and parse their paths as addresses."""

    def command(self, *args: Any, **options: Any) -> Callable[[CommandFunction], CommandFunction]:
        """A decorator that makes a function a command."""
        decorate = super().command(*args, cls=Command, **options)

        def with_addresses(function: CommandFunction) -> CommandFunction:
            """Has every parameter that is a path, or has a parser, parsed by one that names it in errors."""
            hints = get_type_hints(function, include_extras=True)
            for name in [name for name, hint in hints.items() if get_origin(hint) is Annotated]:
                kind, about = get_args(hints[name])
                if parser := about.parser or (local_path if Path in (kind, *get_args(kind)) else None):
                    option = isinstance(about, OptionInfo)
                    label = f"--{name.replace('_', '-')}" if option else (about.metavar or name.upper()).strip("[].")
                    parameter = copy(about)
                    parameter.parser = _naming(label, parser)
                    hints[name] = Annotated[kind, parameter]
            function.__annotations__ = hints
            return decorate(function)

        return with_addresses


def _naming(label: str, parser: Callable[[str], Path | Url]) -> Callable[[str], Path | Url]:
    """`parser`, whose errors begin with the argument or option that is at fault."""

    def parse(text: str) -> Path | Url:
        try:
            return parser(text)
        except AddressError as error:
            raise AddressError(f"{label}: {error}") from None

    return parse


def examples(epilog: str) -> list[str]:
    """The examples of an epilog, `Examples:  one    another`."""
    return [e.strip() for e in re.split(r"\s{2,}", epilog.partition(":")[2]) if e.strip()]


def new_app(help_: str, name: str | None = None) -> App:
    """An application with the look that all commands share."""
    return App(
        name=name,
        no_args_is_help=True,
        add_completion=name is not None,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help=help_,
    )


def load_settings(path: Path | None, overrides: Sequence[str] | None, base: Settings | None = None) -> Settings:
    """Settings from `base` or the defaults, then a file, then `--set`; half of what `--help` would take to import.

    Raises:
        SettingsError: The file cannot be read, or a setting is unknown or ill-typed.
    """
    from quern.schemas.settings import reading

    return reading.load_settings(path, overrides or (), base)


def overriding(
    override: list[str] | None,
    names: Sequence[str] | None = None,
    day_first: bool | None = None,
    **engines: str | None,
) -> list[str]:
    """What `--set` says, and the options that say the same of an engine, or of how files are read."""
    chosen = [f"engine.{name}={value}" for name, value in engines.items() if value is not None]
    mapped = [pair for text in names or () for pair in pairs_of(text)]
    read = {"map": mapped or None, "day_first": day_first}
    options = [f"ingest.{name}={json.dumps(value)}" for name, value in read.items() if value is not None]
    return [*(override or []), *chosen, *options]


def question_names(names: Sequence[str] | None) -> dict[str, str]:
    """What a file calls fields of questions, by the names of these.

    Raises:
        SettingsError: `--map` names no field of questions, or is not of the form.
    """
    if not names:
        return {}
    from quern.schemas.answers import Question
    from quern.schemas.settings.reading import SettingsError

    try:
        pairs = [pair for text in names for pair in pairs_of(text)]
        return names_of_fields(pairs, tuple(Question.model_fields), "questions")
    except ValueError as error:
        raise SettingsError(f"--map: {error}") from None


def written_catalog(source: PageSource | None, warehouse: Path) -> Catalog:
    """The warehouse that a build of `source` writes to: there, or a new one for a source that there is.

    Raises:
        IngestError: There is no such source, or nothing in it that is read.
        WarehouseError: There is no such warehouse, and no source to begin one with.
    """
    if source is None:
        return open_warehouse(warehouse)
    from quern.jobs.pages.inputs import of_source  # Only who names files reads files.

    of_source(source)  # A mistyped path must not leave an empty warehouse behind.
    return catalog_type().create(warehouse)


def open_searcher(
    warehouse: Path,
    snapshot: str | None,
    settings: Path | None,
    override: list[str] | None,
    where: Sequence[str] | None = None,
    as_of: str | None = None,
) -> Searcher:
    """A searcher of the snapshot; its own settings hold unless a file or `--set` says otherwise.

    Raises:
        FilterError: One of the conditions `where`, which are added to `retrieve.where`, cannot be read.
        SettingsError: A setting is unknown or ill-typed, or `as_of` is no day.
    """
    from quern.pipelines.retrieve import searcher
    from quern.pipelines.retrieve.filters import check_columns
    from quern.schemas.settings.reading import SettingsError

    opened = open_warehouse(warehouse).snapshot(snapshot)
    chosen = load_settings(settings, override, searcher.settings_to_ask_by(opened.manifest))
    conditions = (*chosen.retrieve.where, *(where or ()))
    try:
        day = chosen.retrieve.as_of if as_of is None else date.fromisoformat(as_of)
    except ValueError:
        raise SettingsError(f"--as-of is {as_of!r}; a day is written like 2024-06-30") from None
    retrieve = chosen.retrieve.model_copy(update={"where": conditions, "as_of": day})
    opened_searcher = searcher.Searcher(opened, chosen.model_copy(update={"retrieve": retrieve}))
    check_columns(opened_searcher, conditions)
    if chosen.images.fetch:
        from quern.pipelines.images.pictures import with_pictures  # Scrapy takes half a second to import.

        return with_pictures(opened_searcher)
    return opened_searcher


def catalog_type() -> type[Catalog]:
    """The class of warehouses; commands load it when they run, for Arrow takes a second to import."""
    from quern.indexes.catalog import Warehouse as Catalog

    return Catalog


def open_warehouse(warehouse: Path) -> Catalog:
    """The warehouse in a folder or an object store.

    Raises:
        WarehouseError: There is none.
    """
    return catalog_type().open(warehouse)


def documents_where(warehouse: Path, where: Sequence[str], *, older: bool = False) -> list[str]:
    """Ids of the documents of the published snapshot, or with `older` of any, that meet the conditions `where`.

    Raises:
        FilterError: One of them cannot be read, of no snapshot.
    """
    from quern.pipelines.retrieve import searcher
    from quern.pipelines.retrieve.filters import FilterError, check_columns, documents_that_meet

    catalog = open_warehouse(warehouse)
    doc_ids: set[str] = set()
    faults = []
    builds = catalog.snapshot_ids() if older else [None]
    for build_id in builds:
        snapshot = catalog.snapshot(build_id)
        try:
            check_columns(searcher.Searcher(snapshot, snapshot.manifest.known_settings()), where)
            doc_ids.update(documents_that_meet(snapshot, where))
        except FilterError as error:  # A snapshot may lack metadata that another has.
            faults.append(error)
    if faults and len(faults) == len(builds):
        raise faults[-1]
    return sorted(doc_ids)


@contextmanager
def chatter_to(path: Path) -> Iterator[None]:
    """Send what processes and native code write to standard error to the file `path` while the block runs.

    Spark's Java process and Ray's core write to the file descriptor, past Python. What Python writes to
    `sys.stderr`, and the handlers of `LOGGERS`, still reach the terminal.
    """
    sys.stderr.flush()
    before = sys.stderr
    file = _opened(path)
    saved = os.dup(2)
    os.dup2(file, 2)
    os.close(file)
    with os.fdopen(saved, "w", buffering=1, closefd=False) as terminal:
        sys.stderr = terminal
        handlers = [h for name in LOGGERS for h in logging.getLogger(name).handlers]
        moved = {h for h in handlers if type(h) is logging.StreamHandler and h.stream is before}
        for handler in moved:
            handler.setStream(terminal)
        try:
            yield
        finally:
            for handler in moved:
                handler.setStream(before)
            sys.stderr = before
            terminal.flush()
            os.dup2(saved, 2)
    os.close(saved)


def _opened(path: Path) -> int:
    """A descriptor that is appended to `path`; in a warehouse that may not be written, one that leads nowhere."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        if not is_read_only(error):
            raise
        return os.open(os.devnull, os.O_WRONLY)
