"""Options that messages of the command line name: each is one of the command that it is named for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from typer.main import get_command

from quern.pipelines.cli.main import app

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_CODE = re.compile(r"`([^`]*)`")


def unknown_options(arguments: Sequence[str], errors: str) -> list[str]:
    """The options that hints of `quern ARGUMENTS` name and that the command lacks, as `COMMAND OPTION`.

    In backticks a command of Quern is read as one; an option elsewhere is one of the command that was run.
    """
    return [found for line in errors.splitlines() if line.startswith("quern: ") for found in _of_line(arguments, line)]


def _of_line(arguments: Sequence[str], line: str) -> Iterator[str]:
    codes = _CODE.findall(line)
    own = [code for code in codes if code.startswith("-")]
    named = [code.split() for code in codes if code.startswith("quern ")]
    said = [(arguments, " ".join([_CODE.sub(" ", line), *own])), *((words[1:], " ".join(words)) for words in named)]
    for words, text in said:
        name, options = _command(words)
        yield from (f"{name} {option}" for option in _OPTION.findall(text) if option not in options)


def _command(words: Sequence[str]) -> tuple[str, set[str]]:
    """Name and options of the command that `words` begin with."""
    command: Any = get_command(app)
    name = "quern"
    for word in words:
        if (inner := getattr(command, "commands", {}).get(word)) is None:
            break
        command, name = inner, f"{name} {word}"
    return name, {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
