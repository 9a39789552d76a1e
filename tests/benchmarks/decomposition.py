"""Questions taken apart by rule against people's decompositions: valid graphs, and the number of sub-questions.

A folder holds `strategyqa_train.jsonl` (`sub_questions`), `fanoutqa.jsonl` (`decomposition`) and
`break_high_level.jsonl` (`operators` of QDMR; those that look something up are counted: select, project, boolean). A
question that is not taken apart counts as one; golds above six count as six, the most that a decomposition may have.
"""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from quern.jobs.reasoning.questions.parts import MOST_SUB_QUESTIONS, fault_of_plan, parts

_LOOKS_UP: Final = ("select", "project", "boolean")
_GOLD: Final[dict[str, Callable[[dict[str, Any]], int]]] = {
    "strategyqa_train": lambda row: len(row["sub_questions"]),
    "break_high_level": lambda row: sum(o in _LOOKS_UP for o in ast.literal_eval(row["operators"])),
    "fanoutqa": lambda row: len(row["decomposition"]),
}


def benchmark_decomposition(folder: Path) -> dict[str, float]:
    """Shares of valid graphs, of right numbers of sub-questions and of those within one, and questions a second."""
    figures: dict[str, float] = {}
    for name, gold in _GOLD.items():
        with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        started = time.process_time()
        subs = [parts(row["question"]) for row in rows]
        seconds = time.process_time() - started
        off = [abs(max(1, len(s)) - min(MOST_SUB_QUESTIONS, max(1, gold(r)))) for s, r in zip(subs, rows, strict=True)]
        figures[f"{name}, valid"] = sum(fault_of_plan(s) is None for s in subs) / len(rows)
        figures[f"{name}, taken apart"] = sum(bool(s) for s in subs) / len(rows)
        figures[f"{name}, right number"] = sum(n == 0 for n in off) / len(rows)
        figures[f"{name}, within one"] = sum(n <= 1 for n in off) / len(rows)
        figures[f"{name}, a second"] = len(rows) / max(seconds, 1e-9)
    return figures
