from __future__ import annotations

from collections import Counter

import pytest

from quern.jobs.core.contract import outcome
from quern.schemas.tables import DOCUMENTS
from tests.fuzz import run
from tests.fuzz.mutations import ARCHIVE, MOST_BYTES, PAGE, mutated
from tests.fuzz.run import FoundError, try_archive, try_page


def test_hostile_pages_give_a_document_or_a_reject_within_their_limits() -> None:
    outcomes = Counter(try_page(number) for number in range(40))
    assert outcomes.total() == 40
    assert outcomes["document"] > 20, outcomes
    assert len(outcomes) > 1, "no variant was damaged"


def test_hostile_archives_give_pages_and_rejects_within_their_limits() -> None:
    outcomes = Counter(try_archive(number) for number in range(150))
    assert outcomes["pages"] + outcomes["both"] > 20, outcomes
    assert outcomes["rejects"] + outcomes["both"] > 20, outcomes


def test_a_number_names_one_variant_of_bounded_size() -> None:
    seeds = [b"<p>one</p>", b"<p>two</p>"]
    for number in range(50):
        assert mutated(number, seeds, PAGE) == mutated(number, seeds, PAGE)
        assert len(mutated(number, seeds, ARCHIVE)[1]) <= MOST_BYTES


def test_a_broken_law_is_found_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "read_pages", lambda *_: (_ for _ in ()).throw(IndexError("boom")))
    assert run._try("archive", 7) == "FAILED archive 7 raised IndexError: boom"
    monkeypatch.setattr(run.Clean, "apply", lambda *_: outcome(DOCUMENTS, [], []))
    with pytest.raises(FoundError, match="page 3 "):
        try_page(3)
