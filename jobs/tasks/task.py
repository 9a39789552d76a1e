"""What a reasoning step is: a prompt, an output model, and a rule that makes the same output with no model.

A task is declared once, in one file, and runs over a list of inputs (`.runner`) and over the rows of a table
(`.table`). A rule carries it out in this process; a language model (`.generators`) is given the prompt and the schema
of the output, and what it replies must pass the task's check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from quern.jobs.tasks.generators.backends import model_identity
from quern.schemas.digests import settings_digest, text_digest
from quern.schemas.settings import GeneratorSettings

if TYPE_CHECKING:
    from jinja2 import Template


Input = TypeVar("Input")
Output = TypeVar("Output", bound=BaseModel)


class OutputModel(BaseModel):
    """What a task's output model is made of: it cannot change, and has no field but those of its schema."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Problem:
    """Something wrong with an output."""

    reason: str  # Code, such as `ungrounded`.
    detail: str  # What exactly, in words that the model is told and a person can read.


@dataclass(frozen=True)
class Checked(Generic[Output]):
    """What of an output can be used."""

    good: Output | None  # The part that can; None where nothing can.
    problems: tuple[Problem, ...] = ()  # What is wrong with the rest.


def _accept(_: Any, output: Output) -> Checked[Output]:
    return Checked(output)


def _later(_: Output, later: Output) -> Output:
    return later


def _fields(given: Any) -> Mapping[str, object]:
    fields: Mapping[str, object] = getattr(given, "quoted", None) or vars(given)
    return fields


def _never(_: Any) -> bool:
    return False


@dataclass(frozen=True)
class Task(Generic[Input, Output]):
    """One reasoning step, declared once for every generator."""

    name: str  # Name in logs, memo and rejects.
    # Raised when a rule outside of this package gives another result; within it the digest of its sources tells
    # (`rules_digest`).
    version: int
    prompt: str  # Jinja template over the fields of the input and `constants`, for generators with a language model.
    output: type[Output]  # What every generator must return; its JSON schema constrains decoding.
    rule: Callable[[Input], Output]  # The deterministic generator that needs no model.
    # What of a model's output is usable for an input, and what is wrong with the rest.
    check: Callable[[Input, Output], Checked[Output]] = _accept
    # One output of what was good before and what was good in a corrected reply.
    join: Callable[[Output, Output], Output] = _later
    enough: Callable[[Output], bool] = _never  # Whether an output needs no more, whatever was wrong beside it.
    most: Mapping[str, int] = field(default_factory=dict)  # Longest lists that a model may return, by their field.
    # Values for the prompt and the rule that are the same for every input.
    constants: Mapping[str, object] = field(default_factory=dict)
    # The fields of an input that the prompt shows; its `quoted` ones where it has them, else all.
    show: Callable[[Input], Mapping[str, object]] = _fields
    # Messages before the prompt of a conversation: an instruction, and examples with their replies.
    preface: Sequence[Mapping[str, str]] = ()
    # Whether the rule carries an input out whatever generator is named: where it is better than models.
    by_rule: Callable[[Input], bool] = _never
    # The verdict of an output, a field that is true or false, and the output with the probability that it is true: of
    # a model that tells the probabilities of its tokens.
    weigh: tuple[str, Callable[[Output, float], Output]] | None = None
    # All inputs of a batch in turn, as the rule takes them over a list: begins beside it what the next need.
    ahead: Callable[[Sequence[Input]], Iterator[Input]] = iter

    def render(self, given: Input) -> str:
        """The prompt for one input.

        Raises:
            jinja2.UndefinedError: The template names what neither the input nor `constants` has.
        """
        return _template(self.prompt).render({**self.constants, **self.show(given)})

    def schema(self) -> dict[str, Any]:
        """JSON schema of the output, lists no longer than `most`: a small model ends a free one only when cut off."""
        schema = self.output.model_json_schema()
        for name, most in self.most.items():
            schema["properties"][name]["maxItems"] = most
        return schema

    def configuration(self, generator: GeneratorSettings) -> dict[str, object]:
        """Everything that an output depends on beside the input; the key of the memo is made of it."""
        constants = settings_digest(dict(self.constants))
        if generator.kind == "rules":
            return {"task": self.version, "rules": rules_digest(), "generator": "rules", "constants": constants}
        return {
            "task": self.version,
            "prompt": settings_digest([self.prompt, dict(self.constants), *map(dict, self.preface)]),
            "schema": settings_digest(self.schema()),
            **({"weighed": self.weigh[0]} if self.weigh else {}),
            **generator.results(),
            "model": model_identity(generator),
        }


@lru_cache(maxsize=64)
def _template(prompt: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # No rule has need of it: 0.1 s of a question.

    # Prompts are plain text for a model: nothing is escaped for HTML.
    return Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True).from_string(  # noqa: S701
        prompt
    )


_JOBS: Final = Path(__file__).parents[1]
# The packages whose sources a rule for questions depends on.
_PACKAGES: Final = ("reasoning", "text", "models")


@cache
def rules_digest() -> str:
    """Digest of the sources and the packaged weights of all rules for questions."""
    files = [file for name in _PACKAGES for file in (_JOBS / name).rglob("*") if file.suffix in (".py", ".json")]
    return text_digest(*(f"{file.relative_to(_JOBS)}\n{file.read_text('utf-8')}" for file in sorted(files)))
