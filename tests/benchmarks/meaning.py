"""What vectors of whole sentences would add to the choice of the sentence that answers (`answering.relevance`).

Each of the likeliest sentences is embedded with its title and the sentence before it, by the default model as it is,
and its cosine with the question is added to its score. The weight of the cosine is fitted to all sets but one, and that
one is measured. Answers do not use it: why is told in docs/explanation/answers.md.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.reasoning.answering.kinds.reading import kind_of
from quern.jobs.reasoning.answering.ranked import lines
from quern.jobs.reasoning.answering.relevance import Line
from quern.jobs.vectors.embed import Embedder
from quern.schemas.settings import EmbedSettings
from tests.benchmarks.answerable import evidence_of
from tests.benchmarks.relevance import Asked, gold_sets, held_by, rows_of

Floats = npt.NDArray[np.float64]
Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
_LEFT_OUT: Final = ("readers, kept", "cmrc2018")  # Kept apart; in a script that the model does not read.
_MOST: Final = 16  # Sentences of a question, the best by score.
_COMPARED: Final = 6  # Of these, those that are embedded,
_NEARLY: Final = 2.0  # where they are less likely than the best by no more log odds.
_TITLE, _BEFORE, _SENTENCE = 80, 200, 500  # Characters that are embedded of each.
_AROUND: Final = (200, 1500)  # Characters before a reference of chunking_evaluation, and behind it.
_MOST_WEIGHT: Final = 20.0
_DRAWS: Final = 2000  # Of the bootstrap.


@dataclass(frozen=True)
class Likely:
    """The likeliest sentences of a question's evidence: score, what else is known of them, and which are right."""

    score: Floats
    meant: Floats
    right: npt.NDArray[np.bool_]

    def first(self, weight: float) -> bool:
        """Whether the best sentence is right where the cosine has this weight."""
        return bool(self.right[int(np.argmax(self.score + weight * self.meant))])

    def loss(self, weight: float) -> float:
        """Surprise, in nats, that the right sentences are the right ones."""
        odds = self.score + weight * self.meant
        return float(np.logaddexp.reduce(odds) - np.logaddexp.reduce(odds[self.right]))


def benchmark_meaning(datasets: Path, warehouses: Sequence[Path]) -> dict[str, float]:
    """Of each set the share of questions whose right sentence comes first, without cosines and with them."""
    encode = Embedder.for_questions(EmbedSettings()).encode
    sets = {name: [*_choices(rows, encode)] for name, rows in gold_rows(datasets, warehouses)}
    return gains(sets, "cosines")


def gains(sets: Mapping[str, Sequence[Likely]], by: str) -> dict[str, float]:
    """Of each set the share of questions whose right sentence comes first, by score alone and with what else is known.

    Its weight is fitted to the other sets.
    """
    figures: dict[str, float] = {}
    gained: list[float] = []
    for name, of in sets.items():
        weight = _fitted({other: rows for other, rows in sets.items() if other != name})
        without, with_it = ([choice.first(w) for choice in of] for w in (0.0, weight))
        gained += [float(now) - float(before) for before, now in zip(without, with_it, strict=True)]
        figures |= {
            f"{name}, questions": len(of),
            f"{name}, first": float(np.mean(without)),
            f"{name}, first with {by}": float(np.mean(with_it)),
            f"{name}, weight by the others": weight,
        }
    drawn, every = np.random.default_rng(0), np.array(gained)
    low, high = np.quantile([drawn.choice(every, len(every)).mean() for _ in range(_DRAWS)], [0.025, 0.975])
    return figures | {"gain": float(every.mean()), "gain, from": float(low), "gain, to": float(high)}


def _fitted(sets: Mapping[str, Sequence[Likely]]) -> float:
    """The weight that makes the right sentences likeliest, each set counting alike."""

    def loss(weight: float) -> float:
        return float(np.mean([np.mean([choice.loss(weight) for choice in of]) for of in sets.values()]))

    return float(minimize_scalar(loss, bounds=(0.0, _MOST_WEIGHT), method="bounded").x)


def gold_rows(datasets: Path, warehouses: Sequence[Path]) -> Iterator[tuple[str, list[tuple[Asked, list[Evidence]]]]]:
    yield "clapnq", [*_clapnq(datasets / "clapnq")]
    yield "chunking_evaluation", [*_chunking(datasets / "chunking_evaluation")]
    for folder in warehouses:
        for name, asked in gold_sets(folder, datasets):
            if name not in _LEFT_OUT:
                yield name, [*zip(asked, evidence_of(folder, [one.question for one in asked]), strict=True)]


def _clapnq(folder: Path) -> Iterator[tuple[Asked, list[Evidence]]]:
    """Questions with the passage that answers them."""
    for row in rows_of(folder / "answerable.jsonl"):
        (passage,), (output, *_) = row["passages"], row["output"]
        asked = Asked(row["input"], output["answer"], tuple(output["selected_sentences"]))
        yield asked, [Evidence(passage["text"], passage["title"], [], [])]


def _chunking(folder: Path) -> Iterator[tuple[Asked, list[Evidence]]]:
    """Questions with what stands around their first reference, from somewhere before it to somewhere behind."""
    texts, chance = {file.stem: file.read_text("utf-8") for file in (folder / "corpora").glob("*.md")}, random.Random(0)
    for row in rows_of(folder / "queries.jsonl"):
        text, first = texts[row["corpus_id"]], row["references"][0]
        start, end = max(0, first["start"] - chance.randint(*_AROUND)), first["end"] + chance.randint(*_AROUND)
        asked = Asked(row["question"], first["text"], tuple(r["text"] for r in row["references"]))
        yield asked, [Evidence(text[start:end], None, [], [])]


def _choices(rows: Sequence[tuple[Asked, list[Evidence]]], encode: Encode) -> Iterator[Likely]:
    """Of each question whose answer is among the best sentences of its evidence, what to choose from."""
    for asked, evidence in rows:
        given = AnswerInput(asked.question, evidence)
        likely, right = likeliest(asked, given)
        if not right.any() or right.all():
            continue
        near = [line for line in likely[:_COMPARED] if line.score >= likely[0].score - _NEARLY]
        question, *vectors = encode([asked.question, *(_in_context(given, line) for line in near)])
        cosines = np.array([float(vector @ question) for vector in vectors])
        meant = np.zeros(len(likely))
        meant[: len(near)] = cosines - cosines.min()
        yield Likely(np.array([line.score for line in likely]), meant, right)


def likeliest(asked: Asked, given: AnswerInput) -> tuple[list[Line], npt.NDArray[np.bool_]]:
    """The likeliest sentences, and which of them are right."""
    likely = lines(given, kind_of(asked.question))[:_MOST]
    return likely, np.array(held_by(asked, [line.text for line in likely]), dtype=np.bool_)


def _in_context(given: AnswerInput, line: Line) -> str:
    """A sentence behind its title and the sentence before it, which says whom `she` means."""
    evidence, before = given.evidence[line.evidence], ""
    if line.number > 1 and given.sentences[line.number - 2].evidence == line.evidence:
        _, start, end = given.sentences[line.number - 2]
        before = evidence.text[start:end][-_BEFORE:]
    title = f"{evidence.title[:_TITLE]}." if evidence.title else ""
    return " ".join(f"{title} {before} {line.text[:_SENTENCE]}".split())
