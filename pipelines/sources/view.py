"""Sources of a question as text for a terminal: the ones that answer with their evidence, then the others and why."""

from __future__ import annotations

import textwrap

from quern.schemas.sources import FoundSources, RatedSource
from quern.schemas.words.lines import one_line, shortened

_INDENT = 4
_QUOTE = 300


def render_sources(found: FoundSources, width: int = 100) -> str:
    """The sources as lines of at most `width` characters, but for addresses."""
    count = len(found.valid)
    head = f"{count} {'source answers' if count == 1 else 'sources answer'}: {one_line(found.question)}"
    lines = textwrap.wrap(head, width)
    for source in found.valid:
        lines += ["", f"{_called(source)}  score {source.score:.2f}{_rated(source)}"]
        for piece in source.evidence:
            quote = f"“{shortened(piece.text, _QUOTE)}”"
            lines += textwrap.wrap(quote, width, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)
            lines.append(f"{' ' * _INDENT}{one_line(piece.url or piece.doc_id)}")
    others = [source for source in found.sources if not source.answers]
    if others:
        lines += ["", "not taken:"]
        lines += [f"{' ' * _INDENT}{_called(s)}  score {s.score:.2f}: {one_line(s.why_not or '')}" for s in others]
    return "\n".join(lines)


def _called(source: RatedSource) -> str:
    home = source.home_url or source.site
    return one_line(home if source.name in (source.site, home) else f"{source.name}, {home}")


def _rated(source: RatedSource) -> str:
    return "" if source.rating is None else f", rated {source.rating:.2f}"
