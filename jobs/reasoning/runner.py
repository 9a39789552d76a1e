"""The runner of tasks that a model carries out: ask, check, ask again with what was wrong, commit what is valid.

Only output that passed its schema and its task's check enters the memo. It does so while the job runs: a build that
was killed, or whose endpoint died, goes on from there.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from quern.indexes.memo import commit_part, nest
from quern.jobs.core.missing_rows import INPUT
from quern.jobs.core.work import Ran, Work
from quern.jobs.engines.ray import RayEngine
from quern.jobs.reasoning.generators.contract import Backend, GeneratorError, Reply, Request
from quern.jobs.reasoning.generators.endpoint import EndpointBackend
from quern.jobs.reasoning.generators.vllm import VllmBackend
from quern.jobs.reasoning.task import Checked, Problem, Task, TaskJob
from quern.schemas.settings import EngineSettings, GeneratorSettings
from quern.schemas.tables.validate import validate

log = logging.getLogger(__name__)

# Rows given to a model that takes them a slab at a time; their conversations, some 4 kB each, are held meanwhile.
_SLAB_ROWS: Final = 50_000
_COMMIT_SECONDS: Final = 20.0
_PROBLEMS_TOLD: Final = 8
_SAID_LENGTH: Final = 6000
_THOUGHT_ENDS: Final = "</think>"
_HALF_SURROGATE: Final = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


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


@dataclass
class _Counts:
    """What a job cost."""

    requests: int = 0
    errors: int = 0
    asked_again: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        self.requests += 1
        self.errors += bool(reply.error)
        self.prompt_tokens += reply.prompt_tokens
        self.output_tokens += reply.output_tokens


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

    def add(self, conversation: _Conversation) -> None:
        """Take a finished row: what is good of it, and what was wrong as rejects.

        A row with something valid is done; one with nothing may have better luck in the next build.
        """
        job, row = cast("TaskJob[Any, Any]", self.work.job), len(self.prints)
        self.prints.append(conversation.fingerprint)
        problems, nothing = conversation.problems, conversation.good is None
        if conversation.good is not None:
            made = job.made(conversation.row, conversation.good)
            self.rows += made
            self.parents += [row] * len(made)
        elif problems:
            tries = f" (reply {conversation.replies})" if conversation.replies > 1 else ""
            problems = (Problem(problems[0].reason, problems[0].detail[:450] + tries),)
        self.rejects += [(row, p.reason, printable(p.detail)[:500], nothing) for p in problems]
        self.done += not nothing
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
        """Ask for the output of every row, and again with what was wrong where a reply failed.

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
        # An endpoint takes requests one by one for as long as it runs; vLLM takes all that there are and then runs.
        desk = _Desk(work, job, _SLAB_ROWS if kind == "vllm" else None)
        started = time.monotonic()
        try:
            while desk.open_round():
                for reply in backend.replies(desk, job.task.schema()):
                    counts.add(reply)
                    desk.take(reply, committer, counts)
                desk.give_up_unanswered(committer)
        except GeneratorError as error:
            desk.keep_good(committer)
            raise GeneratorError(
                f"{error}; {committer.done} rows of the job {job.name} were done and are kept: run the same command "
                "again to go on"
            ) from error
        except BaseException:
            desk.keep_good(committer)
            raise
        finally:
            committer.commit()
            backend.close()
        speed = round(counts.output_tokens / max(time.monotonic() - started, 1e-9), 1)
        return Ran(kind, {**vars(counts), "output_tokens_per_second": speed})

    def close(self) -> None:
        """Stop Ray, if a model ran on it."""
        self._ray.close()


