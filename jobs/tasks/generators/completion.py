"""Reading what an OpenAI-compatible endpoint sends, which is not always what its interface says."""

from __future__ import annotations

import json
import math
from typing import Any

from quern.jobs.tasks.generators.contract import Reply

_SHOWN = 200


class NotACompletionError(ValueError):
    """An answer that is no chat completion; the message shows how it begins."""


def reply_of(body: bytes) -> Reply:
    """The first choice of a chat completion, for row -1.

    Raises:
        NotACompletionError: The body is none.
    """
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        raise NotACompletionError(f"no chat completion: {_shown(body)}") from None
    choices = tree.get("choices") if isinstance(tree, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise NotACompletionError(f"no chat completion: {told_by(body)}")
    usage = tree.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    refusal, content = message.get("refusal"), message.get("content")
    if isinstance(content, list):  # A message may come in parts.
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    try:
        chances = [(str(one["token"]), float(one["logprob"])) for one in choice["logprobs"]["content"]]
    except (TypeError, KeyError, ValueError, OverflowError):
        chances = []  # The endpoint does not tell log-probabilities, or tells something else.
    if not all(math.isfinite(chance) for _, chance in chances):
        chances = []
    return Reply(
        row=-1,
        text=content.encode("utf-8", "replace").decode() if isinstance(content, str) else "",
        cut_off=choice.get("finish_reason") == "length",
        prompt_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        error=f"the model refused: {_shown(refusal.encode('utf-8', 'replace'))}" if isinstance(refusal, str) else "",
        tokens=tuple((token, min(0.0, chance)) for token, chance in chances),
    )


def told_by(body: bytes) -> str:
    """What an error's body says: its message, or how it begins."""
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return _shown(body)
    error = tree.get("error", tree) if isinstance(tree, dict) else tree
    message = error.get("message", error) if isinstance(error, dict) else error
    return _shown(str(message).encode("utf-8", "replace"))


def _count(tokens: Any) -> int:
    return max(0, tokens) if isinstance(tokens, int) else 0


def _shown(body: bytes) -> str:
    return " ".join(body[: 4 * _SHOWN].decode("utf-8", "replace").split())[:_SHOWN] or "an empty answer"
