"""Quern grinds a web corpus into a query-centric index, and answers batches of questions from it with citations.

    >>> import pathlib, tempfile
    >>> import quern
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> document = '{"doc_id": "tides", "title": "Tides", "text": "High water at the Tollen quay is at nine."}'
    >>> _ = (folder / "documents.jsonl").write_text(document)
    >>> settings = {"engine.engine": "local"}  # a handful of rows: neither Spark nor Ray
    >>> manifest = quern.build(folder / "documents.jsonl", folder / "warehouse", settings)
    >>> manifest.tables["documents"].rows
    1
    >>> answer = quern.ask("When is high water at the quay?", folder / "warehouse")
    >>> answer.answer
    'nine [1] High water at the Tollen quay is at nine. [1]'
    >>> answer.citations[0].quote
    'High water at the Tollen quay is at nine.'
    >>> asked = {"query_id": "q1", "question": "When is high water?", "evidence_doc_ids": ["tides"]}
    >>> quern.evaluate([asked], folder / "warehouse", recipes=["bm25"], k=[1])["bm25"]["recall@1"]
    1.0

The command `quern` does the same and more; `help(quern.ask)` and the like document the functions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quern.indexes.catalog import Manifest, Warehouse
    from quern.pipelines.api.asking import answer, ask, build, search, sources, timeline
    from quern.pipelines.api.looking import compare, diff, evaluate, graph, original, show, table
    from quern.schemas.answers import Answer, Hit, Question
    from quern.schemas.differences import SnapshotDifference
    from quern.schemas.errors import QuernError
    from quern.schemas.settings import Settings
    from quern.schemas.sources import FoundSources
    from quern.schemas.timelines import Timeline

_HOMES = {
    **dict.fromkeys(("answer", "ask", "search", "sources", "timeline"), "quern.pipelines.api.asking"),
    **dict.fromkeys(("compare", "evaluate"), "quern.pipelines.api.looking"),
    **dict.fromkeys(("diff", "graph", "original", "show", "table"), "quern.pipelines.api.looking"),
    "build": "quern.pipelines.api.asking",
    **dict.fromkeys(("Manifest", "Warehouse"), "quern.indexes.catalog"),
    **dict.fromkeys(("Answer", "Hit", "Question"), "quern.schemas.answers"),
    "QuernError": "quern.schemas.errors",
    "SnapshotDifference": "quern.schemas.differences",
    "FoundSources": "quern.schemas.sources",
    "Settings": "quern.schemas.settings",
    "Timeline": "quern.schemas.timelines",
}

__all__ = [
    "Answer",
    "FoundSources",
    "Hit",
    "Manifest",
    "QuernError",
    "Question",
    "Settings",
    "SnapshotDifference",
    "Timeline",
    "Warehouse",
    "answer",
    "ask",
    "build",
    "compare",
    "diff",
    "evaluate",
    "graph",
    "original",
    "search",
    "show",
    "sources",
    "table",
    "timeline",
]


def __getattr__(name: str) -> Any:
    """What is named, imported when it is first asked for: the commands need little of it, and start at once."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
