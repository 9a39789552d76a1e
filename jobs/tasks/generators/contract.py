"""What a generator with a model is: something that turns chat messages into replies, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from quern.schemas.errors import QuernError


class GeneratorError(QuernError):
    """A generator that cannot be used or stopped answering; the message says what to do."""


@dataclass(frozen=True)
class Request:
    """One conversation that a model is to continue."""

    row: int  # Number by which the reply is known again.
    messages: tuple[Mapping[str, str], ...]  # Chat messages, each with `role` and `content`.


@dataclass(frozen=True)
class Reply:
    """What a model answered to one request."""

    row: int  # That of the request.
    text: str  # The answer; empty where there is an error.
    cut_off: bool  # Whether the answer reached the most tokens that it could have.
    prompt_tokens: int  # Tokens of the request, 0 where the model does not say.
    output_tokens: int  # Tokens of the answer.
    error: str = ""  # Why this request got no answer, while others may: a prompt too long, a time-out.
    # Each token of the answer and its log-probability, where they were asked for and the model tells.
    tokens: tuple[tuple[str, float], ...] = ()


class Backend(Protocol):
    """A model that answers many requests."""

    def prepare(self) -> None:
        """See that the model is there and can be used, before any work is done.

        Raises:
            GeneratorError: It is not, or cannot; the message says what to do.
        """

    def replies(
        self, requests: Iterator[Request], schema: Mapping[str, object], *, tokens: bool = False
    ) -> Iterator[Reply]:
        """Replies in any order, each held to the JSON schema; with their tokens, if asked for and the model tells.

        `requests` may be read while replies are given, and may then have more than at first; or some of them before.
        Those that are left are given to the next call.

        Raises:
            GeneratorError: No further request will be answered.
        """

    def close(self) -> None:
        """Give back connections, processes and memory."""
