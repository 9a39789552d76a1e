"""Progressive selection: of the chunks kept so far and a window of further ones, the best `k` (GGatrieval, its loop).

By rule a chunk is worth its place by relevance, what is asked for if it matches that, and what it matches of the
question beside those chosen before it: chunks that are kept together should match all of it.
"""

from __future__ import annotations

import math
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.alignment.labelled import LabelledChunks
from quern.jobs.reasoning.task import Checked, Problem, Task
from quern.schemas.settings import GGatrievalSettings

# What two things are worth beside the place of a chunk, -ln(2 + place): that it matches what is asked for, and the
# share of the constituents that it alone matches. Chosen on the sample corpus and musique_train100, in the middle of
# where no question of them loses a document (.2 to .3; 1 to 1.5). On those kept apart one question of lihua_world's 571
# loses one of its documents from 1.25 on, none of cmrc2018's. To count the share that a chunk matches, whatever the
# others do, loses on musique_train100 from .5 on: the chunks of further hops match little of a question.
_ASKED: Final = 0.25
_ADDED: Final = 1.25


class Selection(BaseModel):
    """The numbers of the chunks that are kept, best first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kept: list[int] = Field(description="Numbers of the passages that are kept, best first.")


PROMPT = """\
Which passages together answer a question best?

Question: {{ question }}

Its parts:
{% for n, text in constituents %}{{ n }}. {{ text }}
{% endfor %}
{% for c in chunks %}<passage number="{{ loop.index0 }}" title="{{ c.title }}" parts="{{ c.matched | join(', ') }}">
{{ c.text }}
</passage>
{% endfor %}
Choose at most {{ keep }}, best first: those that match most parts of the question in one place, and of these the ones
that answer it. Leave out a passage that only repeats another.

Return JSON: {"kept": [number, ...]}
"""


def select_task(settings: GGatrievalSettings) -> Task[LabelledChunks, Selection]:
    """The task of selection; `keep` chunks at most."""
    keep = settings.keep

    def rule(given: LabelledChunks) -> Selection:
        return Selection(kept=_best(given, keep))

    def check(given: LabelledChunks, output: Selection) -> Checked[Selection]:
        known = [n for n in dict.fromkeys(output.kept) if 0 <= n < len(given.chunks)]
        problems = () if len(known) == len(output.kept) else (Problem("unknown_passage", "a number is no passage's"),)
        return Checked(Selection(kept=known[:keep]) if known else None, problems)

    return Task("select", 1, PROMPT, Selection, rule, check, enough=_some, constants={"keep": keep})


def _best(given: LabelledChunks, keep: int) -> list[int]:
    """The numbers of the chunks that are worth most, each beside those chosen before it."""
    constituents = given.parsed.constituents
    asked = frozenset(n for n, c in enumerate(constituents) if c.asked)
    alone = [_ASKED * (bool(asked) and asked <= c.matched) - math.log(2 + c.place) for c in given.chunks]
    left, covered = list(range(len(alone))), frozenset[int]()
    best: list[int] = []
    while left and len(best) < keep:
        added = {n: _ADDED * len(given.chunks[n].matched - covered) / max(1, len(constituents)) for n in left}
        chosen = max(left, key=lambda n: (alone[n] + added[n], -given.chunks[n].place))
        best.append(chosen)
        left.remove(chosen)
        covered |= given.chunks[chosen].matched
    return best


def _some(output: Selection) -> bool:
    return bool(output.kept)
