"""Training of the models of citing: the selector's loss, and that tiny models of both learn and are cited by."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from quern.jobs.models.folders import ModelError
from quern.jobs.reasoning.citing.inputs import CitingInput, Source, Sources
from quern.jobs.reasoning.citing.task import citing_task, how_cited, with_key
from quern.jobs.training.citations import Case, selection_pairs
from quern.jobs.training.extractor import train_extractor
from quern.jobs.training.pairs import grouped
from quern.jobs.training.reranker import SELECTOR, Lists, Shape, selection_loss, train
from quern.jobs.training.run import Settings
from quern.schemas.settings import CiteSettings
from tests.tiny_models import write_tiny_cross_encoder

pytestmark = pytest.mark.torch


# Whether a source supports a sentence, and a word is key information, is told by one word: what a tiny model learns.
def sources(place: str) -> Sources:
    return Sources(Source(f"{text} of {place}.") for text in ("The crew praised it", "It costs a crown", "A harbour"))


SOURCES = sources("Skarrow")
CASES = [
    Case(CitingInput(f"Vessel {name} lies in some fine harbour.", sources(name[::-1])), (3,), (), "ships.jsonl")
    for name in (f"{a}{b}{c}" for a in "bcdfgh" for b in "aeiou" for c in "lmnprstvz")
]


def test_the_selectors_loss_weighs_the_source_and_then_none_against_the_others() -> None:
    class Fixed(torch.nn.Module):
        def forward(self, questions: list[str], texts: list[str]) -> torch.Tensor:
            return torch.tensor([{"right": 2.0, "wrong": 1.0, "other": -1.0}[text] for text in texts])

    def surprise(score: float, others: list[float]) -> float:
        return math.log(sum(map(math.exp, [score, *others]))) - score

    chosen = surprise(2.0, [0.0, 1.0, -1.0]) + surprise(2.0, [0.0])
    refused = surprise(0.0, [1.0, -1.0]) + surprise(0.0, [])
    lists = Lists(["a", "b"], [["right", "wrong", "other"], ["right"]])
    assert selection_loss(Fixed(), lists).item() == pytest.approx((chosen + refused) / 4)


def test_a_trained_selector_cites_what_it_learnt_or_nothing_and_is_part_of_what_is_remembered(tmp_path: Path) -> None:
    base, out = write_tiny_cross_encoder(tmp_path / "base"), tmp_path / "selector"
    settings, shape = Settings(steps=150, rate=3e-3, warm=5, every=50), Shape(8, 2, 0, 32, 2)
    groups = grouped(selection_pairs(CASES))
    figures = train(groups, out, settings, shape, str(base), [("ships", "CC0", 1)], "quern", goal=SELECTOR)
    assert figures["right selections of development sentences"] > 0.8
    assert "`cite.selector`" in (out / "README.md").read_text("utf-8")
    # Words alone would cite the first; "8" stands in no source, so none may be cited.
    given = CitingInput("The crew praised it.", SOURCES)
    numbered = CitingInput("Vessel 8 lies in some fine harbour.", SOURCES)
    cite = CiteSettings(selector=str(out))
    assert citing_task().rule(given).sources == [1]
    harbour = CitingInput("Vessel bam lies in some fine harbour.", SOURCES)
    assert citing_task(cite).rule(harbour).sources == [3]
    assert citing_task(cite.model_copy(update={"least": 1.0})).rule(harbour).sources == []
    assert citing_task(cite).rule(numbered).sources == []
    assert how_cited(cite) != how_cited(CiteSettings())
    with pytest.raises(ModelError, match=r"cite.selector .*gone: there is no such folder"):
        how_cited(CiteSettings(selector=str(tmp_path / "gone")))


def test_a_trained_extractor_lowers_the_weight_of_words_that_sources_lack(tmp_path: Path) -> None:
    base, out = write_tiny_cross_encoder(tmp_path / "base"), tmp_path / "extractor"
    settings = Settings(steps=120, rate=3e-3, warm=5, every=40)
    figures = train_extractor(CASES, out, settings, 8, 2, str(base), "CC0", "quern train extractor")
    assert figures["area under ROC of development words"] > 0.95
    given = CitingInput("Vessel bat lies in some fine harbour.", SOURCES)
    key = with_key(given, str(out)).key
    assert key is not None
    assert key["harbour"] > 1.5 * key["fine"]
    assert citing_task().rule(given).sources == []
    assert citing_task(CiteSettings(extractor=str(out))).rule(given).sources == [3]
    with pytest.raises(ModelError, match="is no extractor: name a folder of `quern train extractor`"):
        with_key(given, str(base))
