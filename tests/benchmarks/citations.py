"""Citation precision and density (Xinyu AI Search, section 3.6.1) on claims that experts judged, of ExpertQA.

Each claim may cite the sentences of every text that the answer to its question names, and of the five texts of other
questions that are most alike. A citation of a text that experts read with the claim is right where they found the claim
supported completely, wrong where they found it not; one of another question's text is wrong; others were not judged.
The claims come without the sources that they were drafted from, which the citing of Quern's own answers tries first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from quern.jobs.reasoning.citing.inputs import CitingInput, Source, Sources
from quern.jobs.reasoning.citing.task import cited
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.text.stems import content_words
from quern.pipelines.evaluation.bootstrap import statistic_intervals
from quern.schemas.words.sentences import sentences
from tests.conftest import read_jsonl

_OTHERS: Final = 5  # Texts of other questions that a claim may cite too.
_RESAMPLES: Final = 2000
_MEASURES: Final = ("precision", "precision, unjudged wrong", "density", "density of supported claims")


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with the sources that it may cite."""

    group: str  # Its question.
    given: CitingInput
    texts: Sequence[int]  # The number of the text that each source is a sentence of.
    right: Mapping[int, bool]  # Whether to cite a text is right, of those that were judged.

    @property
    def supported(self) -> bool:
        """Whether experts found it supported completely by a text that is at hand."""
        return any(self.right.values())


def judged_claims(file: Path) -> list[JudgedClaim]:
    """The claims of ExpertQA whose answers name a text that is at hand."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_jsonl(file):
        rows[row["question"]].append(row)
    texts = {q: dict.fromkeys(t for r in of for t in _texts(r)) for q, of in rows.items()}
    words = {text: content_words(text) for of in texts.values() for text in of}
    claims = []
    for question, of in rows.items():
        own, asked = [*texts[question]], frozenset().union(*(content_words(r["claim"]) for r in of))
        far = sorted((t for t in words if t not in texts[question]), key=lambda t, w=asked: (-len(w & words[t]), t))
        every = [*own, *far[:_OTHERS]]
        split = [(n, sentence) for n, text in enumerate(every) for sentence in sentences(text)]
        sources = Sources(Source(sentence) for _, sentence in split)
        for row in of if own else ():
            verdict = {"Complete": True, "Incomplete": False, "Missing": False}.get(row["support"])
            right = dict.fromkeys(range(len(own), len(every)), False)
            if verdict is not None:
                right |= {own.index(t): verdict for t in _texts(row)}
            said = EntailmentInput(row["claim"], []).plain
            claims.append(JudgedClaim(question, CitingInput(said, sources), [n for n, _ in split], right))
    return claims


def _texts(row: Mapping[str, Any]) -> list[str]:
    return [text for e in row["evidence"] if (text := Passage.read(e).text)]


def counts(claims: Sequence[JudgedClaim], cited: Sequence[Sequence[int]]) -> np.ndarray[Any, Any]:
    """Of each claim, shape (n, 7): citations right, judged and all, cited, 1, supported and cited, supported."""
    rows = []
    for claim, numbers in zip(claims, cited, strict=True):
        texts = {claim.texts[n - 1] for n in numbers}
        judged = [claim.right[t] for t in texts if t in claim.right]
        supported = claim.supported
        rows.append((sum(judged), len(judged), len(texts), bool(texts), 1, bool(texts) and supported, supported))
    return np.array(rows, dtype=float)


def measures(of: np.ndarray[Any, Any]) -> list[float]:
    """Precision of judged citations, of all, density, and density of claims that are supported."""
    right, judged, citations, cited, claims, both, supported = of.sum(axis=0)
    return [right / max(1, judged), right / max(1, citations), cited / max(1, claims), both / max(1, supported)]


def benchmark_citations(datasets: Path) -> dict[str, float]:
    """The measures of the rule, with 95 % intervals over questions."""
    claims = judged_claims(datasets / "expertqa_claims" / "claims.jsonl")
    each = counts(claims, [cited(c.given).sources for c in claims])
    groups = {q: n for n, q in enumerate(dict.fromkeys(c.group for c in claims))}
    of = np.array([groups[c.group] for c in claims])
    summed = np.array([each[of == n].sum(axis=0) for n in range(len(groups))])
    measured = statistic_intervals(lambda at: measures(summed[at]), len(groups), _RESAMPLES)
    figures = {"claims": float(len(claims)), "questions": float(len(groups))}
    figures["claims supported by a text at hand"] = float(sum(c.supported for c in claims))
    for name, mean, low, high in zip(_MEASURES, measured.mean, measured.low, measured.high, strict=True):
        figures |= {f"rule: {name}": float(mean), f"rule: {name} low": float(low), f"rule: {name} high": float(high)}
    return figures
