"""A task over the rows of a table: the job, and the engine that runs it where a model carries out the task.

Only output that passed its schema and its task's check enters the memo. It does so while the job runs: a build that
was killed, or whose endpoint died, goes on from there.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, cast

import pyarrow as pa

from quern.indexes.memo import MemoWriter
from quern.jobs.core.contract import Job, Outcome, Reject, outcome
from quern.jobs.core.work import INPUT, Ran, Work
from quern.jobs.engines.ray import RayEngine
from quern.jobs.tasks.conversation import Conversation, Cost, hold, printable
from quern.jobs.tasks.generators.backends import make_backend
from quern.jobs.tasks.generators.contract import GeneratorError
from quern.jobs.tasks.task import Input, Output, Problem, Task
from quern.schemas.contract.validate import validate
from quern.schemas.settings import EngineSettings, GeneratorSettings


class TaskJob(Job, Generic[Input, Output]):
    """A job that does one task for each row of a table, by its rule or by a model."""

    generator: GeneratorSettings  # What carries out the task.

    @property
    @abstractmethod
    def task(self) -> Task[Input, Output]:
        """The task."""

    @abstractmethod
    def inputs(self, rows: Sequence[Mapping[str, Any]]) -> list[Input]:
        """The task's input for each row, which has the columns `reads`."""

    @abstractmethod
    def made(self, row: Mapping[str, Any], output: Output) -> list[dict[str, object]]:
        """Rows of the table made, of the output for `row`."""

    def loss(self, given: Input) -> Problem | None:
        """Why an input that the rule makes no row of is a reject; None where that is no loss."""
        return None

    @property
    def by_model(self) -> bool:
        """Whether a language model carries out the task."""
        return self.generator.of(self.task.name).kind != "rules"

    def configuration(self) -> Mapping[str, object]:
        """What carries out the task; of a model also the prompt and what it is held to."""
        if self.by_model:
            return self.task.configuration(self.generator)
        return {"generator": "rules", "task": self.task.version}

    def given(self, batch: pa.RecordBatch) -> tuple[list[dict[str, Any]], list[Input]]:
        """The rows of a batch as Python, and the task's input for each."""
        rows: list[dict[str, Any]] = batch.select(list(self.reads)).to_pylist()
        return rows, self.inputs(rows)

    def apply(self, batch: pa.RecordBatch) -> Outcome:
        """What the rule makes of each row."""
        task = self.task
        records: list[dict[str, object]] = []
        parents: list[int] = []
        rejects: list[Reject] = []
        # Rules are Python per row: regular expressions over its sentences, mostly.
        for n, (row, given) in enumerate(zip(*self.given(batch), strict=True)):
            rows = self.made(row, task.rule(given))
            if not rows and (loss := self.loss(given)):
                rejects.append(Reject(n, loss.reason, loss.detail))
            records += rows
            parents += [n] * len(rows)
        return outcome(self.makes, records, parents, rejects)


class GeneratorEngine:
    """Runs jobs whose task a model carries out; requests leave from this process, whatever engine does the rest."""

    name = "generator"

    def __init__(self, settings: EngineSettings, ray: RayEngine) -> None:
        """Args: `ray` is the build's, which a model in vLLM runs on."""
        self._settings, self._ray = settings, ray

    def run(self, work: Work) -> Ran:
        """Ask for the output of every row, and again with what was wrong where a reply failed.

        A row whose last reply failed is a reject and is asked for again in the next build.

        Raises:
            GeneratorError: The model cannot be asked any more; what was committed stays.
        """
        job = cast("TaskJob[Any, Any]", work.job)
        kind = job.generator.kind
        backend = make_backend(job.generator, self._settings, work.folder / kind, self._ray)
        cost, committer = Cost(), _Committer(work)
        started = time.monotonic()
        # One for each row, known by the row and its fingerprint.
        conversations: Iterator[Conversation[Any, Any]] = (
            Conversation((row, fingerprint), given)
            for batch in work.batches(work.files)
            for row, given, fingerprint in zip(*job.given(batch), batch.column(INPUT).to_pylist(), strict=True)
        )
        try:
            hold(backend, job.task, conversations, committer.add, retries=job.generator.retries, cost=cost)
        except GeneratorError as error:
            raise GeneratorError(
                f"{error}; {committer.done} rows of the job {job.name} were done and are kept: run the same command "
                "again to go on"
            ) from error
        finally:
            committer.commit()
            backend.close()
        speed = round(cost.output_tokens / max(time.monotonic() - started, 1e-9), 1)
        return Ran(kind, {**vars(cost), "output_tokens_per_second": speed})

    def close(self) -> None:
        """Ray is the build's to stop."""


class _Committer:
    """Finished rows on their way into the memo; `done` is how many of them have something valid."""

    def __init__(self, work: Work) -> None:
        makes = work.job.makes
        self._job = cast("TaskJob[Any, Any]", work.job)
        self._writer = MemoWriter(work.memo, makes.schema, work.task_rows, lambda rows: validate(rows, makes))
        self.done = 0

    def add(self, conversation: Conversation[Any, Any]) -> None:
        """Take a finished row: what is good of it, and what was wrong as rejects.

        A row with something valid is done; one with nothing may have better luck in the next build.
        """
        row, fingerprint = conversation.key
        problems, nothing = conversation.problems, conversation.good is None
        rows: list[dict[str, object]] = []
        if conversation.good is not None:
            rows = self._job.made(row, conversation.good)
        elif problems:
            tries = f" (reply {conversation.replies})" if conversation.replies > 1 else ""
            problems = (Problem(problems[0].reason, problems[0].detail[:450] + tries),)
        self._writer.add(fingerprint, rows, [(p.reason, printable(p.detail)[:500], nothing) for p in problems])
        self.done += not nothing
        self._writer.commit_if_due()

    def commit(self) -> None:
        """Write what was taken to the memo."""
        self._writer.commit()
