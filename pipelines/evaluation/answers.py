"""Measuring answers against the gold answers and evidence of their questions: figures, each with an interval.

A question is *unanswerable* where its type is `null` or its gold answer is empty, and *answerable* where it has one;
a question without a gold answer is not measured. An answerable question that was refused is answered wrongly.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from itertools import combinations
from operator import attrgetter
from typing import Final

import numpy as np

from quern.indexes.catalog import Snapshot
from quern.indexes.vectors import Positions
from quern.jobs.reasoning.judging import overlap
from quern.jobs.text.dates import dates
from quern.jobs.text.quantities import quantities
from quern.pipelines.answers.gate import dropped
from quern.pipelines.evaluation.alce import measure as alce
from quern.pipelines.evaluation.alce.citations import Entails
from quern.pipelines.evaluation.alce.records import record_of
from quern.pipelines.evaluation.bootstrap import (
    Figure,
    Numbers,
    area_under_roc,
    calibration_error,
    ratio_figures,
    refused_at,
    statistic_figures,
)
from quern.pipelines.evaluation.retrieval import gold_documents
from quern.schemas.answers import Answer, Citation, Question

_DAYS: Final = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True)
class Cited:
    """The citations of one answer, counted; a citation counts once for each sentence that rests on it."""

    sentences: int  # Of the answer.
    cited: int  # Sentences with a citation.
    supported: int  # Those whose quotes, read on their days of publication, together hold every number of it.
    citations: int  # Of all sentences.
    gold: int  # Citations of a source that the question names.
    precise: int  # Those of them whose sentence is supported.
    quotes: int  # With those that the gate on quotes dropped.
    equal: int  # Quotes that equal `documents.text` at their span.


def cited_of(snapshot: Snapshot, answers: Sequence[Answer], accepted: Sequence[frozenset[str]]) -> list[Cited]:
    """The citations of `answers`, of which those to `accepted` documents are right."""
    ids = sorted({c.doc_id for a in answers for c in a.citations})
    rows = snapshot.table("documents").lookup("doc_id", ids, ["doc_id", "text"]).to_pylist() if ids else []
    texts = {row["doc_id"]: row["text"] for row in rows}
    return [_cited(a, right, texts) for a, right in zip(answers, accepted, strict=True)]


def _cited(answer: Answer, accepted: frozenset[str], texts: dict[str, str]) -> Cited:
    source = {c.number: c for c in answer.citations}
    cited = supported = citations = gold = precise = 0
    for sentence in answer.sentences:
        sources = [source[n] for n in sentence.citations]
        # Whether each number of `text` stands in a quote, is a year of publication, or is of a day that a quote
        # names.
        text = sentence.text
        days = {day for c in sources for day in _days(c)}
        values = {n for c in sources for n in numbers(c.quote)}
        values |= {str(c.published_at.year) for c in sources if c.published_at}
        written = (form for day in days for form in _written(day) if form in text)
        # The numbers of the times that lie between two days that the text names itself: `63 years (1886 to 1949)`.
        ends = [day for when in dates(text) for day in (when.from_day, when.to_day) if day]
        distances = [abs((one - other).days) for one, other in combinations(ends, 2)]
        spans = (q for q in quantities(text) if q.unit in _DAYS)
        near = (q for q in spans if any(abs(q.value * _DAYS[q.unit] - days) < _DAYS[q.unit] for days in distances))
        holds = numbers(text) <= values.union(*map(numbers, written), {n for q in near for n in numbers(q.text)})
        right = sum(c.doc_id in accepted for c in sources)
        cited += bool(sources)
        supported += bool(sources) and holds
        citations += len(sources)
        gold += right
        precise += right if holds else 0
    equal = sum(texts.get(c.doc_id, "")[c.start : c.end] == c.quote for c in answer.citations)
    quotes = len(answer.citations) + dropped(answer)
    return Cited(len(answer.sentences), cited, supported, citations, gold, precise, quotes, equal)


def _written(day: date) -> list[str]:
    """A day as an answer writes it, and its month."""
    month = f"{day:%B}"
    return [
        *(f"{day.day} {month}", f"{month} {day.day}", f"{month} {day.year}", day.isoformat()),
        *(f"{day.month}月{day.day}日", f"{day.year}年{day.month}月"),
    ]


def _days(citation: Citation) -> set[date]:
    """The first and last days of the times that a quote names, read on its day of publication."""
    published = citation.published_at.date() if citation.published_at else None
    return {day for when in dates(citation.quote, published) for day in (when.from_day, when.to_day) if day}


def numbers(text: str) -> set[str]:
    """The numbers in a text, written one way: `1,200` is `1200`."""
    return {n.replace(",", "") for n in _NUMBER.findall(unicodedata.normalize("NFKC", text))}


@dataclass(frozen=True)
class Judgement:
    """What an answer is worth."""

    type: str
    answerable: bool  # Whether the question has a gold answer.
    found: bool  # Whether it was answered.
    probability: float
    yes_no: bool  # Whether the gold answer is yes or no.
    exact: float  # Exact match of the short answer.
    f1: float  # Token F1 of the short answer.
    gold_words: float  # Whether the answer holds the words of the gold answer.
    right: float  # The same; of a gold yes or no, whether the answer says so too.
    evidence: float  # Whether the chunks found hold the gold words, or, of a yes or no, come from all gold documents.
    judgeable: bool  # Whether that can be known: of a yes or no only where the question names its evidence.
    cited: Cited  # Its citations, where the question names its evidence.
    named: bool  # Whether the question names its evidence.
    words: int  # Its length.
    alce: alce.Worth = alce.NOTHING  # By ALCE's measures; nothing where they are not taken.


def is_measured(question: Question) -> bool:
    """Whether there is a gold answer, or is known to be none."""
    return question.answer is not None or _is_null(question)


def _is_null(question: Question) -> bool:
    return (question.type or "").lower() == "null" or (question.answer is not None and not question.answer.strip())


def judged(
    snapshot: Snapshot, questions: Sequence[Question], answers: Sequence[Answer], entails: Entails | None = None
) -> list[Judgement]:
    """What each answer is worth; of questions that can be measured. By ALCE's measures only with `entails`."""
    gold = gold_documents(snapshot, questions)
    cited = cited_of(snapshot, answers, gold.accepted)
    worth = [alce.NOTHING] * len(answers)
    if entails is not None:
        golds = [[] if _is_null(q) else [q.answer or "", *q.answer_aliases] for q in questions]
        short = [[] if not gold or overlap.polarity(gold[0]) else [gold] for gold in golds]
        worth = alce.measured([record_of(a, gold) for a, gold in zip(answers, short, strict=True)], entails)
    rows = zip(questions, answers, gold.evidence, cited, worth, strict=True)
    return [_judgement(q, a, frozenset(evidence), c, w) for q, a, evidence, c, w in rows]


