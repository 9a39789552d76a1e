"""The data docs of an audit: a page that lists every check by table, and the checks as JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from quern.indexes.storage import write_text
from quern.jobs.audit.checks import Audit

_TEMPLATES = Path(__file__).parent / "templates"


def write_docs(audit: Audit, build_id: str, folder: Path) -> Path:
    """Write the page, and `checks.json` beside it; returns the page, which needs nothing but itself."""
    environment = Environment(autoescape=True, loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined)
    page = environment.get_template("audit_index.html.j2").render(
        build_id=build_id,
        refused=bool(audit.failures()),
        tables=counts(audit),
        failed=[*audit.failures("critical"), *audit.failures("warning")],
        checks=audit.checks,
    )
    write_text(folder / "checks.json", json.dumps([c.as_row() for c in audit.checks], ensure_ascii=False, indent=1))
    write_text(folder / "index.html", page)
    return folder / "index.html"


def counts(audit: Audit) -> list[dict[str, Any]]:
    """Per table how many expectations there are and how many failed, in the order of the audit."""
    made = Counter(c.table for c in audit.checks if not c.skipped)
    critical = Counter(c.table for c in audit.failures("critical"))
    warned = Counter(c.table for c in audit.failures("warning"))
    skipped = Counter(c.table for c in audit.checks if c.skipped)
    return [
        {"table": t, "expectations": made[t], "critical": critical[t], "warnings": warned[t], "skipped": skipped[t]}
        for t in dict.fromkeys(c.table for c in audit.checks)
    ]
