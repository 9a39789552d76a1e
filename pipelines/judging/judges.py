"""The judges by name, and what they say of batches of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from quern.jobs.reasoning.judging.criteria import COMPREHENSIVENESS, CRITERIA, criterion_task
from quern.jobs.reasoning.judging.gold import Preference, Verdict, gold_task, preference_task
from quern.jobs.reasoning.judging.inputs import JudgeInput, PairInput
from quern.jobs.tasks.runner import Done, Reasoner
from quern.jobs.tasks.task import Task
from quern.pipelines.judging.rows import JudgeError
from quern.schemas.answers import Judgement
from quern.schemas.settings import GeneratorSettings
from quern.schemas.words.meant import no_such

GOLD: Final = "gold"
PREFERENCE: Final = "prefer_overall"
JUDGES: Final = (GOLD, *CRITERIA, PREFERENCE)
# Judges without a rule: without a model they are left out.
OPINIONS: Final = tuple(name for name in CRITERIA if name != COMPREHENSIVENESS)


@dataclass(frozen=True)
class Judge:
    """A judge."""

    name: str  # One of `JUDGES`.

    @property
    def task(self) -> Task[Any, Any]:
        """What it carries out."""
        if self.name == GOLD:
            return gold_task()
        return preference_task() if self.name == PREFERENCE else criterion_task(self.name)


def find_judges(names: str | None, *, pairs: bool, model: bool) -> list[Judge]:
    """The judges of a list of names set apart by commas; by default all that can judge, with a model or without.

    Raises:
        JudgeError: There is no judge of a name, or it cannot judge: it compares two answers and there is one, or it
            needs a model.
    """
    if names is None:
        every = [n for n in JUDGES if (pairs or n != PREFERENCE) and (model or n not in OPINIONS)]
        return [Judge(n) for n in every]
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen or [""]:
        if name not in JUDGES:
            raise JudgeError(no_such("judge", name, JUDGES))
        if name == PREFERENCE and not pairs:
            raise JudgeError(f"the judge {name} compares two answers: name the file of the others with --against")
        if name in OPINIONS and not model:
            raise JudgeError(
                f"no rule can judge {name}: name a model, for example --set generator.kind=openai "
                "--set generator.url=http://localhost:8000/v1 --set generator.model=NAME"
            )
    return [Judge(name) for name in dict.fromkeys(chosen)]


def identity(generator: GeneratorSettings) -> str:
    """What carries out tasks, as agreements are kept by: `rules`, or kind and name of the model."""
    return "rules" if generator.kind == "rules" else f"{generator.kind} {Path(str(generator.model)).name}"


def judgements(reasoner: Reasoner, judge: Judge, inputs: Sequence[JudgeInput]) -> list[Judgement]:
    """What a judge of single answers says of each."""
    task = judge.task
    # A model is not asked where there is nothing to judge: no gold answer, no answer.
    askable = [n for n, g in enumerate(inputs) if (g.gold is not None if judge.name == GOLD else bool(g.statements))]
    done = dict(zip(askable, reasoner.run(task, [inputs[n] for n in askable]), strict=True))
    results = []
    for n, item in enumerate(inputs):
        one = done[n] if n in done else Done(task.rule(item), "rules")
        output, by = one.output, {"by": one.by, "rejected": _codes(one)}
        if isinstance(output, Verdict):
            value = None if output.right is None else float(output.right)
            results.append(Judgement(value=value, reason=output.reason, **by))
        else:
            results.append(Judgement(value=output.score, reason=output.calculation, issues=list(output.issues), **by))
    return results


def preferences(reasoner: Reasoner, judge: Judge, pairs: Sequence[PairInput]) -> list[Judgement]:
    """How much better the first answer of each pair is than the second: asked in both orders, the mean of the two."""
    turned = [PairInput(pair.second, pair.first) for pair in pairs]
    task: Task[PairInput, Preference] = judge.task
    every = reasoner.run(task, [*pairs, *turned])
    both = zip(pairs, every[: len(pairs)], turned, every[len(pairs) :], strict=True)
    # Where the rule stands in for one reply it judges both: its steps are not a model's.
    return [
        _of_orders(one, other)
        if one.by == other.by
        else _of_orders(*(Done(task.rule(p), "rules", d.problems) for p, d in ((pair, one), (back, other))))
        for pair, one, back, other in both
    ]


def _of_orders(one: Done[Preference], other: Done[Preference]) -> Judgement:
    straight, turned = one.output.preference, other.output.preference
    rejected = [*_codes(one), *_codes(other)]
    if straight is None or turned is None:
        return Judgement(value=None, by=one.by, reason=one.output.reason, rejected=rejected)
    value, orders = (turned - straight) / 2.0 + 0.0, [-straight + 0.0, turned]
    return Judgement(value=value, by=one.by, reason=one.output.reason, orders=orders, rejected=rejected)


def _codes(done: Done[Any]) -> list[str]:
    """What was wrong with a model's reply that could not be used."""
    return [problem.reason for problem in done.problems] if done.by == "rules" else []
