from __future__ import annotations

import copy
import re

import pytest

from quern.schemas.words.patterns import lazy_pattern

TEXT = "The ferry Maren ran aground, and the ferry Orin did not."


@pytest.mark.parametrize("method", ["search", "match", "fullmatch"])
def test_a_lazy_pattern_finds_what_the_compiled_one_finds(method: str) -> None:
    text, flags = r"the (?P<what>ferry) \w+", re.IGNORECASE
    lazy = getattr(lazy_pattern(text, flags), method)(TEXT)
    compiled = getattr(re.compile(text, flags), method)(TEXT)
    assert (lazy and lazy.span()) == (compiled and compiled.span())


def test_it_is_compiled_when_it_is_used_and_travels_as_text() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")
    used = lazy_pattern(r"ferry (\w+)")
    assert used.findall(TEXT) == ["Maren", "Orin"]
    assert copy.deepcopy(used).sub(r"\1", TEXT) == "The Maren ran aground, and the Orin did not."
