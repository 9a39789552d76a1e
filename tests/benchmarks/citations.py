"""Citation precision and density (Xinyu AI Search, section 3.6.1) on claims that experts judged, of ExpertQA.

Each claim may cite the sentences of every text that the answer to its question names, and of the five texts of other
questions that are most alike. A citation of a text that experts read with the claim is right where they found the claim
supported completely, wrong where they found it not; one of another question's text is wrong; others were not judged.
The claims come without the sources that they were drafted from, which the citing of Quern's own answers tries first.
Nothing is trained on this set: `citation_cases` writes what is trained on.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from quern.jobs.reasoning.citing.inputs import CitingInput, Source, Sources
from quern.jobs.reasoning.citing.task import citing_task
from quern.jobs.reasoning.entailment.inputs import EntailmentInput, Passage
from quern.jobs.text.stems import content_words
from quern.jobs.training.pairs import normalised
from quern.pipelines.evaluation.bootstrap import statistic_intervals
from quern.schemas.settings import CiteSettings
from quern.schemas.words.sentences import sentences
from tests.conftest import SHARED, read_jsonl

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


def judged_claims(file: Path, others: int = _OTHERS) -> list[JudgedClaim]:
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
        every = [*own, *far[:others]]
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


def benchmark_citations(datasets: Path, overrides: Sequence[str]) -> dict[str, float]:
    """The measures of the rule, and of each model that `overrides` of `cite` name, alone and together.

    With 95 % intervals over questions, and paired differences from the rule.
    """
    given = dict(override.split("=", 1) for override in overrides)
    named = [name for name in ("selector", "extractor") if name in given]
    rest = {name: value for name, value in given.items() if name not in named}
    ways = [[name] for name in named] + ([named] if len(named) > 1 else [])
    models = {" and ".join(way): CiteSettings(**rest, **{name: given[name] for name in way}) for way in ways}
    claims = judged_claims(datasets / "expertqa_claims" / "claims.jsonl")
    found = {
        name: counts(claims, [citing_task(settings).rule(c.given).sources for c in claims])
        for name, settings in {"rule": CiteSettings(), **models}.items()
    }
    groups = {q: n for n, q in enumerate(dict.fromkeys(c.group for c in claims))}
    of = np.array([groups[c.group] for c in claims])
    summed = {name: np.array([each[of == n].sum(axis=0) for n in range(len(groups))]) for name, each in found.items()}

    def statistics(at: np.ndarray[Any, Any]) -> list[float]:
        values = {name: measures(each[at]) for name, each in summed.items()}
        differences = [m - r for name in models for m, r in zip(values[name], values["rule"], strict=True)]
        return [*(v for each in values.values() for v in each), *differences]

    told = statistic_intervals(statistics, len(groups), _RESAMPLES)
    names = [f"{name}: {m}" for name in found for m in _MEASURES]
    names += [f"{name} less rule: {m}" for name in models for m in _MEASURES]
    figures = {"claims": float(len(claims)), "questions": float(len(groups))}
    figures["claims supported by a text at hand"] = float(sum(c.supported for c in claims))
    for n, name in enumerate(names):
        figures |= {name: float(told.mean[n]), f"{name} low": float(told.low[n]), f"{name} high": float(told.high[n])}
    return figures


def citation_cases(out: Path, folder: Path = SHARED) -> int:
    """Write cases for `quern train selector` and `extractor`: CLAPNQ's answers, FairytaleQA's short answers.

    A sentence of an answer of CLAPNQ was written from the sentences that its annotator selected. A short answer of
    FairytaleQA rests on the sentences of its section that have it; the others of its section support it not.
    """
    cases = []
    for row in read_jsonl(folder / "clapnq" / "answerable.jsonl"):
        (passage,) = row["passages"]
        sources = [{"title": passage["title"], "text": text} for text in passage["sentences"]]
        for output in row["output"]:
            chosen = [n for n, text in enumerate(passage["sentences"], 1) if text in output["selected_sentences"]]
            told = sentences(output["answer"]) if chosen else []
            cases += [{"sentence": said, "sources": sources, "written_from": chosen} for said in told]
    for row in read_jsonl(folder / "fairytaleqa" / "train.jsonl"):
        told = sentences(row["text"])
        answer = f" {normalised(row['answers'][0])} "
        right = [n for n, text in enumerate(told, 1) if answer in f" {normalised(text)} "]
        if row["explicit"] and answer.strip() and 0 < len(right) < len(told):
            texts = [{"title": row["story"], "text": text} for text in told]
            said = {"question": row["question"], "sentence": row["answers"][0]}
            cases.append({**said, "sources": texts, "supports": right})
    out.write_text("".join(json.dumps(case) + "\n" for case in cases), "utf-8")
    return len(cases)
