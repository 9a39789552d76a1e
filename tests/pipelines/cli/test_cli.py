from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quern.schemas.settings.reading import setting_names
from tests.conftest import CORPUS, ROOT, Quern

COMMANDS = (
    "build, plan, stage, estimate, ingest, remove, crawl, ask, answer, answers diff, evaluate, convert, export, "
    "recipes, sweep, judge, timeline, train reader, train decomposer, train aligner, "
    "train reranker, sources, graph, show, settings, audit, verify, rejects, "
    "report, snapshots list, snapshots show, snapshots rollback, diff, steps, vacuum"
).split(", ")


def one_sentence(text: str) -> bool:
    return len(text.strip().splitlines()) == 1 and text.startswith("quern: ") and "Traceback" not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_is_in_the_reference(command: str, quern_here: Quern) -> None:
    shown = quern_here(*command.split(), "--help")
    assert shown.returncode == 0
    assert f"quern {command}" in shown.stdout.split("Example", 1)[1]
    assert f"## quern {command}\n" in (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")


def test_these_are_all_the_commands(quern: Quern) -> None:
    listed = re.findall(r"^  ([a-z-]+)  ", quern("--help").stdout.split("Commands:")[1], re.MULTILINE)
    assert set(listed) == {c.split()[0] for c in COMMANDS}


def test_settings_shows_every_setting_with_its_meaning(quern_here: Quern) -> None:
    shown = quern_here("settings", "--set", "link.k=2").stdout
    assert "  k: 2  # Nearest neighbours" in shown
    for name in setting_names():
        assert re.search(rf"^  {name.split('.')[1]}: .+  # .{{10,}}", shown, re.MULTILINE), name
    assert json.loads(quern_here("settings", "--json").stdout)["link"]["k"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "absent", "-w", "{tmp}/wh"], "absent does not exist"),
        (["crawl", "absent", "-w", "{tmp}/wh", "--set", "crawl.contact=a@b.example"], "absent cannot be read"),
        (["build", "{corpus}", "-w", "{tmp}/wh", "--set", "grph.k=2"], "did you mean graph"),
        (["build", "{corpus}", "-w", "{tmp}/wh", "--engine", "dask"], "engine.engine is 'dask'"),
        (["build", "{corpus}", "-w", "{tmp}/wh", "--set", "embed.model=no-such-model"], "no-such-model"),
        (["ask", "-w", "{tmp}/none", "What?"], "is no warehouse; `quern build PAGES"),
        (["ask", "-w", "{tmp}/bare.jsonl", "What?"], "bare.jsonl is a file; --warehouse names the directory"),
        (["ask", "-w", "{web}", " "], "the question is blank"),
        (["ask", "-w", "{web}", "?!?!"], "the question cannot be answered: no letter and no digit"),
        (["ask", "-w", "{web}", "What?", "--snapshot", "19990101"], "there is no snapshot 19990101"),
        (["ask", "-w", "{web}", "What?", "--as-of", "30.06.2024"], "a day is written like 2024-06-30"),
        (["answer", "{tmp}/none.jsonl", "-w", "{web}", "--out", "{tmp}/o"], "none.jsonl cannot be read"),
        (["sources", "-w", "{web}"], "name one of: a question"),
        (["sources", "-w", "{web}", "--unanswered", "{tmp}/none"], "--out seeds.txt"),
        (["evaluate", "{tmp}/bare.jsonl", "-w", "{web}"], "no question has evidence_doc_ids or evidence_urls"),
        (["sweep", "paper", "--datasets", "{tmp}", "--out", "{tmp}/o"], "none of its datasets is at"),
        (["show", "document", "gone", "-w", "{web}"], "has no doc_id 'gone'"),
        (["snapshots", "rollback", "-w", "{web}"], "no snapshot before the published one"),
    ],
)
def test_a_mistake_gets_one_sentence_and_exit_code_2(
    arguments: list[str], message: str, mini_web: Path, tmp_path: Path, quern_here: Quern
) -> None:
    places = {
        "tmp": tmp_path,
        "web": mini_web,
        "corpus": CORPUS / "pages",
    }
    (tmp_path / "bare.jsonl").write_text('{"query_id": "q", "question": "Who?"}')
    done = quern_here(*(a.format(**places) for a in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert one_sentence(done.stderr), done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["asq", "What?"], "Did you mean 'ask'?"),
        (["ask", "-w", "{web}", "What?", "--recipe", "hybird"], "did you mean hybrid?"),
        (["ask", "-w", "{web}", "What?", "--where", "cite=x.example"], "did you mean site?"),
        (["stage", "clen", "-w", "{web}", "--build", "20991122T0600"], "did you mean clean?"),
        (["audit", "-w", "{web}", "--set", "audit.engine=arow"], "did you mean arrow?"),
        (["ask", "-w", "{web}", "What?", "--set", "retrieve.sources=[grahp]"], "did you mean graph?"),
    ],
)
def test_a_wrong_name_is_answered_with_the_one_that_was_meant(
    arguments: list[str], meant: str, mini_web: Path, quern_here: Quern
) -> None:
    done = quern_here(*(a.format(web=mini_web, corpus=CORPUS / "pages") for a in arguments))
    assert (done.returncode, meant in done.stderr) == (2, True), done.stderr


