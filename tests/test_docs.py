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
from difflib import unified_diff
from pathlib import Path

import pytest

from quern.schemas.settings import Settings
from quern.schemas.settings.reading import setting_names
from tests.conftest import CORPUS, ROOT, Quern
from tests.pages import (
    RUN,
    WRITTEN,
    Block,
    Command,
    agrees,
    anchors,
    blocks,
    commands,
    every_page,
    links,
    normal,
    prose,
    rewrite,
)
from tests.reference import pages

SAMPLE = "quern build tests/corpus/pages --warehouse "
REFERENCE = pages()
COMMANDS = re.findall(r"^## quern (.+)$", REFERENCE["commands.md"], re.MULTILINE)


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
            return _sample_build(mini_web, folder / warehouse)
        done = quern_here(*arguments)
        return str(done.stderr + done.stdout)

    differences = list(_differences(page, folder, printed))
    assert not differences, "\n\n".join(differences)


def _sample_build(mini_web: Path, warehouse: Path) -> str:
    """The build of the sample corpus from nothing: the one that all tests share, and what it printed."""
    shutil.copytree(mini_web, warehouse, symlinks=True)
    # Other tests have asked it before; a reader of the page has not.
    shutil.rmtree(warehouse / "memo" / "reasoning", ignore_errors=True)
    return (mini_web.parent / "printed.txt").read_text("utf-8")


def _differences(page: str, folder: Path, printed: Callable[[str], str]) -> Iterator[str]:
    names: dict[str, object] = {}
    outputs: list[tuple[Command, str]] = []
    for block in blocks(page):
        if block.file:
            (folder / block.file).write_text("".join(f"{line}\n" for line in block.lines), "utf-8")
        elif block.language == "console":
            outputs += [(command, printed(command.words)) for command in commands(block)]
        elif block.language == "python" and any(line.startswith(">>> ") for line in block.lines):
            yield from _doctest(page, block, names)
    wrong = [(command, output) for command, output in outputs if not agrees(command.shown, output)]
    if os.environ.get("QUERN_DOCS") == "write":
        rewrite(page, wrong)
    for command, output in wrong:
        lines = list(map(normal, command.shown)), list(map(normal, output.splitlines()))
        yield "\n".join(
            [f"{page}:{command.line}: $ {command.words}", *unified_diff(*lines, "shown", "printed", lineterm="")]
        )


def _doctest(page: str, block: Block, names: dict[str, object]) -> Iterator[str]:
    examples = doctest.DocTestParser().get_doctest("\n".join(block.lines) + "\n", names, page, page, block.line - 1)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told = io.StringIO()
    with redirect_stdout(io.StringIO()):
        runner.run(examples, out=told.write, clear_globs=False)
    names.update(examples.globs)
    if runner.failures:
        yield told.getvalue()


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
    for path in [*modules, *(ROOT / "airflow_dags").glob("*.py"), ROOT / "Makefile", *map(ROOT.joinpath, every_page())]:
        text = path.read_text("utf-8")
        assert "quern[" not in text, path
        assert not re.search(r"pip3? install[^\n`&;#,]*[\s'\"]quern(?!\S*\.whl)", text), path


@pytest.mark.parametrize("page", every_page())
def test_links_lead_somewhere(page: str) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        place = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert place.exists(), f"{page}: {target}"
        assert not anchor or anchor in anchors(place), f"{page}: {target}"


@pytest.mark.parametrize(
    "page", [p for p in every_page() if not p.startswith((WRITTEN, "docs/experiments")) and p != "CHANGELOG.md"]
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
            _assert_command_exists(words[1], f"{page}: {line}")


def _assert_command_exists(words: str, where: str) -> None:
    name = next((c for c in COMMANDS if f"{words} ".startswith(f"{c} ")), None)
    assert name, where
    section = REFERENCE["commands.md"].split(f"## quern {name}\n")[1].split("\n## ")[0]
    for option in re.findall(r"(?<=\s)-{1,2}[a-z][\w-]*", words.partition("  #")[0].partition('"')[0]):
        assert re.search(rf"[`, ]{option}\b", section), f"{where}: {option}"
