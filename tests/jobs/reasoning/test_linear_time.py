"""The rules that read a text by expressions stay quick as it grows to 2,000 characters, whatever it is a run of."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date

import pytest

from quern.jobs.reasoning.answering import (
    idioms,
    named_numbers,
    names,
    phrases,
    polarity,
    scopes,
    tables,
    yes_no,
)
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.set_against import as_told
from quern.jobs.reasoning.answering.typed.value import Value, amounts
from quern.jobs.reasoning.answering.without_context import without_context
from quern.jobs.reasoning.citing.inputs import CitingInput
from quern.jobs.reasoning.citing.source import Source
from quern.jobs.reasoning.citing.task import citing_task
from quern.jobs.reasoning.confidence.fits import times as fit_times
from quern.jobs.reasoning.questions import chains, clauses, comparisons, decompose, preamble, references, refusal, times
from quern.jobs.reasoning.questions.asked import QuestionInput
from quern.jobs.reasoning.questions.canonical import canonical
from quern.jobs.reasoning.questions.plan import Plan, SubQuestion
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words

KIND, COUNTED = kind_of("Which ship sank?"), kind_of("How many lamps are lit?")
RULES: dict[str, Callable[[str], object]] = {
    "clauses": clauses.clauses,
    "chain": chains.chain,
    "compared": comparisons._compared,
    "pair": comparisons.pair,
    "canonical": canonical,
    "decomposition": lambda text: decompose.decomposition(QuestionInput(text)),
    "preamble": preamble.question_alone,
    "wanted": references.wanted,
    "named": lambda text: references.named(text, "Who built the Acme tower?"),
    "refusal": refusal.category_of,
    "times": lambda text: times.spans(text, date(2024, 5, 5)),
    "kind": kind_of,
    "amounts": amounts,
    "names": names.names,
    "phrase": lambda text: phrases.phrase("Which ship sank?", KIND, text),
    "tables": tables.rows,
    "denies": polarity.denies,
    "scopes": scopes.scopes,
    "yes_no": yes_no._BUT_NOT.search,
    "dates": dates,
    "quantities": quantities,
    "without_context": lambda text: without_context(text, text, content_words(text)),
    "as_told": lambda text: as_told(text, COUNTED, text, [Value(0, 1, "9", 1.0, 9.0), Value(9, 10, "13", 1.0, 13.0)]),
    "names_numbered": named_numbers.names_numbered,
    "asks_clock": idioms.asks_clock,
    "asks_plan": fit_times._asks_plan,
    "asks_outcome": fit_times._OUTCOME.search,
    "filled": lambda text: Plan("", (SubQuestion("Who?"), SubQuestion("When is #1?", (1,), {1: f"the {text}"}))).filled(
        2, {1: "It is."}, known=[1]
    ),
    "citing": lambda text: citing_task().rule(CitingInput(text, [Source(text), Source(f"no {text}")], (1,))),
}
BEFORE = ("", "who", "What is the difference between a")
RUNS = (
    " ",
    ",",
    " ,",
    "1",
    "1,",
    "1 ",
    "A",
    "A ",
    "a-",
    '"',
    " when ",
    "in 2022 ",
    "at Mill, ",
    "how many does ",
    "how did ",
    "#1 ",
    "and ",
    "of the ",
    "the A ",
    "which is ",
    ", and ",
)
# Seconds of the longest run, which take .1 at most, and their ratio to a quarter of it: a cubic rule has 64.
_MOST = 0.4
_MOST_GROWTH = 30
_NOISE = 0.005


def _seconds(rule: Callable[[str], object], text: str) -> float:
    rule = getattr(rule, "__wrapped__", rule)  # Past the cache.
    started = time.process_time()
    rule(text)
    return time.process_time() - started


@pytest.mark.long
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", RULES)
def test_long_runs_stay_quick(name: str) -> None:
    for before in BEFORE:
        for run in RUNS:
            short, long = (_seconds(RULES[name], f"{before}{run * (n // len(run))}x") for n in (500, 2000))
            told = f"{short:.3f} s, then {long:.3f} s of {run!r} after {before!r}"
            assert long < min(_MOST, _MOST_GROWTH * max(short, _NOISE)), told


@pytest.mark.parametrize("before", ["", "is", "did", "who of"])
def test_a_hostile_comparison_takes_less_than_a_second(before: str) -> None:
    for run in (" ", "and ", "or ", "is ", "more ", "than ", "a or b longer ", "vs "):
        for length in (400, 100_000):
            assert _seconds(canonical, f"{before} {run * (length // len(run))}"[:length]) < 1.0, (run, length)


@pytest.mark.parametrize("run", ["请问", "a; ", "a - ", "please ", "ab. "])
def test_a_question_of_ten_thousand_characters_is_read_in_half_a_second(run: str) -> None:
    for rule in (kind_of, preamble.question_alone):
        assert _seconds(rule, (run * 10_000)[:10_000]) < 0.5, rule