def _judgement(
    question: Question, answer: Answer, evidence: frozenset[str], cited: Cited, worth: alce.Worth = alce.NOTHING
) -> Judgement:
    answerable = not _is_null(question)
    gold = [question.answer or "", *question.answer_aliases]
    short, whole = answer.short or "", " ".join(s.text for s in answer.sentences)
    expected = overlap.polarity(gold[0]) if answerable else None
    holds = answerable and answer.found and overlap.holds(whole, gold)
    right = overlap.polarity(short) == expected if expected else holds
    seen = {h.doc_id for h in answer.hits}
    reached = evidence <= seen if expected else overlap.holds(" ".join(h.text for h in answer.hits), gold)
    return Judgement(
        type=question.type or "",
        answerable=answerable,
        found=answer.found,
        probability=answer.probability,
        yes_no=expected is not None,
        exact=overlap.exact_match(short, gold) if answerable else 0.0,
        f1=overlap.token_f1(short, gold) if answerable else 0.0,
        gold_words=float(holds),
        right=float(right),
        evidence=float(answerable and reached),
        judgeable=bool(evidence) or expected is None,
        cited=cited,
        named=bool(evidence),
        words=overlap.words(whole),
        alce=worth,
    )


def _columns(rows: Sequence[Judgement]) -> dict[str, Numbers]:
    """What judgements say in numbers, each as a column with one value per question."""
    own = [f.name for f in fields(Judgement) if f.type in ("bool", "float", "int")]
    paths = {name: name for name in own} | {f.name: f"cited.{f.name}" for f in fields(Cited)}
    return {name: np.array([*map(attrgetter(path), rows)], dtype=np.float64) for name, path in paths.items()}


