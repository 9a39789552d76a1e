"""What is asked of two at once: whether it is so of each, of which it is, and whether both are the same."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.inputs import AskedBefore
from quern.jobs.reasoning.answering.parts.phrasing import asks_verdict, side_name, without_end
from quern.jobs.reasoning.questions.outline import Section

_TRUTH: Final = re.compile(r"(yes|no)\b", re.IGNORECASE)


def both(section: Section, answers: list[AskedBefore]) -> str:
    """Yes where it is so of each; for `the same`, where both answers are."""
    if not all(a.answer for a in answers):
        return ""
    short = [without_end(a.answer) for a in answers]
    if section.word == "same":
        alike = len({s.lower() for s in short}) == 1
        return f"Yes: {short[0]}" if alike else f"No: {', against '.join(short)}"
    truths = [m[1].lower() == "yes" if (m := _TRUTH.match(s)) else None for s in short]
    if any(t is None for t in truths):
        return ""
    sides = [side_name(s) for s in section.sides]
    true = [s for s, t in zip(sides, truths, strict=True) if t]
    if not asks_verdict(section.text):
        return " and ".join(true) if true else "Neither"
    if len(true) == len(sides):
        return f"Yes: {' and '.join(true)}"
    return f"No: only {' and '.join(true)}" if true else f"No: neither {' nor '.join(sides)}"
