"""A batch of answers as one HTML page that needs nothing beside itself: no network, no script, no second file.

All that comes from the corpus is hostile: it is escaped, its control characters are replaced one for one, its
directions are isolated, its addresses become links only where they are http(s), and the page's policy lets only
its own style and script run, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from quern.indexes.storage import write_whole
from quern.pipelines.answers.views.passages import (
    passages_of,
    sources_of,
    statements_of,
)
from quern.pipelines.answers.views.picture import counted, picture_of
from quern.schemas.answers import Answer
from quern.schemas.words.lines import printable, shortened

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    id: str
    question: str
    found: bool


def _value(value: object) -> str:
    """A value of the header as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return value.strftime("%Y-%m-%d %H:%M") if isinstance(value, datetime) else str(value)


def _finalize(value: object) -> object:
    return printable(value) if type(value) is str else value


def page_environment() -> Environment:
    """Templates of what a browser shows: everything is escaped, nothing undefined passes."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["count"] = counted
    environment.filters["shown"] = _value
    return environment


def _digest(text: str) -> str:
    """What a Content-Security-Policy calls an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _write_sections(answers: Iterable[Answer], environment: Environment, out: IO[str]) -> list[Entry]:
    """Write a section per answer as they come; what the table of contents needs of them."""
    template = environment.get_template("answer.html.j2")
    contents: list[Entry] = []
    for number, answer in enumerate(answers, 1):
        prefix = f"q{number}"
        sources = sources_of(answer, prefix)
        passages = passages_of(answer, sources, prefix)
        section = template.render(
            id=prefix,
            number=number,
            answer=answer,
            statements=statements_of(answer, sources),
            sources=sources,
            passages=passages,
            picture=picture_of(answer, passages) if passages else None,
        )
        out.write(section)
        contents.append(Entry(prefix, shortened(printable(answer.question), 160), answer.found))
    return contents


def _write(answers: Iterable[Answer], title: str, snapshot: Mapping[str, object], path: Path) -> None:
    """Write the sections beside `path`, then the page around them: its head counts what they hold."""
    environment = page_environment()
    script = environment.get_template("report.js").render()
    style = environment.get_template("report.css.j2").render()
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="", dir=path.parent) as body:
        contents = _write_sections(answers, environment, body)
        body.seek(0)
        page = environment.get_template("report.html.j2").generate(
            title=title,
            snapshot=snapshot,
            contents=contents,
            answered=sum(entry.found for entry in contents),
            style=Markup(style),  # noqa: S704 - our own file.
            script=Markup(script),  # noqa: S704 - our own file.
            style_digest=_digest(style),
            script_digest=_digest(script),
            body=map(Markup, iter(partial(body.read, _BLOCK), "")),
        )
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(page)


def write_report(answers: Iterable[Answer], path: Path, *, title: str, snapshot: Mapping[str, object]) -> None:
    """Write the report of `answers` to `path`, whole or not at all; answers are taken and let go one by one.

    Args:
        answers: In the order of the report.
        path: File to write; `.html`.
        title: Heading of the page.
        snapshot: What the answers were made from: label → value, in the order of the page.
    """
    write_whole(path, partial(_write, answers, title, snapshot))
