"""The documentation: commands with what they print, the reference, links and names.

A page that is run has blocks of three kinds. In ```console blocks, a line `$ quern ...` is a command and the lines
below are what it prints, standard error first. A block whose fence names a file, such as ```json notes.jsonl, is that
file. ```python blocks with `>>>` are doctests. All of a page runs in one folder, in order.

Printed and shown are compared after a small normalisation, because these differ from run to run and from machine to
machine: build ids, seconds, MiB, rates, scores, the digests of tables and how many questions were answered (vectors
have other last bits on other processors), the engine that a job ran on and its
cores. A line `...` stands for any lines, `...` in a line for any text.

`QUERN_DOCS=write pytest tests/test_docs.py` writes what was printed into the pages; then read the difference.
"""

from __future__ import annotations

import doctest
import importlib.util
import io
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from difflib import unified_diff
from itertools import groupby
from pathlib import Path

import pytest

from quern.schemas.settings import Settings
from quern.schemas.settings.reading import setting_names
from tests.conftest import CORPUS, ROOT, Quern
from tests.reference import pages

RUN = ("README.md", "docs/tutorial.md")
WRITTEN = "docs/reference"
PAGES = sorted(str(p.relative_to(ROOT)) for p in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))

_FENCE = re.compile(r"^( *)```(\S*) ?(\S*)$")
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

SAMPLE = "quern build tests/corpus/pages --warehouse "
REFERENCE = pages()
COMMANDS = re.findall(r"^## quern (.+)$", REFERENCE["commands.md"], re.MULTILINE)


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


def blocks(page: str) -> Iterator[Block]:
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
        if "..." in shown:  # A part between two of them is found by its first line.
            parts = [list(part) for gap, part in groupby(shown, lambda line: line == "...") if not gap]
            first = 0 if shown[0] == "..." else len(parts.pop(0))
            last = 0 if shown[-1] == "..." else len(parts.pop())
            middle = []
            for part in parts:
                begin = printed.index(part[0])
                middle += ["...", *printed[begin : begin + len(part)]]
            printed = [*printed[:first], *middle, "...", *printed[len(printed) - last :]]
        same = {normal(line): line for line in shown}
        lines[command.line : command.line + len(shown)] = [same.get(normal(line), line) for line in printed]
    (ROOT / page).write_text("\n".join(lines) + "\n", "utf-8")


def normal(line: str) -> str:
    """A line without what differs from run to run."""
    for differs, instead in _DIFFERS:
        line = differs.sub(instead, line)
    return line.rstrip()


