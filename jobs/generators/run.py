"""The runner of tasks that a model carries out: ask, check, ask again with what was wrong, commit what is valid.

Only output that passed its schema and its task's check enters the memo. It does so while the job runs: a build that
was killed, or whose endpoint died, goes on from there.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from indexes.memo import commit_part, nest
from jobs.generators.contract import Backend, GeneratorError, Reply, Request
from jobs.generators.endpoint import EndpointBackend
from jobs.generators.vllm import VllmBackend
from jobs.missing import INPUT
from jobs.ray_engine import RayEngine
from jobs.task import Checked, Problem, Task, TaskJob
from jobs.work import Ran, Work
from schemas.groups import EngineSettings, GeneratorSettings
from schemas.validate import validate

log = logging.getLogger(__name__)

# Rows whose conversations are held in memory at a time, some 4 kB each.
_SLAB_ROWS: Final = 20_000
_COMMIT_SECONDS: Final = 20.0
_PROBLEMS_TOLD: Final = 8
_SAID_LENGTH: Final = 6000
# Models wrap JSON in a code fence, and some think aloud before it.
_THOUGHT: Final = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE: Final = re.compile(r"^\s*```(?:json)?\s*\n(?P<body>.*?)\n?\s*```\s*$", re.DOTALL)


def make_backend(generator: GeneratorSettings, engine: EngineSettings, folder: Path) -> Backend:
    """What answers for the settings; temporary files go to `folder`."""
    if generator.kind == "vllm":
        return VllmBackend(generator, folder, here=not engine.ray_address)
    return EndpointBackend(generator)


def prepare_generator(generator: GeneratorSettings, engine: EngineSettings, folder: Path) -> None:
    """See that the model of the settings can be used, before any work is done.

    Raises:
        GeneratorError: It cannot; the message says what to do.
    """
    if generator.kind != "rules":
        make_backend(generator, engine, folder).prepare()


@dataclass
class _Conversation:
    """One row on its way to an output."""

    row: Mapping[str, Any]
    given: Any
    fingerprint: bytes
    good: BaseModel | None = None
    problems: tuple[Problem, ...] = ()
    said: str = ""
    replies: int = 0
    open: bool = True


@dataclass
class _Counts:
    """What a job cost."""

    requests: int = 0
    asked_again: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0


@dataclass
class _Committer:
    """Finished rows on their way into the memo."""

    work: Work
    prints: list[bytes] = field(default_factory=list)
    rows: list[dict[str, object]] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    rejects: list[tuple[int, str, str, bool]] = field(default_factory=list)
    done: int = 0
    committed_at: float = field(default_factory=time.monotonic)

    def add(self, conversation: _Conversation, problems: Sequence[Problem], *, transient: bool) -> None:
        """Take a finished row, and its `problems` as rejects."""
        job, row = cast("TaskJob[Any, Any]", self.work.job), len(self.prints)
        self.prints.append(conversation.fingerprint)
        if conversation.good is not None:
            made = job.made(conversation.row, conversation.good)
            self.rows += made
            self.parents += [row] * len(made)
        self.rejects += [(row, p.reason, p.detail[:500], transient) for p in problems]
        self.done += 1
        if len(self.prints) >= self.work.task_rows or time.monotonic() - self.committed_at > _COMMIT_SECONDS:
            self.commit()

    def commit(self) -> None:
        """Write what was taken to the memo."""
        self.committed_at = time.monotonic()
        if not self.prints:
            return
        makes = self.work.job.makes
        made = validate(pa.RecordBatch.from_pylist(self.rows, schema=makes.schema), makes)
        prints = np.frombuffer(b"".join(self.prints), dtype=np.dtype((np.void, 16)))
        commit_part(self.work.memo, nest(prints, made, np.asarray(self.parents, dtype=np.int64), self.rejects))
        self.prints, self.rows, self.parents, self.rejects = [], [], [], []


class GeneratorEngine:
    """Runs jobs whose task a model carries out; requests leave from this process, whatever engine does the rest."""

    name = "generator"

    def __init__(self, settings: EngineSettings) -> None:
        self._settings, self._ray = settings, RayEngine(settings)

    def start(self) -> None:
        """Nothing is needed before a job says which model."""

    def run(self, work: Work) -> Ran:
        """Ask for the output of every row, in rounds: all rows, then those whose reply failed, with what was wrong.

        A row whose last reply failed is a reject and is asked for again in the next build.

        Raises:
            GeneratorError: The model cannot be asked any more; what was committed stays.
        """
        job = cast("TaskJob[Any, Any]", work.job)
        kind = job.generator.kind
        if kind == "vllm":
            self._ray.start()
        backend = make_backend(job.generator, self._settings, work.folder / kind)
        counts, committer = _Counts(), _Committer(work)
        started = time.monotonic()
        try:
            for conversations in _slabs(work, job):
                _converse(conversations, job, backend, committer, counts)
        except GeneratorError as error:
            raise GeneratorError(
                f"{error}; {committer.done} rows of the job {job.name} were done and are kept: run the same command "
                "again to go on"
            ) from error
        finally:
            committer.commit()
            backend.close()
        speed = round(counts.output_tokens / max(time.monotonic() - started, 1e-9), 1)
        return Ran(kind, {**vars(counts), "output_tokens_per_second": speed})

    def close(self) -> None:
        """Stop Ray, if a model ran on it."""
        self._ray.close()


def _slabs(work: Work, job: TaskJob[Any, Any]) -> Iterator[list[_Conversation]]:
    slab: list[_Conversation] = []
    for batch in work.batches(work.files):
        rows, inputs = job.given(batch)
        prints = batch.column(INPUT).to_pylist()
        slab += [_Conversation(*one) for one in zip(rows, inputs, prints, strict=True)]
        if len(slab) >= _SLAB_ROWS:
            yield slab
            slab = []
    if slab:
        yield slab


def _converse(
    conversations: Sequence[_Conversation],
    job: TaskJob[Any, Any],
    backend: Backend,
    committer: _Committer,
    counts: _Counts,
) -> None:
    """Bring every conversation to its end."""
    task, schema = job.task, job.task.schema()
    for turn in range(job.generator.retries + 1):
        last = turn == job.generator.retries
        asked = [n for n, c in enumerate(conversations) if c.open]
        if not asked:
            return
        if turn:
            log.info("job=%s generator=%s asking again for %d rows", job.name, job.generator.kind, len(asked))
            counts.asked_again += len(asked)
        requests = (Request(n, _messages(task, conversations[n])) for n in asked)
        for reply in backend.replies(requests, schema):
            counts.requests += 1
            counts.prompt_tokens += reply.prompt_tokens
            counts.output_tokens += reply.output_tokens
            _hear(conversations[reply.row], reply, task)
            _finish(conversations[reply.row], committer, last=last)
    for conversation in conversations:
        if conversation.open:
            conversation.problems = (Problem("no_reply", "the generator gave no reply to this row"),)
            _finish(conversation, committer, last=True)


def _messages(task: Task[Any, Any], conversation: _Conversation) -> tuple[dict[str, str], ...]:
    """The prompt, and after a reply that failed that reply and what was wrong with it."""
    prompt = {"role": "user", "content": task.render(conversation.given)}
    if not conversation.problems:
        return (prompt,)
    wrong = "\n".join(f"- {p.detail}" for p in conversation.problems[:_PROBLEMS_TOLD])
    wanted = (
        "Everything else was kept. Return JSON of the same form that holds only what replaces these."
        if conversation.good is not None
        else "Return the whole JSON again, corrected, and nothing beside it."
    )
    again = {"role": "user", "content": f"Your reply cannot be used as it is:\n{wrong}\n{wanted}"}
    said = {"role": "assistant", "content": conversation.said[:_SAID_LENGTH] or "{}"}
    return (prompt, said, again)


def _hear(conversation: _Conversation, reply: Reply, task: Task[Any, Any]) -> None:
    """Take what a reply is good for."""
    conversation.replies += 1
    conversation.said = reply.text
    checked = judge(task, conversation.given, reply)
    conversation.problems = checked.problems
    if checked.good is not None:
        before = conversation.good
        conversation.good = checked.good if before is None else task.join(before, checked.good)


def _finish(conversation: _Conversation, committer: _Committer, *, last: bool) -> None:
    """End a conversation that needs no further turn, or can have none."""
    if conversation.problems and not last and conversation.problems[0].reason != "no_reply":
        return
    conversation.open = False
    problems = conversation.problems
    if conversation.good is None and problems:
        tries = f" (reply {conversation.replies})" if conversation.replies > 1 else ""
        problems = (Problem(problems[0].reason, problems[0].detail + tries),)
    # A row with something valid is done; one with nothing may have better luck in the next build.
    committer.add(conversation, problems, transient=conversation.good is None)


def judge(task: Task[Any, Any], given: Any, reply: Reply) -> Checked[Any]:
    """What of a reply can be used, by the task's schema and check."""
    if reply.error:
        return Checked(None, (Problem("no_reply", reply.error),))
    if reply.cut_off:
        detail = f"the reply was cut off after {reply.output_tokens} tokens; write less"
        return Checked(None, (Problem("cut_off", detail),))
    text = _THOUGHT.sub("", reply.text)
    fenced = _FENCE.match(text)
    try:
        # Raw tabs and line breaks in strings are forgiven: endpoints without grammar write them, and some with one.
        tree = json.loads(fenced["body"] if fenced else text.strip(), strict=False)
        output = task.output.model_validate(tree)
    except ValidationError as error:
        wrong = "; ".join(_explain(e) for e in error.errors(include_url=False, include_input=False)[:3])
        return Checked(None, (Problem("malformed", f"the reply is not the JSON asked for: {wrong}"),))
    except (ValueError, RecursionError) as error:
        return Checked(None, (Problem("malformed", f"the reply is not the JSON asked for: {error}"),))
    return task.check(given, output)


def _explain(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    return f"{where}: {error['msg']}" if where else str(error["msg"])
