"""A question and nothing beside it, as the tasks have it that are about its words alone."""

from __future__ import annotations

from dataclasses import dataclass

from quern.jobs.reasoning.prompts import disarmed


@dataclass(frozen=True)
class QuestionInput:
    """A question that is taken apart, or may have to be refused."""

    question: str

    @property
    def identity(self) -> object:
        """All that the output depends on: a standing question is asked once."""
        return self.question

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {"question": disarmed(self.question)}
