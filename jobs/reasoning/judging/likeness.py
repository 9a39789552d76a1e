"""How like an answer is to the gold answer, in what either says that the question does not.

Words that both repeat from the question say nothing of which answer is right. Of the rest, precision and recall of
content words are joined as F_β (van Rijsbergen 1979, chapter 7): β = 1 weighs what is left out as what is added.
"""

from __future__ import annotations

from collections.abc import Sequence

from quern.jobs.text.stems import content_words


def likeness(question: str, answer: str, gold: Sequence[str], beta: float = 1.0) -> float:
    """F_β of the answer's words against those of the nearest gold answer, in [0, 1]; 1 where neither says anything.

    Words have no weights: by their rarity among the texts, F1 agrees with people on .776 of the pairs of
    `ragchecker_human` that they prefer one of, without on .782; with the question's words on .751.
    """
    return max((_f(question, answer, g, beta) for g in gold), default=float(not answer.strip()))


def _f(question: str, answer: str, gold: str, beta: float) -> float:
    asked = content_words(question)
    said, wanted = content_words(answer) - asked, content_words(gold) - asked
    if not wanted:  # The gold answer only repeats the question, as one of two that it names.
        said, wanted = content_words(answer), content_words(gold)
    common = len(said & wanted)
    if not common:
        return float(" ".join(answer.split()).casefold() == " ".join(gold.split()).casefold())
    precision, recall = common / len(said), common / len(wanted)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
