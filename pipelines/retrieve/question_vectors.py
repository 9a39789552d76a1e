"""The vectors of questions, remembered from run to run: where none is missing, no model is loaded."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from quern.indexes.vectors import Floats
from quern.jobs.reasoning.remembered import Kept
from quern.jobs.reasoning.runner import Reasoner
from quern.pipelines.retrieve.searcher import Searcher

_NUMBER = np.dtype("<f4")


class QuestionVector(BaseModel):
    """The vector of a question: its numbers as little-endian float32, in base64."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    vector: str


def question_vectors(searcher: Searcher, reasoner: Reasoner, texts: Sequence[str]) -> Floats:
    """Embeddings of questions in the form in which texts are searched, shape (questions, d)."""
    if not texts:
        return searcher.question_embedder.encode(texts)
    step = Kept("question_vectors", QuestionVector, searcher.question_model)

    def embed(places: Sequence[int]) -> list[QuestionVector]:
        vectors = searcher.question_embedder.encode([texts[n] for n in places]).astype(_NUMBER, copy=False)
        return [QuestionVector(vector=b64encode(row.tobytes()).decode("ascii")) for row in vectors]

    made = reasoner.kept(step, texts, embed)
    return np.stack([np.frombuffer(b64decode(one.vector), dtype=_NUMBER) for one in made]).astype(np.float32)
