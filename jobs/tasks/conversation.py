"""Conversations with a model about inputs of a task: ask, check, ask again with what was wrong, until it is enough.

The same logic serves rows of a table (`.table`) and lists of inputs (`.runner`): they differ in where inputs
come from and where what is over goes.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, Generic, Self

from pydantic import ValidationError

from quern.jobs.tasks.generators.contract import Backend, Reply, Request
from quern.jobs.tasks.task import Checked, Input, Output, Problem, Task

_THOUGHT_ENDS: Final = "</think>"
_HALF_SURROGATE: Final = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


@dataclass
class Conversation(Generic[Input, Output]):
    """One input on its way to an output."""

    key: Any  # What its owner knows it by again.
    given: Input  # The input.
    good: Output | None = None  # What of the replies can be used; None where nothing can.
    problems: tuple[Problem, ...] = ()  # What was wrong with the last reply that counts.
    said: str = ""  # That reply.
    replies: int = 0  # How many there were.

    def messages(self, task: Task[Input, Output]) -> tuple[dict[str, str], ...]:
        """The prompt behind its preface, and after a reply that failed that reply and what was wrong with it."""
        prompt = (*map(dict, task.preface), {"role": "user", "content": task.render(self.given)})
        if not self.problems:
            return prompt
        wrong = "\n".join(f"- {p.detail}" for p in self.problems[:8])
        request = (
            "Everything else was kept. Return JSON of the same form that holds only what replaces these."
            if self.good is not None
            else "Return the whole JSON again, corrected, and nothing beside it."
        )
        again = {"role": "user", "content": f"Your reply cannot be used as it is:\n{wrong}\n{request}"}
        reply = {"role": "assistant", "content": self.said[:6000] or "{}"}
        return (*prompt, reply, again)


@dataclass
class Cost:
    """What conversations cost."""

    requests: int = 0
    errors: int = 0
    asked_again: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0

    def __iadd__(self, other: Cost) -> Self:
        """Add what others cost."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        self.requests += 1
        self.errors += bool(reply.error)
        self.prompt_tokens += reply.prompt_tokens
        self.output_tokens += reply.output_tokens


def hold(
    backend: Backend,
    task: Task[Input, Output],
    conversations: Iterator[Conversation[Input, Output]],
    finish: Callable[[Conversation[Input, Output]], None],
    *,
    retries: int,
    cost: Cost,
) -> None:
    """Hold all `conversations` with the model; each goes to `finish` when it is over, in any order.

    Where the model stops, those that something good came of are finished all the same.

    Raises:
        GeneratorError: The model cannot be asked any more.
    """
    desk = _Desk(task, conversations, finish)
    try:
        while desk.has_more():
            for reply in backend.replies(desk, task.schema(), tokens=task.weigh is not None):
                cost.add(reply)
                cost.asked_again += desk.take(reply, retries)
            desk.give_up_unanswered()
    except BaseException:
        desk.keep_good()
        raise


