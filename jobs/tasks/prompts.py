"""Texts in prompts: what a page says can end neither its quotation nor a turn of the chat."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Tags of our own prompts, and marks of chat templates, which some tokenizers read in any text.
_ARMED = re.compile(r"<(?=\s*/?\s*(?:passage|evidence|answer|gold)\b|\|)|(?<=\|)>", re.IGNORECASE)


def disarmed(text: str) -> str:
    """`text` with other brackets in place of those that a prompt or a chat template would read as its own."""
    return _ARMED.sub(lambda mark: "\u2039" if mark[0] == "<" else "\u203a", text)


def quoted(text: str, most: int | None = None) -> str:
    """`text` in one line for a prompt, `disarmed`, of at most `most` characters."""
    return disarmed(" ".join(text.split())[:most])


@dataclass(frozen=True)
class QuestionInput:
    """A question and nothing beside it, for tasks about its words alone."""

    question: str

    @property
    def identity(self) -> object:
        """All that the output depends on: a standing question is asked once."""
        return self.question

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {"question": disarmed(self.question)}
