"""Measuring answers against the gold answers and evidence of their questions: figures, each with an interval.

A question is *unanswerable* where its type is `null` or its gold answer is empty, and *answerable* where it has one;
a question without a gold answer is not measured. An answerable question that was refused is answered wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from quern.indexes.catalog import Snapshot
from quern.indexes.vectors import Positions
from quern.jobs.reasoning.judging import overlap
from quern.pipelines.evaluation.alce import measure as alce
from quern.pipelines.evaluation.alce.citations import Entails
from quern.pipelines.evaluation.alce.records import AlceRecord, record_of
from quern.pipelines.evaluation.answers import risk
from quern.pipelines.evaluation.answers.sources import Cited, cited_of
from quern.pipelines.evaluation.bootstrap import Numbers
from quern.pipelines.evaluation.figures import Figure, ratio_figures, statistic_figures
from quern.pipelines.evaluation.gold import gold_documents
from quern.schemas.answers import Answer, Question


@dataclass(frozen=True)
class Judgement:
    """What an answer is worth.

    Attributes:
        answerable: Whether the question has a gold answer.
        found: Whether it was answered.
        polarity: The gold answer where it is yes or no.
        exact: Exact match of the short answer, and the best of the short and the whole one.
        f1: Token F1, likewise.
        gold_words: Whether the answer holds the words of the gold answer.
        right: The same; of a gold yes or no, whether the answer says so too.
        evidence: Whether the evidence answers: the chunks that were found hold the words of the gold answer, or, of a
            gold yes or no, come from all gold documents.
        judgeable: Whether that can be told: not of a gold yes or no whose evidence is not named, since every text would
            do. Such a question counts in neither `brier` nor `ece`.
        cited: Its citations, where the question names its evidence.
        named: Whether the question names its evidence.
        words: Its length.
        alce: What it is worth by ALCE's measures; nothing where they are not taken.
    """

    type: str
    answerable: bool
    found: bool
    probability: float
    polarity: str | None
    exact: tuple[float, float]
    f1: tuple[float, float]
    gold_words: float
    right: float
    evidence: float
    judgeable: bool
    cited: Cited
    named: bool
    words: int
    alce: alce.Worth = alce.NOTHING


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
        worth = alce.measured([_record(q, a) for q, a in zip(questions, answers, strict=True)], entails)
    rows = zip(questions, answers, gold.evidence, cited, worth, strict=True)
    return [_judgement(q, a, frozenset(evidence), c, w) for q, a, evidence, c, w in rows]


def _record(question: Question, answer: Answer) -> AlceRecord:
    gold = [] if _is_null(question) else [question.answer or "", *question.answer_aliases]
    return record_of(answer, [] if not gold or overlap.polarity(gold[0]) else [gold])


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
    exact, f1 = (
        (measure(short, gold), max(measure(short, gold), measure(whole, gold))) if answerable else (0.0, 0.0)
        for measure in (overlap.exact_match, overlap.token_f1)
    )
    return Judgement(
        type=question.type or "",
        answerable=answerable,
        found=answer.found,
        probability=answer.probability,
        polarity=expected,
        exact=exact,
        f1=f1,
        gold_words=float(holds),
        right=float(right),
        evidence=float(answerable and reached),
        judgeable=bool(evidence) or expected is None,
        cited=cited,
        named=bool(evidence),
        words=overlap.words(whole),
        alce=worth,
    )


class Judgements:
    """The judgements of a set of questions, as columns."""

    def __init__(self, rows: Sequence[Judgement]) -> None:
        self.rows = rows

    def column(self, value: Callable[[Judgement], float]) -> Numbers:
        """One value per question."""
        return np.array([value(r) for r in self.rows], dtype=np.float64)

    @cached_property
    def answerable(self) -> Numbers:
        """1 where there is a gold answer."""
        return self.column(lambda r: r.answerable)

    @cached_property
    def found(self) -> Numbers:
        """1 where there is an answer."""
        return self.column(lambda r: r.found)

    @cached_property
    def probability(self) -> Numbers:
        """The answers' probabilities."""
        return self.column(lambda r: r.probability)

    @cached_property
    def right(self) -> Numbers:
        """1 where the answer is right."""
        return self.column(lambda r: r.right)

    @cached_property
    def evidence(self) -> Numbers:
        """1 where the evidence answers."""
        return self.column(lambda r: r.evidence)

    @cached_property
    def judgeable(self) -> Numbers:
        """1 where it can be told whether the evidence answers."""
        return self.column(lambda r: r.judgeable)

    def said(self, polarity: str) -> Numbers:
        """1 where the gold answer is this of yes and no."""
        return self.column(lambda r: r.polarity == polarity)

    def shares(self) -> dict[str, tuple[Numbers, Numbers]]:
        """Figures that are a sum over a sum, both by question."""
        right, found, answerable = self.right, self.found, self.answerable
        yes, no = self.said("yes"), self.said("no")
        counts = {name: self.column(lambda r, n=name: getattr(r.cited, n)) for name in Cited.__dataclass_fields__}  # type: ignore[misc]
        named = self.column(lambda r: r.named and r.answerable)
        over = {
            "right": (right, answerable),
            "gold_words": (self.column(lambda r: r.gold_words), answerable),
            "exact_match": (self.column(lambda r: r.exact[0]), answerable),
            "exact_match_best": (self.column(lambda r: r.exact[1]), answerable),
            "f1": (self.column(lambda r: r.f1[0]), answerable),
            "f1_best": (self.column(lambda r: r.f1[1]), answerable),
            "yes_no": (right, yes + no),
            "yes_no yes": (right, yes),
            "yes_no no": (right, no),
            "false_refusals": (1.0 - found, answerable),
            "refused": (1.0 - found, 1.0 - answerable),
            "brier": ((self.probability - self.evidence) ** 2 * self.judgeable, self.judgeable),
            "citation_precision": (counts["precise"] * named, counts["citations"] * named),
            "citation_source": (counts["gold"] * named, counts["citations"] * named),
            "citation_numbers": (counts["supported"], counts["cited"]),
            "citation_density": (counts["cited"], counts["sentences"]),
            "quotes_equal": (counts["equal"], counts["quotes"]),
        }
        return {name: (part * (whole > 0), whole) for name, (part, whole) in over.items()}

    def statistics(self) -> dict[str, tuple[Callable[[Positions], float], Numbers]]:
        """Figures of another kind, each with 1 for the questions that it is taken over."""
        p, right, found, answerable, evidence = self.probability, self.right, self.found, self.answerable, self.evidence
        yes, no, every = self.said("yes"), self.said("no"), np.ones_like(self.found)
        words = self.column(lambda r: r.words)

        def balanced(at: Positions) -> float:
            each = [right[at][of[at] == 1] for of in (yes, no)]
            return float(np.mean([e.mean() for e in each])) if all(len(e) for e in each) else float("nan")

        def middle(at: Positions) -> float:
            said = words[at][found[at] == 1]
            return float(np.median(said)) if len(said) else float("nan")

        def calibration(at: Positions) -> float:
            at = at[self.judgeable[at] == 1]
            return risk.calibration_error(p[at], evidence[at])

        def calibration_of_answers(at: Positions) -> float:
            at = at[found[at] == 1]
            return risk.calibration_error(p[at], right[at])

        return {
            "yes_no_balanced": (balanced, yes + no),
            "refused_at_8%_false": (lambda at: risk.refused_at(p[at], answerable[at]), 1.0 - answerable),
            "auroc": (lambda at: risk.area_under_roc(p[at], answerable[at]), every),
            "aurc": (lambda at: risk.area_under_risk_coverage(p[at], right[at]), every),
            "ece": (calibration, self.judgeable),
            "ece_right": (calibration_of_answers, found),
            "words": (middle, found),
        }


