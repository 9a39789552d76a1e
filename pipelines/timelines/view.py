"""A timeline as text for a terminal: a date, what happened, and where that is told."""

from __future__ import annotations

import re
import textwrap

from quern.schemas.timelines import Timeline
from quern.schemas.words.lines import plain

_INDENT = 4


def render_timeline(timeline: Timeline, width: int = 100) -> str:
    """The timeline as lines of at most `width` characters, but for addresses."""
    count = len(timeline.events)
    head = f"{plain(timeline.topic)}: {count} {'event' if count == 1 else 'events'}"
    if timeline.granularity:
        head += f", by {timeline.granularity}"
    lines = textwrap.wrap(head, width) or [head]
    if timeline.keywords:
        lines += textwrap.wrap(plain(", ".join(timeline.keywords)), width)
    if timeline.near:
        lines += ["", plain(f"Did you mean {', or '.join(timeline.near)}?")]
    for event in timeline.events:
        marks = {"expected": event.expected, "report's date": event.date_from == "document"}
        shown = [mark for mark, holds in marks.items() if holds]
        when = event.timex.replace("/", " to ")
        when = f"{when} ({', '.join(shown)})" if shown else when
        quote = f"“{plain(' '.join(event.summary.split()))}”"
        words, told = (" ".join(re.split(r"[\W_]+", text)).strip().casefold() for text in (event.title, event.summary))
        title = quote if f"{told} ".startswith(f"{words} ") else plain(event.title)  # It may repeat the sentence.
        lines += ["", *textwrap.wrap(f"{plain(when)}  {title}", width, subsequent_indent=" " * _INDENT)]
        if title != quote:
            lines += textwrap.wrap(quote, width, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)
        sources: dict[str, None] = {}  # The reports: address, name of the site, and day of publication.
        for source in event.sources:
            day = source.published_at.date().isoformat() if source.published_at else None
            publisher = ", ".join(part for part in (source.site, day) if part)
            sources[f"{source.url or source.doc_id}{f'  ({publisher})' if publisher else ''}"] = None
        lines += [f"{' ' * _INDENT}{plain(line)}" for line in sources]
    return "\n".join(lines)
