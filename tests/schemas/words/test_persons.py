"""Which nouns name a person by a role."""

import pytest

from quern.schemas.words.persons import is_person


@pytest.mark.parametrize("noun", ["skipper", "beekeeper", "sponsor", "hostess", "musician", "child", "employee"])
def test_a_role_names_a_person(noun: str) -> None:
    assert is_person(noun)


@pytest.mark.parametrize("noun", ["trawler", "dredger", "floor", "sickness", "chamber", "number", "mill"])
def test_things_whose_names_end_alike_do_not(noun: str) -> None:
    assert not is_person(noun)
