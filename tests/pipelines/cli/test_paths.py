"""Every path that a command takes is a path on this machine or an address that the command can read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.main import get_command

from quern.pipelines.api import asking as api
from quern.pipelines.cli.main import app
from quern.schemas.addresses import AddressError
from tests.conftest import Quern


def commands(group: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below `group`, with its names."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


def paths(command: Any) -> Iterator[tuple[Any, Callable[[str], Any]]]:
    """The arguments and options of a command that are paths, with what parses them."""
    hints = get_type_hints(command.callback, include_extras=True)
    for parameter in command.params:
        kind, *about = get_args(hints[parameter.name])
        parser = getattr(about[0], "parser", None) if about else None
        if parser or Path in (kind, *get_args(kind)):
            yield parameter, parser or Path


def called(names: tuple[str, ...], command: Any, path: Any, text: str) -> list[str]:
    """A call of the command with `text` for `path`, and something for all else that it needs."""
    words = list(names)
    for parameter in command.params:
        value = text if parameter is path else "x"
        if parameter.param_type_name == "argument":
            words.append(value)
        elif parameter is path or parameter.required:
            words += [parameter.opts[0], value]
    return words


COMMANDS = dict(commands(get_command(app)))
PATHS = {f"{' '.join(names)} {path.name}": (names, c, path) for names, c in COMMANDS.items() for path, _ in paths(c)}


@pytest.mark.parametrize("case", PATHS)
def test_every_path_of_every_command_refuses_a_scheme_that_it_cannot_serve(
    case: str, quern_here: Quern, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = quern_here(*called(*PATHS[case], "hdfs://x/y"))
    assert refused.returncode == 2
    assert re.fullmatch(
        r"quern: [-A-Za-z.]+: hdfs://x/y is not served here: .* read pages from s3://.*\n", refused.stderr
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("warehouse", ["s3://bucket", "gs://", "hdfs://x/wh", "./s3:/bucket/wh", "s3:/bucket/wh", ""])
def test_no_warehouse_is_made_of_an_address_that_is_none_on_this_machine(
    warehouse: str, quern_here: Quern, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pages = tmp_path / "pages.jsonl"
    pages.write_text('{"doc_id": "a", "text": "High water is at nine."}', "utf-8")
    refused = quern_here("build", pages, "-w", warehouse, "--engine", "local")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr.startswith("quern: --warehouse: ")
    assert list(tmp_path.iterdir()) == [pages]
    with pytest.raises(AddressError):
        api.build(pages, warehouse)


def test_folders_may_have_spaces_and_letters_of_any_script(quern_here: Quern, tmp_path: Path) -> None:
    folder = tmp_path / "Größe 東京 x"
    folder.mkdir()
    pages, questions, warehouse = folder / "Seiten é.jsonl", folder / "Fragen 問.txt", folder / "Lager 庫"
    pages.write_text('{"doc_id": "tides", "text": "High water at the Tollen quay is at nine."}', "utf-8")
    questions.write_text("When is high water at the quay?\n", "utf-8")
    assert quern_here("build", pages.as_uri(), "-w", warehouse, "--engine", "local").returncode == 0
    asked = quern_here("ask", "-w", warehouse.as_uri(), "--json", "When is high water at the quay?")
    assert json.loads(asked.stdout)["answer"] == "nine [1] High water at the Tollen quay is at nine. [1]"
    assert quern_here("answer", questions, "-w", warehouse, "--out", folder / "Antworten 答").returncode == 0
    assert "at nine" in (folder / "Antworten 答" / "answers.jsonl").read_text("utf-8")
    assert quern_here("verify", "-w", warehouse).returncode == 0
