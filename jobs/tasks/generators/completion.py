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
    refusal = message.get("refusal")
    return Reply(
        row=-1,
        text=_text(message.get("content")),
        cut_off=choice.get("finish_reason") == "length",
        prompt_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        error=f"the model refused: {_shown(refusal.encode('utf-8', 'replace'))}" if isinstance(refusal, str) else "",
        tokens=_tokens(choice.get("logprobs")),
    )


def _tokens(said: Any) -> tuple[tuple[str, float], ...]:
    """Tokens and their log-probabilities; none where the endpoint does not tell, or tells something else."""
    try:
        told = [(str(one["token"]), float(one["logprob"])) for one in said["content"]]
    except (TypeError, KeyError, ValueError, OverflowError):
        return ()
    return tuple((t, min(0.0, chance)) for t, chance in told) if all(math.isfinite(c) for _, c in told) else ()


def told_by(body: bytes) -> str:
    """What an error's body says: its message, or how it begins."""
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return _shown(body)
    error = tree.get("error", tree) if isinstance(tree, dict) else tree
    message = error.get("message", error) if isinstance(error, dict) else error
    return _shown(str(message).encode("utf-8", "replace"))


def _text(content: Any) -> str:
    """Text of a message, which may come in parts."""
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""


def _count(tokens: Any) -> int:
    return max(0, tokens) if isinstance(tokens, int) else 0


def _shown(body: bytes) -> str:
    return " ".join(body[: 4 * _SHOWN].decode("utf-8", "replace").split())[:_SHOWN] or "an empty answer"