def _shares(c: Mapping[str, Numbers]) -> dict[str, tuple[Numbers, Numbers]]:
    """Figures that are a sum over a sum, both by question."""
    right, answerable, refused = c["right"], c["answerable"], 1.0 - c["found"]
    named = c["named"] * answerable
    over = {
        "right": (right, answerable),
        "gold_words": (c["gold_words"], answerable),
        "exact_match": (c["exact"], answerable),
        "f1": (c["f1"], answerable),
        "yes_no": (right, c["yes_no"]),
        "false_refusals": (refused, answerable),
        "refused": (refused, 1.0 - answerable),
        "brier": ((c["probability"] - c["evidence"]) ** 2 * c["judgeable"], c["judgeable"]),
        "citation_precision": (c["precise"] * named, c["citations"] * named),
        "citation_source": (c["gold"] * named, c["citations"] * named),
        "citation_numbers": (c["supported"], c["cited"]),
        "citation_density": (c["cited"], c["sentences"]),
        "quotes_equal": (c["equal"], c["quotes"]),
    }
    return {name: (part * (whole > 0), whole) for name, (part, whole) in over.items()}


def question_values(rows: Sequence[Judgement]) -> dict[str, Numbers]:
    """The figures of `PER_QUESTION`, one value per question; NaN where the question has none."""
    shares = _shares(_columns(rows))
    nothing = np.full(len(rows), np.nan)
    columns: dict[str, Numbers] = {
        n: np.divide(*shares[n], out=nothing.copy(), where=shares[n][1] > 0) for n in PER_QUESTION if n in shares
    }
    return columns | {n: np.array([getattr(r.alce, n) for r in rows], dtype=np.float64) for n in alce.PER_QUESTION}


def figures(rows: Sequence[Judgement]) -> dict[str, Figure]:
    """All figures that these judgements have, in the order in which they are printed, with 95 % bootstrap intervals."""
    columns = _columns(rows)
    # Figures of another kind, each with 1 for the questions that it is taken over.
    p, found, answerable, judgeable = (columns[name] for name in ("probability", "found", "answerable", "judgeable"))

    def median_words(at: Positions) -> float:
        lengths = columns["words"][at][found[at] == 1]
        return float(np.median(lengths)) if len(lengths) else float("nan")

    def calibration(at: Positions) -> float:
        at = at[judgeable[at] == 1]
        return calibration_error(p[at], columns["evidence"][at])

    statistics: dict[str, tuple[Callable[[Positions], float], Numbers]] = {
        "refused_at_8%_false": (lambda at: refused_at(p[at], answerable[at]), 1.0 - answerable),
        "auroc": (lambda at: area_under_roc(p[at], answerable[at]), np.ones_like(found)),
        "ece": (calibration, judgeable),
        "words": (median_words, found),
    }
    known = ratio_figures(_shares(columns)) | statistic_figures(statistics, len(rows))
    known |= alce.figures([row.alce for row in rows])
    return {name: known[name] for name in FIGURES if name in known and not np.isnan(known[name].value)}


FIGURES: Final = (
    *("right", "gold_words", "exact_match", "f1", "yes_no"),
    *("false_refusals", "refused", "refused_at_8%_false", "auroc", "ece", "brier"),
    *("citation_source", "citation_precision", "citation_numbers", "citation_density", "quotes_equal"),
    *alce.OF_ANSWERS,
    "words",
)
"""Figures in the order in which they are printed; docs/howto/measure.md says what each is."""
# Of these a question has a value of its own, whose mean is printed; what is shared among questions is not among them.
PER_QUESTION: Final = (
    *("right", "gold_words", "exact_match", "f1", "yes_no", "false_refusals", "refused"),
    *("brier", "citation_precision", "citation_source", "citation_density"),
    *alce.PER_QUESTION,
)


def figures_by_type(rows: Sequence[Judgement]) -> Iterator[tuple[str, dict[str, Figure]]]:
    """(type, figures of its questions), for each type that questions have."""
    for name in sorted({r.type for r in rows} - {""}):
        yield name, figures([r for r in rows if r.type == name])