def prose(page: str) -> str:
    return re.sub(r"^( *)```.*?^ *```$", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands of a page run: the sample corpus, with every sixth of its questions, and nothing else."""
    corpus = tmp_path / "tests" / "corpus"
    corpus.mkdir(parents=True)
    for path in CORPUS.iterdir():
        (corpus / path.name).symlink_to(path)
    questions = (CORPUS / "questions.jsonl").read_text("utf-8").splitlines(keepends=True)
    (corpus / "questions.jsonl").unlink()
    (corpus / "questions.jsonl").write_text("".join(questions[::6]), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_print_what_it_shows(page: str, folder: Path, quern_here: Quern, mini_web: Path) -> None:
    def printed(words: str) -> str:
        program, *arguments = shlex.split(words)
        assert program == "quern", f"`$ {words}` cannot be run here: put it into a block of language sh"
        warehouse = words.removeprefix(SAMPLE)
        if warehouse != words and not (folder / warehouse).exists():
            # The build that all tests share, and what it printed. Other tests have asked it before; a reader has not.
            shutil.copytree(mini_web, folder / warehouse, symlinks=True)
            shutil.rmtree(folder / warehouse / "memo" / "reasoning", ignore_errors=True)
            return (mini_web.parent / "printed.txt").read_text("utf-8")
        done = quern_here(*arguments)
        return str(done.stderr + done.stdout)

    differences = list(_differences(page, folder, printed))
    assert not differences, "\n\n".join(differences)


def _differences(page: str, folder: Path, printed: Callable[[str], str]) -> Iterator[str]:
    names: dict[str, object] = {}
    outputs: list[tuple[Command, str]] = []
    for block in blocks(page):
        if block.file:
            (folder / block.file).write_text("".join(f"{line}\n" for line in block.lines), "utf-8")
        elif block.language == "console":
            outputs += [(command, printed(command.words)) for command in commands(block)]
        elif block.language == "python" and any(line.startswith(">>> ") for line in block.lines):
            text = "\n".join(block.lines) + "\n"
            examples = doctest.DocTestParser().get_doctest(text, names, page, page, block.line - 1)
            runner, report = (
                doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE),
                io.StringIO(),
            )
            with redirect_stdout(io.StringIO()):
                runner.run(examples, out=report.write, clear_globs=False)
            names.update(examples.globs)
            if runner.failures:
                yield report.getvalue()
    wrong = [(command, output) for command, output in outputs if not agrees(command.shown, output)]
    if os.environ.get("QUERN_DOCS") == "write":
        rewrite(page, wrong)
    for command, output in wrong:
        lines = list(map(normal, command.shown)), list(map(normal, output.splitlines()))
        yield "\n".join(
            [f"{page}:{command.line}: $ {command.words}", *unified_diff(*lines, "shown", "printed", lineterm="")]
        )


def test_the_readme_is_a_front_door() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 120
    assert prose("README.md").count("![") == 1
    set_up = next(b for b in blocks("README.md") if b.language == "sh")
    assert [line.split("  ")[0] for line in set_up.lines] == ["make demo", "make test"]


def test_the_reference_is_what_the_code_declares() -> None:
    stale = {name for name, text in REFERENCE.items() if (ROOT / WRITTEN / name).read_text("utf-8") != text}
    assert not stale, "run `make reference`"


def test_every_setting_and_every_command_is_documented_and_every_command_has_an_example() -> None:
    for name in setting_names():
        assert re.search(rf"^\| `{re.escape(name)}` \| `.+` \| .{{10,}} \|$", REFERENCE["settings.md"], re.MULTILINE), (
            name
        )
    sections = dict(zip(COMMANDS, REFERENCE["commands.md"].split("\n## quern ")[1:], strict=True))
    for name, section in sections.items():
        assert f"\nquern {name}" in section.partition("```sh")[2], name
        assert "| `--json` |" in section, name


def test_no_page_and_no_message_installs_quern_by_a_name_on_a_package_index() -> None:
    modules = [path for folder in ("schemas", "indexes", "jobs", "pipelines") for path in (ROOT / folder).rglob("*.py")]
    for path in [*modules, *(ROOT / "airflow_dags").glob("*.py"), ROOT / "Makefile", *map(ROOT.joinpath, PAGES)]:
        text = path.read_text("utf-8")
        assert "quern[" not in text, path
        assert not re.search(r"pip3? install[^\n`&;#,]*[\s'\"]quern(?!\S*\.whl)", text), path


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose(page)):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            place = ((ROOT / page).parent / path).resolve() if path else ROOT / page
            assert place.exists(), f"{page}: {target}"
            assert not anchor or anchor in anchors(place), f"{page}: {target}"


def anchors(path: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", head.lower())).replace(" ", "-") for head in heads}


@pytest.mark.parametrize(
    "page", [p for p in PAGES if not p.startswith((WRITTEN, "docs/experiments")) and p != "CHANGELOG.md"]
)
def test_what_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    groups = "|".join(Settings.model_fields)
    named = set(re.findall(rf"`(?:--set )?((?:{groups})\.[a-z_0-9]+)[=`]|--set ((?:{groups})\.\w+)=", text))
    assert {name for pair in named for name in pair if name} <= set(setting_names())
    for path in re.findall(r"`((?:schemas|indexes|jobs|pipelines|tests|docs|notebooks)/[\w/.*-]*)`", text):
        assert list(ROOT.glob(path.replace("NAME", "*").rstrip("/"))), path
    for module in re.findall(r"python -m ((?:quern|tests)[\w.]*)", text):
        assert importlib.util.find_spec(module), module
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE)) <= set(targets)
    for line in (line for block in blocks(page) for line in block.lines):
        if words := re.match(r"(?:\$ )?quern (.+)", line):
            name = next((c for c in COMMANDS if f"{words[1]} ".startswith(f"{c} ")), None)
            assert name, f"{page}: {line}"
            section = REFERENCE["commands.md"].split(f"## quern {name}\n")[1].split("\n## ")[0]
            for option in re.findall(r"(?<=\s)-{1,2}[a-z][\w-]*", words[1].partition("  #")[0].partition('"')[0]):
                assert re.search(rf"[`, ]{option}\b", section), f"{page}: {line}: {option}"
