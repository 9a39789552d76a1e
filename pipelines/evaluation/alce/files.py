"""Files of answers measured with no warehouse: those of ALCE's systems, and our own."""

from __future__ import annotations

from pathlib import Path

from quern.jobs.reasoning.runner import Reasoner
from quern.jobs.vectors.embedder import Embedder
from quern.pipelines.evaluation.alce.citations import entails_by
from quern.pipelines.evaluation.alce.measure import figures, measured
from quern.pipelines.evaluation.alce.records import read_records
from quern.pipelines.evaluation.figures import flat
from quern.schemas.settings import Settings


def evaluate_file(
    path: Path, settings: Settings | None = None, *, by_type: bool = False
) -> dict[str, dict[str, float]]:
    """Figures of the answers in `path` by ALCE's measures, under the file's name; `measure.FIGURES` tells what each is.

    Each has its 95 % interval beside it, as `alce_citation_f1_low` and `alce_citation_f1_high`.

    Args:
        path: ALCE's JSON, or `answers.jsonl`.
        settings: `generator`, `entailment` and `embed` hold.
        by_type: Also under `NAME TYPE`, for each type of question that the file states.

    Raises:
        EvaluationError: The file cannot be read, or a record of it is no answer; the record is named.
    """
    settings = settings or Settings()
    records = read_records(path)
    encode = Embedder.for_questions(settings.embed).encode if settings.entailment.vectors else None
    with Reasoner(settings.generator, settings.engine) as reasoner:
        rows = measured(records, entails_by(reasoner, encode))
    told = {path.name: flat(figures(rows))}
    for name in sorted({r.type for r in records} - {""}) if by_type else ():
        mine = [row for row, record in zip(rows, records, strict=True) if record.type == name]
        told[f"{path.name} {name}"] = flat(figures(mine))
    return told
