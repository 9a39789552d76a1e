"""Which words of a text say a word of a question in another way."""

import pytest

from quern.jobs.reasoning.answering.wording import said_by_others
from quern.jobs.text.stems import content_words


@pytest.mark.parametrize(("asked", "told"), [("bid", "bidders"), ("win", "winner"), ("bakers", "bake")])
def test_who_does_something_is_said_by_the_word_for_it(asked: str, told: str) -> None:
    (mine,), known = content_words(asked), content_words(told)
    assert set(said_by_others(frozenset({mine}), known).values()) == {mine}


@pytest.mark.parametrize(("asked", "told"), [("numb", "number"), ("tow", "tower"), ("mill", "barn")])
def test_a_thing_whose_name_ends_alike_does_nothing(asked: str, told: str) -> None:
    assert said_by_others(content_words(asked), content_words(told)) == {}
