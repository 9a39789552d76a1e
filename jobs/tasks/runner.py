"""Tasks over lists of inputs, such as questions: by the rule, or by a model with the rule to fall back on.

Over rows of a table, with the memo, a task runs as a `.table.TaskJob`; the conversations are the same.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Self

from quern.jobs.tasks.conversation import Conversation, Cost, hold
from quern.jobs.tasks.generators.backends import make_backend
from quern.jobs.tasks.generators.contract import Backend
from quern.jobs.tasks.remembered import Kept, StepMemo
from quern.jobs.tasks.task import Input, Output, Problem, Task
from quern.schemas.settings import EngineSettings, GeneratorSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Done(Generic[Output]):
    """What came of one input."""

    output: Output  # The task's output: the model's where it replied validly, else the rule's.
    by: str  # The kind of generator that made it: `rules`, `openai`, `vllm`, `local`.
    # What was wrong with the model's last reply, also where the rule stood in for it.
    problems: tuple[Problem, ...] = ()


class Reasoner:
    """Carries out tasks, one after the other, by what the settings name; a model is opened once, for all of them.

    An input that the model has no valid reply for falls back to the task's rule; how many did is logged and counted.

    Attributes:
        cost: What all tasks cost.
        fallen_back: Inputs for which the rule stood in for the model.
        reused: Inputs whose output was remembered.
        computed: Inputs that are remembered from now on.
    """

    def __init__(
        self, generator: GeneratorSettings | None = None, engine: EngineSettings | None = None, memo: Path | None = None
    ) -> None:
        """Without settings, rules; `memo` is the directory of what is remembered, None to remember nothing."""
        self._generator, self._engine = generator or GeneratorSettings(), engine or EngineSettings()
        self._open = ExitStack()
        self._backend: Backend | None = None
        self._memo = memo
        self._memos: dict[Path, StepMemo[Any]] = {}
        self._warned: set[str] = set()
        self.cost = Cost()
        self.fallen_back = self.reused = self.computed = 0

    def __enter__(self) -> Self:
        """Open the model.

        Raises:
            GeneratorError: It cannot be used; the message says what to do.
        """
        if self._generator.kind == "rules":
            return self
        with ExitStack() as stack:
            backend = make_backend(self._generator, self._engine)
            stack.callback(backend.close)
            backend.prepare()
            self._open, self._backend = stack.pop_all(), backend
        return self

    def __exit__(self, *_: object) -> None:
        for memo in self._memos.values():
            memo.commit()
        self._memos = {}
        self._backend = None
        self._open.close()

    def run(self, task: Task[Input, Output], inputs: Sequence[Input]) -> list[Done[Output]]:
        """What comes of each of the `inputs`, in their order; from the memo where there is one and it knows.

        Raises:
            GeneratorError: The model cannot be asked any more.
            RuntimeError: The reasoner is not open.
        """
        generator = self._generator.of(task.name)
        identities: list[object] = []
        for given in inputs if self._memo else ():
            identity = getattr(given, "identity", None)
            if identity is None and generator.kind != "rules":
                # A model's output depends on its prompt, and on what the check needs beside it.
                prompt, unshown = task.render(given), getattr(given, "unshown", None)
                identity = prompt if unshown is None else [prompt, unshown]
            identities.append(identity)
        if self._memo is None or None in identities:
            return self._fresh(task, inputs)

        def make(places: Sequence[int]) -> list[Done[Output]]:
            self.computed += len(places)
            self.reused += len(inputs) - len(places)
            return self._fresh(task, [inputs[n] for n in places])

        step = Kept(task.name, task.output, task.configuration(generator))
        return self._remembered(self._memo, step, identities, make, generator.kind)

    def kept(
        self, step: Kept[Output], identities: Sequence[object], make: Callable[[Sequence[int]], Sequence[Output]]
    ) -> list[Output]:
        """What a step makes of each input; `make` is called once, with the places of those that nothing is known of.

        For steps by rule that do the work of a batch together. Neither `reused` nor `computed` counts them. The
        identity of an input is everything that its output depends on, JSON-like.
        """
        if self._memo is None:
            return [*make(range(len(identities)))]

        def done(places: Sequence[int]) -> list[Done[Output]]:
            return [Done(output, "rules") for output in make(places)] if places else []

        return [one.output for one in self._remembered(self._memo, step, identities, done, "rules")]

    def _remembered(
        self,
        root: Path,
        step: Kept[Output],
        identities: Sequence[object],
        make: Callable[[Sequence[int]], Sequence[Done[Output]]],
        by: str,
    ) -> list[Done[Output]]:
        """What a step makes of each input: what is remembered, else what `make` makes of them by their places."""
        folder = step.folder
        if folder not in self._memos:
            self._memos[folder] = StepMemo(root, step, self._warned)
        memo: StepMemo[Output] = self._memos[folder]
        keys, outputs = memo.known(identities)
        missing = {key: n for n, key in enumerate(keys) if outputs[n] is None}
        fresh = dict(zip(missing, make([*missing.values()]), strict=True))
        # What the rule said in a model's stead is not remembered: the model may have better luck another time.
        memo.keep({key: result.output for key, result in fresh.items() if result.by == by}, by)
        return [fresh[key] if output is None else Done(output, by) for key, output in zip(keys, outputs, strict=True)]

    def _fresh(self, task: Task[Input, Output], inputs: Sequence[Input]) -> list[Done[Output]]:
        """What comes of each of the `inputs`, whatever is remembered."""
        kind = self._generator.of(task.name).kind
        if kind == "rules":
            return [Done(task.rule(one), kind) for one in task.ahead(inputs)]
        if self._backend is None:
            raise RuntimeError(f"open the reasoner first: with Reasoner(...) as reasoner: reasoner.run({task.name!r})")
        over: dict[int, Conversation[Input, Output]] = {}
        started, cost = time.monotonic(), Cost()
        try:
            hold(
                self._backend,
                task,
                (Conversation(n, one) for n, one in enumerate(inputs) if not task.by_rule(one)),
                lambda conversation: over.update({conversation.key: conversation}),
                retries=self._generator.retries,
                cost=cost,
            )
        finally:
            self.cost += cost
        results: list[Done[Output]] = []
        for n, one in enumerate(inputs):
            outcome = over.get(n) or Conversation(n, one)
            if outcome.good is None:
                results.append(Done(task.rule(one), "rules", outcome.problems))
            else:
                results.append(Done(outcome.good, kind, outcome.problems))
        # Log what a run came to; inputs that fell back are a warning.
        seconds = time.monotonic() - started
        fallen = Counter(one.problems[0].reason for one in results if one.by == "rules" and one.problems)
        self.fallen_back += fallen.total()
        figures = " ".join(f"{name}={value}" for name, value in vars(cost).items())
        reasons = "".join(f" {reason}={count}" for reason, count in fallen.most_common())
        log.log(
            logging.WARNING if fallen else logging.INFO,
            "task=%s by=%s inputs=%d fell_back=%d%s %s seconds=%.1f",
            *(task.name, self._generator.kind, len(results), fallen.total(), reasons, figures, seconds),
        )
        return results
