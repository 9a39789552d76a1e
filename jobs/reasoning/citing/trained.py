"""Citing by trained models: an extractor weighs the words of a sentence, a selector chooses its source.

Source: Xinyu AI Search, section 3.6.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from quern.jobs.models.cross_encoder import CrossEncoder
from quern.jobs.models.extractor import load_extractor
from quern.jobs.models.folders import find_folder
from quern.jobs.reasoning.citing.inputs import MOST_CITED, CitingInput, Element, Overlap, word_elements
from quern.jobs.reasoning.citing.search import missing_numbers
from quern.schemas.settings import RerankSettings

PAIR_TOKENS: Final = 128  # Of a sentence and a source.


def with_key(given: CitingInput, extractor: str) -> CitingInput:
    """The same with the probability that sources have each of its elements, by the extractor in a folder.

    Raises:
        ModelError: There is none.
    """
    words = word_elements(given.sentence)
    key: dict[Element, float] = {}
    chances = load_extractor(extractor).chances(given.sentence, [(start, end) for start, end, _ in words])
    for (_, _, elements), chance in zip(words, chances, strict=True):
        key |= {e: max(chance, key.get(e, 0.0)) for e in elements}
    return replace(given, key=key)


def selected_sources(given: CitingInput, selector: str, least: float) -> list[int]:
    """The source that the selector in a folder scores highest, if above `least` and it has every number.

    Where none has every number alone, those that score highest, as many as together do; else none.

    Raises:
        ModelError: There is no such selector.
    """
    promising = Overlap(given.weights, given.sources).best(range(1, len(given.sources) + 1), given.numbers)
    model = CrossEncoder.load(RerankSettings(model=str(find_folder(selector, "cite.selector")), max_tokens=PAIR_TOKENS))
    scores = model.scores([given.claim] * len(promising), [given.sources[n - 1].titled for n in promising])
    ranked = sorted(zip(scores.tolist(), promising, strict=True), key=lambda pair: -pair[0])
    likely = [n for score, n in ranked if score > least]
    for chosen in [*([n] for n in likely), *(likely[:many] for many in range(2, MOST_CITED + 1))]:
        if not missing_numbers(given, chosen):
            return chosen
    return []
