"""The pages of the documentation as tests read them: fenced blocks, commands with what they print, links.

A page that is run has blocks of three kinds. In ```console blocks, a line `$ quern ...` is a command and the lines
below are what it prints, standard error first. A block whose fence names a file, such as ```json notes.jsonl, is that
file. ```python blocks with `>>>` are doctests. All of a page runs in one folder, in order.

Printed and shown are compared after a small normalisation, because these differ from run to run and from machine to
machine: build ids, seconds, MiB, rates, scores, the digests of tables and how many questions were answered (vectors
have other last bits on other processors), the engine that a job ran on (this process helps while Spark starts) and its
cores. A line `...` stands for any lines, `...` in a line for any text.

`QUERN_DOCS=write pytest tests/test_docs.py` writes what was printed into the pages; then read the difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.conftest import ROOT

RUN = ("README.md", "docs/tutorial.md")
WRITTEN = "docs/reference"

_FENCE = re.compile(r"^( *)```(\S*) ?(\S*)$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_DIFFERS = (
    (re.compile(r"\b\d{8}T\d{9}\b"), "BUILD_ID"),
    (re.compile(r"\bseconds=[\d.]+"), "seconds=N"),
    (re.compile(r"(?<![\d.])[\d,.]+ (s|seconds|MiB|a second)\b"), r"N \1"),
    (re.compile(r"\b(peak_memory_mib|cores)=\d+"), r"\1=N"),
    (re.compile(r"\bengine=(local|spark|ray)\b"), "engine=any"),
    (re.compile(r"\bbits=[\d.]+"), "bits=N"),  # What the processor multiplies fast.
    (re.compile(r"\bmaster=local\S*"), "master=local"),
    (re.compile(r"(rows  )[0-9a-f]{12}$"), r"\1DIGEST"),
    (re.compile(r"^(\w+ +~?[\d,?]+ +~?[\d,?]+) +[\d.,]+(?=  )"), r"\1 N"),
    (re.compile(r"^Evidence: \d+ %"), "Evidence: N %"),
    (re.compile(r"^answered \d+ of \d+"), "answered N of N"),  # How many is a figure with a floor: `tests/floors.json`.
    (re.compile(r"^([├└]── |\d+ )\d\.\d+ "), r"\1SCORE "),
    (re.compile(r"('similarity': )\d\.\d+"), r"\1SCORE"),
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is, its first line's number, and its lines."""

    language: str
    file: str
    line: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Command:
    """A command of a console block, the number of its line, and the lines shown below it."""

    words: str
    line: int
    shown: tuple[str, ...]


def every_page() -> list[str]:
    """All pages of the documentation, by their paths from the root."""
    return sorted(str(p.relative_to(ROOT)) for p in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    block: list[str] | None = None
    for number, line in enumerate((ROOT / page).read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if fence and block is None:
            block, language, file, first = [], fence[2], fence[3], number + 1
        elif fence and block is not None:
            yield Block(language, file, first, tuple(block))
            block = None
        elif block is not None:
            block.append(line)
    assert block is None, f"{page}: a block does not end"


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block with what it shows of their output."""
    starts = [i for i, line in enumerate(block.lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"line {block.line}: a console block begins with a command"
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        words = block.lines[start].removeprefix("$ ").partition("  #")[0]
        yield Command(words, block.line + start, block.lines[start + 1 : end])


def agrees(shown: tuple[str, ...], printed: str) -> bool:
    """Whether a command printed what a page shows."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else ".*?".join(map(re.escape, normal(line).split("..."))) + r"\n"
        for line in shown
    )
    text = "".join(normal(line) + "\n" for line in printed.rstrip().splitlines())
    return re.fullmatch(pattern, text) is not None


def rewrite(page: str, outputs: list[tuple[Command, str]]) -> None:
    """Put what commands printed into a page; where `...` leaves out a middle or an end, as many lines as before."""
    lines = (ROOT / page).read_text("utf-8").splitlines()
    for command, output in reversed(outputs):
        printed, shown = output.rstrip().splitlines(), command.shown
        if "..." in shown:
            printed = [*_cut_like(shown, printed)]
        same = {normal(line): line for line in shown}
        lines[command.line : command.line + len(shown)] = [same.get(normal(line), line) for line in printed]
    (ROOT / page).write_text("\n".join(lines) + "\n", "utf-8")


def _cut_like(shown: tuple[str, ...], printed: list[str]) -> Iterator[str]:
    """What was printed, with `...` where a page has it: a part between two of them is found by its first line."""
    parts = [list(part) for gap, part in groupby(shown, lambda line: line == "...") if not gap]
    first = 0 if shown[0] == "..." else len(parts.pop(0))
    last = 0 if shown[-1] == "..." else len(parts.pop())
    yield from printed[:first]
    for part in parts:
        begin = printed.index(part[0])
        yield from ("...", *printed[begin : begin + len(part)])
    yield from ("...", *printed[len(printed) - last :])


def normal(line: str) -> str:
    """A line without what differs from run to run."""
    for differs, instead in _DIFFERS:
        line = differs.sub(instead, line)
    return line.rstrip()


def prose(page: str) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^( *)```.*?^ *```$", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def links(page: str) -> list[str]:
    """The targets of a page's links, those to other sites left out."""
    return [target for target in _LINK.findall(prose(page)) if "://" not in target]


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", head.lower())).replace(" ", "-") for head in heads}