class _Desk(Iterator[Request]):
    """The conversations that are open: what is to be asked next, and what was said.

    Rows to be asked again come before new ones, so that few are open at a time.
    """

    def __init__(self, work: Work, job: TaskJob[Any, Any], slab: int | None) -> None:
        """With `slab`, so many new rows are given out in a round."""
        self._job, self._task, self._slab = job, job.task, slab
        self._rows = _conversations(work, job)
        self._open: dict[int, _Conversation] = {}
        self._again: deque[int] = deque()
        self._next: _Conversation | None = next(self._rows, None)
        self._number = self._given = 0

    def open_round(self) -> bool:
        """Begin a round; whether there is anything to ask."""
        self._given = 0
        return bool(self._again) or self._next is not None

    def __next__(self) -> Request:
        """The next request; after it had none, replies that are taken may give it more."""
        if self._again:
            number = self._again.popleft()
        elif self._next is None or (self._slab is not None and self._given >= self._slab):
            raise StopIteration
        else:
            number, self._number, self._given = self._number, self._number + 1, self._given + 1
            self._open[number], self._next = self._next, next(self._rows, None)
        return Request(number, _messages(self._task, self._open[number]))

    def take(self, reply: Reply, committer: _Committer, counts: _Counts) -> None:
        """Take a reply: its conversation is over, or is asked again."""
        conversation = self._open[reply.row]
        conversation.replies += 1
        checked = judge(self._task, conversation.given, reply)
        before = conversation.good
        if checked.good is not None:
            conversation.good = checked.good if before is None else self._task.join(before, checked.good)
        if before is None or checked.good is not None:
            conversation.problems, conversation.said = checked.problems, reply.text
        # A correction that brought nothing will not; the problems of the reply before it stand.
        hopeless = bool(reply.error) or (before is not None and checked.good is None)
        enough = conversation.good is not None and self._task.enough(conversation.good)
        if enough:
            conversation.problems = ()
        if not conversation.problems or hopeless or conversation.replies > self._job.generator.retries:
            committer.add(self._open.pop(reply.row))
            return
        counts.asked_again += 1
        self._again.append(reply.row)

    def give_up_unanswered(self, committer: _Committer) -> None:
        """At the end of a round, end conversations that were asked and got neither reply nor error."""
        for number in sorted(self._open.keys() - set(self._again)):
            conversation = self._open.pop(number)
            if conversation.good is None:
                conversation.problems = (Problem("no_reply", "the generator gave no reply to this row"),)
            committer.add(conversation)

    def keep_good(self, committer: _Committer) -> None:
        """Where the job stops, end the conversations that something good came of."""
        for number in [n for n, conversation in self._open.items() if conversation.good is not None]:
            committer.add(self._open.pop(number))


def _conversations(work: Work, job: TaskJob[Any, Any]) -> Iterator[_Conversation]:
    for batch in work.batches(work.files):
        rows, inputs = job.given(batch)
        for one in zip(rows, inputs, batch.column(INPUT).to_pylist(), strict=True):
            yield _Conversation(*one)


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


def judge(task: Task[Any, Any], given: Any, reply: Reply) -> Checked[Any]:
    """What of a reply can be used, by the task's schema and check."""
    if reply.error:
        return Checked(None, (Problem("no_reply", reply.error),))
    if reply.cut_off:
        detail = f"the reply was cut off after {reply.output_tokens} tokens; write less"
        return Checked(None, (Problem("cut_off", detail),))
    try:
        # Raw tabs and line breaks in strings are forgiven: endpoints without grammar write them, and some with one.
        text = _json_part(reply.text)
        tree = json.loads(text, strict=False)
        if _HALF_SURROGATE.search(text):
            tree = json.loads(printable(json.dumps(tree, ensure_ascii=False)))
        output = task.output.model_validate(tree)
    except ValidationError as error:
        wrong = "; ".join(_explain(e) for e in error.errors(include_url=False, include_input=False)[:3])
        return Checked(None, (Problem("malformed", f"the reply is not the JSON asked for: {wrong}"),))
    except (ValueError, RecursionError) as error:
        return Checked(None, (Problem("malformed", f"the reply is not the JSON asked for: {error}"),))
    return task.check(given, output)


def _json_part(text: str) -> str:
    """The object in a reply: models think aloud before it, and wrap it in words and code fences."""
    text = text[text.rfind(_THOUGHT_ENDS) + len(_THOUGHT_ENDS) :] if _THOUGHT_ENDS in text else text
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text.strip()


def printable(text: str) -> str:
    """`text` as a table can hold it: JSON may escape half a surrogate pair."""
    return text.encode("utf-8", "replace").decode()


def _explain(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    return f"{where}: {error['msg']}" if where else str(error["msg"])
