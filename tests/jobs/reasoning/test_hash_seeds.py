"""The rules give the same in each process: the order of a set, which is another in each, decides nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore

SCRIPT = Path(__file__).with_name("seeded_answers.py")


def test_answers_citations_and_signals_are_the_same_under_each_seed() -> None:
    running = [
        subprocess.Popen([sys.executable, SCRIPT], stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    ]
    one, other = (process.communicate()[0] for process in running)
    assert [process.returncode for process in running] == [0, 0]
    assert one.count(b"\n") >= 30
    assert one == other


def test_an_answer_does_not_depend_on_how_probable_those_before_it_are() -> None:
    pair = AskedBefore("Who built the mill?", "Josef Arndt", probability=0.7)
    given = AnswerInput("Where was he born?", [], [pair])
    assert given.identity == replace(given, before=[replace(pair, probability=0.7 + 1e-12)]).identity
