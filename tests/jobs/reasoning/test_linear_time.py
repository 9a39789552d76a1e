"""The rules that read a text by expressions stay quick as it grows to 2,000 characters, whatever it is a run of."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date

import pytest

from quern.jobs.reasoning.answering import names, phrases, polarity, scopes, tables, yes_no
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.typed.value import amounts
from quern.jobs.reasoning.citing.inputs import CitingInput
from quern.jobs.reasoning.citing.source import Source
from quern.jobs.reasoning.citing.task import citing_task
from quern.jobs.reasoning.questions import chains, clauses, comparisons, decompose, preamble, references, refusal, times
from quern.jobs.reasoning.questions.asked import QuestionInput
from quern.jobs.reasoning.questions.canonical import canonical
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities

KIND = kind_of("Which ship sank?")
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
