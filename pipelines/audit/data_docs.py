"""The data docs of an audit: one page per table by the renderers of Great Expectations, and an index.

The library's own page shell loads styles and scripts from six hosts and links to its newsletter. Here its content
goes into a shell of ours: static pages that need nothing but themselves.
"""

from __future__ import annotations

import html
import json
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, FileSystemLoader

from quern.indexes.storage import write_text
from quern.jobs.audit.gx import DefaultJinjaPageView, ValidationResultsPageRenderer
from quern.jobs.audit.validation import Audit

_TEMPLATES = Path(__file__).parent / "templates"


class _View(DefaultJinjaPageView):  # type: ignore[misc]
    """The library's view of its content blocks, with templates of ours before its own."""

    def __init__(self) -> None:
        super().__init__()
        self.env.loader = ChoiceLoader([FileSystemLoader(_TEMPLATES), self.env.loader])
        # The library's templates put finished markup into one another, so what they are given is escaped before.
        self.env.autoescape = lambda name: name is not None and name.startswith("audit_")


def write_docs(audit: Audit, build_id: str, folder: Path) -> Path:
    """Write the pages, and the results as JSON beside them; returns the index."""
    view = _View()
    page = view.env.get_template("audit_table.html.j2")
    for result in audit.results:
        content = ValidationResultsPageRenderer(run_info_at_end=True).render(result).to_json_dict()
        failed = [c for c in audit.checks if c.table == result.suite_name and not c.passed]
        known = {"table": result.suite_name, "build_id": build_id, "failed": failed, "statistics": result.statistics}
        write_text(folder / f"{result.suite_name}.html", page.render(_escaped(content), **known))
        write_text(folder / f"{result.suite_name}.json", _json(result))
    index = view.env.get_template("audit_index.html.j2").render(_index(audit, build_id))
    write_text(folder / "index.html", index)
    return folder / "index.html"


def _escaped(content: Any) -> Any:
    """`content` with its texts escaped for HTML: names and values come from web pages.

    The library itself escapes what it puts into its string templates, the `params`.
    """
    if isinstance(content, str):
        return html.escape(content, quote=False)
    if isinstance(content, dict):
        return {key: value if key == "params" else _escaped(value) for key, value in content.items()}
    return [_escaped(part) for part in content] if isinstance(content, list | tuple) else content


def _json(result: Any) -> str:
    """The result as the library serialises it; of its numbers, some are still NumPy's."""
    return (
        json.dumps(result.to_json_dict(), indent=1, default=lambda v: v.item() if hasattr(v, "item") else str(v)) + "\n"
    )


def _index(audit: Audit, build_id: str) -> dict[str, Any]:
    return {
        "build_id": build_id,
        "refused": bool(audit.failures()),
        "tables": counts(audit),
        "failed": [*audit.failures("critical"), *audit.failures("warning")],
        "skipped": [c for c in audit.checks if c.skipped],
    }


def counts(audit: Audit) -> list[dict[str, Any]]:
    """Per table how many expectations there are and how many failed, in the order of the audit."""
    made = Counter(c.table for c in audit.checks if not c.skipped)
    critical = Counter(c.table for c in audit.failures("critical"))
    warned = Counter(c.table for c in audit.failures("warning"))
    skipped = Counter(c.table for c in audit.checks if c.skipped)
    return [
        {"table": t, "expectations": made[t], "critical": critical[t], "warnings": warned[t], "skipped": skipped[t]}
        for t in (r.suite_name for r in audit.results)
    ]
