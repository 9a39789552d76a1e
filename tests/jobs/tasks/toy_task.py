"""A task of the tests' own: all that a new task takes is such a declaration, and a job where it is to make a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.tasks.table import TaskJob
from quern.jobs.tasks.task import Checked, Problem, Task
from quern.schemas.settings import GeneratorSettings
from quern.schemas.tables import QUERIES, Table


@dataclass(frozen=True)
class Line:
    text: str


class Tally(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    words: int = Field(ge=0, le=99, description="How many words the line has.")
    shout: bool = Field(description="Whether it ends with an exclamation mark.")


def count(line: Line) -> Tally:
    return Tally(words=len(line.text.split()), shout=line.text.endswith("!"))


def check(line: Line, tally: Tally) -> Checked[Tally]:
    wanted = count(line)
    if tally == wanted:
        return Checked(tally)
    return Checked(None, (Problem("miscounted", f"it has {wanted.words} words, not {tally.words}"),))


PROMPT = 'Count the words of this line: {{ text }}\nReturn JSON: {"words": 3, "shout": false}'
TALLY = Task("tally", 1, PROMPT, Tally, rule=count, check=check)


@dataclass(frozen=True)
class TallyJob(TaskJob[Line, Tally]):
    """One row of `queries` for each line."""

    generator: GeneratorSettings = field(default_factory=GeneratorSettings)
    done: Task[Line, Tally] = TALLY

    name: ClassVar[str] = "tally"
    version: ClassVar[int] = 1
    engine: ClassVar[Literal["cpu", "model"]] = "cpu"
    reads: ClassVar[tuple[str, ...]] = ("chunk_id", "text")
    key: ClassVar[str] = "chunk_id"

    @property
    def makes(self) -> Table:
        return QUERIES.without("similarity", "kept")

    @property
    def task(self) -> Task[Line, Tally]:
        return self.done

    def inputs(self, rows: Sequence[Mapping[str, Any]]) -> list[Line]:
        return [Line(row["text"]) for row in rows]

    def made(self, row: Mapping[str, Any], output: Tally) -> list[dict[str, object]]:
        asked = "Does it shout?" if output.shout else "How many words?"
        key = row["chunk_id"]
        return [{"query_id": f"{key}-0", "chunk_id": key, "question": asked, "answer": str(output.words)}]
