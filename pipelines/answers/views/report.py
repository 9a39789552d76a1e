"""A batch of answers as one HTML page that needs nothing beside itself: no network, no second file.

Without its script it is read all the same; with it, questions are filtered and graphs drawn, one when it is opened.

All that comes from the corpus is hostile: it is escaped, its control characters are replaced one for one, its
directions are isolated, its addresses become links only where they are http(s), and the page's policy lets only
its own style and script run, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from quern.indexes.storage import write_whole
from quern.pipelines.answers.views.passages import (
    Pictures,
    images_of,
    parts_of,
    passages_of,
    quotes_of,
    sources_of,
    statements_of,
)
from quern.pipelines.answers.views.picture import counted, picture_of
from quern.pipelines.answers.views.words import reason_of, status_of
from quern.schemas.answers import Answer
from quern.schemas.words.lines import one_line, printable, shortened

# Characters of a question that are its heading; what is longer is folded.
_HEADING = 240


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    id: str
    question: str
    found: bool
    status: str


def page_environment() -> Environment:
    """Templates of what a browser shows: everything is escaped, nothing undefined passes."""

    def shown(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int):
            return f"{value:,}"
        return value.strftime("%Y-%m-%d %H:%M") if isinstance(value, datetime) else str(value)

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters |= {"count": counted, "shown": shown}
    return environment


def inlined(environment: Environment, styles: Sequence[str], script: str | None = None) -> dict[str, str]:
    """The `style` and `script` of a page, made of these templates, each with its `_digest` for the page's policy."""
    texts = {"style": "\n".join(environment.get_template(name).render() for name in styles)}
    if script:
        texts["script"] = environment.get_template(script).render()
    values: dict[str, str] = {}
    for name, text in texts.items():
        values[name] = Markup(text)  # noqa: S704 - our own file.
        values[f"{name}_digest"] = "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return values


def _section(number: int, answer: Answer, pictures: Pictures | None) -> dict[str, object]:
    """What the section of an answer is made from."""
    prefix = f"q{number}"
    quotes = quotes_of(answer, prefix)
    passages = passages_of(answer, quotes, prefix)
    best = max((hit.score for hit in answer.hits), default=0)
    heading = shortened(answer.question, _HEADING)
    return {
        "id": prefix,
        "number": number,
        "answer": answer,
        "heading": heading,
        "folded": len(one_line(answer.question)) > _HEADING,
        "status": status_of(answer),
        "reason": reason_of(answer),
        # Characters of a short answer that is written large.
        "short_answer": 120,
        "statements": statements_of(answer, quotes),
        "parts": parts_of(answer, quotes),
        "sources": sources_of(quotes),
        "images": images_of(answer, pictures),
        "passages": [(p, _tenths(p.hit.score / best if best > 0 else 0)) for p in passages],
        "sure": _tenths(answer.probability),
        "events": _events(answer),
        "aligned": _alignment(answer, heading),
        "picture": picture_of(answer) if passages else None,
    }


def _events(answer: Answer) -> str:
    """The timeline as the script reads it, six numbers an event: the sentences themselves stand in the evidence.

    First day, counted from that of the event before or from 1970; days after it; place of the hit from 0; first
    character and length of the sentence in it; 1 for what was expected, 2 for what has the date of its report.
    """
    place = {hit.chunk_id: (n, hit.start) for n, hit in enumerate(answer.hits)}
    numbers: list[int] = []
    before = date(1970, 1, 1)
    for event in answer.timeline:
        if event.chunk_id in place:
            at, start = place[event.chunk_id]
            days = [(event.from_day - before).days, (event.to_day - event.from_day).days]
            before = event.from_day
            flags = event.expected + 2 * (event.date_from == "document")
            numbers += [*days, at, event.start - start, event.end - event.start, flags]
    return ",".join(map(str, numbers))


def _alignment(answer: Answer, heading: str) -> str:
    """The alignment as the script of the page reads it: it makes the words from the texts that the page has.

    Fields between bars: `a` where the parts are of the question as it was understood, else nothing; first character
    and length of each part in it; then a field for each hit, the first character of its window, a colon, and for each
    part first character, from there, and length of what matches, `t` for the title, nothing where nothing does. Empty
    where nothing is aligned, or where the page does not have the question as it was parsed.
    """
    shown = answer.asked or heading
    if not answer.parts or any(shown[p.start : p.end] != p.text for p in answer.parts):
        return ""
    fields = ["a" if answer.asked else "", ",".join(f"{p.start}.{p.end - p.start}" for p in answer.parts)]
    by_rank = {aligned.rank: aligned for aligned in answer.alignments}
    for hit in answer.hits:
        segments = by_rank[hit.rank].segments if hit.rank in by_rank else []
        window = min((s.start for s in segments if s.end > s.start), default=hit.start)
        places = {s.part: f"{s.start - window}.{s.end - s.start}" if s.end > s.start else "t" for s in segments}
        code = ",".join(places.get(part.number, "") for part in answer.parts).rstrip(",")
        fields.append(f"{window - hit.start}:{code}" if segments else "")
    return "|".join(fields).rstrip("|")


def _tenths(share: float) -> int:
    """A share in tenths, for the length of a bar."""
    return round(10 * min(max(share, 0), 1)) if math.isfinite(share) else 0


@dataclass(frozen=True)
class _Total:
    """A figure of the head of the page; `code` is its colour."""

    name: str
    number: str
    code: str = ""


def _totals(contents: Sequence[Entry]) -> list[_Total]:
    """How many questions there are, and what became of them."""
    by_status = Counter(entry.status for entry in contents)
    totals = [_Total("Question" if len(contents) == 1 else "Questions", f"{len(contents):,}")]
    totals.append(_Total("Answered", f"{by_status.pop('Answered', 0):,}", "yes"))
    totals.append(_Total("Not in the corpus", f"{by_status.pop('Not in the corpus', 0):,}", "no"))
    totals += [_Total(status, f"{number:,}", "no") for status, number in sorted(by_status.items())]
    return totals


def write_report(
    answers: Iterable[Answer],
    path: Path,
    *,
    title: str,
    snapshot: Mapping[str, object],
    files: Sequence[str] = (),
    pictures: Pictures | None = None,
) -> None:
    """Write the report of `answers` to `path` (`.html`), whole or not at all; answers are taken and let go one by one.

    `snapshot` says what they were made from, label → value. `files` beside the page hold the same answers: it has links
    to them. Images are shown where `pictures` has them, else named with a link.
    """
    environment = page_environment()
    section = environment.get_template("answer.html.j2")
    contents: list[Entry] = []

    def write(beside: Path) -> None:
        """Write the sections beside the page, then the page around them: its head counts what they hold."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="", dir=beside.parent) as body:
            for number, answer in enumerate(answers, 1):
                body.write(section.render(_section(number, answer, pictures)))
                question = shortened(printable(answer.question), 120)
                contents.append(Entry(f"q{number}", question, answer.found, status_of(answer)))
            body.seek(0)
            page = environment.get_template("report.html.j2").generate(
                title=title,
                snapshot=snapshot,
                files=files,
                pictures=pictures is not None,
                contents=contents,
                totals=_totals(contents),
                **inlined(environment, ["report.css.j2"], "report.js"),
                body=map(Markup, iter(partial(body.read, 1 << 16), "")),
            )
            with beside.open("w", encoding="utf-8", newline="") as file:
                file.writelines(page)

    write_whole(path, write)
