"""What a reasoning step is: a prompt, an output model, and a rule that makes the same output with no model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

Input = TypeVar("Input")
Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class Task(Generic[Input, Output]):
    """One reasoning step, declared once for every generator.

    Attributes:
        name: Name in logs, memo and rejects.
        version: Raised whenever the prompt or the rule gives another result.
        prompt: Jinja template over the fields of the input, for generators with a language model.
        output: What every generator must return; its JSON schema constrains decoding.
        rule: The deterministic generator that needs no model.
    """

    name: str
    version: int
    prompt: str
    output: type[Output]
    rule: Callable[[Input], Output]