def test_warehouse_and_settings_are_taken_from_the_environment_unless_named(
    mini_web: Path, tmp_path: Path, quern_here: Quern, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "few.yaml").write_text("retrieve: {top_k: 2}\n")
    monkeypatch.setenv("QUERN_WAREHOUSE", str(mini_web))
    monkeypatch.setenv("QUERN_SETTINGS", str(tmp_path / "few.yaml"))
    asked = ("ask", "Who repaired the bridge?", "--json")
    assert len(json.loads(quern_here(*asked).stdout)["hits"]) == 2
    assert len(json.loads(quern_here(*asked, "--set", "retrieve.top_k=3").stdout)["hits"]) == 3
    assert "is no warehouse" in quern_here(*asked, "-w", tmp_path).stderr
    monkeypatch.setenv("QUERN_WAREHOUSE", str(tmp_path))
    for command in (["estimate"], ["evaluate", CORPUS / "questions.jsonl"]):
        assert "is no warehouse" in quern_here(*command).stderr
    assert "alce.json cannot be read" in quern_here("evaluate", "--answers", "alce.json").stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_command_that_is_stopped_at_once_ends_as_one_that_is_stopped_later(number: signal.Signals) -> None:
    # Stopped where the entry has taken the signals and the command line is not yet imported.
    code = (
        "import sys, signal; from quern.pipelines.cli import entry\n"
        f"class Stop:\n    def find_spec(self, name, *_):\n"
        f"        if name == 'quern.pipelines.cli.main': signal.raise_signal({int(number)})\n"
        "sys.meta_path.insert(0, Stop()); entry.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, "interrupted before it began\n")


def test_a_command_that_is_stopped_while_its_arguments_are_read_ends_as_any(
    quern_here: Quern, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quern.pipelines.cli.main.app", lambda **_: signal.raise_signal(signal.SIGTERM))
    done = quern_here("settings")
    told = "interrupted; run the same command again: it goes on from where it stopped\n"
    assert (done.returncode, done.stderr) == (130, told)
    monkeypatch.undo()
    assert quern_here("build", "absent", "-w", tmp_path / "w").returncode == 2


def test_a_command_that_is_stopped_in_a_finalizer_is_stopped() -> None:
    # Python drops what is raised there.
    code = (
        "import sys, signal, time; from quern.pipelines.cli import entry, main\n"
        "class Last:\n    def __del__(self): signal.raise_signal(signal.SIGINT)\n"
        "def app(**_):\n    Last()\n    time.sleep(20)\n"
        "main.app = app; entry.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    told = "interrupted; run the same command again: it goes on from where it stopped\n"
    assert (ended.returncode, ended.stderr) == (130, told)


def test_a_command_that_is_stopped_in_a_finalizer_before_it_began_is_stopped() -> None:
    code = (
        "import sys, signal, time; from quern.pipelines.cli import entry\n"
        "class Last:\n    def __del__(self): signal.raise_signal(signal.SIGINT)\n"
        "def start():\n    Last()\n    time.sleep(20)\n"
        "entry.start_light = start; entry.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, {*ended.stderr.splitlines()}) == (130, {"interrupted before it began"})


def test_a_command_that_is_stopped_when_it_has_ended_keeps_its_exit_code() -> None:
    # Stopped while Python tidies up.
    code = (
        "import sys, atexit, signal; from quern.pipelines.cli import entry\n"
        "for number in (signal.SIGTERM, signal.SIGINT): atexit.register(signal.raise_signal, number)\n"
        "sys.argv = ['quern', 'recipes']; entry.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
