"""The path of a question through the graph as an SVG file."""

from __future__ import annotations

from pathlib import Path

from quern.indexes.storage import write_text
from quern.pipelines.answers.views.passages import passages_of
from quern.pipelines.answers.views.picture import picture_of
from quern.pipelines.answers.views.report import page_environment
from quern.schemas.answers import Answer
from quern.schemas.errors import QuernError


class GraphError(QuernError):
    """A picture that cannot be drawn or written; the message says what to do."""


def draw_path(answer: Answer) -> str:
    """The picture of the report's path, with its colours; one answer gives one picture.

    Raises:
        GraphError: There is no path to draw.
    """
    if not answer.hits:
        raise GraphError("there is no path to draw: no chunk was found for the question")
    passages = passages_of(answer, [], "picture")
    return page_environment().get_template("picture.svg.j2").render(picture=picture_of(answer, passages))


def write_path(answer: Answer, path: Path) -> None:
    """Write the picture to the file at `path`.

    Raises:
        GraphError: The name does not end in .svg, there is no path to draw, or the file cannot be written.
    """
    if path.suffix != ".svg":
        raise GraphError(f"--picture {path}: the picture is an SVG file; name one that ends in .svg")
    drawn = draw_path(answer)
    try:
        write_text(path, drawn + "\n")
    except OSError as error:
        raise GraphError(f"--picture {path} cannot be written: {error.strerror}") from error
