"""A timeline as text for a terminal: a date, what happened, and where that is told."""

from __future__ import annotations

import textwrap

from quern.schemas.timelines import Timeline, TimelineEvent
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
    for event in timeline.events:
        lines += ["", *_event(event, width)]
    return "\n".join(lines)


def _event(event: TimelineEvent, width: int) -> list[str]:
    marks = {"expected": event.expected, "report's date": event.date_from == "document"}
    shown = [mark for mark, holds in marks.items() if holds]
    when = f"{event.timex} ({', '.join(shown)})" if shown else event.timex
    lines = textwrap.wrap(plain(f"{when}  {event.title}"), width, subsequent_indent=" " * _INDENT)
    if event.summary.strip() != event.title:
        quote = plain(" ".join(event.summary.split()))
        lines += textwrap.wrap(f"“{quote}”", width, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)
    addresses = dict.fromkeys(source.url or source.doc_id for source in event.sources)
    return lines + [f"{' ' * _INDENT}{plain(address)}" for address in addresses]
