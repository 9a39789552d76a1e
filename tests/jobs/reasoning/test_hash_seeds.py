"""The rules give the same in each process: the order of a set, which is another in each, decides nothing.

As a script it prints the answers, citations and signals of some questions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.task import AlignInput, aligned
from quern.jobs.reasoning.answering.inputs import AnswerInput, AskedBefore, Evidence
from quern.jobs.reasoning.answering.task import answer_task
from quern.jobs.reasoning.citing.inputs import citing_inputs
from quern.jobs.reasoning.citing.task import CITE
from quern.jobs.reasoning.confidence.judge import features, reason_of
from quern.jobs.reasoning.entailment.features import features as entailment_features
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.reasoning.questions.decompose import decomposition
from quern.jobs.tasks.prompts import QuestionInput
from quern.schemas.settings import AnswerSettings

TEXTS = (
    "The windmill on Tarn Hill was built in 1811 by Josef Arndt, a joiner from Elm Cross. It is 19 metres tall and "
    "holds 240 sacks of rye. The repair cost 3,100 crowns and lasted nine days. The mill was not insured.",
    "Tarn Hill lies north of Elm Cross. Its church was raised by Maria Lind in 1790 and is 31 metres tall. The harbour "
    "office paid 4,200 crowns for the bells. Nobody was hurt when the tower fell in May 1820.",
    "| Town | Inhabitants |\n| Elm Cross | 8,340 |\n| Tarn Hill | 1,200 |\n| Weir | 610 |",
    "塔恩山上的磨坊建于1811年，由木匠王大力建造。磨坊高19米。修理费是3100克朗。",
)
ABOUT = ("the windmill on Tarn Hill", "the church of Tarn Hill", "Elm Cross", "the harbour office")
FORMS = ("When was {} built or raised?", "How much did {} cost or pay in crowns?", "Was {} hurt when the tower fell?")
QUESTIONS = (
    *(form.format(about) for form in FORMS for about in ABOUT),
    "Who built the windmill?",
    "Why was the windmill not insured?",
    "Which is taller, the windmill or the church, and by how much?",
    "Which town has the most inhabitants?",
    "磨坊是谁建造的？",
    "Which iPhone did McArndt's mill-wright, the O'Brien of 第三次, buy?",
)


def main() -> None:
    """Print a line for each question."""
    day = datetime(2024, 5, 6, tzinfo=UTC)
    evidence = [
        Evidence(text, f"Page {n} of Tarn Hill", ["Who built it? Josef Arndt"], [0.3 + n / 10], day)
        for n, text in enumerate(TEXTS)
    ]
    passages = [Passage(e.text, e.title or "") for e in evidence]
    before = [AskedBefore("How tall is the windmill?", "19 metres", [2]), AskedBefore("How tall?", "31 metres")]
    for question in QUESTIONS:
        given = AnswerInput(question, evidence, before if " or " in question else ())
        draft = answer_task(AnswerSettings()).rule(given)
        cited = [(CITE.rule(one).sources, CITE.render(one)) for one in citing_inputs(given, draft)]
        signals = [*features(given), *entailment_features(EntailmentInput(question, passages))]
        aligned_with = [aligned(AlignInput(parsed(question), e)) for e in evidence]
        parts = decomposition(QuestionInput(question))
        print(question, draft, cited, [*map(repr, signals)], reason_of(given), parts, aligned_with)


def test_answers_citations_and_signals_are_the_same_under_each_seed() -> None:
    running = [
        subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    ]
    one, other = (process.communicate()[0] for process in running)
    assert [process.returncode for process in running] == [0, 0]
    assert one.count(b"\n") == len(QUESTIONS)
    assert one == other


def test_an_answer_does_not_depend_on_how_probable_those_before_it_are() -> None:
    pair = AskedBefore("Who built the mill?", "Josef Arndt", probability=0.7)
    given = AnswerInput("Where was he born?", [], [pair])
    assert given.identity == replace(given, before=[replace(pair, probability=0.7 + 1e-12)]).identity


if __name__ == "__main__":
    main()
