"""Judgements and runs as files of TREC, which trec_eval, ir_measures and other tools of the field read.

DIR/qrels.txt     query_id 0 doc_id 1
DIR/RECIPE.run    query_id Q0 doc_id rank score recipe
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

import ir_measures

from quern.schemas.errors import QuernError

# Fields are separated by white space; an id that has some has percent escapes in its place.
_UNSAFE = re.compile(r"[\s%]+")


class TrecError(QuernError):
    """Files that cannot be written; the message says why."""


def write_judgements(folder: Path, judgements: Iterable[ir_measures.Qrel]) -> None:
    """Write `qrels.txt`.

    Raises:
        TrecError: The folder cannot be written to.
    """
    _write(folder / "qrels.txt", (f"{_id(j.query_id)} 0 {_id(j.doc_id)} {j.relevance}" for j in judgements))


def write_run(folder: Path, recipe: str, run: Sequence[ir_measures.ScoredDoc]) -> None:
    """Write `RECIPE.run`; ranks count from 1 within each question.

    Raises:
        TrecError: The folder cannot be written to.
    """
    ranks: dict[str, int] = {}
    lines = []
    for found in run:
        rank = ranks[found.query_id] = ranks.get(found.query_id, 0) + 1
        lines.append(f"{_id(found.query_id)} Q0 {_id(found.doc_id)} {rank} {found.score:g} {recipe}")
    _write(folder / f"{recipe}.run", lines)


def _id(key: str) -> str:
    return _UNSAFE.sub(lambda m: quote(m[0], safe=""), key)


def _write(path: Path, lines: Iterable[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    except OSError as error:
        raise TrecError(f"--trec {path} cannot be written: {error.strerror}") from None
