"""What a task made of an input is remembered from run to run, and nothing else is."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quern.jobs.tasks.runner import Reasoner
from quern.jobs.tasks.task import Task
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Said
from tests.jobs.tasks.toy_task import TALLY, Line, Tally, count


@dataclass(frozen=True)
class Standing(Line):
    """A line that says what it is."""

    @property
    def identity(self) -> object:
        return [self.text]


class Counted:
    """The rule, and how often it was asked for each line."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, line: Line) -> Tally:
        self.asked[line.text] += 1
        return count(line)


def run(memo: Path | None, *lines: Line, task: Task[Line, Tally] | None = None) -> tuple[list[int], Counter[str]]:
    rule = Counted()
    with Reasoner(memo=memo) as reasoner:
        done = reasoner.run(replace(task or TALLY, rule=rule), lines)
        if all(isinstance(line, Standing) for line in lines):
            assert reasoner.computed + reasoner.reused == len(lines)
            assert reasoner.computed == rule.asked.total()
    return [one.output.words for one in done], rule.asked


def test_an_input_is_reasoned_about_once_however_often_it_comes(tmp_path: Path) -> None:
    a, b, c = Standing("one"), Standing("two words"), Standing("three words here")
    assert run(tmp_path, a, b, a) == ([1, 2, 1], Counter({"one": 1, "two words": 1}))
    assert run(tmp_path, c, b, a) == ([3, 2, 1], Counter({"three words here": 1}))
    assert run(tmp_path, a, c) == ([1, 3], Counter())


def test_another_version_of_the_task_or_its_constants_is_another_memo(tmp_path: Path) -> None:
    line = Standing("one")
    for task in (TALLY, replace(TALLY, version=2), replace(TALLY, constants={"most": 3})):
        assert run(tmp_path, line, task=task)[1] == Counter({"one": 1})
        assert run(tmp_path, line, task=task)[1] == Counter()


def test_an_input_that_does_not_say_what_it_is_is_never_remembered(tmp_path: Path) -> None:
    for _ in range(2):
        assert run(tmp_path, Line("one"))[1] == Counter({"one": 1})
    assert not list(tmp_path.rglob("*.arrow"))


def test_a_damaged_part_of_the_memo_costs_a_computation(tmp_path: Path) -> None:
    run(tmp_path, Standing("one"))
    (part,) = tmp_path.rglob("*.arrow")
    part.write_bytes(part.read_bytes()[:-40])
    assert run(tmp_path, Standing("one")) == ([1], Counter({"one": 1}))


def test_what_the_rule_said_in_a_models_stead_is_asked_for_again(tmp_path: Path) -> None:
    def script(number: int, body: dict[str, Any]) -> Said:
        line = body["messages"][0]["content"].split("this line: ")[1].split("\n")[0]
        return Said("no idea" if line == "one" else json.dumps({"words": len(line.split()), "shout": False}))

    with Endpoint(script).running() as endpoint:
        asked = []
        for _ in range(2):
            before = len(endpoint.asked)
            with Reasoner(endpoint.generator(retries=0), memo=tmp_path) as reasoner:
                done = reasoner.run(TALLY, [Standing("one"), Standing("two words")])
            assert [one.by for one in done] == ["rules", "openai"]
            asked.append(sum("two words" in str(b) for b in endpoint.asked[before:]))
    assert asked == [1, 0]
    assert (reasoner.computed, reasoner.reused) == (1, 1)


def test_an_output_of_another_form_is_made_again(tmp_path: Path) -> None:
    class Other(Tally):
        pitch: int

    line = Standing("one")
    run(tmp_path, line)
    again = replace(TALLY, output=Other, rule=lambda given: Other(words=1, shout=False, pitch=440))
    with Reasoner(memo=tmp_path) as reasoner:
        (done,) = reasoner.run(again, [line])
    assert done.output.pitch == 440