def question_values(rows: Sequence[Judgement]) -> dict[str, Numbers]:
    """The figures of `PER_QUESTION`, one value per question; NaN where the question has none."""
    shares = Judgements(rows).shares()
    nothing = np.full(len(rows), np.nan)
    found: dict[str, Numbers] = {
        n: np.divide(*shares[n], out=nothing.copy(), where=shares[n][1] > 0) for n in PER_QUESTION if n in shares
    }
    return found | {n: np.array([getattr(r.alce, n) for r in rows], dtype=np.float64) for n in alce.PER_QUESTION}


def figures(rows: Sequence[Judgement]) -> dict[str, Figure]:
    """All figures that these judgements have, in the order in which they are told, with 95 % bootstrap intervals."""
    table = Judgements(rows)
    told = ratio_figures(table.shares()) | statistic_figures(table.statistics(), len(rows))
    told |= alce.figures([row.alce for row in rows])
    return {name: told[name] for name in FIGURES if name in told and not np.isnan(told[name].value)}


FIGURES: Final = {
    "right": "answers that hold the gold words, or agree with a gold yes or no",
    "gold_words": "answers that hold at least .8 of the content words of the gold answer",
    "exact_match": "exact match of the short answer",
    "exact_match_best": "exact match of the short or the whole answer, whichever is better",
    "f1": "token F1 of the short answer",
    "f1_best": "token F1 of the short or the whole answer, whichever is better",
    "yes_no": "accuracy where the gold answer is yes or no",
    "yes_no yes": "the same where it is yes",
    "yes_no no": "the same where it is no",
    "yes_no_balanced": "mean of the last two",
    "false_refusals": "answerable questions refused",
    "refused": "unanswerable questions refused",
    "refused_at_8%_false": "unanswerable questions below the probability that 8 % of the answerable are below",
    "auroc": "area under ROC of the probability, answerable against not",
    "aurc": "area under risk and coverage: mean share of wrong answers among the surest, over all coverages",
    "ece": "expected calibration error against whether the evidence answers, if known, ten bins of equal mass",
    "ece_right": "the same of the answers given, against whether they are right",
    "brier": "Brier score against whether the evidence answers, if known",
    "citation_source": "citations of a gold source",
    "citation_precision": "the same whose quotes, read on their days of publication, have each number of the sentence",
    "citation_numbers": "cited sentences all of whose numbers stand in their quotes, read on their days of publication",
    "citation_density": "sentences with a citation",
    "quotes_equal": "quotes that equal the document's text at their span; those that the gate dropped do not",
    **alce.OF_ANSWERS,
    "words": "median length of an answer in words",
}


# Of these a question has a value of its own, whose mean is told; what is shared among questions is not among them.
PER_QUESTION: Final = (
    *("right", "gold_words", "exact_match", "exact_match_best", "f1", "f1_best", "yes_no", "false_refusals", "refused"),
    *("brier", "citation_precision", "citation_source", "citation_density"),
    *alce.PER_QUESTION,
)


def figures_by_type(rows: Sequence[Judgement]) -> Iterator[tuple[str, dict[str, Figure]]]:
    """(type, figures of its questions), for each type that questions have."""
    for name in sorted({r.type for r in rows} - {""}):
        yield name, figures([r for r in rows if r.type == name])