class _Desk(Iterator[Request], Generic[Input, Output]):
    """The conversations that are open: what is to be asked next, and what was said.

    Inputs to be asked again come before new ones, so that few are open at a time.
    """

    def __init__(
        self,
        task: Task[Input, Output],
        conversations: Iterator[Conversation[Input, Output]],
        finish: Callable[[Conversation[Input, Output]], None],
    ) -> None:
        self._task, self._conversations, self._finish = task, conversations, finish
        self._open: dict[int, Conversation[Input, Output]] = {}
        self._again: deque[int] = deque()
        self._next = next(conversations, None)
        self._number = 0

    def has_more(self) -> bool:
        """Whether there is anything to ask."""
        return bool(self._again) or self._next is not None

    def __next__(self) -> Request:
        """The next request; after it had none, replies that are taken may give it more."""
        if self._again:
            number = self._again.popleft()
        elif self._next is None:
            raise StopIteration
        else:
            number, self._number = self._number, self._number + 1
            self._open[number], self._next = self._next, next(self._conversations, None)
        return Request(number, self._open[number].messages(self._task))

    def take(self, reply: Reply, retries: int) -> bool:
        """Take a reply: its conversation is over, or is asked again, which is what is returned."""
        conversation = self._open[reply.row]
        conversation.replies += 1
        result = judge(self._task, conversation.given, reply)
        before = conversation.good
        if result.good is not None:
            conversation.good = result.good if before is None else self._task.join(before, result.good)
        if before is None or result.good is not None:
            conversation.problems, conversation.said = result.problems, reply.text
        # A correction that brought nothing will not; the problems of the reply before it stand.
        hopeless = bool(reply.error) or (before is not None and result.good is None)
        if conversation.good is not None and self._task.enough(conversation.good):
            conversation.problems = ()
        if not conversation.problems or hopeless or conversation.replies > retries:
            self._finish(self._open.pop(reply.row))
            return False
        self._again.append(reply.row)
        return True

    def give_up_unanswered(self) -> None:
        """End conversations that were asked and got neither reply nor error."""
        for number in sorted(self._open.keys() - set(self._again)):
            conversation = self._open.pop(number)
            if conversation.good is None:
                conversation.problems = (Problem("no_reply", "the generator gave no reply to this row"),)
            self._finish(conversation)

    def keep_good(self) -> None:
        """Where the model stops, end the conversations that something good came of."""
        for number in [n for n, conversation in self._open.items() if conversation.good is not None]:
            self._finish(self._open.pop(number))


def judge(task: Task[Input, Output], given: Input, reply: Reply) -> Checked[Output]:
    """What of a reply can be used, by the task's schema and check."""
    if reply.error:
        return Checked(None, (Problem("no_reply", reply.error),))
    if reply.cut_off:
        detail = f"the reply was cut off after {reply.output_tokens} tokens; write less"
        return Checked(None, (Problem("cut_off", detail),))
    try:
        # Raw tabs and line breaks in strings are forgiven: endpoints without grammar write them, and some with one.
        # Models think aloud before the object, and wrap it in words and code fences.
        text = reply.text.rpartition(_THOUGHT_ENDS)[2]
        start, end = text.find("{"), text.rfind("}")
        text = text[start : end + 1] if 0 <= start < end else text.strip()
        tree = json.loads(text, strict=False)
        if _HALF_SURROGATE.search(text):
            tree = json.loads(printable(json.dumps(tree, ensure_ascii=False)))
        output = task.output.model_validate(tree)
        if task.weigh is not None and (chance := probability(reply, task.weigh[0])) is not None:
            yes = getattr(output, task.weigh[0])
            output = task.weigh[1](output, chance if yes else 1.0 - chance)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:3]
        wrong = "; ".join(": ".join(filter(None, (".".join(map(str, e["loc"])), e["msg"]))) for e in faults)
        return Checked(None, (Problem("malformed", f"the reply is not the JSON asked for: {wrong}"),))
    except (ValueError, RecursionError) as error:
        return Checked(None, (Problem("malformed", f"the reply is not the JSON asked for: {error}"),))
    return task.check(given, output)


def probability(reply: Reply, verdict: str) -> float | None:
    """Probability of the verdict that a reply gives, by the token that says `true` or `false`; None if it is not told.

    One half at least: it was written because it was the likelier, and what an endpoint tells may be a share of all
    tokens rather than of the two that could stand there.

    Source: P(yes) and P(no) of a validator's verdict, Know Where to Go, eq. 6.
    """
    text = "".join(text for text, _ in reply.tokens)
    begins = text.rfind(_THOUGHT_ENDS) + 1
    # What a model thinks aloud before its reply is no verdict; of a name that is written twice JSON takes the last.
    matches = [*re.finditer(rf'(?<!\\)"{verdict}"\s*:\s*(?=true|false)', text[begins:])]
    if not matches:
        return None
    at = begins + matches[-1].end()
    ends = accumulate(len(text) for text, _ in reply.tokens)
    share = next(math.exp(chance) for (_, chance), end in zip(reply.tokens, ends, strict=True) if end > at)
    return max(0.5, share)


def printable(text: str) -> str:
    """`text` as a table can hold it: JSON may escape half a surrogate pair."""
    return text.encode("utf-8", "replace").decode()
